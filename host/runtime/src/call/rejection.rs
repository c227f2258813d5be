//! Why a call ended before it had an answer.

use super::answer::Text;
use crate::approvals::{ApprovalError, AskError};
use crate::outputs::Reference;
use crate::reply::{CallUsage, Code, Reply};
use std::fmt::Write;
use std::time::Duration;

/// Why a call ended before it had an answer: one failure, told three ways.
#[derive(Clone, Debug)]
pub(crate) struct Rejection {
    /// For programs.
    pub(crate) code: Code,
    /// For the model: what would help.
    pub(crate) message: String,
    /// For the operator: what the model should not see. It goes into the record.
    pub(crate) detail: Option<String>,
    /// What the run took, where there was one.
    pub(crate) usage: Box<CallUsage>,
    /// Where what there was of an answer is kept.
    pub(crate) reference: Option<Box<Reference>>,
    /// When another try may help, as the tool says.
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

    /// Keeps what the tool had written of its answer, and says where it is.
    pub(super) fn keeping(self, written: Text) -> Self {
        let Self { code, mut message, detail, usage, retry_after, .. } = self;
        let (bytes, unkept) = (written.bytes(), written.unkept());
        let reference = written.keep_unfinished().map(Box::new);
        match reference.as_deref() {
            Some(Reference { id, bytes, lines, .. }) => {
                let lines = lines.unwrap_or(0);
                let _ = write!(
                    message,
                    " What it had written is kept, {bytes} bytes in {lines} lines: read it with output.read \
                     {{\"reference\":\"{id}\"}}."
                );
            }
            None if bytes > 0 => message.push_str(" What it had written is lost."),
            None => {}
        }
        if let Some(why) = unkept {
            let _ = write!(message, " Not all of it could be kept: {why}.");
        }
        Self { code, message, detail, usage, reference, retry_after }
    }

    /// The reply of a call that has a record.
    pub(super) fn into_reply(self, id: String, tool: String) -> Reply {
        let Self { code, message, usage, reference, retry_after, .. } = self;
        let reference = reference.map(|reference| *reference);
        Reply { reference, retry_after, usage: *usage, ..Reply::failed(id, tool, code, message) }
    }

    /// The reply of a call that has no record of its own.
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

/// What cannot be kept has no effect: the call is not made.
pub(super) fn unkept(error: &ApprovalError) -> Rejection {
    Rejection::new(Code::RecordUnavailable, "The approval could not be kept, so the call was not made.")
        .with_detail(error.to_string())
}
