//! Why an output cannot be read.

use crate::ledger::LedgerError;
use std::io;

/// The error for an output that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// The reader has no output with this id. It never existed, belongs to another session or principal, or was
    /// removed.
    #[error("there is no output {0}: it was never kept, or was removed to make room. Call the tool again")]
    Unknown(String),
    /// The ledger cannot be used.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// Its content is not where this host looks for it.
    #[error(
        "the content of output {0} is gone from the place of outputs: it was removed there, or the hosts have \
         different places. Call the tool again"
    )]
    Missing(String),
    /// A part of its content is not what the host wrote.
    #[error("the content of output {0} was changed by another program: it is not passed on. Call the tool again")]
    Changed(String),
    /// The place of shared outputs cannot be used.
    #[error("the place {place} of outputs cannot be used: {why}")]
    Place {
        /// Its address, which has no secret.
        place: String,
        /// The problem.
        why: String,
    },
    /// The content cannot be read.
    #[error("the output cannot be read")]
    Io(#[source] io::Error),
}

impl From<io::Error> for OutputError {
    /// Returns the error of a reader of content, which is inside of the system's error.
    fn from(error: io::Error) -> Self {
        error.downcast().unwrap_or_else(Self::Io)
    }
}
