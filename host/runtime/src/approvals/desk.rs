//! Lists and revokes approval requests and remembered approvals.

use super::binding::{ApprovalBinding, Coverage};
use super::body::QuestionBody;
use super::error::ApprovalError;
use super::line::RevocationLine;
use super::shared::Approvals;
use crate::approver::{Question, Subject};
use crate::audit::Kind;
use crate::ledger::{AnswerRow, Durable, LedgerChange, QuestionRow, Status, StatusStep};
use crate::text::WithCauses;
use portcullis_ledger::Timestamp;
use portcullis_policy::Pattern;
use serde::{Serialize, Serializer};

/// Settled requests that the ledger keeps for people to see. The audit log keeps all of them.
pub(super) const SETTLED_KEPT: usize = 1000;

/// An approval request in its current state.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct OpenQuestion {
    /// The id of the request.
    pub id: String,
    /// The id of the call that made the request.
    pub call: String,
    /// The tool.
    pub tool: String,
    /// The session.
    pub session: String,
    /// The principal.
    pub principal: String,
    /// The status of the request.
    #[serde(serialize_with = "word")]
    pub status: Status,
    /// Whether a running process still waits for the answer.
    pub waited_for: bool,
    /// When the request was made.
    pub asked_at: Timestamp,
    /// When the request expires.
    pub expires_at: Timestamp,
    /// When the request was settled.
    pub settled_at: Option<Timestamp>,
    /// The note of the answer, or why the request was withdrawn.
    pub note: Option<String>,
    /// The request as approvers see it, while it is open.
    pub question: Option<Question>,
}

/// A remembered approval, valid or not.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct HeldAnswer {
    /// The id of the approval.
    pub id: String,
    /// The id of the request that it answered.
    pub question: String,
    /// The tool.
    pub tool: String,
    /// The principal that it applies to.
    pub principal: String,
    /// The origin of that principal's calls.
    pub origin: String,
    /// The session that it applies to. `None` for all sessions.
    pub session: Option<String>,
    /// A description of what it covers.
    pub covers: String,
    /// The pattern that it covers, or none if it covers exactly one call's arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<Pattern>,
    /// The SHA-256 of the plugin that it is bound to, in hexadecimal.
    pub plugin_sha256: String,
    /// The handles that it is bound to.
    pub grants: Vec<String>,
    /// When it was given.
    pub given_at: Timestamp,
    /// When it expires.
    pub expires_at: Timestamp,
    /// When it was last used.
    pub used_at: Option<Timestamp>,
    /// How often it was used.
    pub uses: u64,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
}

