//! What happens to a program that runs, and how it ends.

use std::time::Duration;

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Exit {
    /// It ended by itself, with this code.
    Code(u8),
    /// This signal ended it.
    Signal(u8),
    /// The host ended it. The text says which limit it reached, for the model.
    Stopped(String),
}

/// The report of a program that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExitReport {
    /// How it ended.
    pub exit: Exit,
    /// The time from start to end.
    pub duration: Duration,
    /// The number of background processes that the host ended with the program.
    pub left_processes: u32,
    /// What the confinement refused and the host knows of, such as `GET http://a.example/`: for the model.
    pub refused: Vec<String>,
}

impl ExitReport {
    /// Returns whether the program ended by itself with the code 0.
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.exit == Exit::Code(0)
    }
}

/// What happened to a program next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunningEvent {
    /// It wrote to stdout.
    Stdout(Vec<u8>),
    /// It wrote to stderr.
    Stderr(Vec<u8>),
    /// The time to wait has passed.
    Elapsed,
    /// It has ended, and everything that it wrote has been read.
    Ended(ExitReport),
}
