//! How a program ended.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How a program ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ProgramExit {
    /// It ended by itself, with this code.
    Code(u8),
    /// This signal ended it.
    Signal(u8),
    /// It was ended. The text names the limit that it reached.
    Stopped(String),
}

/// The end of a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramReport {
    /// How it ended.
    pub exit: ProgramExit,
    /// The wall-clock time from start to end.
    pub wall: Duration,
    /// The CPU time of the processes that have ended.
    pub cpu: Duration,
    /// The processes that still ran when the program itself had ended. They were killed.
    pub left_processes: u32,
}
