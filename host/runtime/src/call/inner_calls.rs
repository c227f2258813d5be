//! Makes the calls of a running tool to other tools. Each takes all the steps of a call. The running call gives up its
//! turn and its run slot meanwhile, so nested calls cannot wait for each other.

use super::caller::{GuestLink, OwnRun};
use super::grant::missing_keys;
use super::rejection::FAILURE_LABEL;
use super::steps;
use super::together::together_boxed;
use super::validate::is_callable;
use crate::catalog::{Catalog, Plugin, Tool};
use crate::grants::Grant;
use crate::offered::OfferedTools;
use crate::parent_call::{CallingCall, ParentCall};
use crate::reply::{Code, Outcome, Reply};
use crate::request::Request;
use crate::reserved;
use crate::steering::Steering;
use crate::text::cut;
use portcullis_definitions::manifest::{Answer, Failure, Output, Success};
use portcullis_policy::recovery::RecoverMutex;
use portcullis_policy::{Binding, DependencyKey, Policy, ToolName, ToolsBinding};
use portcullis_sandbox::{CallableTool, INNER_CALLS_AT_ONCE_MAX, InnerAnswers, InnerCall, InnerCalls, ToolSummary};
use std::future::poll_fn;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::ReusableBoxFuture;

/// Maximum length of a description in a list of tools, in bytes: about two sentences. The definition has all of it.
const SUMMARY_BYTES_MAX: usize = 300;

/// The message to a tool that has no calls left.
const EXHAUSTED: &str = "This call has made all the calls of other tools that the policy allows. Finish without them.";

/// Proposed wait before a retry while too many other calls are suspended.
const BUSY_RETRY_AFTER: Duration = Duration::from_secs(5);

/// Returns whether some call of a tool could run under a policy: it is not denied for every caller, it is callable, and
/// it has the grants that it requires.
pub(crate) fn may_run(policy: &Policy, plugin: &Plugin, tool: &Tool) -> bool {
    is_callable(policy, tool)
        && policy.may_permit(tool.name(), tool.permissions(), tool.hints())
        && missing_keys(plugin, tool).next().is_none()
}

impl GuestLink {
    /// Returns the tools that a call through a key could reach now, sorted by name.
    pub(super) async fn reachable_tools(&self, key: &str) -> Vec<ToolSummary> {
        let catalog = self.host.catalog();
        let Some(binding) = tools_binding(&catalog, &self.call.plugin, key) else { return Vec::new() };
        let offered = self.offered(&catalog).await;
        let reached = offered.tools(&catalog).filter(|(plugin, tool)| reaches(&catalog, binding, plugin, tool));
        reached.map(|(_, tool)| summary(tool)).collect()
    }

    /// Returns the reachable tools that fit a need best. The first search of a catalog builds its index, which takes
    /// too long for an async worker.
    pub(super) async fn search_reachable(&self, key: &str, query: String, limit: usize) -> Vec<ToolSummary> {
        let (catalog, plugin, key) = (self.host.catalog(), Arc::clone(&self.call.plugin), key.to_owned());
        let offered = self.offered(&catalog).await;
        let found = tokio::task::spawn_blocking(move || {
            let Some(binding) = tools_binding(&catalog, &plugin, &key) else { return Vec::new() };
            // Tools that cannot be reached must not take the places of those that can.
            let best = catalog.pick(&query, usize::MAX).into_iter();
            let offered = best.filter_map(|offer| offered.narrow(offer));
            let reached = offered.filter(|offer| reaches(&catalog, binding, &offer.plugin, &offer.tool));
            reached.take(limit).map(|offer| summary(&offer.tool)).collect()
        });
        found.await.unwrap_or_default()
    }

    /// Returns the definition of a reachable tool.
    pub(super) async fn reachable_tool(&self, key: &str, tool: &str) -> Option<CallableTool> {
        let catalog = self.host.catalog();
        let binding = tools_binding(&catalog, &self.call.plugin, key)?;
        let (plugin, tool) = catalog.find(&tool.parse().ok()?)?;
        let offered = self.offered(&catalog).await;
        let is_offered = offered.contains(plugin, tool);
        let tool = offered.narrowed(tool).unwrap_or(tool);
        (is_offered && reaches(&catalog, binding, plugin, tool)).then(|| CallableTool {
            name: tool.name().to_string(),
            title: tool.title().map(str::to_owned),
            description: tool.description().to_owned(),
            schema: tool.schema().document().to_string(),
            output_schema: tool.output_schema().map(|schema| schema.document().to_string()),
            permissions: tool.permissions(),
            hints: tool.hints().to_vec(),
        })
    }

