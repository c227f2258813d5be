//! The audit log entries of one call, from what is known of it so far.

use super::lines::{DecisionLine, Facts, HookLine, OutcomeLine};
use super::payload;
use super::source::SourceLine;
use super::traffic::TrafficLine;
use crate::approvals::line::AnswerLine;
use crate::audit::{AuditError, AuditWriter, Kind, PreparedEntry, WrittenEntry};
use crate::call::effects::EffectsLine;
use crate::call::rejection::Rejection;
use crate::inner::HostState;
use crate::metrics::{CallMetrics, FinishedCall, PolicyAnswer};
use crate::outputs::session_name;
use crate::reply::{Code, Reply};
use crate::request::Request;
use crate::storage_health::StorageHealth;
use crate::text::{WithCauses, cut, new_id};
use portcullis_policy::recovery::RecoverMutex;
use portcullis_policy::{Decision, Layer, Payloads, Source, Verdict};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Instant, SystemTime};

/// Maximum length of an entry's detail, in bytes.
const DETAIL_BYTES_MAX: usize = 4096;

/// The purpose of taking the steps of a call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// To run the call.
    Call,
    /// To explain what would happen to the call.
    Rehearsal,
}

/// The facts about one call so far, and the audit log for its entries.
pub(super) struct CallEntry {
    purpose: Purpose,
    audit: Arc<AuditWriter>,
    id: String,
    payloads: Payloads,
    began: Instant,
    storage: Arc<StorageHealth>,
    metrics: Arc<CallMetrics>,
    facts: Mutex<Facts>,
}

impl CallEntry {
    pub(super) fn new(host: &HostState, request: &Request, id: Option<String>, purpose: Purpose) -> Self {
        let facts = Facts {
            // Callers choose the lengths of these texts, and a line of the audit log has a maximum. Two sessions may
            // differ only in the end of a long name, so that is not cut.
            session: session_name(&request.origin.session),
            principal: request.origin.principal.as_str().to_owned(),
            agent: request.origin.agent.as_deref().map(|agent| cut(agent, 128).to_owned()),
            trace: request.origin.trace.clone(),
            parent: request.made_by().cloned(),
            first_call: request.first_call().cloned(),
            tool: cut(&request.tool, 256).to_owned(),
            arguments_bytes: request.arguments.bytes(),
            source: request.provenance.as_deref().map(SourceLine::of),
            arguments_sha256: String::new(),
            ..Facts::default()
        };
        let audit = Arc::clone(&host.audit);
        let (id, payloads) = (id.or_else(new_id).unwrap_or_default(), host.policy().policy.record().payloads);
        let (storage, metrics) = (Arc::clone(&host.storage), Arc::clone(&host.metrics));
        let (began, facts) = (Instant::now(), Mutex::new(facts));
        Self { purpose, audit, id, payloads, began, storage, metrics, facts }
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// Returns whether the call is only explained.
    pub(super) fn is_rehearsal(&self) -> bool {
        self.purpose == Purpose::Rehearsal
    }

    /// Returns the arguments, as far as the entries keep them.
    pub(super) fn kept_arguments(&self, canonical: &str) -> Option<String> {
        payload::arguments(self.payloads, canonical)
    }

    pub(super) fn facts(&self) -> MutexGuard<'_, Facts> {
        self.facts.lock_recovered()
    }

    pub(super) fn note(&self, change: impl FnOnce(&mut Facts)) {
        change(&mut self.facts());
    }

