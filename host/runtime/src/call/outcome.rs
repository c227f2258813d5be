//! What a run leaves: the answer of a tool, or the results of a batch.

use super::answer::AnswerText;
use crate::catalog::Tool;
use crate::reply::Reply;
use portcullis_definitions::manifest::Success;
use portcullis_sandbox::Usage;
use std::sync::Arc;

/// The tool's answer before it is checked.
pub(crate) struct RawOutcome {
    pub(super) tool: Arc<Tool>,
    pub(super) success: Success,
    /// The text that the tool wrote while it ran.
    pub(super) written: AnswerText,
    /// The results of the calls of a batch. They take the place of the answer.
    pub(super) results: Option<Vec<BatchResult>>,
    pub(super) usage: Usage,
    pub(super) bytes_in: u64,
    pub(super) output_bytes_max: usize,
}

/// The result of one call of a batch.
pub(super) struct BatchResult {
    /// The tool's name as the caller wrote it.
    pub(super) name: String,
    pub(super) reply: Reply,
}
