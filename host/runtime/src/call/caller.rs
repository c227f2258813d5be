//! Serves a running call: receives its progress, and answers its permission requests with the same policy and the same
//! approver as the call itself.

use super::grant;
use super::question::{self, AskedResource};
use super::record::CallRecord;
use super::rejection::Rejection;
use super::running_answer::RunningAnswer;
use super::verdict_text::verdict_text;
use crate::approvals::{ApprovalCase, ApproverChannel, AskOutcome, CallPreview, NOTE_BYTES_MAX};
use crate::inner::HostState;
use crate::inner_quota::QuotaPool;
use crate::parent_call::{InnerRun, ParentCall, ProgressReport};
use crate::policy_in_force::PolicyInForce;
use crate::reply::{Code, Reply};
use crate::request::Request;
use crate::text::{OneLine, cut};
use crate::valid_call::ValidCall;
use portcullis_policy::{Decision, Limits, Permission, RESOURCE_BYTES, ResourceQuestion, Verdict};
use portcullis_sandbox::{
    ApprovedCalls, Ask, CallContext, CallHost, CallableTool, Effects, Escalation, InnerAnswers, InnerCall, InnerCalls,
    InnerOutlook, OutputFull, ProgramExtra, Progress, ToolSummary, Traffic,
};
use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use tokio_util::sync::ReusableBoxFuture;

/// The host services for one running call.
pub(super) struct GuestLink {
    pub(super) host: Arc<HostState>,
    record: CallRecord,
    pub(super) request: Request,
    pub(super) call: Arc<ValidCall>,
    /// `None` for a review or a preview, which writes no answer and makes no calls.
    pub(super) run: Option<OwnRun>,
    /// The run of a call that a tool made.
    inner_run: Option<InnerRun>,
    /// The parents of the calls that this call makes, one for each key of tools.
    pub(super) parents: Mutex<Vec<Arc<ParentCall>>>,
    /// The memory of the last call that this call made, for the next one.
    pub(super) call_memory: Mutex<Option<ReusableBoxFuture<'static, Reply>>>,
}

/// What only the run of a call has.
pub(super) struct OwnRun {
    pub(super) answer: RunningAnswer,
    /// What the calls that it makes may write together.
    pub(super) inner_quotas: Arc<QuotaPool>,
}

impl CallRecord {
    /// Returns what the guest may know about the call, and the host services that it can use.
    pub(super) fn context(
        &self,
        host: &Arc<HostState>,
        request: &Request,
        call: &Arc<ValidCall>,
        limits: &Limits,
        run: Option<OwnRun>,
    ) -> CallContext {
        let record = self.of_the_run();
        CallContext {
            id: Arc::from(self.id()),
            session: Arc::clone(&request.origin.session),
            message: request.origin.message.clone(),
            agent: request.origin.agent.clone(),
            host: Arc::new(GuestLink::new(Arc::clone(host), record, request, Arc::clone(call), run)),
            approval_time: limits.approval_time,
        }
    }
}

impl CallHost for GuestLink {
    fn report(&self, progress: Progress) {
        self.record.progressed(progress);
    }

    fn ask(&self, asked: Ask) -> Pin<Box<dyn Future<Output = Result<(), String>> + Send + '_>> {
        Box::pin(self.decide(asked))
    }

    fn escalate(
        &self,
        escalation: Escalation,
    ) -> Pin<Box<dyn Future<Output = Result<ProgramExtra, String>> + Send + '_>> {
        Box::pin(self.ask_for_program(escalation))
    }

    fn list_tools<'a>(&'a self, key: &'a str) -> Pin<Box<dyn Future<Output = Vec<ToolSummary>> + Send + 'a>> {
        Box::pin(self.reachable_tools(key))
    }

    fn search_tools<'a>(
        &'a self,
        key: &'a str,
        query: String,
        limit: usize,
    ) -> Pin<Box<dyn Future<Output = Vec<ToolSummary>> + Send + 'a>> {
        Box::pin(self.search_reachable(key, query, limit))
    }

    fn find_tool<'a>(
        &'a self,
        key: &'a str,
        tool: &'a str,
    ) -> Pin<Box<dyn Future<Output = Option<CallableTool>> + Send + 'a>> {
        Box::pin(self.reachable_tool(key, tool))
    }

    fn call_tools(&self, calls: InnerCalls) -> Pin<Box<dyn Future<Output = InnerAnswers> + Send + '_>> {
        Box::pin(self.call_others(calls))
    }

    fn foresee_calls<'a>(
        &'a self,
        key: &'a str,
        calls: Vec<InnerCall>,
    ) -> Pin<Box<dyn Future<Output = Vec<InnerOutlook>> + Send + 'a>> {
        Box::pin(self.foresee_others(key, calls))
    }

    fn approve_calls<'a>(
        &'a self,
        key: &'a str,
        calls: Vec<InnerCall>,
    ) -> Pin<Box<dyn Future<Output = ApprovedCalls> + Send + 'a>> {
        Box::pin(self.approve_others(key, calls))
    }

    fn write_output(&self, piece: &[u8]) -> Result<(), OutputFull> {
        self.run.as_ref().map_or(Err(OutputFull), |run| run.answer.write(piece))
    }

    fn has_output_room(&self) -> bool {
        self.run.as_ref().is_none_or(|run| run.answer.has_room())
    }

    fn output_room(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async {
            if let Some(run) = &self.run {
                run.answer.room().await;
            }
        })
    }

    fn traffic(&self, traffic: Traffic) {
        self.record.traffic(traffic);
    }

    fn effects(&self, effects: Effects) {
        self.record.effects(effects);
    }
}

