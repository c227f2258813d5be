//! Applies an approver's answer to both the ledger and the audit log, or to neither.

use super::approved_part::ApprovedPart;
use super::binding::Coverage;
use super::body::QuestionBody;
use super::concern::{Asker, Concern};
use super::error::ApprovalError;
use super::line::AnswerLine;
use super::note::NOTE_BYTES_MAX;
use super::recorded::GrantAnnouncer;
use super::shared::Approvals;
use crate::approver::{Answer, Covers, Subject};
use crate::audit::Kind;
use crate::ledger::{self, AnswerRow, Conflict, Durable, LedgerChange, LedgerError, QuestionRow, Status, StatusStep};
use crate::text::cut;
use portcullis_policy::Pattern;
use serde_json::{Map, Value};

/// Where an answered call continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Onward {
    /// In the process that made the request, which still waits.
    There,
    /// Nowhere yet. The process that answered can run the call with [`crate::Host::resume`].
    Here,
    /// Nowhere, because the call was denied.
    Ended,
}

impl Approvals {
    /// Answers an approval request. Only the first answer counts, whatever channel it comes from. The answer is given
    /// even if this future is dropped after its first poll.
    ///
    /// ```no_run
    /// use portcullis::{Answer, Host, approvals::Onward};
    ///
    /// # async fn example(host: &Host, id: &str) -> Result<(), portcullis::approvals::ApprovalError> {
    /// if host.approvals().answer(id, &Answer::Yes).await? == Onward::Here {
    ///     let reply = host.resume(id).await?;
    ///     println!("{}: {}", reply.tool, reply.code);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The request does not exist, is settled or has expired, or the answer cannot be written. The answer then has no
    /// effect. An exception is [`ApprovalError::Unrecorded`]: the answer has taken effect, and its audit entry follows.
    pub async fn answer(&self, id: &str, answer: &Answer) -> Result<Onward, ApprovalError> {
        let (id, answer) = (id.to_owned(), answer.clone());
        self.off_worker(move |approvals| approvals.blocking_answer(&id, &answer)).await
    }

    fn blocking_answer(&self, id: &str, answer: &Answer) -> Result<Onward, ApprovalError> {
        let onward = self.announced(Durable::Machine, |change, announcer| self.settle(change, announcer, id, answer));
        // Notify after an error too. An expiry or a withdrawal may have been committed with it.
        self.shared.answered.notify_waiters();
        onward?
    }

    /// Settles a request. The outer error rolls the transaction back. The inner error is reported after the commit,
    /// because an expiry has to be stored.
    fn settle(
        &self,
        change: &LedgerChange<'_>,
        announcer: &GrantAnnouncer<'_>,
        id: &str,
        answer: &Answer,
    ) -> Result<Result<Onward, ApprovalError>, ApprovalError> {
        let row = self.open_question(change, id)?;
        if row.status != Status::Pending {
            return Err(ApprovalError::Settled(row.status));
        }
        if row.expires_at <= change.now() {
            let _ = change.step(id, StatusStep::Expire, None)?;
            return Ok(Err(ApprovalError::Expired));
        }
        let body = QuestionBody::parse(id, row.body.as_deref())?;
        let alive = change.is_waited_for(&row)?;
        if body.question.is_in_the_middle() && !alive {
            let _ = change.step(id, StatusStep::Withdraw, None)?;
            return Ok(Err(ApprovalError::Gone));
        }
        let answer = match answer {
            Answer::Session(_) | Answer::Always(_) if body.question.is_once() => &Answer::Yes,
            Answer::Part { calls, .. } => match body.question.selectable_calls() {
                Some(count) if calls.positions().iter().all(|position| *position < count) => answer,
                Some(_) | None => return Ok(Err(ApprovalError::NotOffered)),
            },
            answer => answer,
        };
        let held = held(&row, &body, answer, change.now())?;
        let line = AnswerLine { by: self.answerer(), ..line(&row, &body, answer, held.as_ref()) };
        match answer {
            // These grant a right, so their entry precedes the commit. A denial takes effect first, and its entry
            // follows.
            Answer::Yes | Answer::Session(_) | Answer::Always(_) | Answer::Part { .. } => {
                if let Some(held) = &held {
                    change.remember(held)?;
                }
                let part = ApprovedPart::of(answer).map(|part| part.text());
                change.step(id, StatusStep::Approve, part.as_deref())?.map_err(ApprovalError::from)?;
                announcer.announce(Kind::Answer, &line)?;
                Ok(Ok(if alive { Onward::There } else { Onward::Here }))
            }
            Answer::No { note } => {
                let note = note.as_deref().map(|note| cut(note, NOTE_BYTES_MAX));
                change.step(id, StatusStep::Reject, note)?.map_err(ApprovalError::from)?;
                change.post(Kind::Answer.as_str(), &line)?;
                Ok(Ok(Onward::Ended))
            }
        }
    }

    /// Returns a request that this handle may see.
    pub(super) fn open_question(&self, change: &LedgerChange<'_>, id: &str) -> Result<QuestionRow, ApprovalError> {
        match change.question(id) {
            Ok(row) => row.filter(|row| self.may_know(&row.principal)).ok_or(ApprovalError::Unknown),
            // The principal of an altered row is unknown, so a restricted handle must not see it.
            Err(LedgerError::Seal(_)) if self.within.is_some() => Err(ApprovalError::Unknown),
            Err(error) => Err(error.into()),
        }
    }
}

