//! Step 8, which begins before step 1: writes a call to the audit log, however the call ends.

mod ending;
mod lines;
mod opinions;
mod payload;
mod source;
mod traffic;
mod withheld;

use super::Rejection;
use super::answer::RunningAnswer;
use super::caller::Caller;
use super::effects::EffectsLine;
use super::parse::ParsedCall;
use super::validate::ValidCall;
use crate::approvals::{Ticket, line::AnswerLine};
use crate::audit::{AuditError, AuditLog, Kind, WrittenEntry};
use crate::events::{CallState, Ear, Heading, Publisher};
use crate::host::Inner;
use crate::inject::Uses;
use crate::policy_in_force::PolicyInForce;
use crate::reply::{CallUsage, Code, Outcome, Reply};
use crate::request::Request;
use crate::text::{cut, new_id, sha256};
use ending::RecordEnding;
use lines::{DecisionLine, Facts, OutcomeLine};
use portcullis_policy::{Decision, Layer, Limits, Payloads, Source, Verdict};
use portcullis_sandbox::{CallContext, Effects, Log, Progress, Traffic};
use source::SourceLine;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use traffic::TrafficLine;

/// Maximum length of an entry's detail, in bytes.
const DETAIL_BYTES_MAX: usize = 4096;

/// Maximum guest output to stdout and stderr that an entry stores, in bytes.
const PRINTED_BYTES_MAX: usize = 4096;

/// The audit record of one call. If it is dropped before it is finished, the call is recorded as cancelled.
pub(crate) struct CallRecord {
    shared: Arc<Shared>,
    /// The call, once it is validated.
    call: Option<Arc<ValidCall>>,
    /// The approval that the call spends. It ends after everything else is written.
    ticket: Option<Ticket>,
    ending: RecordEnding,
    /// The id of the approval request that the call left open.
    pub(super) approval_request: Option<String>,
}

/// Why the steps of a call are taken.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// To run the call.
    Call,
    /// To explain what would happen to the call.
    Rehearsal,
}

/// The part that the running call shares, to record the permission requests that it makes.
struct Shared {
    purpose: Purpose,
    audit: Arc<AuditLog>,
    events: Arc<Publisher>,
    ear: Option<Arc<Ear>>,
    id: String,
    payloads: Payloads,
    facts: Mutex<Facts>,
    heading: OnceLock<Heading>,
}

impl CallRecord {
    /// Begins the record of a request. Without randomness, the id is empty, and the call must not be made.
    pub(super) fn begin(host: &Inner, request: &Request, id: Option<String>) -> Self {
        let record = Self::new(host, request, id, Purpose::Call);
        record.shared.publish(CallState::Pending);
        record
    }

    /// Creates the record of a call that is only explained. It writes and publishes nothing.
    pub(super) fn rehearsal(host: &Inner, request: &Request) -> Self {
        let mut record = Self::new(host, request, None, Purpose::Rehearsal);
        record.ending = RecordEnding::Elsewhere;
        record
    }

    fn new(host: &Inner, request: &Request, id: Option<String>, purpose: Purpose) -> Self {
        let facts = Facts {
            session: cut(&request.origin.session, 128).to_owned(),
            principal: request.origin.principal.to_string(),
            agent: request.origin.agent.as_deref().map(|agent| cut(agent, 128).to_owned()),
            trace: request.origin.trace.clone(),
            tool: cut(&request.tool, 256).to_owned(),
            arguments_bytes: request.arguments.len(),
            source: request.provenance.as_deref().map(SourceLine::of),
            arguments_sha256: String::new(),
            ..Facts::default()
        };
        let (audit, events) = (Arc::clone(&host.audit), Arc::clone(&host.events));
        let (id, payloads) = (id.or_else(new_id).unwrap_or_default(), host.policy().policy.record().payloads);
        let (facts, heading, ear) = (Mutex::new(facts), OnceLock::new(), request.ear.clone());
        let shared = Shared { purpose, audit, events, ear, id, payloads, facts, heading };
        let ending = RecordEnding::Abandoned;
        Self { shared: Arc::new(shared), call: None, ticket: None, ending, approval_request: None }
    }

