//! Step 8, which begins before step 1: writes a call to the audit log, however the call ends.

mod announcer;
mod ending;
mod entry;
mod lines;
mod opinions;
mod payload;
mod source;
mod times;
mod traffic;
mod withheld;

use super::parse::ParsedCall;
use super::rejection::Rejection;
use crate::approvals::Ticket;
use crate::events::{CallState, Event, EventPayload};
use crate::inject::Uses;
use crate::inner::HostState;
use crate::live::ObservedCall;
use crate::parent_call::ProgressReport;
use crate::policy_in_force::PolicyInForce;
use crate::reply::{Code, Reply};
use crate::request::Request;
use crate::text::sha256;
use crate::under_way::CallUnderWay;
use crate::valid_call::ValidCall;
use announcer::CallAnnouncer;
use ending::RecordEnding;
use entry::{CallEntry, Purpose};
use portcullis_definitions::tool;
use portcullis_policy::{Decision, Verdict};
use portcullis_sandbox::{Effects, Log, Progress, Traffic};
use std::sync::{Arc, Weak};

/// Maximum guest output to stdout and stderr that an entry stores, in bytes.
const PRINTED_BYTES_MAX: usize = 4096;

/// The part that the running call shares, to record the permission requests that it makes.
struct RecordState {
    entry: CallEntry,
    announcer: CallAnnouncer,
    /// The call counts until this is dropped.
    _under_way: CallUnderWay,
}

/// The audit record of one call. If it is dropped before it is finished, the call is recorded as cancelled.
pub(crate) struct CallRecord {
    shared: Arc<RecordState>,
    /// The call, once it is validated.
    call: Option<Arc<ValidCall>>,
    /// The approval that the call spends. It ends after everything else is written.
    ticket: Option<Ticket>,
    ending: RecordEnding,
    /// The id of the approval request that the call left open.
    pub(super) approval_request: Option<String>,
}

impl CallRecord {
    /// Begins the record of a request. Without randomness, the id is empty, and the call must not be made.
    pub(super) fn begin(host: &HostState, request: &Request, id: Option<String>) -> Self {
        let record = Self::new(host, request, id, Purpose::Call);
        if let Some(calls) = &host.live_calls {
            calls.add(Arc::downgrade(&record.shared) as Weak<dyn ObservedCall>);
        }
        record.shared.publish(CallState::Pending);
        record
    }

    /// Creates the record of a call that is only explained. It writes and publishes nothing.
    pub(super) fn rehearsal(host: &HostState, request: &Request) -> Self {
        let mut record = Self::new(host, request, None, Purpose::Rehearsal);
        record.ending = RecordEnding::Elsewhere;
        record
    }

    fn new(host: &HostState, request: &Request, id: Option<String>, purpose: Purpose) -> Self {
        let entry = CallEntry::new(host, request, id, purpose);
        let announcer = CallAnnouncer::new(Arc::clone(&host.events), request.ear.clone());
        let shared = Arc::new(RecordState { entry, announcer, _under_way: host.under_way.begin() });
        Self { shared, call: None, ticket: None, ending: RecordEnding::Abandoned, approval_request: None }
    }

    pub(crate) fn id(&self) -> &str {
        self.shared.entry.id()
    }

    /// Returns whether the call is only explained.
    pub(super) fn is_rehearsal(&self) -> bool {
        self.shared.entry.is_rehearsal()
    }

    pub(super) fn parsed(&self, call: &ParsedCall) {
        self.shared.entry.note(|facts| {
            facts.arguments_sha256 = sha256(&call.canonical);
            facts.stringified = call.stringified;
            facts.arguments = self.shared.entry.kept_arguments(&call.canonical);
        });
    }

    /// Returns whether the arguments were parsed.
    pub(super) fn is_parsed(&self) -> bool {
        !self.shared.entry.facts().arguments_sha256.is_empty()
    }

    /// Hashes the received bytes of arguments that cannot be parsed, because they have no canonical form.
    pub(super) fn unparsed(&self, text: &[u8]) {
        self.shared.entry.note(|facts| facts.arguments_sha256 = sha256(text));
    }

    pub(super) fn valid(&mut self, call: &Arc<ValidCall>) {
        self.call = Some(Arc::clone(call));
        let targets = Arc::new(call.recorded_targets());
        let arguments = self.payload(&call.canonical, None);
        self.shared.entry.note(|facts| {
            facts.known_tool = Some(Arc::clone(&call.tool));
            facts.event_arguments = arguments;
            facts.plugin_sha256 = Some(Arc::clone(&call.plugin.sha256_hex));
            facts.definition_sha256 = Some(Arc::clone(tool::sha256_hex(&call.tool)));
            facts.targets = targets;
        });
    }

    /// Records the policy's decision. If this fails, the decision has no effect.
    pub(super) async fn decided(
        &self,
        host: &HostState,
        policy: &PolicyInForce,
        verdict: &Verdict,
    ) -> Result<(), Rejection> {
        self.shared.entry.note(|facts| facts.answer = Some(verdict.decision));
        let decision = match verdict.decision {
            Decision::Allow => "allow",
            Decision::Ask => "ask",
            Decision::Deny => "deny",
        };
        self.shared.entry.decision(decision, verdict, (&policy.sha256, host.owner.id())).await
    }