    /// Returns the tools that the inner calls of this call are offered. If they can have no name, that is nothing.
    async fn offered(&self, catalog: &Catalog) -> OfferedTools {
        match self.request.origin.of_tools_of(&self.call.plugin.name) {
            Some(origin) => OfferedTools::to_caller(catalog, &self.host.loader, &origin).await,
            None => OfferedTools::none(),
        }
    }

    /// Makes calls at the same time, and waits for their answers.
    pub(super) async fn call_others(&self, inner: InnerCalls) -> InnerAnswers {
        let InnerCalls { key, calls, time_left, mut room } = inner;
        let began = Instant::now();
        let made = calls.len();
        let all = |failure: &Failure, spent| InnerAnswers {
            answers: (0..made).map(|_| Err(failure.clone())).collect(),
            spent,
        };
        let parent = match self.parent_call(&key) {
            Ok(parent) => parent,
            Err(why) => return all(&Failure::Denied(why), began.elapsed()),
        };
        // Every call counts, also one that is then refused. So a tool cannot make calls without end, although its time
        // does not pass while it makes them.
        let counted = calls.iter().take_while(|_| parent.count_call()).count();
        let exhausted = || Failure::Denied(EXHAUSTED.to_owned());
        if counted == 0 {
            return all(&exhausted(), began.elapsed());
        }
        if !self.offer_slots() {
            let message = "Too many calls wait for other calls or for an approver.".to_owned();
            let busy = Failure::Unavailable { message, retry_after: Some(BUSY_RETRY_AFTER) };
            return all(&busy, began.elapsed());
        }
        // The calls count for themselves. With this one among them, a limit of one call would refuse all of them.
        self.request.admission.pause_count();
        parent.begin_round(time_left, counted);
        let counted = calls.into_iter().take(counted);
        let requests: Vec<Request> = counted.map(|call| self.inner_request(&parent, call)).collect();
        let mut answers = self.answers(requests, |answer| room.take(answer)).await;
        answers.resize_with(made, || Err(exhausted()));
        let spent = parent.spent();
        self.request.admission.resume_count();
        match self.continue_run().await {
            Ok(()) => InnerAnswers { answers, spent },
            Err(why) => all(&Failure::Failed(why), spent),
        }
    }

    async fn answers(&self, mut requests: Vec<Request>, mut kept: impl FnMut(Answer) -> Answer + Send) -> Vec<Answer> {
        if requests.len() == 1
            && let Some(request) = requests.pop()
        {
            return vec![kept(answer(self.answer_alone(request).await))];
        }
        // Several calls cannot share the slot of this one. Each waits for a slot of its own.
        self.request.admission.release();
        let mut answers: Vec<Answer> = requests.iter().map(|_| Err(Failure::Cancelled)).collect();
        let ended = (&self.request.cancellation, &Steering::new());
        let take = |index: usize, reply| answers[index] = kept(answer(reply));
        // In a box, so that the future of a single call stays small.
        together_boxed(&self.host, requests, INNER_CALLS_AT_ONCE_MAX, ended, Box::new(take)).await;
        answers
    }

    /// Makes one call. It uses the slots of this call, and the memory that the call before it had for its future.
    async fn answer_alone(&self, mut request: Request) -> Reply {
        let record = steps::begin(&self.host, &mut request);
        let call = steps::go(Arc::clone(&self.host), request, record);
        let used = self.call_memory.lock_recovered().take();
        let mut call = match used {
            Some(mut memory) => {
                memory.set(call);
                memory
            }
            None => ReusableBoxFuture::new(call),
        };
        let reply = poll_fn(|context| {
            let polled = call.poll(context);
            if polled.is_pending() {
                // The call has not taken the slots, has returned them, or has lent them.
                self.request.admission.release();
            }
            polled
        });
        let reply = reply.await;
        *self.call_memory.lock_recovered() = Some(call);
        reply
    }

    /// Returns the parent of the calls through a key. It counts them until this call ends.
    pub(super) fn parent_call(&self, key: &str) -> Result<Arc<ParentCall>, String> {
        let mut parents = self.parents.lock_recovered();
        if let Some(parent) = parents.iter().find(|parent| parent.key().as_str() == key) {
            return Ok(Arc::clone(parent));
        }
        let key = DependencyKey::new(key).map_err(|error| error.to_string())?;
        // The grant of the call, as it was shown to an approver, counts the calls. The policy in force decides them.
        let Some(Grant::Tools(binding)) = self.call.plugin.grants.get(&key) else {
            return Err("the policy does not grant these tools".to_owned());
        };
        let origin = &self.request.origin;
        let Some(OwnRun { inner_quotas: quota, .. }) = &self.run else {
            return Err("only a running call makes calls".to_owned());
        };
        let (call, parent, report) = (&self.call, self.request.parent.as_ref(), self.progress_report());
        let admission = &self.request.admission;
        let (id, first_call) = (self.record_id(), self.request.first_call());
        let calling = CallingCall { id, first_call, call, admission, origin, parent, quota, report };
        let parent = ParentCall::new(calling, key, binding).map(Arc::new);
        let parent =
            parent.ok_or("A tool that was called by tools cannot call more tools here: the chain is too long.")?;
        parents.push(Arc::clone(&parent));
        Ok(parent)
    }