    pub(super) fn id(&self) -> &str {
        &self.shared.id
    }

    /// Returns whether the call is only explained.
    pub(super) fn is_rehearsal(&self) -> bool {
        self.shared.purpose == Purpose::Rehearsal
    }

    pub(super) fn parsed(&self, call: &ParsedCall) {
        self.shared.note(|facts| {
            facts.arguments_sha256 = sha256(&call.canonical);
            facts.stringified = call.stringified;
            facts.arguments = payload::arguments(self.shared.payloads, &call.canonical);
        });
    }

    /// Returns whether the arguments were parsed.
    pub(super) fn is_parsed(&self) -> bool {
        !self.shared.facts.lock().unwrap_or_else(PoisonError::into_inner).arguments_sha256.is_empty()
    }

    /// Hashes the received bytes of arguments that cannot be parsed, because they have no canonical form.
    pub(super) fn unparsed(&self, request: &Request) {
        self.shared.note(|facts| facts.arguments_sha256 = sha256(&request.arguments));
    }

    pub(super) fn valid(&mut self, call: &Arc<ValidCall>) {
        self.call = Some(Arc::clone(call));
        self.shared.note(|facts| {
            facts.plugin_sha256 = Some(Arc::clone(&call.plugin.sha256_hex));
            facts.definition_sha256 = Some(Arc::clone(&call.tool.sha256_hex));
        });
    }

    /// Records the policy's decision. If this fails, the decision has no effect.
    pub(super) async fn decided(
        &self,
        host: &Inner,
        policy: &PolicyInForce,
        verdict: &Verdict,
    ) -> Result<(), Rejection> {
        let decision = match verdict.decision {
            Decision::Allow => "allow",
            Decision::Ask => "ask",
            Decision::Deny => "deny",
        };
        self.shared.decision(decision, verdict, (&policy.sha256, host.owner.id())).await
    }

    /// Holds the spent approval until the call's end is recorded.
    pub(super) fn spend(&mut self, ticket: Option<Ticket>) {
        self.ticket = ticket;
    }

    pub(super) fn running(&self) {
        self.shared.note(|facts| facts.running = true);
        self.shared.publish(CallState::Running);
    }

    /// Returns the call if its tool has run.
    pub(super) fn ran(&self) -> Option<&ValidCall> {
        let running = self.shared.facts.lock().unwrap_or_else(PoisonError::into_inner).running;
        self.call.as_deref().filter(|_| running)
    }

    /// Notes that the call waits for an approver, until it ends or is resumed.
    pub(super) fn waiting(&self) {
        self.shared.note(|facts| facts.waiting = true);
        self.shared.publish(CallState::Waiting);
    }

    /// Notes that the call no longer waits for an approver. Publishes that only if the call has already started.
    pub(super) fn resumed(&self) {
        let mut running = false;
        self.shared.note(|facts| {
            facts.waiting = false;
            running = facts.running;
        });
        if running {
            self.shared.publish(CallState::Running);
        }
    }

    /// Publishes the tool's progress.
    pub(super) fn progressed(&self, progress: Progress) {
        self.shared.events.progress(self.shared.ear.as_deref(), || self.shared.heading(), progress);
    }

    pub(super) fn printed(&self, log: &Log) {
        if log.bytes.is_empty() {
            return;
        }
        let text = String::from_utf8_lossy(&log.bytes[..log.bytes.len().min(PRINTED_BYTES_MAX)]).into_owned();
        let dropped = log.dropped_bytes + (log.bytes.len().saturating_sub(PRINTED_BYTES_MAX)) as u64;
        let more = if dropped > 0 { format!(" [and {dropped} bytes more]") } else { String::new() };
        self.shared.note(|facts| facts.printed = Some(text + &more));
    }