impl GuestLink {
    pub(super) fn new(
        host: Arc<HostState>,
        record: CallRecord,
        request: &Request,
        call: Arc<ValidCall>,
        run: Option<OwnRun>,
    ) -> Self {
        // The time of a review or a preview does not count for the calls above.
        let inner_run = request.parent.as_ref().filter(|_| run.is_some()).map(InnerRun::begin);
        let request = Request {
            overrides: request.overrides.clone(),
            approval_wait: request.approval_wait,
            in_batch: request.in_batch.clone(),
            ..request.without_arguments()
        };
        Self { host, record, request, call, run, inner_run, parents: Mutex::default(), call_memory: Mutex::default() }
    }

    pub(super) fn record_id(&self) -> &str {
        self.record.id()
    }

    /// Keeps a detail for the operator. The tool goes on, so it is no detail of a failure.
    pub(super) fn note_detail(&self, detail: String) {
        self.record.note_detail(Some(detail));
    }

    /// Returns a publisher of this call's progress, for the calls that it makes.
    pub(super) fn progress_report(&self) -> ProgressReport {
        self.record.progress_report()
    }

    /// Releases the call's slots while it waits. Returns false if too many calls already wait, so that it keeps them.
    /// It must not wait for calls that it makes then: they could need its slots.
    pub(super) fn suspend(&self) -> bool {
        let is_suspended = self.offer_slots();
        if is_suspended {
            self.request.admission.release();
        }
        is_suspended
    }

    /// Offers the call's slots to a call that it makes, like [`GuestLink::suspend`]. Its run slot and its place in the
    /// order of its session stay its own until that call takes them.
    pub(super) fn offer_slots(&self) -> bool {
        if !self.host.admissions.offer(&self.request.admission) {
            return false;
        }
        if let Some(turn) = &self.request.turn {
            turn.release();
            // The call that gets the turn next may need the place in the order before it gives the turn back.
            self.request.admission.release();
        }
        if let Some(run) = &self.inner_run {
            run.pause();
        }
        true
    }

    /// Waits until a suspended call has its slots again.
    pub(super) async fn continue_run(&self) -> Result<(), String> {
        // Take the turn before the order and the slot, as at the start of a call. Otherwise two calls could deadlock.
        if let Some(turn) = &self.request.turn {
            turn.resume().await;
        }
        let retaken = self.host.admissions.retake(&self.request.admission).await;
        if let Some(run) = &self.inner_run {
            run.resume();
        }
        retaken.map_err(|error| format!("the session's lock file is not usable: {error}"))
    }

    /// Releases the call's slots, so that other calls can run while this one waits for an approver.
    fn let_go(&self) {
        self.record.waiting();
        // If too many calls already wait, this one waits with its slots.
        let _ = self.suspend();
    }

    /// Waits until this call has its slots again.
    async fn go_on(&self) -> Result<(), String> {
        let continued = self.continue_run().await;
        self.record.resumed();
        continued
    }

    async fn decide(&self, asked: Ask) -> Result<(), String> {
        let tool = &self.call.tool;
        let permission = asked.permission.parse::<Permission>().ok();
        let Some(permission) = permission.filter(|permission| tool.permissions().contains(*permission)) else {
            return Err(format!("{} does not declare this permission. Only the tool's author can add it", tool.name()));
        };
        let Ask { resource, reason, patterns, .. } = asked;
        self.decide_resource(AskedResource { permission, resource, reason, patterns, by_person: false }).await
    }

    /// Records the answer to a question of the running call.
    pub(super) async fn note_answer(
        &self,
        what: String,
        answer: &'static str,
        note: Option<&str>,
    ) -> Result<(), Rejection> {
        self.record.answered(what, answer, note).await
    }

