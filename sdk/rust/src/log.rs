//! How much a line of the log matters.

/// How much a line of the log matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// The flow of control, for whoever looks for a fault.
    Trace,
    /// For whoever looks for a fault.
    Debug,
    /// Worth knowing.
    Info,
    /// Something is not as it should be.
    Warn,
    /// Something failed.
    Error,
    /// Nothing works any more.
    Critical,
}
