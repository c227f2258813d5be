//! Handles a call that is made again while an approval request for it is open. It joins the request, or spends the
//! approval that was given meanwhile. So a caller can stop waiting and come back, and an approver is asked only once.

use super::answer::subject_text;
use super::attendance::CallAttendance;
use super::binding::ApprovalBinding;
use super::body::QuestionBody;
use super::case::ApprovalCase;
use super::channel::ApproverChannel;
use super::concern::unseen;
use super::error::ApprovalError;
use super::line::AnswerLine;
use super::recorded::GrantAnnouncer;
use super::shared::Approvals;
use crate::audit::Kind;
use crate::ledger::{Durable, LedgerChange, QuestionRow, QuestionSubject, Status, StatusStep};
use portcullis_policy::Unattended;

/// What an earlier approval request for the same call leads to.
pub(super) enum Joined {
    /// There is no usable request.
    Nothing,
    /// Its approval was spent. The call may run.
    Spent {
        /// The id of the request.
        id: String,
    },
    /// An approver denied it after the earlier call stopped waiting.
    Rejected {
        /// A note for the model.
        note: Option<String>,
    },
    /// It is still open. If this call waits, it is counted as a waiter.
    Open {
        /// The id of the request.
        id: String,
        /// `None` if the call does not wait.
        attendance: Option<CallAttendance>,
        /// Whether this process owns the request.
        owned: bool,
    },
}

/// What an open request for the same call means for a new call.
pub(super) enum Fate {
    /// It has expired.
    Expired,
    /// It is about something else, or this call cannot join it.
    Other,
    /// It was approved, and no call waits for it.
    Spendable,
    /// It is open.
    Joinable {
        /// Whether another process waits for it.
        waits_elsewhere: bool,
    },
}

impl ApprovalCase {
    /// Returns the bindings of this call, as a call and as a repetition. An approval of either one approves the same
    /// call.
    pub(super) fn bindings(&self) -> [String; 2] {
        [QuestionSubject::Call, QuestionSubject::Repeat].map(|subject| {
            let binding = ApprovalBinding { subject: subject.as_str().to_owned(), ..self.binding.clone() };
            binding.digest(&self.covered, &self.question.session)
        })
    }

    /// Returns whether an earlier request shows an approver everything that this call asks about: repairs, missing
    /// checks, and the concerns of reviewers and hooks.
    fn is_shown_by(&self, row: &QuestionRow) -> Result<bool, ApprovalError> {
        if !self.afresh && self.concerns.is_empty() {
            return Ok(true);
        }
        let body = QuestionBody::parse(&row.id, row.body.as_deref())?;
        let is_same = !self.afresh || body.question.reason == self.question.reason;
        Ok(is_same && unseen(&self.concerns, body.concerns()).is_none())
    }
}

impl Approvals {
    /// Looks for an earlier approval request for the same call. A running call's request for a resource is never
    /// shared.
    ///
    /// # Errors
    /// The ledger or the audit log cannot be read or written.
    pub(super) fn join(&self, channel: &ApproverChannel, case: &ApprovalCase) -> Result<Joined, ApprovalError> {
        if case.subject == QuestionSubject::Resource {
            return Ok(Joined::Nothing);
        }
        let bindings = case.bindings();
        let [call, repeat] = &bindings;
        // Most calls have no open request. A look takes no write lock, and `put_down` looks again in its transaction.
        if self.shared.ledger.look(|change| change.open_questions_bound_to([call, repeat]))?.is_empty() {
            return self.rejected_since(case, &bindings);
        }
        let owner = self.owner()?;
        self.announced(Durable::Machine, |change, announcer| {
            self.join_open((change, announcer), channel, case, owner.id())
        })
    }

    /// Joins the first open request for the same call. This runs in the transaction that otherwise writes a new
    /// request, so two simultaneous calls never make two requests.
    ///
    /// # Errors
    /// The ledger cannot be read or written.
    pub(super) fn join_open(
        &self,
        (change, announcer): (&LedgerChange<'_>, &GrantAnnouncer<'_>),
        channel: &ApproverChannel,
        case: &ApprovalCase,
        owner: &str,
    ) -> Result<Joined, ApprovalError> {
        if case.subject == QuestionSubject::Resource {
            return Ok(Joined::Nothing);
        }
        let [call, repeat] = &case.bindings();
        for row in change.open_questions_bound_to([call, repeat])? {
            if let Some(joined) = self.join_row((change, announcer), channel, case, row, owner)? {
                return Ok(joined);
            }
        }
        Ok(Joined::Nothing)
    }

