//! Step 3: whether the call may run. The policy decides; the plugin's own review can only tighten; where the answer
//! is ask, a person has the last word.

use super::Rejection;
use super::grant::{self, describe_handles};
use super::record::CallRecord;
use super::validate::ValidCall;
use crate::approver::{Answer, Question, Subject};
use crate::host::Inner;
use crate::reply::Code;
use crate::request::{Origin, Request};
use crate::text::{OneLine, cut};
use portcullis_policy::{Decision, Limits, Source, Verdict};
use portcullis_sandbox::{Cancellation, Stop, Verdict as Review};
use std::sync::Arc;
use std::time::Duration;

/// Wall-clock time of one review.
const REVIEW_TIME_MAX: Duration = Duration::from_secs(2);

/// The longest text of a review that is passed on, in bytes.
const REVIEW_BYTES_MAX: usize = 1024;

/// The longest note of a person, in bytes.
const NOTE_BYTES_MAX: usize = 1024;

/// A call that may run, exactly as it was decided on.
pub(crate) struct ApprovedCall {
    pub(super) call: Arc<ValidCall>,
    pub(super) limits: Limits,
}

impl ValidCall {
    pub(super) async fn authorize(
        self: Arc<Self>,
        host: &Arc<Inner>,
        request: &Request,
        record: &mut CallRecord,
    ) -> Result<ApprovedCall, Rejection> {
        let limits = host.policy.limits(&self.plugin.name);
        if self.canonical.len() > limits.arguments_bytes {
            return Err(too_long(limits.arguments_bytes));
        }
        let verdict = host.policy.decide(&self.question());
        record.decided(host, &verdict)?;
        if verdict.decision == Decision::Deny {
            return Err(denied(&self, &verdict));
        }
        let review = self.review(host, request, &limits, record).await?;
        let reason = match (verdict.decision, review) {
            (_, Review::Refuse(reason)) => return Err(refused(&self, &reason)),
            (Decision::Ask, Review::Clear) => verdict_text(&verdict),
            (Decision::Ask, Review::Ask(reason)) => format!("{}; {}", verdict_text(&verdict), quoted(&reason)),
            (Decision::Allow, Review::Ask(reason)) => quoted(&reason),
            (Decision::Allow | Decision::Deny, Review::Clear) | (Decision::Deny, Review::Ask(_)) => {
                return Ok(ApprovedCall { call: self, limits });
            }
        };
        grant::check(host, &self.plugin, &self.tool)?;
        let question = question(host, &request.origin, &self, record.id(), Subject::Call, reason);
        match ask(host, &question, limits.approval_time, &request.cancellation, record).await? {
            Answer::Yes => Ok(ApprovedCall { call: self, limits }),
            Answer::No { note } => Err(disapproved(&self, note.as_deref())),
        }
    }

    pub(crate) fn question(&self) -> portcullis_policy::Question<'_> {
        portcullis_policy::Question {
            tool: &self.tool.name,
            permissions: self.tool.permissions(),
            arguments: &self.arguments,
        }
    }

    async fn review(
        self: &Arc<Self>,
        host: &Arc<Inner>,
        request: &Request,
        limits: &Limits,
        record: &mut CallRecord,
    ) -> Result<Review, Rejection> {
        let code = host.code(&self.plugin).await?;
        if !code.reviews() {
            return Ok(Review::Clear);
        }
        // Reviews wait for each other, each for two seconds at the most; it is never closed.
        let _place = host.reviews.acquire().await;
        let limits = Limits { time: REVIEW_TIME_MAX.min(limits.time), ..*limits };
        let context = record.context(host, request, self, &limits);
        let tool = self.tool.name.tool.as_str();
        let ran = host.loader.engine.review(code, tool, &self.canonical, &limits, context).await;
        let review = ran.result.unwrap_or_else(|stop| Review::Refuse(stopped(&stop)));
        record.reviewed(&review)?;
        Ok(review)
    }
}

/// Asks whoever answers for a person, and records the answer before it has an effect.
pub(super) async fn ask(
    host: &Inner,
    question: &Question,
    at_most: Duration,
    cancellation: &Cancellation,
    record: &CallRecord,
) -> Result<Answer, Rejection> {
    let answer = tokio::select! {
        // An answer that comes together with the cancellation is not for a call that still exists.
        biased;
        () = cancellation.cancelled() => return Err(Rejection::new(Code::Cancelled, "The call was cancelled.")),
        answer = tokio::time::timeout(at_most, host.approver.answer(question)) => {
            answer.unwrap_or_else(|_| Answer::No { note: Some("nobody answered in time".to_owned()) })
        }
    };
    record.answered(&question.subject, &answer)?;
    Ok(answer)
}

/// What a person is asked about a call.
pub(super) fn question(
    host: &Inner,
    origin: &Origin,
    call: &ValidCall,
    id: &str,
    subject: Subject,
    reason: String,
) -> Question {
    Question {
        call: id.to_owned(),
        session: origin.session.to_string(),
        principal: origin.principal.to_string(),
        tool: call.tool.name.clone(),
        plugin_sha256: call.plugin.sha256_hex.to_string(),
        permissions: call.tool.permissions(),
        arguments: call.canonical.clone(),
        handles: describe_handles(host, &call.plugin, &call.tool),
        subject,
        reason,
    }
}

/// A verdict of the policy in one line.
pub(super) fn verdict_text(verdict: &Verdict) -> String {
    match &verdict.source {
        Source::Rule(rule) => format!("rule {} (line {}): {}", rule.number, rule.line, verdict.reason),
        Source::Default => verdict.reason.to_string(),
    }
}

fn too_long(bytes_max: usize) -> Rejection {
    let message = format!("The arguments are not usable: they are larger than {bytes_max} bytes; pass less.");
    Rejection::new(Code::MalformedArguments, message)
}

fn denied(call: &ValidCall, verdict: &Verdict) -> Rejection {
    let message = format!(
        "The policy denies {}: {}. Do not try the same in another way; say what you need it for, or go on without.",
        call.tool.name, verdict.reason
    );
    Rejection::new(Code::PolicyDenied, message).with_detail(verdict_text(verdict))
}

fn disapproved(call: &ValidCall, note: Option<&str>) -> Rejection {
    let mut message = format!("The call of {} was not approved.", call.tool.name);
    if let Some(note) = note {
        message.push_str(&format!(" Note: {}", OneLine(cut(note, NOTE_BYTES_MAX))));
    }
    Rejection::new(Code::ApprovalDenied, message)
}

fn refused(call: &ValidCall, reason: &str) -> Rejection {
    let message = format!("The plugin refuses this call of {}. {}", call.tool.name, quoted(reason));
    Rejection::new(Code::ReviewRefused, message)
}

fn quoted(reason: &str) -> String {
    format!("The plugin says: {}", OneLine(cut(reason, REVIEW_BYTES_MAX)))
}

fn stopped(stop: &Stop) -> String {
    match stop {
        Stop::Limit(kind) => format!("its review reached the limit on {}", kind.name()),
        Stop::Trapped(_) => "its review trapped".to_owned(),
        Stop::Exited(_) => "its review exited".to_owned(),
        Stop::Cancelled => "its review was cancelled".to_owned(),
        Stop::HostPanic => "its review broke the host's side".to_owned(),
    }
}
