//! Cases: what an author expects of a plugin, run in the real host.
//!
//! A case says what is asked, what the policy grants, and what has to come back (docs/writing.md). It runs in a host of
//! its own world: a temporary plugin directory, state and policy. Nothing of the person's is read or changed.
#![expect(
    clippy::disallowed_methods,
    reason = "an author's own files become the world of a case, which is made and taken away with the author's rights"
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
pub(crate) use world::Refused;
