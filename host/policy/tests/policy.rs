//! The policy from outside, in the order in which it is read, asked and explained; one program, so that it links once.

mod glob;
mod matching;

mod file;
mod layers;

mod bindings;
mod destinations;
mod hosts;
mod rule_gaps;

mod callers;
mod hindsight;
mod invariants;
mod pattern;
mod url_approvals;
