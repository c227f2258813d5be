//! Applies an approver's answer to the ledger and the audit log, to both or to neither.

use super::binding::Coverage;
use super::body::Body;
use super::concern::{Asker, Concern};
use super::error::ApprovalError;
use super::line::AnswerLine;
use super::recorded::Announcer;
use super::shared::Approvals;
use crate::approver::{Answer, Covers, Subject};
use crate::audit::Kind;
use crate::ledger::{AnswerRow, Change, Conflict, Durable, LedgerError, QuestionRow, Status, Step, now};
use crate::text::cut;
use portcullis_policy::Pattern;
use serde_json::{Map, Value};

/// The longest note of a person, in bytes.
pub(crate) const NOTE_BYTES_MAX: usize = 1024;

/// The longest part of exact arguments that is kept for a person to know them by, in bytes.
const SHOWN_BYTES_MAX: usize = 256;

/// Where an answered call goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Onward {
    /// In the process that asked, which still waits.
    There,
    /// Nowhere yet: whoever answered can run it with [`crate::Host::resume`].
    Here,
    /// Nowhere: the answer was no.
    Ended,
}

impl Approvals {
    /// Answers a question. Of several answers the first one counts, whatever channel it comes by.
    ///
    /// # Errors
    /// There is no such question, it is settled or expired, or the answer cannot be kept. It then has no effect.
    pub fn answer(&self, id: &str, answer: &Answer) -> Result<Onward, ApprovalError> {
        let onward = self.announced(Durable::Machine, |change, announcer| self.settle(change, announcer, id, answer));
        self.shared.answered.notify_waiters();
        onward?
    }

    /// The inner result is what is told when the transaction itself is kept: that a question has expired is kept.
    fn settle(
        &self,
        change: &Change<'_>,
        announcer: &Announcer<'_>,
        id: &str,
        answer: &Answer,
    ) -> Result<Result<Onward, ApprovalError>, ApprovalError> {
        let row = self.open_question(change, id)?;
        if row.status != Status::Pending {
            return Err(ApprovalError::Settled(row.status));
        }
        if row.expires_at <= now() {
            let _ = change.step(id, Step::Expire, None)?;
            return Ok(Err(ApprovalError::Expired));
        }
        let body = Body::parse(id, row.body.as_deref())?;
        let alive = change.is_waited_for(&row);
        if matches!(body.question.subject, Subject::Resource { .. }) && !alive {
            let _ = change.step(id, Step::Withdraw, None)?;
            return Ok(Err(ApprovalError::Gone));
        }
        let held = held(&row, &body, answer)?;
        let line = line(&row, &body, answer, held.as_ref());
        match answer {
            Answer::Yes | Answer::Session(_) | Answer::Always(_) => {
                if let Some(held) = &held {
                    change.remember(held)?;
                }
                change.step(id, Step::Approve, None)?.map_err(ApprovalError::from)?;
                announcer.announce(Kind::Answer, &line)?;
                Ok(Ok(if alive { Onward::There } else { Onward::Here }))
            }
            Answer::No { note } => {
                let note = note.as_deref().map(|note| cut(note, NOTE_BYTES_MAX));
                change.step(id, Step::Reject, note)?.map_err(ApprovalError::from)?;
                change.post(Kind::Answer.as_str(), &line)?;
                Ok(Ok(Onward::Ended))
            }
        }
    }

