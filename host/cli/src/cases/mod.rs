//! Test cases of a plugin, run in the real host.
//!
//! A case contains calls, what the policy grants, and the expected results (docs/writing.md). It runs with a temporary
//! plugin directory, state and policy. The user's own are neither read nor changed.
#![expect(
    clippy::disallowed_methods,
    reason = "cases use the author's own files and temporary directories, with the author's permissions"
)]

mod case;
mod compare;
mod compiled;
mod expect;
mod file;
mod fill;
mod kept;
mod loopback;
mod policy;
mod runner;
mod scratch;
mod verdict;
mod world;

pub(crate) use file::{Located, read};
pub(crate) use runner::{Finished, Runner};
pub(crate) use world::RefusedComponent;
