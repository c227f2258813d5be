//! Checks the bindings of the policy against what plugins ask for and against the host's own places, and opens them.

mod address;
mod bases;
mod bind;
mod bound;
mod changeable;
mod check;
mod directory;
mod error;
mod package;
mod program;

pub(crate) use address::BoundAddress;
pub(crate) use bases::{Bases, Own};
pub(crate) use bound::{Grant, Opening, PluginGrants};
pub(crate) use check::{check_bindings, check_keys, check_kinds, check_names, check_rules_with, check_services};
pub(crate) use directory::BoundDirectory;
pub use error::GrantError;
pub use package::packages_of;
pub(crate) use program::{BoundProgram, BoundServer};
