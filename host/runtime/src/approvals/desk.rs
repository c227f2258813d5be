//! What a person who answers sees and does: the questions that wait, the answers that hold, and taking them back.

use super::binding::{Binding, Coverage};
use super::body::Body;
use super::error::ApprovalError;
use super::line::RevocationLine;
use super::shared::Approvals;
use crate::approver::{Question, Subject};
use crate::audit::Kind;
use crate::ledger::{AnswerRow, Change, Durable, QuestionRow, Status, Step, now};
use jiff::Timestamp;
use serde::{Serialize, Serializer};

/// Settled questions that are kept for people to look at; the record keeps all.
pub(super) const SETTLED_KEPT: usize = 1000;

/// A question, as it stands.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct OpenQuestion {
    /// Its id.
    pub id: String,
    /// The call that asked.
    pub call: String,
    /// The tool.
    pub tool: String,
    /// The session.
    pub session: String,
    /// The principal.
    pub principal: String,
    /// How it stands.
    #[serde(serialize_with = "word")]
    pub status: Status,
    /// Whether a process still waits for the answer.
    pub waited_for: bool,
    /// When it was asked.
    #[serde(serialize_with = "time")]
    pub asked_at: Timestamp,
    /// Until when it can be answered.
    #[serde(serialize_with = "time")]
    pub expires_at: Timestamp,
    /// When it was settled.
    #[serde(serialize_with = "optional_time")]
    pub settled_at: Option<Timestamp>,
    /// What was said to it.
    pub note: Option<String>,
    /// What a person is shown, while it is open.
    pub question: Option<Question>,
}

/// An answer that holds, or held.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct HeldAnswer {
    /// Its id.
    pub id: String,
    /// The question it answered.
    pub question: String,
    /// The tool.
    pub tool: String,
    /// The principal it was given to.
    pub principal: String,
    /// Where that principal's calls come from.
    pub origin: String,
    /// The session it holds in; in all where there is none.
    pub session: Option<String>,
    /// What it covers, in words.
    pub covers: String,
    /// The plugin it is bound to.
    pub plugin_sha256: String,
    /// The handles it is bound to.
    pub grants: Vec<String>,
    /// When it was given.
    #[serde(serialize_with = "time")]
    pub given_at: Timestamp,
    /// Until when it holds.
    #[serde(serialize_with = "time")]
    pub expires_at: Timestamp,
    /// When it was last used.
    #[serde(serialize_with = "optional_time")]
    pub used_at: Option<Timestamp>,
    /// How often.
    pub uses: u64,
    /// When it was taken back.
    #[serde(serialize_with = "optional_time")]
    pub revoked_at: Option<Timestamp>,
}

/// What there is.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Listing {
    /// The questions.
    pub questions: Vec<OpenQuestion>,
    /// The answers.
    pub answers: Vec<HeldAnswer>,
    /// Entries that are not what this host wrote. They count for nothing.
    pub faults: Vec<String>,
}

/// Which requests and approvals a listing has.
#[derive(Clone, Copy)]
enum ListScope {
    InForce,
    All,
}

