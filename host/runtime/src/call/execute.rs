//! Step 6: the guest runs, and either answers or is stopped.

use super::Rejection;
use super::instantiate::ReadyCall;
use super::record::CallRecord;
use crate::catalog::Tool;
use crate::host::Inner;
use crate::reply::Code;
use crate::request::Request;
use crate::text::{OneLine, cut};
use portcullis_policy::Limits;
use portcullis_sandbox::{Failure, LimitKind, Stop, Success, Usage};
use std::sync::Arc;

/// The longest text of a failing tool that a model is shown, in bytes.
const FAILURE_BYTES_MAX: usize = 8 * 1024;

/// What the guest answered, unchecked.
pub(crate) struct RawOutcome {
    pub(super) tool: Arc<Tool>,
    pub(super) success: Success,
    pub(super) usage: Usage,
    pub(super) bytes_in: u64,
    pub(super) output_bytes_max: usize,
}

impl ReadyCall {
    pub(super) async fn execute(
        self,
        host: &Arc<Inner>,
        request: &Request,
        record: &mut CallRecord,
    ) -> Result<RawOutcome, Rejection> {
        let granted = self.granted;
        let context = record.context(host, request, &granted.call, &granted.limits);
        record.running();
        let ran = host
            .loader
            .engine
            .execute(
                &self.code,
                granted.call.tool.name.tool.as_str(),
                &granted.call.canonical,
                &granted.limits,
                granted.handles,
                context,
                request.cancellation.clone(),
            )
            .await;
        record.printed(&ran.log);
        record.traffic(ran.traffic);
        let bytes_in = granted.call.canonical.len() as u64;
        let rejection = match ran.result {
            Ok(Ok(success)) => {
                let output_bytes_max = granted.limits.output_bytes;
                let tool = Arc::clone(&granted.call.tool);
                return Ok(RawOutcome { tool, success, usage: ran.usage, bytes_in, output_bytes_max });
            }
            Ok(Err(failure)) => failed(&failure),
            Err(stop) => stopped(stop, &granted.limits),
        };
        Err(Rejection { usage: ran.usage, ..rejection })
    }
}

/// The guest's words, behind a label of ours and without anything that could pass for ours.
fn failed(failure: &Failure) -> Rejection {
    let (code, text) = match failure {
        Failure::InvalidArguments(text) => (Code::ToolRejectedArguments, text.as_str()),
        Failure::Denied(text) => (Code::ToolDenied, text.as_str()),
        Failure::Unavailable(text) => (Code::ToolUnavailable, text.as_str()),
        Failure::Cancelled => return Rejection::new(Code::Cancelled, "The call was cancelled."),
        Failure::Failed(text) => (Code::ToolFailed, text.as_str()),
    };
    let more = if text.len() > FAILURE_BYTES_MAX { " [cut]" } else { "" };
    let text = crate::text::Lines(cut(text, FAILURE_BYTES_MAX));
    Rejection::new(code, format!("Error executing tool: {text}{more}"))
}

fn stopped(stop: Stop, limits: &Limits) -> Rejection {
    match stop {
        Stop::Limit(kind) => limit(kind, limits),
        Stop::Trapped(detail) => {
            Rejection::new(Code::Trapped, "The tool broke and was stopped. The same call will probably break again.")
                .with_detail(OneLine(&detail).to_string())
        }
        Stop::Exited(status) => Rejection::new(Code::Exited, "The tool ended without an answer.")
            .with_detail(format!("it exited with status {status}")),
        Stop::Cancelled => Rejection::new(Code::Cancelled, "The call was cancelled."),
        Stop::HostPanic => Rejection::new(Code::HostPanic, "The host failed while it served the tool.")
            .with_detail("a panic was caught; its text is on stderr"),
    }
}

fn limit(kind: LimitKind, limits: &Limits) -> Rejection {
    let most = match kind {
        LimitKind::Time => format!("{:?} of time", limits.time),
        LimitKind::Memory => format!("{} bytes of memory", limits.memory_bytes),
        LimitKind::Output => format!("{} bytes of output", limits.output_bytes),
        LimitKind::Concurrency => return Rejection::new(Code::Busy, "Too many calls are running. Try again later."),
        LimitKind::TableElements
        | LimitKind::Instances
        | LimitKind::Stack
        | LimitKind::Transfer
        | LimitKind::Handles
        | LimitKind::Resources
        | LimitKind::Random => format!("its limit on {}", kind.name()),
    };
    let message = format!("The tool was stopped because it reached {most}. Ask it for less at once.");
    Rejection::new(Code::Limit(kind), message)
}
