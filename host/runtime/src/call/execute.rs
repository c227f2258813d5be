//! Step 6: the tool runs, and either answers or is stopped.

use super::answer::{Keeper, RunningAnswer, Text};
use super::effects;
use super::foresee;
use super::grant::{self, GrantedCall};
use super::instantiate::{ReadyCall, Runnable};
use super::question;
use super::record::CallRecord;
use super::rejection::Rejection;
use crate::admission::Admitted;
use crate::catalog::Tool;
use crate::inner::Inner;
use crate::ledger::OutputOrigin;
use crate::reply::{CallUsage, Code};
use crate::request::Request;
use crate::standard::{self, Standard};
use crate::text::{OneLine, cut};
use portcullis_policy::Limits;
use portcullis_sandbox::{Answer, Code as PluginCode, Failure, LimitKind, Stop, Success, Usage};
use std::sync::Arc;

/// The longest text of a failing tool that a model is shown, in bytes.
const FAILURE_BYTES_MAX: usize = 8 * 1024;

/// What the tool answered, unchecked.
pub(crate) struct RawOutcome {
    pub(super) tool: Arc<Tool>,
    pub(super) success: Success,
    /// What it had written while it ran.
    pub(super) written: Text,
    pub(super) usage: Usage,
    pub(super) bytes_in: u64,
    pub(super) output_bytes_max: usize,
}

/// How a run ended.
struct Ran {
    result: Result<Answer, Stop>,
    usage: Usage,
    /// What it did that lasts.
    done: Option<String>,
    /// What it opened in vain for a mistake of its author.
    undeclared: Option<String>,
}

impl ReadyCall {
    pub(super) async fn execute(
        self,
        host: &Arc<Inner>,
        request: &Request,
        record: &mut CallRecord,
    ) -> Result<RawOutcome, Rejection> {
        let Self { granted, code, admitted } = self;
        let (tool, limits) = (Arc::clone(&granted.call.tool), granted.limits);
        let bytes_in = granted.call.canonical.len() as u64;
        let answer = running_answer(host, request, record, &granted);
        record.running();
        let ran = match code {
            Runnable::Plugin(code) => {
                let ran = run_plugin(&code, host, request, record, granted, &answer).await;
                drop(admitted);
                ran
            }
            Runnable::Standard(standard) => run_standard(standard, host, request, granted, admitted).await,
            Runnable::Explanation => {
                let (result, usage) = foresee::run(host, request, &granted).await;
                drop(admitted);
                Ran { result, usage, done: None, undeclared: None }
            }
        };
        let (written, usage) = (answer.take(), ran.usage);
        let rejection = match ran.result {
            Ok(Ok(success)) => {
                let output_bytes_max = limits.output_bytes;
                return Ok(RawOutcome { tool, success, written, usage, bytes_in, output_bytes_max });
            }
            Ok(Err(failure)) => failed(&failure),
            Err(stop) => stopped(stop, &limits),
        };
        let rejection = Rejection { usage: Box::new(CallUsage { run: usage, bytes_in, bytes_out: 0 }), ..rejection };
        let rejection = match ran.undeclared {
            Some(what) => Rejection {
                message: format!(
                    "{} The host says: {what}. Only the author of the tool can mend that.",
                    rejection.message
                ),
                ..rejection
            },
            None => rejection,
        };
        Err(match ran.done {
            Some(done) if rejection.code != Code::Busy => {
                Rejection { message: format!("{} {done}", rejection.message), ..rejection }
            }
            Some(_) | None => rejection,
        }
        .keeping(written))
    }
}

/// What takes the text that the tool writes while it runs.
fn running_answer(
    host: &Arc<Inner>,
    request: &Request,
    record: &CallRecord,
    granted: &GrantedCall,
) -> Arc<RunningAnswer> {
    let tool = &granted.call.tool;
    let origin = OutputOrigin {
        session: question::session(&request.origin),
        principal: request.origin.principal.to_string(),
        call: record.id().to_owned(),
        tool: tool.name.to_string(),
    };
    let keeper = Keeper { outputs: host.outputs.clone(), origin };
    // What a hook may withhold is not shown before it was asked, nor text where JSON is promised.
    let heard = host.hooks.is_empty() && tool.output_schema.is_none();
    let pieces = request.pieces.clone().filter(|_| heard);
    Arc::new(RunningAnswer::new(keeper, granted.limits.output_bytes, pieces))
}

