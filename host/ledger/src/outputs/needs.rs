//! What a process needs for the outputs of a ledger.

use std::path::PathBuf;

/// What a process needs to reach the place of shared outputs, besides a directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutputNeeds {
    /// The ports to which it connects.
    pub ports: Vec<u16>,
    /// The files that it reads again and again.
    pub files: Vec<PathBuf>,
}
