//! Step 8, which begins before the first: what is recorded of a call, on whatever way it ends.

use super::Rejection;
use super::authorize::{ask, subject_of};
use super::parse::ParsedCall;
use super::validate::ValidCall;
use crate::approver::{Answer, Subject};
use crate::audit::{AuditError, AuditLog, Kind};
use crate::host::Inner;
use crate::reply::{Code, Reply};
use crate::request::Request;
use crate::text::{OneLine, cut, hex};
use portcullis_policy::{Decision, Limits, Permission, Source, Verdict};
use portcullis_sandbox::{Ask, CallContext, CallHost, Log, Progress, Verdict as Review};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::future::Future;
use std::pin::Pin;
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

/// What is known of a call so far.
#[derive(Clone, Default, Serialize)]
struct Facts {
    session: String,
    principal: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
    tool: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    plugin_sha256: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    definition_sha256: Option<String>,
    arguments_bytes: usize,
    arguments_sha256: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    stringified: bool,
    #[serde(skip)]
    decided: bool,
    #[serde(skip)]
    running: bool,
    #[serde(skip)]
    detail: Option<String>,
    #[serde(skip)]
    printed: Option<String>,
}

#[derive(Serialize)]
struct DecisionLine<'a> {
    call: &'a str,
    #[serde(flatten)]
    facts: &'a Facts,
    decision: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    reason: &'a str,
    policy_sha256: &'a str,
}

#[derive(Serialize)]
struct AnswerLine<'a> {
    call: &'a str,
    subject: String,
    answer: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'a str>,
}

#[derive(Serialize)]
struct OutcomeLine<'a> {
    call: &'a str,
    /// Said again only where no decision was recorded.
    #[serde(flatten)]
    facts: Option<&'a Facts>,
    outcome: &'a str,
    code: &'a str,
    wall_us: u64,
    cpu_us: u64,
    memory_bytes: u64,
    bytes_in: u64,
    bytes_out: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    printed: Option<&'a str>,
}

impl CallRecord {
    /// Begins the record of a request, before anything of it is looked at.
    pub(super) fn begin(host: &Inner, request: &Request) -> Self {
        let facts = Facts {
            session: cut(&request.session, 128).to_owned(),
            principal: cut(&request.principal, 128).to_owned(),
            agent: request.agent.as_deref().map(|agent| cut(agent, 128).to_owned()),
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

    pub(super) fn valid(&self, call: &ValidCall) {
        self.shared.note(|facts| {
            facts.plugin_sha256 = Some(hex(&call.plugin.sha256));
            facts.definition_sha256 = Some(hex(&call.tool.sha256));
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

    pub(super) fn printed(&self, log: Log) {
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
        call: &ValidCall,
        limits: &Limits,
    ) -> CallContext {
        let caller = Caller {
            host: Arc::clone(host),
            record: CallRecord { shared: Arc::clone(&self.shared), finished: true },
            request: request.clone(),
            call: ValidCall {
                plugin: Arc::clone(&call.plugin),
                tool: Arc::clone(&call.tool),
                arguments: serde_json::Map::new(),
                canonical: call.canonical.clone(),
            },
        };
        CallContext {
            id: Arc::from(self.id()),
            session: Arc::clone(&request.session),
            message: request.message.clone(),
            agent: request.agent.clone(),
            host: Arc::new(caller),
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
        let entry = DecisionLine { call, facts, decision, rule, line, reason, policy_sha256: policy };
        self.audit.append(Kind::Decision, &entry).map_err(unrecorded)?;
        facts.decided = true;
        Ok(())
    }

    fn answered(&self, subject: &Subject, answer: &Answer) -> Result<(), Rejection> {
        let (subject, resource) = match subject {
            Subject::Call => ("the call".to_owned(), None),
            Subject::Resource { permission, resource, .. } => {
                (format!("{}: {}", cut(permission, 64), cut(resource, 1024)), Some(()))
            }
        };
        let _ = resource;
        match answer {
            Answer::Yes => self.answer(subject, "yes", None),
            Answer::No { note } => self.answer(subject, "no", note.as_deref().map(|note| cut(note, 1024))),
        }
    }

    fn answer(&self, subject: String, answer: &str, note: Option<&str>) -> Result<(), Rejection> {
        let line = AnswerLine { call: &self.id, subject, answer, note };
        self.audit.append(Kind::Answer, &line).map_err(unrecorded)
    }

    fn outcome(&self, reply: &Reply) -> Result<(), AuditError> {
        let facts = self.facts.lock().unwrap_or_else(PoisonError::into_inner);
        let run = &reply.usage.run;
        let microseconds = |duration: std::time::Duration| u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        let line = OutcomeLine {
            call: &self.id,
            facts: (!facts.decided).then_some(&*facts),
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
        self.audit.append(Kind::Outcome, &line)
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
            usage: crate::reply::CallUsage::default(),
        })
    }
}

fn unrecorded(error: AuditError) -> Rejection {
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

/// The host's side of a running call.
struct Caller {
    host: Arc<Inner>,
    record: CallRecord,
    request: Request,
    call: ValidCall,
}

impl CallHost for Caller {
    fn report(&self, progress: Progress) {
        self.host.progress.report(&self.record.shared.id, &progress);
    }

    fn ask(&self, asked: Ask) -> Pin<Box<dyn Future<Output = Result<(), String>> + Send + '_>> {
        Box::pin(self.decide(asked))
    }
}

impl Caller {
    async fn decide(&self, asked: Ask) -> Result<(), String> {
        let tool = &self.call.tool;
        let permission = asked.permission.parse::<Permission>().ok();
        let Some(permission) = permission.filter(|permission| tool.permissions().contains(*permission)) else {
            return Err(format!("{} does not declare this permission", tool.name));
        };
        let subject = Subject::Resource {
            permission: permission.as_str().to_owned(),
            resource: asked.resource.clone(),
            reason: asked.reason,
        };
        let verdict = self.host.policy.decide_resource(&tool.name, permission, &asked.resource);
        let record = &self.record;
        let refused = |rejection: Rejection| rejection.message;
        let decided = |answer| record.answered(&subject, &answer).map_err(refused);
        match verdict.decision {
            Decision::Allow => decided(Answer::Yes),
            Decision::Deny => {
                decided(Answer::No { note: Some(verdict.reason.to_string()) })?;
                Err(format!("the policy denies it: {}", verdict.reason))
            }
            Decision::Ask => {
                let limits = self.host.policy.limits(&self.call.plugin.name);
                let reason = super::authorize::verdict_text(&verdict);
                let question =
                    subject_of(&self.host, &self.request, &self.call, record.id(), subject.clone(), reason);
                match ask(&self.host, &question, limits.approval_time, record).await.map_err(refused)? {
                    Answer::Yes => Ok(()),
                    Answer::No { note: Some(note) } => Err(format!("not approved: {}", OneLine(cut(&note, 1024)))),
                    Answer::No { note: None } => Err("not approved".to_owned()),
                }
            }
        }
    }
}