/// Approval requests and remembered approvals.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Listing {
    /// The approval requests.
    pub questions: Vec<OpenQuestion>,
    /// The remembered approvals.
    pub answers: Vec<HeldAnswer>,
    /// Rows of the ledger that this host did not write. They have no effect.
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
    /// ```no_run
    /// # async fn example(host: &portcullis::Host) -> Result<(), portcullis::approvals::ApprovalError> {
    /// for request in host.approvals().list().await?.questions {
    ///     println!("{} waits for approval of {}", request.tool, request.id);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub async fn list(&self) -> Result<Listing, ApprovalError> {
        self.off_worker(|approvals| approvals.listing(ListScope::InForce)).await
    }

    /// Lists what [`Approvals::list`] lists, and also what is settled, revoked and expired.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub async fn list_all(&self) -> Result<Listing, ApprovalError> {
        self.off_worker(|approvals| approvals.listing(ListScope::All)).await
    }

    fn listing(&self, scope: ListScope) -> Result<Listing, ApprovalError> {
        let (settled_max, all) = match scope {
            ListScope::InForce => (0, false),
            ListScope::All => (SETTLED_KEPT, true),
        };
        self.shared.ledger.look(|change| {
            let (questions, mut faults) = change.questions(settled_max)?;
            let (answers, more) = change.answers(change.now(), all)?;
            faults.extend(more);
            let questions = questions.into_iter().filter(|row| self.may_know(&row.principal));
            let answers = answers.into_iter().filter(|row| self.may_know(&row.principal));
            Ok(Listing {
                questions: questions.map(|row| open_question(change, row)).collect::<Result<_, _>>()?,
                answers: answers.filter_map(held_answer).collect(),
                faults: faults
                    .iter()
                    // The principal of an altered row is unknown, so a restricted handle must not see it.
                    .filter(|_| self.within.is_none())
                    .map(|fault| WithCauses(fault).to_string())
                    .collect(),
            })
        })
    }

    /// Returns one request in its current state, with what its call would change now. [`Approvals::list`] does not
    /// compute that.
    ///
    /// # Errors
    /// No request has this id, or the ledger cannot be read.
    pub async fn question(&self, id: &str) -> Result<OpenQuestion, ApprovalError> {
        let id = id.to_owned();
        self.off_worker(move |approvals| approvals.blocking_question(&id)).await
    }

    fn blocking_question(&self, id: &str) -> Result<OpenQuestion, ApprovalError> {
        let (mut open, body) = self.shared.ledger.look(|change| {
            let row = self.open_question(change, id)?;
            let body = QuestionBody::parse(id, row.body.as_deref()).ok();
            Ok::<_, ApprovalError>((open_question(change, row)?, body))
        })?;
        // Outside of the transaction, because this reads files.
        if let (Some(question), Some(body)) = (&mut open.question, body) {
            question.difference = body.difference();
        }
        Ok(open)
    }

    /// Revokes a remembered approval, or the approval of a call that has not started yet.
    ///
    /// # Errors
    /// Nothing has this id, it is already spent or revoked, or the ledger or the audit log cannot be written.
    pub async fn revoke(&self, id: &str) -> Result<(), ApprovalError> {
        let id = id.to_owned();
        self.off_worker(move |approvals| approvals.blocking_revoke(&id)).await
    }

    fn blocking_revoke(&self, id: &str) -> Result<(), ApprovalError> {
        self.change(Durable::Machine, |change| {
            if let Some(row) = change.answer(id)?.filter(|row| self.may_know(&row.principal)) {
                if row.revoked_at.is_some() {
                    return Err(ApprovalError::Settled(Status::Withdrawn));
                }
                let line = RevocationLine { held: id, tool: &row.tool, principal: &row.principal, by: self.answerer() };
                change.post(Kind::Revoked.as_str(), &line)?;
                return Ok(change.revoke(row, change.now())?);
            }
            let row = self.open_question(change, id)?;
            if row.status != Status::Approved {
                return Err(ApprovalError::Settled(row.status));
            }
            let line = RevocationLine { held: id, tool: &row.tool, principal: &row.principal, by: self.answerer() };
            change.post(Kind::Revoked.as_str(), &line)?;
            let _ = change.step(id, StatusStep::Reject, Some("the approval was revoked"))?;
            Ok(())
        })?;
        self.shared.answered.notify_waiters();
        Ok(())
    }
}

fn open_question(change: &LedgerChange<'_>, row: QuestionRow) -> Result<OpenQuestion, ApprovalError> {
    let question = QuestionBody::parse(&row.id, row.body.as_deref()).ok().map(|body| body.question);
    Ok(OpenQuestion {
        waited_for: row.status.is_open() && change.is_waited_for(&row)?,
        id: row.id,
        call: row.call,
        tool: row.tool,
        session: row.session,
        principal: row.principal,
        status: row.status,
        asked_at: Timestamp::from_row(row.asked_at),
        expires_at: Timestamp::from_row(row.expires_at),
        settled_at: row.settled_at.map(Timestamp::from_row),
        note: row.note,
        question,
    })
}

fn held_answer(row: AnswerRow) -> Option<HeldAnswer> {
    let binding: ApprovalBinding = serde_json::from_str(&row.binding).ok()?;
    let coverage: Coverage = serde_json::from_str(&row.covers).ok()?;
    Some(HeldAnswer {
        id: row.id,
        question: row.question,
        tool: row.tool,
        principal: row.principal,
        origin: binding.origin,
        session: row.session,
        covers: coverage.describe(),
        pattern: coverage.pattern().cloned(),
        plugin_sha256: binding.plugin_sha256,
        grants: binding.grants,
        given_at: Timestamp::from_row(row.given_at),
        expires_at: Timestamp::from_row(row.expires_at),
        used_at: row.used_at.map(Timestamp::from_row),
        uses: u64::try_from(row.uses).unwrap_or(0),
        revoked_at: row.revoked_at.map(Timestamp::from_row),
    })
}

fn word<S: Serializer>(status: &Status, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(status.as_str())
}

impl Question {
    /// Returns whether a running call makes this request.
    pub fn is_in_the_middle(&self) -> bool {
        matches!(self.subject, Subject::Resource { .. } | Subject::Calls(_))
    }
}