impl From<Conflict> for ApprovalError {
    fn from(conflict: Conflict) -> Self {
        match conflict {
            Conflict::Unknown => Self::Unknown,
            Conflict::Settled(status) => Self::Settled(status),
        }
    }
}

/// Returns the row of a remembered approval, if the answer is one.
fn held(
    row: &QuestionRow,
    body: &QuestionBody,
    answer: &Answer,
    given_at: i64,
) -> Result<Option<AnswerRow>, ApprovalError> {
    let (covers, session, milliseconds) = match answer {
        Answer::Yes | Answer::Part { .. } | Answer::No { .. } => return Ok(None),
        Answer::Session(covers) => (covers, Some(row.session.clone()), body.session_milliseconds),
        Answer::Always(covers) => (covers, None, body.always_milliseconds),
    };
    let coverage = coverage(row, body, *covers)?;
    Ok(Some(AnswerRow {
        id: crate::text::new_id().ok_or(ApprovalError::Unknown)?,
        question: row.id.clone(),
        binding: body.binding.text(),
        tool: row.tool.clone(),
        principal: row.principal.clone(),
        session,
        covers: serde_json::to_string(&coverage).map_err(|error| ledger::form_error(&row.id, error))?,
        given_at,
        expires_at: given_at.saturating_add(milliseconds),
        used_at: None,
        uses: 0,
        revoked_at: None,
    }))
}

fn coverage(row: &QuestionRow, body: &QuestionBody, covers: Covers) -> Result<Coverage, ApprovalError> {
    match covers {
        Covers::Exact => {
            let covered = covered(&row.id, body)?;
            let canonical = crate::json::canonical(&covered);
            Ok(Coverage::exact(&canonical, body.covered_text.clone()).seeing(body.concerns()))
        }
        Covers::Offer(place) => match body.patterns.get(place).cloned() {
            Some(pattern) => Ok(Coverage::Pattern(pattern).seeing(body.concerns())),
            // The offers list the host's patterns first, then the proposed ones.
            None => proposal(body, place - body.patterns.len()).ok_or(ApprovalError::NotOffered),
        },
    }
}

/// Returns what an approval of a proposed pattern covers.
fn proposal(body: &QuestionBody, place: usize) -> Option<Coverage> {
    let (asker, pattern) = proposals(body.concerns()).nth(place)?;
    Some(Coverage::Proposed { asker, pattern: pattern.clone() })
}

/// Returns the patterns that reviewers and hooks propose, in the order in which they are offered.
pub(crate) fn proposals(concerns: &[Concern]) -> impl Iterator<Item = (Asker, &Pattern)> {
    concerns.iter().flat_map(|concern| concern.patterns.iter().map(|pattern| (concern.asker, pattern)))
}

/// Returns the arguments or the resource that the request is about.
pub(super) fn covered(id: &str, body: &QuestionBody) -> Result<Map<String, Value>, ApprovalError> {
    match &body.question.subject {
        Subject::Resource { resource, .. } => Ok(resource_arguments(resource)),
        Subject::Calls(_) => Ok(resource_arguments(&body.question.arguments)),
        Subject::Call | Subject::Repeat => {
            Ok(serde_json::from_str(&body.question.arguments).map_err(|error| ledger::form_error(id, error))?)
        }
    }
}

/// Returns a resource in the form of arguments, so that patterns for arguments apply to it.
pub(crate) fn resource_arguments(resource: &str) -> Map<String, Value> {
    [("resource".to_owned(), Value::String(resource.to_owned()))].into_iter().collect()
}

fn line<'a>(
    row: &'a QuestionRow,
    body: &QuestionBody,
    answer: &'a Answer,
    held: Option<&'a AnswerRow>,
) -> AnswerLine<'a> {
    let covered = |covers: &Covers| match covers {
        Covers::Exact => "exactly these arguments".to_owned(),
        Covers::Offer(place) => body.question.offers.get(*place).cloned().unwrap_or_default(),
    };
    let (word, covers) = match answer {
        Answer::Yes => ("yes", None),
        Answer::Session(covers) => ("session", Some(covered(covers))),
        Answer::Always(covers) => ("always", Some(covered(covers))),
        Answer::Part { calls, .. } => ("part", Some(format!("calls {calls}"))),
        Answer::No { .. } => ("no", None),
    };
    let note = match answer {
        Answer::No { note } | Answer::Part { note, .. } => note.as_deref().map(|note| cut(note, NOTE_BYTES_MAX)),
        Answer::Yes | Answer::Session(_) | Answer::Always(_) => None,
    };
    let subject = subject_text(&body.question.subject);
    let held = held.map(|held| held.id.as_str());
    AnswerLine { call: &row.call, question: Some(&row.id), subject, answer: word, covers, held, note, by: None }
}

/// Describes what a request is about, for the audit log.
pub(super) fn subject_text(subject: &Subject) -> String {
    match subject {
        Subject::Call => "the call".to_owned(),
        Subject::Repeat => "the same call again".to_owned(),
        Subject::Resource { permission, resource, .. } => {
            format!("{}: {}", cut(permission, 64), cut(resource, 1024))
        }
        Subject::Calls(calls) => format!("{} calls of other tools", calls.len()),
    }
}