    /// Notes what the tool did over the network.
    pub(super) fn traffic(&self, traffic: Traffic) {
        self.shared.note(|facts| facts.traffic = traffic);
    }

    /// Notes what the tool did in its directories.
    pub(super) fn effects(&self, effects: Effects) {
        self.shared.note(|facts| facts.effects = effects);
    }

    /// Notes the counters of the tool's service calls. They keep counting while the tool runs.
    pub(super) fn uses(&self, uses: Uses) {
        self.shared.note(|facts| facts.uses = Some(uses));
    }

    pub(super) fn note_detail(&self, detail: Option<String>) {
        self.shared.note(|facts| facts.detail = detail);
    }

    /// Finishes the record and returns the reply. If the outcome cannot be recorded, the answer is withheld and the
    /// reply says so.
    pub(super) async fn finish(mut self, reply: Reply) -> Reply {
        let outcome = self.shared.outcome(&reply);
        // The entry is written even if this future is dropped while it waits.
        self.ending = RecordEnding::Recorded(reply.outcome());
        let reply = withheld::unless_recorded(reply, outcome.await);
        self.ending = RecordEnding::Recorded(reply.outcome());
        if let Some(ticket) = self.ticket.take() {
            ticket.finish().await;
        }
        reply
    }

    /// Returns what the guest may know about the call, and the host services that it can use.
    pub(super) fn context(
        &self,
        host: &Arc<Inner>,
        request: &Request,
        call: &Arc<ValidCall>,
        limits: &Limits,
        answer: Option<Arc<RunningAnswer>>,
    ) -> CallContext {
        let (shared, ending) = (Arc::clone(&self.shared), RecordEnding::Elsewhere);
        let record = Self { shared, call: None, ticket: None, ending, approval_request: None };
        CallContext {
            id: Arc::from(self.id()),
            session: Arc::clone(&request.origin.session),
            message: request.origin.message.clone(),
            agent: request.origin.agent.clone(),
            host: Arc::new(Caller::new(Arc::clone(host), record, request, Arc::clone(call), answer)),
            approval_time: limits.approval_time,
        }
    }
}

impl Drop for CallRecord {
    fn drop(&mut self) {
        match self.ending {
            RecordEnding::Abandoned => {
                self.shared.abandoned();
                self.shared.ended(Outcome::Cancelled);
            }
            RecordEnding::Recorded(outcome) => self.shared.ended(outcome),
            RecordEnding::Elsewhere => {}
        }
    }
}