    /// A question this handle may know of.
    pub(super) fn open_question(&self, change: &Change<'_>, id: &str) -> Result<QuestionRow, ApprovalError> {
        match change.question(id) {
            Ok(row) => row.filter(|row| self.may_know(&row.principal)).ok_or(ApprovalError::Unknown),
            // Whose an altered row is, is not known either.
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

/// The row of an answer for longer.
fn held(row: &QuestionRow, body: &Body, answer: &Answer) -> Result<Option<AnswerRow>, ApprovalError> {
    let (covers, session, milliseconds) = match answer {
        Answer::Yes | Answer::No { .. } => return Ok(None),
        Answer::Session(covers) => (covers, Some(row.session.clone()), body.session_milliseconds),
        Answer::Always(covers) => (covers, None, body.always_milliseconds),
    };
    let coverage = coverage(row, body, *covers)?;
    let given_at = now();
    Ok(Some(AnswerRow {
        id: crate::text::new_id().ok_or(ApprovalError::Unknown)?,
        question: row.id.clone(),
        binding: body.binding.text(),
        tool: row.tool.clone(),
        principal: row.principal.clone(),
        session,
        covers: serde_json::to_string(&coverage).map_err(|error| LedgerError::form(&row.id, error))?,
        given_at,
        expires_at: given_at.saturating_add(milliseconds),
        used_at: None,
        uses: 0,
        revoked_at: None,
    }))
}

fn coverage(row: &QuestionRow, body: &Body, covers: Covers) -> Result<Coverage, ApprovalError> {
    match covers {
        Covers::Exact => {
            let covered = covered(&row.id, body)?;
            let canonical = crate::json::canonical(&covered);
            let shown = if body.keeps_payloads { cut(&canonical, SHOWN_BYTES_MAX) } else { "" };
            Ok(Coverage::exact(&canonical, shown.to_owned()).seeing(body.concerns()))
        }
        Covers::Offer(place) => match body.patterns.get(place).cloned() {
            Some(pattern) => Ok(Coverage::Pattern(pattern).seeing(body.concerns())),
            // The proposals follow the patterns of the host.
            None => proposal(body, place - body.patterns.len()).ok_or(ApprovalError::NotOffered),
        },
    }
}

/// What an approval of a proposed pattern covers.
fn proposal(body: &Body, place: usize) -> Option<Coverage> {
    let (asker, pattern) = proposals(body.concerns()).nth(place)?;
    Some(Coverage::Proposed { asker, pattern: pattern.clone() })
}

/// The patterns that reviewers and hooks propose, in the order in which they are offered.
pub(crate) fn proposals(concerns: &[Concern]) -> impl Iterator<Item = (Asker, &Pattern)> {
    concerns.iter().flat_map(|concern| concern.patterns.iter().map(|pattern| (concern.asker, pattern)))
}

/// The arguments, or the resource, that the question is about.
pub(super) fn covered(id: &str, body: &Body) -> Result<Map<String, Value>, ApprovalError> {
    match &body.question.subject {
        Subject::Resource { resource, .. } => Ok(resource_arguments(resource)),
        Subject::Call | Subject::Repeat => {
            Ok(serde_json::from_str(&body.question.arguments).map_err(|error| LedgerError::form(id, error))?)
        }
    }
}

/// A resource as arguments, so that what covers arguments covers it.
pub(crate) fn resource_arguments(resource: &str) -> Map<String, Value> {
    [("resource".to_owned(), Value::String(resource.to_owned()))].into_iter().collect()
}

fn line<'a>(row: &'a QuestionRow, body: &Body, answer: &'a Answer, held: Option<&'a AnswerRow>) -> AnswerLine<'a> {
    let (word, covers) = match answer {
        Answer::Yes => ("yes", None),
        Answer::Session(covers) => ("session", Some(covers)),
        Answer::Always(covers) => ("always", Some(covers)),
        Answer::No { .. } => ("no", None),
    };
    let covers = covers.map(|covers| match covers {
        Covers::Exact => "exactly these arguments".to_owned(),
        Covers::Offer(place) => body.question.offers.get(*place).cloned().unwrap_or_default(),
    });
    let note = match answer {
        Answer::No { note } => note.as_deref().map(|note| cut(note, NOTE_BYTES_MAX)),
        Answer::Yes | Answer::Session(_) | Answer::Always(_) => None,
    };
    let subject = subject_text(&body.question.subject);
    let held = held.map(|held| held.id.as_str());
    AnswerLine { call: &row.call, question: Some(&row.id), subject, answer: word, covers, held, note }
}

/// What a question is about, in the words of the record.
pub(super) fn subject_text(subject: &Subject) -> String {
    match subject {
        Subject::Call => "the call".to_owned(),
        Subject::Repeat => "the same call once more".to_owned(),
        Subject::Resource { permission, resource, .. } => {
            format!("{}: {}", cut(permission, 64), cut(resource, 1024))
        }
    }
}
