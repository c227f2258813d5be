//! Log levels.

/// The level of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Control flow, for debugging.
    Trace,
    /// Details for debugging.
    Debug,
    /// Worth knowing.
    Info,
    /// Something is unexpected.
    Warn,
    /// Something failed.
    Error,
    /// The plugin can no longer work.
    Critical,
}
