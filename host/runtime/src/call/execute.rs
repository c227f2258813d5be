//! Step 6: runs the tool until it answers or is stopped.

use super::answer::Keeper;
use super::batch::ReadyBatch;
use super::caller::{GuestLink, OwnRun};
use super::effects;
use super::foresee;
use super::grant::{self, GrantedCall};
use super::instantiate::{ReadyCall, Runnable};
use super::outcome::RawOutcome;
use super::question;
use super::record::CallRecord;
use super::rejection::{FAILURE_LABEL, Rejection};
use super::running_answer::RunningAnswer;
use crate::admission::Admitted;
use crate::inner::HostState;
use crate::inner_quota::InnerQuota;
use crate::kept_instances::InstanceOwner;
use crate::ledger::OutputOrigin;
use crate::native::{self, NativeFacts, NativeFunction, NativeRun, ProgressSender};
use crate::reply::{CallUsage, Code};
use crate::request::Request;
use crate::servers::{self, ServerRun};
use crate::standard::{self, Standard};
use crate::text::{OneLine, cut};
use crate::valid_call::ValidCall;
use portcullis_definitions::manifest::{Answer, Failure};
use portcullis_policy::Limits;
use portcullis_sandbox::{
    CallContext, CallHost, Code as PluginCode, IdleInstance, LimitKind, OutputFull, Ran, RunSetup, Stop, ToolCall,
    Usage,
};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Maximum length of a failing tool's text that a model is shown, in bytes.
const FAILURE_BYTES_MAX: usize = 8 * 1024;

/// The result of a run.
struct FinishedRun {
    result: Result<Answer, Stop>,
    usage: Usage,
    /// The side effects that remain.
    done: Option<String>,
    /// The handles that the tool could not open because its author did not declare the permission.
    undeclared: Option<String>,
    /// When a guest's run began, and the time until its own code began. `None` for a tool without a sandbox.
    sandbox: Option<(Instant, Option<Duration>)>,
}

impl FinishedRun {
    /// Creates the result of a run without a sandbox, of whose side effects the host knows nothing.
    fn of((result, usage): (Result<Answer, Stop>, Usage)) -> Self {
        Self { result, usage, done: None, undeclared: None, sandbox: None }
    }
}

