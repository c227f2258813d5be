//! The changes of a run to its directories. They are counted while the run makes them, so the numbers are available
//! however it ends.

/// The changes of a run to its directories. An operation that was in progress when the run was stopped counts as done,
/// because it may have been.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// Created files and links.
    pub created: u64,
    /// How often an existing file was opened for writing, or had its size or times set.
    pub changed: u64,
    /// Removed files, links and directories.
    pub removed: u64,
    /// Renamed files, links and directories.
    pub renamed: u64,
    /// Created directories.
    pub directories: u64,
    /// Bytes written to files.
    pub written_bytes: u64,
}

impl Effects {
    /// Returns whether the run changed nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