    fn join_row(
        &self,
        (change, announcer): (&LedgerChange<'_>, &GrantAnnouncer<'_>),
        channel: &ApproverChannel,
        case: &ApprovalCase,
        row: QuestionRow,
        owner: &str,
    ) -> Result<Option<Joined>, ApprovalError> {
        match self.fate(change, channel, case, &row, owner)? {
            Fate::Expired => {
                // The row was read in this transaction, so the step cannot conflict.
                let _ = change.step(&row.id, StatusStep::Expire, None)?;
                Ok(None)
            }
            Fate::Other => Ok(None),
            Fate::Spendable => self.spend((change, announcer), case, &row, owner).map(Some),
            Fate::Joinable { waits_elsewhere } => {
                let waits = matches!(channel, ApproverChannel::Approver(_) | ApproverChannel::Elsewhere);
                // No other process waits. Only the owner withdraws a request, so this process becomes its owner.
                if waits && !waits_elsewhere && row.owner != owner {
                    change.hand_over(&row, owner)?;
                }
                let attendance = waits.then(|| CallAttendance::begin(self, &row.id));
                Ok(Some(Joined::Open { id: row.id, attendance, owned: !waits_elsewhere }))
            }
        }
    }

    /// Returns what an open request for the same call means for a new call. Changes nothing.
    pub(super) fn fate(
        &self,
        change: &LedgerChange<'_>,
        channel: &ApproverChannel,
        case: &ApprovalCase,
        row: &QuestionRow,
        owner: &str,
    ) -> Result<Fate, ApprovalError> {
        if row.expires_at <= change.now() {
            return Ok(Fate::Expired);
        }
        if !case.is_shown_by(row)? {
            return Ok(Fate::Other);
        }
        let waits_elsewhere = row.owner != owner && change.is_waited_for(row)?;
        Ok(match row.status {
            // A call that waits for this approval spends it itself.
            Status::Approved if self.shared.waiters.count(&row.id) == 0 && !waits_elsewhere => Fate::Spendable,
            // The channel denies unattended requests, so the call must not join one and leave it open.
            Status::Pending | Status::Approved if matches!(channel, ApproverChannel::NoApprover(Unattended::Deny)) => {
                Fate::Other
            }
            Status::Pending | Status::Approved => Fate::Joinable { waits_elsewhere },
            Status::Running | Status::Done | Status::Rejected | Status::Expired | Status::Withdrawn | Status::Lost => {
                Fate::Other
            }
        })
    }

    /// Spends the approval of a request that no call waits for.
    fn spend(
        &self,
        (change, announcer): (&LedgerChange<'_>, &GrantAnnouncer<'_>),
        case: &ApprovalCase,
        row: &QuestionRow,
        owner: &str,
    ) -> Result<Joined, ApprovalError> {
        let line = AnswerLine {
            call: &case.question.call,
            question: Some(&row.id),
            subject: subject_text(&case.question.subject),
            answer: "remembered",
            covers: None,
            held: None,
            note: None,
            by: None,
        };
        // The call runs in this process, so its death must make the request `lost`.
        let row = change.hand_over(row, owner)?;
        change.step(&row.id, StatusStep::Claim, None)?.map_err(ApprovalError::from)?;
        announcer.announce(Kind::Answer, &line)?;
        Ok(Joined::Spent { id: row.id })
    }

    /// Returns the denial of a request that an identical call left open. The caller gets it only once.
    fn rejected_since(&self, case: &ApprovalCase, bindings: &[String; 2]) -> Result<Joined, ApprovalError> {
        let Some(id) = self.shared.left.take(&case.question.principal, bindings) else { return Ok(Joined::Nothing) };
        let row = self.shared.ledger.look(|change| change.question(&id))?;
        Ok(match row.filter(|row| row.status == Status::Rejected) {
            Some(row) => Joined::Rejected { note: row.note },
            None => Joined::Nothing,
        })
    }
}
