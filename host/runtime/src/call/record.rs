//! Step 8, which begins before the first: what is recorded of a call, on whatever way it ends.

mod announcer;
mod ending;
mod entry;
mod lines;
mod opinions;
mod payload;
mod source;
mod traffic;
mod withheld;

use super::parse::ParsedCall;
use super::rejection::Rejection;
use super::valid_call::ValidCall;
use crate::approvals::Ticket;
use crate::events::CallState;
use crate::inject::Uses;
use crate::inner::Inner;
use crate::policy_in_force::PolicyInForce;
use crate::reply::{Outcome, Reply};
use crate::request::Request;
use crate::text::sha256;
use crate::under_way::CallUnderWay;
use announcer::CallAnnouncer;
use ending::RecordEnding;
use entry::{CallEntry, Purpose};
use portcullis_policy::{Decision, Verdict};
use portcullis_sandbox::{Effects, Log, Progress, Traffic};
use std::sync::Arc;

/// What a guest printed that is kept in the record, in bytes.
const PRINTED_BYTES_MAX: usize = 4096;

/// The part that the running call holds as well, to record what is asked in its middle.
struct Shared {
    entry: CallEntry,
    announcer: CallAnnouncer,
    /// The call counts until this is dropped.
    _under_way: CallUnderWay,
}

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
        let entry = CallEntry::new(host, request, id, purpose);
        let announcer = CallAnnouncer::new(Arc::clone(&host.events), request.ear.clone());
        let shared = Arc::new(Shared { entry, announcer, _under_way: host.under_way.begin() });
        Self { shared, call: None, ticket: None, ending: RecordEnding::Abandoned, approval_request: None }
    }

    pub(crate) fn id(&self) -> &str {
        self.shared.entry.id()
    }

    /// Whether the call is only explained.
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

    /// Whether the arguments are known to be a document.
    pub(super) fn is_parsed(&self) -> bool {
        !self.shared.entry.facts().arguments_sha256.is_empty()
    }

    /// Arguments that are no document have no one form: what is hashed is what came.
    pub(super) fn unparsed(&self, request: &Request) {
        self.shared.entry.note(|facts| facts.arguments_sha256 = sha256(&request.arguments));
    }

    pub(super) fn valid(&mut self, call: &Arc<ValidCall>) {
        self.call = Some(Arc::clone(call));
        self.shared.entry.note(|facts| {
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
        self.shared.entry.decision(decision, verdict, (&policy.sha256, host.owner.id())).await
    }

    /// Keeps the spent yes until the call has ended and is recorded.
    pub(super) fn spend(&mut self, ticket: Option<Ticket>) {
        self.ticket = ticket;
    }

    pub(super) fn running(&self) {
        self.shared.entry.note(|facts| facts.running = true);
        self.shared.publish(CallState::Running);
    }

    /// The call if its tool has run.
    pub(super) fn ran(&self) -> Option<&ValidCall> {
        let running = self.shared.entry.facts().running;
        self.call.as_deref().filter(|_| running)
    }

    /// A person is asked. The call waits until it ends or is resumed.
    pub(super) fn waiting(&self) {
        self.shared.entry.note(|facts| facts.waiting = true);
        self.shared.publish(CallState::Waiting);
    }

    /// A call that waited for a person goes on. One that does not run yet says so when it does.
    pub(super) fn resumed(&self) {
        let mut running = false;
        self.shared.entry.note(|facts| {
            facts.waiting = false;
            running = facts.running;
        });
        if running {
            self.shared.publish(CallState::Running);
        }
    }

    /// The tool says how far it is.
    pub(super) fn progressed(&self, progress: Progress) {
        self.shared.announcer.progress(&self.shared.entry, progress);
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

    /// What the tool did over the network.
    pub(super) fn traffic(&self, traffic: Traffic) {
        self.shared.entry.note(|facts| facts.traffic = traffic);
    }

    /// What the tool did to its directories.
    pub(super) fn effects(&self, effects: Effects) {
        self.shared.entry.note(|facts| facts.effects = effects);
    }

    /// What the tool makes of the application's services: it goes on counting while the tool runs.
    pub(super) fn uses(&self, uses: Uses) {
        self.shared.entry.note(|facts| facts.uses = Some(uses));
    }

    pub(super) fn note_detail(&self, detail: Option<String>) {
        self.shared.entry.note(|facts| facts.detail = detail);
    }

    /// Finishes the record and passes the reply on. A reply whose outcome cannot be recorded says so, and its
    /// answer is withheld.
    pub(super) async fn finish(mut self, reply: Reply) -> Reply {
        let outcome = self.shared.entry.outcome(&reply);
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
                self.shared.entry.abandoned();
                self.shared.ended(Outcome::Cancelled);
            }
            RecordEnding::Recorded(outcome) => self.shared.ended(outcome),
            RecordEnding::Elsewhere => {}
        }
    }
}

impl Shared {
    fn publish(&self, state: CallState) {
        self.announcer.publish(&self.entry, state);
    }

    fn ended(&self, outcome: Outcome) {
        self.announcer.ended(&self.entry, outcome);
    }
}
