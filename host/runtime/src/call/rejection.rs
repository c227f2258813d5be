//! The rejection of a call that ended without an answer.

use super::answer::AnswerText;
use crate::approvals::{ApprovalError, AskError};
use crate::outputs::Reference;
use crate::reply::{CallUsage, Code, Reply};
use crate::text::WithCauses;
use std::fmt::Write;
use std::time::Duration;
use tokio::task::spawn_blocking;

/// The beginning of the message of a tool that ran and failed. Text of the tool can follow.
pub(super) const FAILURE_LABEL: &str = "Error executing tool: ";

/// The reason why a call ended without an answer, for programs, for the model and for the operator.
#[derive(Clone, Debug)]
pub(crate) struct Rejection {
    /// The stable code, for programs.
    pub(crate) code: Code,
    /// The message for the model, with what to do next.
    pub(crate) message: String,
    /// Details for the operator that the model must not see. They go into the audit log.
    pub(crate) detail: Option<String>,
    /// The resource usage of the run, if the tool ran.
    pub(crate) usage: Box<CallUsage>,
    /// The reference to the partial answer, if some of it is kept.
    pub(crate) reference: Option<Box<Reference>>,
    /// How long to wait before a retry, as the tool proposes.
    pub(crate) retry_after: Option<Duration>,
}

impl Rejection {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), detail: None, usage: Box::default(), reference: None, retry_after: None }
    }

    pub(crate) fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// Keeps the text that the tool had already written, and adds the reference to the message.
    pub(super) async fn keeping(self, written: AnswerText) -> Self {
        if written.bytes() == 0 {
            // Nothing is kept, so this does not block.
            return self.blocking_keeping(written);
        }
        let rejection = self.clone();
        let kept = spawn_blocking(move || self.blocking_keeping(written)).await;
        // If the thread panicked, the call still ends with the rejection.
        kept.unwrap_or(rejection)
    }

    /// Does the same on a thread that may block.
    pub(super) fn blocking_keeping(self, written: AnswerText) -> Self {
        let Self { code, mut message, detail, usage, retry_after, .. } = self;
        let (bytes, unkept) = (written.bytes(), written.unkept());
        let reference = written.keep_unfinished().map(Box::new);
        match reference.as_deref() {
            Some(Reference { id, bytes, lines, .. }) => {
                let lines = lines.unwrap_or(0);
                let _ = write!(
                    message,
                    " The output up to this point is kept ({bytes} bytes, {lines} lines). Read it with output.read \
                     {{\"reference\":\"{id}\"}}."
                );
            }
            None if bytes > 0 => message.push_str(" The output up to this point is lost."),
            None => {}
        }
        if let Some(why) = unkept {
            let _ = write!(message, " Some of the output could not be kept: {why}.");
        }
        Self { code, message, detail, usage, reference, retry_after }
    }

    /// Returns the reply of a call that has a record.
    pub(super) fn into_reply(self, id: String, tool: String) -> Reply {
        let Self { code, message, usage, reference, retry_after, .. } = self;
        let reference = reference.map(|reference| *reference);
        Reply { reference, retry_after, usage: *usage, ..Reply::failed(id, tool, code, message) }
    }

    /// Returns the reply of a call that has no record of its own.
    pub(crate) fn unrecorded(self, tool: String) -> Reply {
        Reply::failed(String::new(), tool, self.code, self.message)
    }
}

impl From<AskError<Self>> for Rejection {
    fn from(error: AskError<Self>) -> Self {
        match error {
            AskError::Stopped(rejection) => rejection,
            AskError::Unkept(error) => unkept(&error),
        }
    }
}

/// Rejects a call whose request or approval could not be written.
pub(super) fn unkept(error: &ApprovalError) -> Rejection {
    Rejection::new(Code::RecordUnavailable, "Not run: the approval could not be written to the ledger.")
        .with_detail(WithCauses(error).to_string())
}