    /// Holds the spent approval until the call's end is recorded.
    pub(super) fn spend(&mut self, ticket: Option<Ticket>) {
        self.ticket = ticket;
    }

    pub(super) fn running(&self) {
        self.shared.entry.note(|facts| {
            facts.running = true;
            facts.times.begin_run();
        });
        self.shared.publish(CallState::Running);
    }

    /// Returns the call if its tool has run.
    pub(super) fn ran(&self) -> Option<&ValidCall> {
        let running = self.shared.entry.facts().running;
        self.call.as_deref().filter(|_| running)
    }

    /// Notes that the call waits for an approver, until it ends or is resumed.
    pub(super) fn waiting(&self) {
        self.shared.entry.note(|facts| {
            facts.waiting = true;
            facts.times.wait();
        });
        self.shared.publish(CallState::Waiting);
    }

    /// Notes that the call no longer waits for an approver. Publishes that only if the call has already started.
    pub(super) fn resumed(&self) {
        let mut running = false;
        self.shared.entry.note(|facts| {
            facts.waiting = false;
            facts.times.end_wait();
            running = facts.running;
        });
        if running {
            self.shared.publish(CallState::Running);
        }
    }

    /// Publishes the tool's progress.
    pub(super) fn progressed(&self, progress: Progress) {
        self.shared.announcer.progress(&self.shared.entry, || progress);
    }

    /// Returns a publisher of the call's progress. It does not keep the call alive.
    pub(super) fn progress_report(&self) -> ProgressReport {
        let call = Arc::downgrade(&self.shared);
        Box::new(move |progress| {
            if let Some(call) = call.upgrade() {
                call.announcer.progress(&call.entry, progress);
            }
        })
    }

    pub(super) fn printed(&self, log: &Log) {
        if log.bytes.is_empty() {
            return;
        }
        let text = String::from_utf8_lossy(&log.bytes[..log.bytes.len().min(PRINTED_BYTES_MAX)]).into_owned();
        let dropped = log.dropped_bytes + (log.bytes.len().saturating_sub(PRINTED_BYTES_MAX)) as u64;
        let more = if dropped > 0 { format!(" [and {dropped} bytes more]") } else { String::new() };
        self.shared.entry.note(|facts| facts.printed = Some(text + &more));
    }

    /// Notes what the tool did over the network.
    pub(super) fn traffic(&self, traffic: Traffic) {
        self.shared.entry.note(|facts| facts.traffic = traffic);
    }

    /// Notes what the tool did in its directories.
    pub(super) fn effects(&self, effects: Effects) {
        self.shared.entry.note(|facts| facts.effects = effects);
    }

    /// Notes how many calls the plugin's instance ran before this one.
    pub(super) fn continues_after(&self, calls: u64) {
        self.shared.entry.note(|facts| facts.earlier_calls = calls);
    }

    /// Notes the counters of the tool's service calls. They keep counting while the tool runs.
    pub(super) fn uses(&self, uses: Uses) {
        self.shared.entry.note(|facts| facts.uses = Some(uses));
    }

    pub(super) fn note_detail(&self, detail: Option<String>) {
        self.shared.entry.note(|facts| facts.detail = detail);
    }

    /// Finishes the record and returns the reply. If the outcome cannot be recorded, the answer is withheld and the
    /// reply says so.
    pub(super) async fn finish(mut self, reply: Reply) -> Reply {
        let outcome = self.shared.entry.outcome(&reply);
        // The entry is written even if this future is dropped while it waits.
        self.ending = RecordEnding::Recorded(reply.code);
        let reply = withheld::unless_recorded(reply, self.shared.entry.written(outcome).await);
        self.ending = RecordEnding::Recorded(reply.code);
        let result = self.payload(&reply.message, reply.reference.as_ref().map(|reference| reference.id.as_str()));
        self.shared.entry.note(|facts| facts.event_result = result);
        if let Some(ticket) = self.ticket.take() {
            ticket.finish().await;
        }
        reply
    }

    /// Returns a text of a validated call for the subscribers that receive payloads, if there are any.
    fn payload(&self, text: &str, reference: Option<&str>) -> Option<Arc<EventPayload>> {
        let call = self.call.as_ref().filter(|_| self.shared.announcer.wants_payloads())?;
        Some(Arc::new(EventPayload::new(&call.policy.network, text, reference)))
    }

    /// Returns the part of the record that the running call holds.
    pub(super) fn of_the_run(&self) -> Self {
        let (shared, ending) = (Arc::clone(&self.shared), RecordEnding::Elsewhere);
        Self { shared, call: None, ticket: None, ending, approval_request: None }
    }
}

impl Drop for CallRecord {
    fn drop(&mut self) {
        match self.ending {
            RecordEnding::Abandoned => {
                self.shared.entry.abandoned();
                self.shared.ended(Code::Cancelled);
            }
            RecordEnding::Recorded(code) => self.shared.ended(code),
            RecordEnding::Elsewhere => {}
        }
    }
}

impl RecordState {
    fn publish(&self, state: CallState) {
        self.announcer.publish(&self.entry, state);
    }

    fn ended(&self, code: Code) {
        self.entry.count(self.announcer.started(), code);
        self.announcer.ended(&self.entry, code);
    }
}

impl ObservedCall for RecordState {
    fn observe(&self) -> Option<(Event, CallState)> {
        self.announcer.observe(&self.entry)
    }
}