    /// Returns the request of a call. One that cannot be made is marked as refused, so that it is recorded too.
    pub(super) fn inner_request(&self, parent: &Arc<ParentCall>, call: InnerCall) -> Request {
        let InnerCall { tool, arguments } = call;
        let refused = self.inner_refusal(parent, &tool);
        let mut made = self.request.of_the_same_caller(tool, arguments);
        made.parent = Some(Arc::clone(parent));
        made.overrides = self.request.overrides.clone();
        match (refused, parent.inner_origin()) {
            (None, Some(origin)) => made.origin = origin.clone(),
            (None, None) => {
                let why = "Not called: the chain of callers is too long.";
                made.refused = Some((Code::DependencyNotGranted, Arc::from(why)));
            }
            (Some((code, why)), _) => made.refused = Some((code, Arc::from(why))),
        }
        made
    }

    /// Returns why a call of a tool cannot be made.
    fn inner_refusal(&self, parent: &ParentCall, tool: &str) -> Option<(Code, String)> {
        let Ok(tool) = tool.parse::<ToolName>() else {
            let why = "This is not the full name of a tool, such as files.read.";
            return Some((Code::UnknownTool, why.to_owned()));
        };
        let why = parent.refusal(&self.host.catalog(), &tool)?;
        Some((Code::DependencyNotGranted, format!("Not called: {why}.")))
    }
}

/// Returns what the policy in force binds to a key of tools.
fn tools_binding<'a>(catalog: &'a Catalog, plugin: &Plugin, key: &str) -> Option<&'a ToolsBinding> {
    let bindings = catalog.policy.policy.bindings(&plugin.name);
    let Some(Binding::Tools(binding)) = bindings.get(&DependencyKey::new(key).ok()?) else { return None };
    Some(binding)
}

fn reaches(catalog: &Catalog, binding: &ToolsBinding, plugin: &Plugin, tool: &Tool) -> bool {
    // A tool makes several calls itself, so a batch of it would be refused.
    !reserved::batches(tool.name()) && binding.covers(tool.name()) && may_run(&catalog.policy.policy, plugin, tool)
}

fn summary(tool: &Tool) -> ToolSummary {
    ToolSummary {
        name: tool.name().to_string(),
        title: tool.title().map(str::to_owned),
        description: cut(tool.description(), SUMMARY_BYTES_MAX).to_owned(),
    }
}

/// Returns a reply as the answer that a tool gets.
fn answer(reply: Reply) -> Answer {
    // The calling tool knows that the call failed. If it fails with the same message, the host adds the label again.
    let message = match reply.message.strip_prefix(FAILURE_LABEL) {
        Some(unlabelled) if reply.outcome() != Outcome::Completed => unlabelled.to_owned(),
        Some(_) | None => reply.message,
    };
    if reply.code.outcome() != Outcome::Completed {
        return Err(failure(reply.code, message, reply.retry_after));
    }
    let output = reply.output.unwrap_or(Output::Text(message));
    let metadata = reply.metadata.map(|metadata| metadata.to_string());
    Ok(Success { title: reply.title, output, metadata })
}

/// Returns a refusal or a failure as the answer that a tool gets.
pub(super) fn failure(code: Code, message: String, retry_after: Option<Duration>) -> Failure {
    match (code, code.outcome()) {
        // The called tool itself has told these kinds.
        (Code::ToolRejectedArguments, _) | (_, Outcome::Invalid) => Failure::InvalidArguments(message),
        (Code::ToolDenied, _) | (_, Outcome::Denied | Outcome::Pending) => Failure::Denied(message),
        (_, Outcome::Cancelled) => Failure::Cancelled,
        (code, Outcome::Failed | Outcome::Limit | Outcome::Refused) if may_be_retried(code) => {
            Failure::Unavailable { message, retry_after }
        }
        (_, Outcome::Completed | Outcome::Failed | Outcome::Limit | Outcome::Trapped | Outcome::Refused) => {
            Failure::Failed(message)
        }
    }
}

fn may_be_retried(code: Code) -> bool {
    matches!(code, Code::ToolUnavailable | Code::RateLimited | Code::Busy | Code::PluginLoading)
}
