//! Step 8, which begins before the first: what is recorded of a call, on whatever way it ends.

mod lines;

use super::Rejection;
use super::caller::Caller;
use super::parse::ParsedCall;
use super::validate::ValidCall;
use crate::approver::{Answer, Subject};
use crate::audit::{AuditError, AuditLog, Kind};
use crate::host::Inner;
use crate::reply::{CallUsage, Code, Reply};
use crate::request::Request;
use crate::text::{cut, hex};
use lines::{AnswerLine, DecisionLine, Facts, OutcomeLine};
use portcullis_policy::{Decision, Limits, Source, Verdict};
use portcullis_sandbox::{CallContext, Log, Verdict as Review};
use sha2::{Digest, Sha256};
use std::sync::{Arc, Mutex, PoisonError};

/// The longest detail of one line, in bytes.
const DETAIL_BYTES_MAX: usize = 4096;

/// What a guest printed that is kept in the record, in bytes.
const PRINTED_BYTES_MAX: usize = 4096;

/// The record of one call. If it is dropped before it is finished, the call is recorded as cancelled.
pub(crate) struct CallRecord {
    shared: Arc<Shared>,
    finished: bool,
}

/// The part that the running call holds as well, to record what is asked in its middle.
struct Shared {
    audit: Arc<AuditLog>,
    id: String,
    facts: Mutex<Facts>,
}

impl CallRecord {
    /// Begins the record of a request, before anything of it is looked at.
    pub(super) fn begin(host: &Inner, request: &Request) -> Self {
        let facts = Facts {
            session: cut(&request.origin.session, 128).to_owned(),
            principal: cut(&request.origin.principal, 128).to_owned(),
            agent: request.origin.agent.as_deref().map(|agent| cut(agent, 128).to_owned()),
            tool: cut(&request.tool, 256).to_owned(),
            arguments_bytes: request.arguments.len(),
            arguments_sha256: String::new(),
            ..Facts::default()
        };
        let shared = Shared { audit: Arc::clone(&host.audit), id: new_id(), facts: Mutex::new(facts) };
        Self { shared: Arc::new(shared), finished: false }
    }

    pub(super) fn id(&self) -> &str {
        &self.shared.id
    }

    pub(super) fn parsed(&self, call: &ParsedCall) {
        self.shared.note(|facts| {
            facts.arguments_sha256 = hex(&Sha256::digest(call.canonical.as_bytes()));
            facts.stringified = call.stringified;
        });
    }

    /// Arguments that are no document have no one form: what is hashed is what came.
    pub(super) fn unparsed(&self, request: &Request) {
        self.shared.note(|facts| facts.arguments_sha256 = hex(&Sha256::digest(&request.arguments)));
    }

    pub(super) fn valid(&self, call: &ValidCall) {
        self.shared.note(|facts| {
            facts.plugin_sha256 = Some(Arc::clone(&call.plugin.sha256_hex));
            facts.definition_sha256 = Some(Arc::clone(&call.tool.sha256_hex));
        });
    }

    /// Records the policy's decision. Unless this succeeds, it has no effect.
    pub(super) fn decided(&self, host: &Inner, verdict: &Verdict) -> Result<(), Rejection> {
        let decision = match verdict.decision {
            Decision::Allow => "allow",
            Decision::Ask => "ask",
            Decision::Deny => "deny",
        };
        self.shared.decision(decision, &verdict.source, &verdict.reason, &host.policy_sha256)
    }

    /// Records a plugin's own opinion, where it has one.
    pub(super) fn reviewed(&self, review: &Review) -> Result<(), Rejection> {
        let (answer, text) = match review {
            Review::Clear => return Ok(()),
            Review::Ask(text) => ("ask", text),
            Review::Refuse(text) => ("refuse", text),
        };
        self.shared.answer("the plugin's review".to_owned(), answer, Some(cut(text, 1024)))
    }

    /// Records a person's answer. Unless this succeeds, it has no effect.
    pub(super) fn answered(&self, subject: &Subject, answer: &Answer) -> Result<(), Rejection> {
        self.shared.answered(subject, answer)
    }