impl Approvals {
    /// Lists the open approval requests and the remembered approvals in force.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn list(&self) -> Result<Listing, ApprovalError> {
        self.listing(ListScope::InForce)
    }

    /// Lists what [`Approvals::list`] lists, and also what is settled, revoked and expired.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn list_all(&self) -> Result<Listing, ApprovalError> {
        self.listing(ListScope::All)
    }

    fn listing(&self, scope: ListScope) -> Result<Listing, ApprovalError> {
        let (settled_max, all) = match scope {
            ListScope::InForce => (0, false),
            ListScope::All => (SETTLED_KEPT, true),
        };
        self.shared.ledger.look(|change| {
            let (questions, mut faults) = change.questions(settled_max)?;
            let (answers, more) = change.answers(now(), all)?;
            faults.extend(more);
            let questions = questions.into_iter().filter(|row| self.may_know(&row.principal));
            let answers = answers.into_iter().filter(|row| self.may_know(&row.principal));
            Ok(Listing {
                questions: questions.map(|row| open_question(change, row)).collect(),
                answers: answers.filter_map(held_answer).collect(),
                faults: faults.iter().filter(|_| self.within.is_none()).map(ToString::to_string).collect(),
            })
        })
    }

    /// Returns one request in its current state, with what its call would change now. [`Approvals::list`] does not
    /// compute that.
    ///
    /// # Errors
    /// No request has this id, or the ledger cannot be read.
    pub fn question(&self, id: &str) -> Result<OpenQuestion, ApprovalError> {
        let (mut open, body) = self.shared.ledger.look(|change| {
            let row = self.open_question(change, id)?;
            let body = Body::parse(id, row.body.as_deref()).ok();
            Ok::<_, ApprovalError>((open_question(change, row), body))
        })?;
        if let (Some(question), Some(body)) = (&mut open.question, body) {
            question.difference = body.difference();
        }
        Ok(open)
    }

    /// Takes an answer for longer back, or the yes to a call that has not begun to run.
    ///
    /// # Errors
    /// There is none of this id, it is spent or revoked already, or the ledger or the record cannot be written.
    pub fn revoke(&self, id: &str) -> Result<(), ApprovalError> {
        self.change(Durable::Machine, |change| {
            if let Some(row) = change.answer(id)?.filter(|row| self.may_know(&row.principal)) {
                if row.revoked_at.is_some() {
                    return Err(ApprovalError::Settled(Status::Withdrawn));
                }
                let line = RevocationLine { held: id, tool: &row.tool, principal: &row.principal };
                change.post(Kind::Revoked.as_str(), &line)?;
                return Ok(change.revoke(row, now())?);
            }
            let row = self.open_question(change, id)?;
            if row.status != Status::Approved {
                return Err(ApprovalError::Settled(row.status));
            }
            let line = RevocationLine { held: id, tool: &row.tool, principal: &row.principal };
            change.post(Kind::Revoked.as_str(), &line)?;
            let _ = change.step(id, Step::Reject, Some("the person took the yes back"))?;
            Ok(())
        })?;
        self.shared.answered.notify_waiters();
        Ok(())
    }
}

fn open_question(change: &Change<'_>, row: QuestionRow) -> OpenQuestion {
    let question = Body::parse(&row.id, row.body.as_deref()).ok().map(|body| body.question);
    OpenQuestion {
        waited_for: row.status.is_open() && change.is_waited_for(&row),
        id: row.id,
        call: row.call,
        tool: row.tool,
        session: row.session,
        principal: row.principal,
        status: row.status,
        asked_at: timestamp(row.asked_at),
        expires_at: timestamp(row.expires_at),
        settled_at: row.settled_at.map(timestamp),
        note: row.note,
        question,
    }
}

fn held_answer(row: AnswerRow) -> Option<HeldAnswer> {
    let binding: Binding = serde_json::from_str(&row.binding).ok()?;
    let coverage: Coverage = serde_json::from_str(&row.covers).ok()?;
    Some(HeldAnswer {
        id: row.id,
        question: row.question,
        tool: row.tool,
        principal: row.principal,
        origin: binding.origin,
        session: row.session,
        covers: coverage.describe(),
        plugin_sha256: binding.plugin_sha256,
        grants: binding.grants,
        given_at: timestamp(row.given_at),
        expires_at: timestamp(row.expires_at),
        used_at: row.used_at.map(timestamp),
        uses: u64::try_from(row.uses).unwrap_or(0),
        revoked_at: row.revoked_at.map(timestamp),
    })
}

/// A time of the ledger; one that no calendar has is the beginning of all.
fn timestamp(milliseconds: i64) -> Timestamp {
    Timestamp::from_millisecond(milliseconds).unwrap_or(Timestamp::UNIX_EPOCH)
}

fn word<S: Serializer>(status: &Status, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(status.as_str())
}

fn time<S: Serializer>(time: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(time)
}

#[expect(clippy::ref_option, reason = "the signature serde asks for")]
fn optional_time<S: Serializer>(time: &Option<Timestamp>, serializer: S) -> Result<S::Ok, S::Error> {
    match time {
        Some(time) => serializer.serialize_some(&time.to_string()),
        None => serializer.serialize_none(),
    }
}

impl Question {
    /// Whether a running call asks.
    pub fn is_in_the_middle(&self) -> bool {
        matches!(self.subject, Subject::Resource { .. })
    }
}
