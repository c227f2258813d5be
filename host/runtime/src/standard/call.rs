//! An approved call of a built-in tool, and the ways in which it ends without an answer.

use crate::outputs::{OutputError, OutputKeeper, Reader};
use portcullis_definitions::manifest::{Failure, Output, Success};
use portcullis_policy::{Limits, Principal};
use portcullis_sandbox::Cancellation;
use serde_json::{Map, Value};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// An approved call of a built-in tool.
pub(crate) struct StandardCall {
    pub(crate) outputs: OutputKeeper,
    pub(crate) session: Arc<str>,
    pub(crate) principal: Principal,
    pub(crate) arguments: Map<String, Value>,
    pub(crate) limits: Limits,
    pub(crate) cancellation: Cancellation,
}

/// The reason why a built-in tool has no answer.
pub(super) enum Trouble {
    /// The tool failed.
    Failure(Failure),
    /// The tool was stopped.
    Stopped,
}

/// The signal that stops the thread when no caller waits for its result.
#[derive(Clone, Default)]
pub(super) struct StopSignal(pub(super) Arc<AtomicBool>);

impl StopSignal {
    pub(super) fn check(&self) -> io::Result<()> {
        if self.0.load(Ordering::Acquire) { Err(io::ErrorKind::Interrupted.into()) } else { Ok(()) }
    }
}

impl StandardCall {
    pub(super) fn reader(&self) -> Reader<'_> {
        Reader { session: &self.session, principal: &self.principal }
    }

    pub(super) fn text(&self, name: &str) -> &str {
        self.arguments.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    pub(super) fn number(&self, name: &str) -> Option<u64> {
        self.arguments.get(name).and_then(Value::as_u64)
    }

    /// Returns the maximum size of a page, in bytes, so that the page and its notice fit into the reply.
    pub(super) fn page_bytes(&self) -> usize {
        self.limits.output_bytes.saturating_sub(NOTICE_BYTES_MAX).max(NOTICE_BYTES_MAX)
    }
}

/// Maximum length of the notice under a page, in bytes.
const NOTICE_BYTES_MAX: usize = 1024;

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            // `StopSignal::check` returns this kind.
            io::ErrorKind::Interrupted => Self::Stopped,
            _ => OutputError::from(error).into(),
        }
    }
}

impl From<OutputError> for Trouble {
    fn from(error: OutputError) -> Self {
        match error {
            OutputError::Unknown(_) => Self::Failure(Failure::InvalidArguments(error.to_string())),
            OutputError::Missing(_) | OutputError::Changed(_) => Self::Failure(unavailable(&error.to_string())),
            OutputError::Ledger(_) | OutputError::Place { .. } | OutputError::Io(_) => {
                Self::Failure(unavailable("the host cannot read its kept outputs"))
            }
        }
    }
}

fn unavailable(message: &str) -> Failure {
    Failure::Unavailable { message: message.to_owned(), retry_after: None }
}

pub(super) fn answer(text: String) -> Success {
    Success { title: None, output: Output::Text(text), metadata: None }
}