    pub(super) fn running(&self) {
        self.shared.note(|facts| facts.running = true);
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

    pub(super) fn note_detail(&self, detail: Option<String>) {
        self.shared.note(|facts| facts.detail = detail);
    }

    /// Finishes the record and passes the reply on. A reply whose record cannot be written says so: what happened,
    /// happened, but nobody is told of it as if all were well.
    pub(super) fn finish(mut self, reply: Reply) -> Reply {
        self.finished = true;
        match self.shared.outcome(&reply) {
            Ok(()) => reply,
            Err(error) if reply.code == Code::RecordUnavailable => {
                drop(error);
                reply
            }
            Err(error) => {
                let message = format!(
                    "The call ended as {}, but this could not be recorded, so its answer is withheld: {error}.",
                    reply.outcome().as_str()
                );
                Reply { code: Code::RecordUnavailable, output: None, title: None, metadata: None, message, ..reply }
            }
        }
    }

    /// What the guest may know of the call, and whom it can talk to.
    pub(super) fn context(
        &self,
        host: &Arc<Inner>,
        request: &Request,
        call: &Arc<ValidCall>,
        limits: &Limits,
    ) -> CallContext {
        let record = Self { shared: Arc::clone(&self.shared), finished: true };
        CallContext {
            id: Arc::from(self.id()),
            session: Arc::clone(&request.origin.session),
            message: request.origin.message.clone(),
            agent: request.origin.agent.clone(),
            host: Arc::new(Caller::new(Arc::clone(host), record, request, Arc::clone(call))),
            approval_time: limits.approval_time,
        }
    }
}

impl Drop for CallRecord {
    fn drop(&mut self) {
        if !self.finished {
            // The caller has gone; there is nobody to tell if this cannot be written.
            let _ = self.shared.abandoned();
        }
    }
}

impl Shared {
    fn note(&self, change: impl FnOnce(&mut Facts)) {
        change(&mut self.facts.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn decision(&self, decision: &str, source: &Source, reason: &str, policy: &str) -> Result<(), Rejection> {
        let mut facts = self.facts.lock().unwrap_or_else(PoisonError::into_inner);
        let (rule, line) = match source {
            Source::Rule(rule) => (Some(rule.number as u64), Some(rule.line as u64)),
            Source::Default => (None, None),
        };
        let (facts, call) = (&mut *facts, self.id.as_str());
        let entry = DecisionLine { call, decision, rule, line, reason, policy_sha256: policy };
        self.audit.append(Kind::Decision, Some(&*facts), &entry).map_err(|error| unrecorded(&error))?;
        facts.decided = true;
        Ok(())
    }

    fn answered(&self, subject: &Subject, answer: &Answer) -> Result<(), Rejection> {
        let subject = match subject {
            Subject::Call => "the call".to_owned(),
            Subject::Resource { permission, resource, .. } => {
                format!("{}: {}", cut(permission, 64), cut(resource, 1024))
            }
        };
        match answer {
            Answer::Yes => self.answer(subject, "yes", None),
            Answer::No { note } => self.answer(subject, "no", note.as_deref().map(|note| cut(note, 1024))),
        }
    }

    fn answer(&self, subject: String, answer: &str, note: Option<&str>) -> Result<(), Rejection> {
        let line = AnswerLine { call: &self.id, subject, answer, note };
        self.audit.append(Kind::Answer, None::<&Facts>, &line).map_err(|error| unrecorded(&error))
    }

    fn outcome(&self, reply: &Reply) -> Result<(), AuditError> {
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
        };
        // What the call was is said again only where no decision was recorded.
        self.audit.append(Kind::Outcome, (!facts.decided).then_some(&*facts), &line)
    }

    fn abandoned(&self) -> Result<(), AuditError> {
        let running = self.facts.lock().unwrap_or_else(PoisonError::into_inner).running;
        let detail = match running {
            true => "the caller went away while the tool ran; it was stopped, and what it had done is done",
            false => "the caller went away before the tool ran",
        };
        self.note(|facts| facts.detail = Some(detail.to_owned()));
        self.outcome(&Reply {
            id: self.id.clone(),
            tool: String::new(),
            code: Code::Cancelled,
            output: None,
            title: None,
            metadata: None,
            message: String::new(),
            usage: CallUsage::default(),
        })
    }
}

fn unrecorded(error: &AuditError) -> Rejection {
    Rejection::new(Code::RecordUnavailable, "The call could not be recorded, so it was not made.")
        .with_detail(error.to_string())
}

/// 128 random bits. Without randomness there are no ids that cannot be guessed, and no call.
fn new_id() -> String {
    let mut bytes = [0_u8; 16];
    match getrandom::fill(&mut bytes) {
        Ok(()) => hex(&bytes),
        Err(_) => String::new(),
    }
}