    pub(super) async fn decision(
        &self,
        decision: &str,
        verdict: &Verdict,
        (policy_sha256, owner): (&str, &str),
    ) -> Result<(), Rejection> {
        if self.is_rehearsal() {
            return Ok(());
        }
        let (rule, line, layer) = match &verdict.source {
            Source::Rule(rule) => (Some(rule.number as u64), Some(rule.line as u64), Some(rule.layer)),
            Source::Paused(layer) => (None, None, Some(*layer)),
            Source::Default => (None, None, None),
        };
        // Omit the user's layer, because most policies have no other.
        let layer = layer.filter(|layer| *layer != Layer::User);
        let (call, reason) = (self.id.as_str(), &*verdict.reason);
        let entry = DecisionLine { call, decision, rule, line, layer, reason, policy_sha256, owner };
        let written = {
            let mut facts = self.facts();
            // Nothing happens between the denial of a new call and its outcome, so one write is enough for both. The
            // caller is not told before.
            if verdict.decision == Decision::Deny && !facts.decided {
                let denial = PreparedEntry::of(Kind::Decision, Some(&*facts), &entry);
                facts.denial = Some(denial.map_err(|error| unrecorded(&error))?);
                facts.decided = true;
                return Ok(());
            }
            let written = self.audit.write(Kind::Decision, Some(&*facts), &entry);
            // Set this now: if the call is dropped, its decision is ahead of its outcome in the queue.
            facts.decided = true;
            written
        };
        let recorded = self.written(written).await;
        self.note(|facts| facts.decided = recorded.is_ok());
        recorded.map_err(|error| unrecorded(&error))
    }

    /// Waits until an entry is written.
    pub(super) async fn written(&self, entry: WrittenEntry) -> Result<(), AuditError> {
        let written = self.metrics.waiting_entries.until(entry).await;
        self.storage.note(&written);
        written
    }

    /// Counts the call, which was received at this time and has ended.
    pub(super) fn count(&self, started: SystemTime, code: Code) {
        let (mut facts, took) = (self.facts(), self.began.elapsed());
        facts.times.end(self.began, took);
        self.metrics.count(&FinishedCall {
            id: &self.id,
            parent: facts.parent.as_deref(),
            first: facts.first_call.as_deref().unwrap_or(&self.id),
            trace: facts.trace.as_deref(),
            tool: facts.known_tool.as_ref().map(|tool| tool.name()),
            answer: facts.answer.map_or(PolicyAnswer::Undecided, PolicyAnswer::Decided),
            code,
            started,
            took,
            began: self.began,
            times: &facts.times,
        });
    }

    pub(super) async fn answer(&self, subject: String, answer: &str, note: Option<&str>) -> Result<(), Rejection> {
        if self.is_rehearsal() {
            return Ok(());
        }
        let line =
            AnswerLine { call: &self.id, question: None, subject, answer, covers: None, held: None, note, by: None };
        self.audit.write(Kind::Answer, None::<&Facts>, &line).await.map_err(|error| unrecorded(&error))
    }

    /// Writes how the call ended. The entry is written even if the returned future is dropped.
    pub(super) fn outcome(&self, reply: &Reply) -> WrittenEntry {
        let mut facts = self.facts();
        let denial = facts.denial.take();
        let run = &reply.usage.run;
        let microseconds = |duration: std::time::Duration| u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        let line = OutcomeLine {
            call: &self.id,
            outcome: reply.outcome().as_str(),
            code: reply.code.as_str(),
            wall_us: microseconds(run.wall),
            cpu_us: microseconds(run.cpu),
            memory_bytes: run.memory_bytes,
            earlier_calls: facts.earlier_calls,
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
        let outcome = PreparedEntry::of(Kind::Outcome, (!facts.decided).then_some(&*facts), &line);
        self.audit.write_together(denial, outcome)
    }

    /// Records that the caller dropped the call. Ignores errors, because no caller is left to receive them.
    pub(super) fn abandoned(&self) {
        let running = self.facts().running;
        let detail = match running {
            true => "the caller dropped the call while the tool ran; the tool was stopped, and its side effects remain",
            false => "the caller dropped the call before the tool ran",
        };
        self.note(|facts| facts.detail = Some(detail.to_owned()));
        drop(self.outcome(&Reply::failed(self.id.clone(), String::new(), Code::Cancelled, String::new())));
    }

    pub(super) async fn hook(&self, line: &HookLine<'_>) -> Result<(), Rejection> {
        self.audit.write(Kind::Hook, None::<&Facts>, line).await.map_err(|error| unrecorded(&error))
    }
}

fn unrecorded(error: &AuditError) -> Rejection {
    Rejection::new(Code::RecordUnavailable, "Not run: the call could not be written to the audit log.")
        .with_detail(WithCauses(error).to_string())
}