impl ReadyCall {
    pub(super) async fn execute(
        self,
        host: &Arc<HostState>,
        request: &Request,
        record: &mut CallRecord,
    ) -> Result<RawOutcome, Rejection> {
        let Self { mut granted, code, admitted } = self;
        // Only a plugin in a sandbox writes files through handles. Other tools use nothing of the quotas above them.
        if !matches!(code, Runnable::Plugin(_)) {
            granted.quota = None;
        }
        let (tool, limits) = (Arc::clone(&granted.call.tool), granted.limits);
        let bytes_in = granted.call.canonical.len() as u64;
        let output_bytes_max = code.answer_bytes_max(&limits);
        let answer = running_answer(host, request, record, &granted);
        record.running();
        let ran = match code {
            Runnable::Plugin(code) => {
                let ran = run_plugin(&code, host, request, record, granted, &answer).await;
                drop(admitted);
                ran
            }
            Runnable::Standard(standard) => run_standard(standard, host, request, granted, admitted).await,
            Runnable::Native(function) => run_native(&function, host, request, record, granted, admitted).await,
            // Boxed, because the future of every call would have its size.
            Runnable::Server => Box::pin(run_server(host, request, record, granted, admitted)).await,
            Runnable::Explanation => run_explanation(host, request, granted, admitted).await,
            Runnable::Batch => {
                let began = Instant::now();
                let outcome = ReadyBatch { host, request, record, granted, admitted, answer }.run().await;
                record.finished_run(Some((began, None)), began.elapsed());
                return outcome;
            }
        };
        record.finished_run(ran.sandbox, ran.usage.wall);
        let (written, kept) = answer.finish().await;
        let usage = ran.usage;
        let full = |OutputFull| Stop::Limit(LimitKind::KeptOutput);
        // If some of its text could not be kept, the call has failed even if the tool returned an answer.
        let rejection = match ran.result.and_then(|answer| kept.map(|()| answer).map_err(full)) {
            Ok(Ok(success)) => {
                return Ok(RawOutcome { tool, success, written, results: None, usage, bytes_in, output_bytes_max });
            }
            Ok(Err(failure)) => failed(&failure),
            Err(stop) => stopped(stop, &limits),
        };
        let rejection = Rejection { usage: Box::new(CallUsage { run: usage, bytes_in, bytes_out: 0 }), ..rejection };
        let rejection = match ran.undeclared {
            Some(what) => Rejection {
                message: format!(
                    "{} Note from the host: {what}. Only the tool's author can fix that.",
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
        .keeping(written)
        .await)
    }
}

/// Creates the receiver of the text that the tool writes while it runs.
fn running_answer(
    host: &Arc<HostState>,
    request: &Request,
    record: &CallRecord,
    granted: &GrantedCall,
) -> RunningAnswer {
    let tool = &granted.call.tool;
    let origin = OutputOrigin {
        session: question::session(&request.origin),
        principal: request.origin.principal.as_str().to_owned(),
        call: record.id().to_owned(),
        tool: tool.name().to_string(),
    };
    let keeper = Keeper { outputs: host.outputs.clone(), origin: Arc::new(origin) };
    // Do not stream text that a hook could still withhold, or text of a tool that has to answer with JSON.
    let heard = host.hooks.is_empty() && tool.output_schema().is_none();
    let pieces = request.pieces.clone().filter(|_| heard);
    RunningAnswer::new(keeper, granted.limits.output_bytes, pieces)
}

async fn run_plugin(
    code: &PluginCode,
    host: &Arc<HostState>,
    request: &Request,
    record: &CallRecord,
    granted: GrantedCall,
    answer: &RunningAnswer,
) -> FinishedRun {
    let GrantedCall { call, limits, handles, quota, inner_quotas } = granted;
    let run = OwnRun { answer: answer.clone(), inner_quotas: Arc::clone(&inner_quotas) };
    let context = record.context(host, request, &call, &limits, Some(run));
    let opened = handles.refused_keys();
    let tool_call = ToolCall { tool: call.tool.name().tool.as_str(), arguments: &call.canonical };
    let setup = RunSetup { code, limits: &limits, handles, context, cancellation: request.cancellation.clone() };
    let quota = quota.map(InnerQuota::start);
    let ran = execute(host, request, record, &call, (tool_call, setup)).await;
    record.printed(&ran.log);
    if let Some(quota) = quota {
        quota.settle(&ran.effects, &inner_quotas);
    }
    let done = effects::told(&ran.effects, &ran.traffic);
    record.traffic(ran.traffic);
    record.effects(ran.effects);
    let kind_of = |key: &str| call.plugin.dependencies.iter().find(|(known, _)| known.as_str() == key);
    let kind_of = |key: &str| kind_of(key).map(|(_, dependency)| dependency.kind);
    let undeclared = grant::undeclared(&opened, call.tool.permissions(), kind_of);
    FinishedRun {
        result: ran.result,
        usage: ran.usage,
        done,
        undeclared,
        sandbox: Some((ran.began, ran.instantiation)),
    }
}

/// Runs a tool in a fresh sandbox, or in the instance of its session.
async fn execute(
    host: &HostState,
    request: &Request,
    record: &CallRecord,
    call: &ValidCall,
    (tool_call, setup): (ToolCall<'_>, RunSetup<'_>),
) -> Ran<Answer> {
    let owner = InstanceOwner::of(request, &call.plugin);
    // Every run takes a place, also one whose instance is not kept. Idle instances give up theirs for it.
    let (place, idle) = host.instances.begin(owner.as_ref());
    let Some(owner) = owner else { return host.loader.engine.execute(tool_call, setup).await };
    record.continues_after(idle.as_ref().map_or(0, IdleInstance::calls));
    let idle_time = setup.limits.idle_time;
    let (ran, idle) = host.loader.engine.execute_in_session(tool_call, setup, idle).await;
    if let Some(idle) = idle {
        place.keep(owner, idle, idle_time, &host.catalog);
    }
    ran
}

async fn run_standard(
    standard: Standard,
    host: &Arc<HostState>,
    request: &Request,
    granted: GrantedCall,
    admitted: Admitted,
) -> FinishedRun {
    let call = standard::StandardCall {
        outputs: host.outputs.clone(),
        session: Arc::clone(&request.origin.session),
        principal: request.origin.principal.clone(),
        arguments: granted.call.arguments.clone(),
        limits: granted.limits,
        cancellation: request.cancellation.clone(),
    };
    FinishedRun::of(standard::run(standard, call, admitted).await)
}

async fn run_explanation(
    host: &Arc<HostState>,
    request: &Request,
    granted: GrantedCall,
    _admitted: Admitted,
) -> FinishedRun {
    FinishedRun::of(Box::pin(foresee::run(host, request, &granted)).await)
}

async fn run_native(
    function: &NativeFunction,
    host: &Arc<HostState>,
    request: &Request,
    record: &CallRecord,
    granted: GrantedCall,
    _admitted: Admitted,
) -> FinishedRun {
    let GrantedCall { call, limits, .. } = granted;
    let CallContext { id, session, agent, host: link, .. } = record.context(host, request, &call, &limits, None);
    let network = &call.policy.network;
    let run = NativeRun {
        facts: NativeFacts { id, session, principal: request.origin.principal.clone(), agent },
        progress: ProgressSender::new(link, network, &limits),
        arguments: call.arguments.clone(),
        limits,
        cancellation: request.cancellation.clone(),
    };
    let (result, usage) = native::run(function, run).await;
    let result = result.map(|answer| {
        let (answer, traffic) = network.redact_answer(answer);
        record.traffic(traffic);
        answer
    });
    FinishedRun::of((result, usage))
}

async fn run_server(
    host: &Arc<HostState>,
    request: &Request,
    record: &CallRecord,
    granted: GrantedCall,
    _admitted: Admitted,
) -> FinishedRun {
    let GrantedCall { call, limits, .. } = granted;
    let (Some((link, grant)), Some(action)) =
        (call.plugin.server_link(), call.plugin.server_action(&call.tool.name().tool))
    else {
        // A tool of a server is only listed with both.
        let result = Ok(Err(Failure::Failed("the policy does not bind the server".to_owned())));
        return FinishedRun::of((result, Usage::default()));
    };
    let network = &call.policy.network;
    let caller = Arc::new(GuestLink::new(Arc::clone(host), record.of_the_run(), request, Arc::clone(&call), None));
    let run = ServerRun {
        server: &call.plugin.name,
        action,
        has_output_schema: call.tool.output_schema().is_some(),
        arguments: call.arguments.clone(),
        limits,
        cancellation: request.cancellation.clone(),
        progress: ProgressSender::new(Arc::clone(&caller) as Arc<dyn CallHost>, network, &limits),
        user: caller,
    };
    let (result, usage, mut traffic) = servers::run(link, grant, run).await;
    let result = result.map(|answer| {
        let (answer, redacted) = network.redact_answer(answer);
        traffic.redactions += redacted.redactions;
        answer
    });
    record.traffic(traffic);
    FinishedRun::of((result, usage))
}

/// Reports a tool's failure. Labels the guest's text, and escapes anything that could pass for a notice of the host.
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
    let when = retry.map(|after| format!(" The tool suggests a retry in {} s.", after.as_secs()));
    let message = format!("{FAILURE_LABEL}{text}{more}{}", when.unwrap_or_default());
    Rejection { retry_after: retry, ..Rejection::new(code, message) }
}

fn stopped(stop: Stop, limits: &Limits) -> Rejection {
    match stop {
        Stop::Limit(kind) => limit(kind, limits),
        Stop::Trapped(detail) => Rejection::new(
            Code::Trapped,
            format!("{FAILURE_LABEL}the tool crashed. The same call will probably crash again."),
        )
        .with_detail(OneLine(&detail).to_string()),
        Stop::Exited(status) => {
            Rejection::new(Code::Exited, format!("{FAILURE_LABEL}the tool exited without an answer."))
                .with_detail(format!("the guest exited with status {status}"))
        }
        Stop::Cancelled => Rejection::new(Code::Cancelled, "The call was cancelled."),
        Stop::HostPanic => {
            Rejection::new(Code::HostPanic, format!("{FAILURE_LABEL}the host failed while the tool ran."))
                .with_detail("a panic was caught; its text is on stderr")
        }
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
        LimitKind::KeptOutput => format!("{} bytes of output, or the space for kept outputs", limits.kept_output_bytes),
        LimitKind::Transfer => format!(
            "{} bytes passed to the host at once (a tool with larger answers must write them to the output stream)",
            limits.transfer_bytes
        ),
        LimitKind::Concurrency => return Rejection::new(Code::Busy, "Too many calls are running. Retry later."),
        LimitKind::TableElements
        | LimitKind::Instances
        | LimitKind::Stack
        | LimitKind::Handles
        | LimitKind::Resources
        | LimitKind::Random => format!("its limit on {}", kind.name()),
    };
    let message = format!("{FAILURE_LABEL}it was stopped because it reached {most}. Request less per call.");
    Rejection::new(Code::Limit(kind), message)
}