    /// Decides on a resource by the policy, and asks a person where it says so.
    pub(super) async fn decide_resource(&self, resource: AskedResource) -> Result<(), String> {
        let permission = resource.permission;
        loop {
            // The policy in force now decides a new request, whatever policy the call began under.
            let policy = self.host.policy();
            let verdict = self.verdict(&policy, &resource);
            let decided = async |yes, note: Option<&str>| {
                let subject = format!("{permission}: {}", cut(&resource.resource, RESOURCE_BYTES));
                self.record.answered(subject, yes, note).await.map_err(|rejection| rejection.message)
            };
            let answered = match verdict.decision {
                Decision::Allow => return decided("yes", None).await,
                Decision::Deny => {
                    decided("no", Some(&verdict.reason)).await?;
                    return Err(format!("the policy denies it: {}", verdict.reason));
                }
                Decision::Ask => self.ask_person(&policy, &resource, verdict_text(&verdict)).await?,
            };
            match answered {
                AskOutcome::Redecided => {}
                AskOutcome::Yes(_) => return Ok(()),
                AskOutcome::No { note, detail } => {
                    detail.into_iter().for_each(|detail| self.note_detail(detail));
                    let note = note.map(|note| format!(": {}", OneLine(cut(&note, NOTE_BYTES_MAX))));
                    return Err(format!("not approved{}", note.unwrap_or_default()));
                }
                AskOutcome::Part { .. } | AskOutcome::Pending { .. } => return Err("not approved".to_owned()),
            }
        }
    }

    fn verdict(&self, policy: &PolicyInForce, resource: &AskedResource) -> Verdict {
        resource.asked_if_allowed(policy.policy.decide_resource(&self.resource_question(resource)))
    }

    /// Decides as if the policy were not paused. A pause denies no request that is already open.
    fn verdict_after_pause(&self, policy: &PolicyInForce, resource: &AskedResource) -> Verdict {
        resource.asked_if_allowed(policy.policy.decide_resource_unpaused(&self.resource_question(resource)))
    }

    fn resource_question<'a>(&'a self, resource: &'a AskedResource) -> ResourceQuestion<'a> {
        let tool = &self.call.tool;
        ResourceQuestion {
            tool: tool.name(),
            permission: resource.permission,
            hints: tool.hints(),
            resource: &resource.resource,
            caller: self.request.origin.caller(),
        }
    }

    async fn ask_person(
        &self,
        policy: &Arc<PolicyInForce>,
        resource: &AskedResource,
        reason: String,
    ) -> Result<AskOutcome, String> {
        let refused = |rejection: Rejection| rejection.message;
        // What a person grants to a program is another handle than those of the tool.
        if !resource.by_person {
            grant::check_writable(&self.call.plugin, &self.call.tool, resource.permission.into()).map_err(refused)?;
        }
        let origin = &self.request.origin;
        let case = question::about_resource(origin, &self.call, self.record.id(), resource.clone(), reason);
        let channel = self.host.channel_of(&self.request, &policy.policy);
        let redecided = self.redecided(policy, resource);
        self.ask_in_the_middle(&channel, case.map_err(refused)?, || ready(None), redecided).await
    }

    /// Asks an approver while the call runs, and gives its slots to others meanwhile. The wait ends when the call is
    /// cancelled, or with `redecided`, which ends when a new policy makes the answer unnecessary. A call that has
    /// started cannot be superseded.
    pub(super) async fn ask_in_the_middle<P: Future<Output = Option<CallPreview>> + Send>(
        &self,
        channel: &ApproverChannel,
        mut case: ApprovalCase,
        preview: impl Fn() -> P + Send,
        redecided: impl Future<Output = ()> + Send,
    ) -> Result<AskOutcome, String> {
        case.question.called_by = self.request.called_by();
        let stopped = async {
            tokio::select! {
                biased;
                () = self.request.cancellation.cancelled() => {
                    Err(Rejection::new(Code::Cancelled, "The call was cancelled."))
                }
                () = redecided => Ok(AskOutcome::Redecided),
            }
        };
        let asked = self.host.approvals.ask(channel, case, preview, || self.let_go(), stopped).await;
        // Before the error is returned, because the tool goes on after it and needs its slots.
        self.go_on().await?;
        asked.map_err(|error| Rejection::from(error).message)
    }

    /// Waits until a policy is in force that decides without an approver.
    async fn redecided(&self, asking: &Arc<PolicyInForce>, resource: &AskedResource) {
        let mut changes = self.host.catalog.subscribe();
        loop {
            let policy = Arc::clone(&changes.borrow_and_update().policy);
            if !Arc::ptr_eq(&policy, asking) && self.verdict_after_pause(&policy, resource).decision != Decision::Ask {
                return;
            }
            if changes.changed().await.is_err() {
                return std::future::pending().await;
            }
        }
    }
}
