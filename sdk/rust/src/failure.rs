//! Why a tool could not answer. Owns the mapping from Rust's errors to the few kinds that a host knows.

use std::any::Any;
use std::error::Error;
use std::fmt;
use std::io;

/// Why a tool could not answer. The text is for the model, and says what would help.
///
/// The type is no [`Error`] itself, so that `?` accepts any error: an I/O error becomes the kind that fits it,
/// everything else becomes [`Failure::Failed`] with the text of the error and its sources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The arguments match the schema and are wrong all the same.
    InvalidArguments(String),
    /// A right was missing.
    Denied(String),
    /// Something outside the tool did not work; trying again later may help.
    Unavailable(String),
    /// The tool stopped because the call was cancelled.
    Cancelled,
    /// Anything else.
    Failed(String),
}

impl Failure {
    /// The arguments are wrong; the text says which, and how to correct them.
    pub fn invalid(text: impl Into<String>) -> Self {
        Self::InvalidArguments(text.into())
    }

    /// A right was missing.
    pub fn denied(text: impl Into<String>) -> Self {
        Self::Denied(text.into())
    }

    /// Something outside the tool did not work, and may later.
    pub fn unavailable(text: impl Into<String>) -> Self {
        Self::Unavailable(text.into())
    }

    /// The tool failed.
    pub fn failed(text: impl Into<String>) -> Self {
        Self::Failed(text.into())
    }

    /// What the model is told.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::InvalidArguments(text) | Self::Denied(text) | Self::Unavailable(text) | Self::Failed(text) => text,
            Self::Cancelled => "the call was cancelled",
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.text())
    }
}

impl<E: Error + 'static> From<E> for Failure {
    fn from(error: E) -> Self {
        let text = with_sources(&error);
        match (&error as &dyn Any).downcast_ref::<io::Error>() {
            Some(error) => from_io(error.kind(), text),
            None => Self::Failed(text),
        }
    }
}

fn from_io(kind: io::ErrorKind, text: String) -> Failure {
    use io::ErrorKind as Kind;
    match kind {
        Kind::PermissionDenied | Kind::ReadOnlyFilesystem => Failure::Denied(text),
        Kind::InvalidInput => Failure::InvalidArguments(text),
        Kind::WouldBlock
        | Kind::TimedOut
        | Kind::Interrupted
        | Kind::ConnectionRefused
        | Kind::ConnectionReset
        | Kind::ConnectionAborted
        | Kind::NetworkUnreachable
        | Kind::HostUnreachable
        | Kind::ResourceBusy
        | Kind::StorageFull
        | Kind::QuotaExceeded => Failure::Unavailable(text),
        _ => Failure::Failed(text),
    }
}

/// An error says what went wrong at its own level; its sources say why.
fn with_sources(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        source = cause.source();
    }
    text
}
