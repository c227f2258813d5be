//! Tests of the policy crate from outside, in one test binary, so that it is linked only once.

mod glob;
mod matching;

mod file;
mod layers;

mod all_errors;
mod bindings;
mod destinations;
mod hosts;
mod programs;
mod rate_limits;
mod rule_gaps;
mod servers;

mod callers;
mod hindsight;
mod invariants;
mod pattern;
mod toolsets;
mod url_approvals;