async fn run_plugin(
    code: &PluginCode,
    host: &Arc<Inner>,
    request: &Request,
    record: &CallRecord,
    granted: GrantedCall,
    answer: &Arc<RunningAnswer>,
) -> Ran {
    let GrantedCall { call, limits, handles } = granted;
    let context = record.context(host, request, &call, &limits, Some(Arc::clone(answer)));
    let (tool, cancellation) = (call.tool.name.tool.as_str(), request.cancellation.clone());
    let engine = &host.loader.engine;
    let opened = handles.refused_keys();
    let ran = engine.execute(code, tool, &call.canonical, &limits, handles, context, cancellation).await;
    record.printed(&ran.log);
    let done = effects::told(&ran.effects, &ran.traffic);
    record.traffic(ran.traffic);
    record.effects(ran.effects);
    let kind_of = |key: &str| call.plugin.dependencies.iter().find(|(known, _)| known.as_str() == key);
    let kind_of = |key: &str| kind_of(key).map(|(_, dependency)| dependency.kind);
    let undeclared = grant::undeclared(&opened, call.tool.permissions(), kind_of);
    Ran { result: ran.result, usage: ran.usage, done, undeclared }
}

async fn run_standard(
    standard: Standard,
    host: &Arc<Inner>,
    request: &Request,
    granted: GrantedCall,
    admitted: Admitted,
) -> Ran {
    let call = standard::Call {
        outputs: host.outputs.clone(),
        session: Arc::clone(&request.origin.session),
        principal: request.origin.principal.clone(),
        arguments: granted.call.arguments.clone(),
        limits: granted.limits,
        cancellation: request.cancellation.clone(),
    };
    let (result, usage) = standard::run(standard, call, admitted).await;
    Ran { result, usage, done: None, undeclared: None }
}

/// The guest's words, behind a label of ours and without anything that could pass for ours.
fn failed(failure: &Failure) -> Rejection {
    let mut retry = None;
    let (code, text) = match failure {
        Failure::InvalidArguments(text) => (Code::ToolRejectedArguments, text.as_str()),
        Failure::Denied(text) => (Code::ToolDenied, text.as_str()),
        Failure::Unavailable { message, retry_after } => {
            retry = *retry_after;
            (Code::ToolUnavailable, message.as_str())
        }
        Failure::Cancelled => return Rejection::new(Code::Cancelled, "The call was cancelled."),
        Failure::Failed(text) => (Code::ToolFailed, text.as_str()),
    };
    let more = if text.len() > FAILURE_BYTES_MAX { " [cut]" } else { "" };
    let text = crate::text::Lines(cut(text, FAILURE_BYTES_MAX));
    let when = retry.map(|after| format!(" It says that another try may help in {} s.", after.as_secs()));
    let message = format!("Error executing tool: {text}{more}{}", when.unwrap_or_default());
    Rejection { retry_after: retry, ..Rejection::new(code, message) }
}

fn stopped(stop: Stop, limits: &Limits) -> Rejection {
    match stop {
        Stop::Limit(kind) => limit(kind, limits),
        Stop::Trapped(detail) => Rejection::new(
            Code::Trapped,
            "Error executing tool: it broke and was stopped. The same call will probably break again.",
        )
        .with_detail(OneLine(&detail).to_string()),
        Stop::Exited(status) => Rejection::new(Code::Exited, "Error executing tool: it ended without an answer.")
            .with_detail(format!("it exited with status {status}")),
        Stop::Cancelled => Rejection::new(Code::Cancelled, "The call was cancelled."),
        Stop::HostPanic => Rejection::new(Code::HostPanic, "Error executing tool: the host failed while it served it.")
            .with_detail("a panic was caught; its text is on stderr"),
    }
}

fn limit(kind: LimitKind, limits: &Limits) -> Rejection {
    let most = match kind {
        LimitKind::Time => format!("{:?} of time", limits.time),
        LimitKind::Memory => format!("{} bytes of memory", limits.memory_bytes),
        LimitKind::HostMemory => {
            format!("{} bytes of host memory for open objects and streams", limits.host_memory_bytes)
        }
        LimitKind::Output => format!("{} bytes of output", limits.output_bytes),
        LimitKind::KeptOutput => format!("{} bytes of output, or what there was room for", limits.kept_output_bytes),
        LimitKind::Transfer => format!(
            "{} bytes passed on at once (an author whose tool answers with more writes to the output stream)",
            limits.transfer_bytes
        ),
        LimitKind::Concurrency => return Rejection::new(Code::Busy, "Too many calls are running. Try again later."),
        LimitKind::TableElements
        | LimitKind::Instances
        | LimitKind::Stack
        | LimitKind::Handles
        | LimitKind::Resources
        | LimitKind::Random => format!("its limit on {}", kind.name()),
    };
    let message = format!("Error executing tool: it was stopped because it reached {most}. Ask it for less at once.");
    Rejection::new(Code::Limit(kind), message)
}
