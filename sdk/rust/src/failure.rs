//! Failures of tools, and the mapping from Rust's errors to the kinds that a host knows.

use std::any::Any;
use std::error::Error;
use std::fmt;
use std::io;

/// Why a tool failed. The text is for the model, and should say what would help.
///
/// The type is not an [`Error`] itself, so that `?` accepts any error: an I/O error becomes the kind that fits it,
/// everything else becomes [`Failure::Failed`] with the text of the error and its sources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The arguments match the schema, but are still wrong.
    InvalidArguments(String),
    /// A permission was missing.
    Denied(String),
    /// Something outside the tool did not work. Trying again later may help.
    Unavailable(String),
    /// The tool stopped because the call was cancelled.
    Cancelled,
    /// Anything else.
    Failed(String),
}

impl Failure {
    /// Creates a failure for wrong arguments. The text should say which, and how to correct them.
    pub fn invalid(text: impl Into<String>) -> Self {
        Self::InvalidArguments(text.into())
    }

    /// Creates a failure for a missing permission.
    pub fn denied(text: impl Into<String>) -> Self {
        Self::Denied(text.into())
    }

    /// Creates a failure of something outside the tool that may work later.
    pub fn unavailable(text: impl Into<String>) -> Self {
        Self::Unavailable(text.into())
    }

    /// Creates a failure of any other kind.
    pub fn failed(text: impl Into<String>) -> Self {
        Self::Failed(text.into())
    }

    /// Returns the text for the model.
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

/// Joins the text of an error with those of its sources, which say why it happened.
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
