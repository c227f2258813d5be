//! What a run did to its directories, counted while it does it: the same number is there whatever way the run ends.

/// What a run did to its directories. What was under way when the run was stopped counts as done, since it may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// Files and links that were created.
    pub created: u64,
    /// How often a file that was there was opened to be written, or had its size or its times set.
    pub changed: u64,
    /// Files, links and directories that were removed.
    pub removed: u64,
    /// Names that were changed.
    pub renamed: u64,
    /// Directories that were made.
    pub directories: u64,
    /// Bytes that were written into files.
    pub written_bytes: u64,
}

impl Effects {
    /// Whether nothing was done.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