impl Shared {
    fn note(&self, change: impl FnOnce(&mut Facts)) {
        change(&mut self.facts.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn publish(&self, state: CallState) {
        self.events.state(self.ear.as_deref(), || self.heading(), state);
    }

    /// Publishes the end of the call. A call with an open approval request has no end: it waits.
    fn ended(&self, outcome: Outcome) {
        match outcome {
            Outcome::Pending if self.facts.lock().unwrap_or_else(PoisonError::into_inner).waiting => {}
            Outcome::Pending => self.publish(CallState::Waiting),
            Outcome::Completed
            | Outcome::Failed
            | Outcome::Invalid
            | Outcome::Denied
            | Outcome::Cancelled
            | Outcome::Limit
            | Outcome::Trapped
            | Outcome::Refused => self.publish(CallState::Ended(outcome)),
        }
    }

    fn heading(&self) -> &Heading {
        self.heading.get_or_init(|| {
            let facts = self.facts.lock().unwrap_or_else(PoisonError::into_inner);
            let (session, tool) = (facts.session.as_str().into(), facts.tool.as_str().into());
            Heading { call: self.id.as_str().into(), session, tool }
        })
    }

    async fn decision(
        &self,
        decision: &str,
        verdict: &Verdict,
        (policy_sha256, owner): (&str, &str),
    ) -> Result<(), Rejection> {
        if self.purpose == Purpose::Rehearsal {
            return Ok(());
        }
        let (rule, line, layer) = match &verdict.source {
            Source::Rule(rule) => (Some(rule.number as u64), Some(rule.line as u64), Some(rule.layer)),
            Source::Default => (None, None, None),
        };
        // Omit the user's layer, because most policies have no other.
        let layer = layer.filter(|layer| *layer != Layer::User);
        let (call, reason) = (self.id.as_str(), &*verdict.reason);
        let entry = DecisionLine { call, decision, rule, line, layer, reason, policy_sha256, owner };
        let written = {
            let mut facts = self.facts.lock().unwrap_or_else(PoisonError::into_inner);
            let written = self.audit.write(Kind::Decision, Some(&*facts), &entry);
            // Set this now: if the call is dropped, its decision is ahead of its outcome in the queue.
            facts.decided = true;
            written
        };
        let recorded = written.await;
        self.note(|facts| facts.decided = recorded.is_ok());
        recorded.map_err(|error| unrecorded(&error))
    }

    async fn answer(&self, subject: String, answer: &str, note: Option<&str>) -> Result<(), Rejection> {
        if self.purpose == Purpose::Rehearsal {
            return Ok(());
        }
        let line = AnswerLine { call: &self.id, question: None, subject, answer, covers: None, held: None, note };
        self.audit.write(Kind::Answer, None::<&Facts>, &line).await.map_err(|error| unrecorded(&error))
    }

    /// Writes how the call ended. The entry is written even if the returned future is dropped.
    fn outcome(&self, reply: &Reply) -> WrittenEntry {
        let facts = self.facts.lock().unwrap_or_else(PoisonError::into_inner);
        let run = &reply.usage.run;
        let microseconds = |duration: std::time::Duration| u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        let line = OutcomeLine {
            call: &self.id,
            outcome: reply.outcome().as_str(),
            code: reply.code.as_str(),
            wall_us: microseconds(run.wall),
            cpu_us: microseconds(run.cpu),
            memory_bytes: run.memory_bytes,
            bytes_in: reply.usage.bytes_in,
            bytes_out: reply.usage.bytes_out,
            detail: facts.detail.as_deref().map(|detail| cut(detail, DETAIL_BYTES_MAX)),
            printed: facts.printed.as_deref(),
            http: TrafficLine::of(&facts.traffic),
            files: EffectsLine::of(&facts.effects),
            services: facts.uses.as_ref().filter(|uses| !uses.is_empty()),
            retry_after_s: reply.retry_after.map(|after| after.as_secs()),
            reference: reply.reference.as_ref().map(|reference| reference.id.as_str()),
            output: reply.output.as_ref().map(|output| payload::output(self.payloads, output)),
        };
        // The decision entry already has the facts. Repeat them only if no decision was recorded.
        self.audit.write(Kind::Outcome, (!facts.decided).then_some(&*facts), &line)
    }

    /// Records that the caller dropped the call. Ignores errors, because no caller is left to receive them.
    fn abandoned(&self) {
        let running = self.facts.lock().unwrap_or_else(PoisonError::into_inner).running;
        let detail = match running {
            true => "the caller dropped the call while the tool ran; the tool was stopped, and its side effects remain",
            false => "the caller dropped the call before the tool ran",
        };
        self.note(|facts| facts.detail = Some(detail.to_owned()));
        drop(self.outcome(&Reply {
            id: self.id.clone(),
            tool: String::new(),
            code: Code::Cancelled,
            output: None,
            title: None,
            metadata: None,
            message: String::new(),
            reference: None,
            retry_after: None,
            approval_request: None,
            usage: CallUsage::default(),
        }));
    }
}

fn unrecorded(error: &AuditError) -> Rejection {
    Rejection::new(Code::RecordUnavailable, "Not run: the call could not be written to the audit log.")
        .with_detail(error.to_string())
}
