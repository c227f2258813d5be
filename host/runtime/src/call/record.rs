//! Step 8, which begins before the first: what is recorded of a call, on whatever way it ends.

mod ending;
mod lines;
mod opinions;
mod payload;
mod source;
mod traffic;
mod withheld;

use super::effects::EffectsLine;
use super::parse::ParsedCall;
use super::rejection::Rejection;
use super::valid_call::ValidCall;
use crate::approvals::{Ticket, line::AnswerLine};
use crate::audit::{AuditError, AuditLog, Kind, WrittenEntry};
use crate::events::{CallState, Ear, Heading, Publisher};
use crate::inject::Uses;
use crate::inner::Inner;
use crate::policy_in_force::PolicyInForce;
use crate::reply::{Code, Outcome, Reply};
use crate::request::Request;
use crate::text::{cut, new_id, sha256};
use ending::RecordEnding;
use lines::{DecisionLine, Facts, OutcomeLine};
use portcullis_policy::{Decision, Layer, Payloads, Source, Verdict};
use portcullis_sandbox::{Effects, Log, Progress, Traffic};
use source::SourceLine;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use traffic::TrafficLine;

/// The longest detail of one line, in bytes.
const DETAIL_BYTES_MAX: usize = 4096;

/// What a guest printed that is kept in the record, in bytes.
const PRINTED_BYTES_MAX: usize = 4096;

/// The record of one call. If it is dropped before it is finished, the call is recorded as cancelled.
pub(crate) struct CallRecord {
    shared: Arc<Shared>,
    /// The call itself, once it is known to be one.
    call: Option<Arc<ValidCall>>,
    /// The approval it spends. It ends after everything else is written.
    ticket: Option<Ticket>,
    ending: RecordEnding,
    /// The approval request that the call has left behind.
    pub(super) approval_request: Option<String>,
}

/// What the steps of a call are taken for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// The call.
    Call,
    /// To say what would become of it.
    Rehearsal,
}

/// The part that the running call holds as well, to record what is asked in its middle.
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
    /// Begins the record of a request, before anything of it is looked at. Without randomness there are no ids that
    /// cannot be guessed: the id is then empty, and there is no call.
    pub(super) fn begin(host: &Inner, request: &Request, id: Option<String>) -> Self {
        let record = Self::new(host, request, id, Purpose::Call);
        record.shared.publish(CallState::Pending);
        record
    }

    /// A record of a call that is only explained: nothing of it is written or published.
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

    /// Whether the call is only explained.
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

    /// Whether the arguments are known to be a document.
    pub(super) fn is_parsed(&self) -> bool {
        !self.shared.facts.lock().unwrap_or_else(PoisonError::into_inner).arguments_sha256.is_empty()
    }

    /// Arguments that are no document have no one form: what is hashed is what came.
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

    /// Records the policy's decision. Unless this succeeds, it has no effect.
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

    /// Keeps the spent yes until the call has ended and is recorded.
    pub(super) fn spend(&mut self, ticket: Option<Ticket>) {
        self.ticket = ticket;
    }

    pub(super) fn running(&self) {
        self.shared.note(|facts| facts.running = true);
        self.shared.publish(CallState::Running);
    }

    /// The call if its tool has run.
    pub(super) fn ran(&self) -> Option<&ValidCall> {
        let running = self.shared.facts.lock().unwrap_or_else(PoisonError::into_inner).running;
        self.call.as_deref().filter(|_| running)
    }

    /// A person is asked. The call waits until it ends or is resumed.
    pub(super) fn waiting(&self) {
        self.shared.note(|facts| facts.waiting = true);
        self.shared.publish(CallState::Waiting);
    }

    /// A call that waited for a person goes on. One that does not run yet says so when it does.
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

    /// The tool says how far it is.
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

    /// What the tool did over the network.
    pub(super) fn traffic(&self, traffic: Traffic) {
        self.shared.note(|facts| facts.traffic = traffic);
    }

    /// What the tool did to its directories.
    pub(super) fn effects(&self, effects: Effects) {
        self.shared.note(|facts| facts.effects = effects);
    }

    /// What the tool makes of the application's services: it goes on counting while the tool runs.
    pub(super) fn uses(&self, uses: Uses) {
        self.shared.note(|facts| facts.uses = Some(uses));
    }

    pub(super) fn note_detail(&self, detail: Option<String>) {
        self.shared.note(|facts| facts.detail = detail);
    }

    /// Finishes the record and passes the reply on. A reply whose outcome cannot be recorded says so, and its
    /// answer is withheld.
    pub(super) async fn finish(mut self, reply: Reply) -> Reply {
        let outcome = self.shared.outcome(&reply);
        // Its entry is written also if this future is dropped while it waits.
        self.ending = RecordEnding::Recorded(reply.outcome());
        let reply = withheld::unless_recorded(reply, outcome.await);
        self.ending = RecordEnding::Recorded(reply.outcome());
        if let Some(ticket) = self.ticket.take() {
            ticket.finish().await;
        }
        reply
    }

    /// The part of the record that the running call holds.
    pub(super) fn of_the_run(&self) -> Self {
        let (shared, ending) = (Arc::clone(&self.shared), RecordEnding::Elsewhere);
        Self { shared, call: None, ticket: None, ending, approval_request: None }
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

    /// Publishes the end. A call that stays behind to be approved has none: it waits.
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
        // Most policies are one layer, the user's.
        let layer = layer.filter(|layer| *layer != Layer::User);
        let (call, reason) = (self.id.as_str(), &*verdict.reason);
        let entry = DecisionLine { call, decision, rule, line, layer, reason, policy_sha256, owner };
        let written = {
            let mut facts = self.facts.lock().unwrap_or_else(PoisonError::into_inner);
            let written = self.audit.write(Kind::Decision, Some(&*facts), &entry);
            // Before it is known, because a call that is dropped meanwhile finds its decision ahead of it in the queue.
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

    /// Writes how the call ended. The entry is written also if the result is dropped.
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
        // What the call was is said again only where no decision was recorded.
        self.audit.write(Kind::Outcome, (!facts.decided).then_some(&*facts), &line)
    }

    /// Records that the caller dropped the call. An error of that has no reader, and is ignored.
    fn abandoned(&self) {
        let running = self.facts.lock().unwrap_or_else(PoisonError::into_inner).running;
        let detail = match running {
            true => "the caller went away while the tool ran; it was stopped, and what it had done is done",
            false => "the caller went away before the tool ran",
        };
        self.note(|facts| facts.detail = Some(detail.to_owned()));
        drop(self.outcome(&Reply::failed(self.id.clone(), String::new(), Code::Cancelled, String::new())));
    }
}

fn unrecorded(error: &AuditError) -> Rejection {
    Rejection::new(Code::RecordUnavailable, "The call could not be recorded, so it was not made.")
        .with_detail(error.to_string())
}
