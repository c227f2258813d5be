//! Spends approvals: for the call that waited for one, or later for a call whose process has ended.

use super::answer::covered;
use super::binding::ApprovalBinding;
use super::body::QuestionBody;
use super::concern::{Concern, unseen};
use super::error::ApprovalError;
use super::note::NOTE_BYTES_MAX;
use super::shared::Approvals;
use crate::ledger::{Durable, QuestionSubject, Status, StatusStep, drop_blocking, dropped_blocking, is_unreachable};
use crate::origin::RequestOrigin;
use crate::text::cut;
use serde_json::{Map, Value};
use std::time::{Duration, Instant};

/// How long the end of a call is kept for a database that cannot be reached. A restart takes less.
const FINISH_TIME: Duration = Duration::from_mins(5);

/// Pause between two attempts to write the end of a call.
const FINISH_PAUSE: Duration = Duration::from_secs(1);

/// A spent approval whose call has begun. When it is dropped, its approval request is done. Only a process that dies
/// leaves the request as running.
pub(crate) struct Ticket(Option<SpentApproval>);

/// The approval of a ticket. It writes to the ledger when it is dropped, so drop it on a thread that may block.
struct SpentApproval {
    approvals: Approvals,
    id: String,
}

/// An approval request whose call can run now.
pub(crate) struct Redeemed {
    /// The tool, as it was asked for.
    pub(crate) tool: String,
    pub(crate) arguments: String,
    pub(crate) origin: RequestOrigin,
    /// The id that the call had when it made the request.
    pub(crate) call: String,
}

impl Ticket {
    /// Ends the approval request, after its call has ended. Returns when that is in the ledger.
    pub(crate) async fn finish(mut self) {
        dropped_blocking(self.0.take()).await;
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if let Some(spent) = self.0.take() {
            drop_blocking(spent);
        }
    }
}

impl Drop for SpentApproval {
    fn drop(&mut self) {
        let begun = Instant::now();
        // If this cannot be written, the request stays in the state running and is never run again.
        while let Err(ApprovalError::Ledger(error)) = self.approvals.change(Durable::Process, |change| {
            let _ = change.step(&self.id, StatusStep::Finish, None)?;
            Ok(())
        }) && is_unreachable(&error)
            && begun.elapsed() < FINISH_TIME
        {
            std::thread::sleep(FINISH_PAUSE);
        }
    }
}

impl Approvals {
    /// Spends the approval of a request that this process waited for.
    pub(super) fn claim(&self, id: &str, subject: QuestionSubject) -> Result<Option<Ticket>, ApprovalError> {
        let owner = self.owner()?;
        // Spending must survive a crash of the machine. Otherwise the call could run a second time after it.
        self.change(Durable::Machine, |change| {
            let row = change.question(id)?.ok_or(ApprovalError::Unknown)?;
            if row.status == Status::Approved && row.expires_at <= change.now() {
                let _ = change.step(id, StatusStep::Expire, None)?;
                return Ok(Err(ApprovalError::Expired));
            }
            if row.status == Status::Approved && row.owner != owner.id() {
                // The call runs in this process, and is lost if the process dies.
                change.hand_over(&row, owner.id())?;
            }
            if let Err(conflict) = change.step(id, StatusStep::Claim, None)? {
                return Ok(Err(conflict.into()));
            }
            if subject == QuestionSubject::Resource {
                // The running call continues, and nothing can run twice, so finish the request now.
                let _ = change.step(id, StatusStep::Finish, None)?;
            }
            Ok(Ok(()))
        })??;
        Ok((subject != QuestionSubject::Resource).then(|| self.ticket(id)))
    }

    /// Creates the ticket of a spent approval. Call this only after the spending is written, because dropping the
    /// ticket tells that the call has ended.
    pub(super) fn ticket(&self, id: &str) -> Ticket {
        Ticket(Some(SpentApproval { approvals: self.clone(), id: id.to_owned() }))
    }

    /// Returns the call of an approved request, for this process to run. Its approval is not spent yet.
    pub(crate) fn redeemable(&self, id: &str) -> Result<Redeemed, ApprovalError> {
        let row = self.shared.ledger.look(|change| {
            let row = self.open_question(change, id)?;
            match row.status {
                Status::Approved if change.is_waited_for(&row)? => Err(ApprovalError::WaitedFor),
                // The approval is for a resource of a running call that has ended. It does not approve a whole call.
                Status::Approved if row.subject == QuestionSubject::Resource => Err(ApprovalError::Gone),
                Status::Approved => Ok(row),
                status => Err(ApprovalError::Settled(status)),
            }
        })?;
        let body = QuestionBody::parse(id, row.body.as_deref())?;
        let origin = body.origin(&row)?;
        Ok(Redeemed { tool: row.tool, arguments: body.question.arguments, origin, call: row.call })
    }

    /// Spends the approval of a request whose process has ended, if the call is still the one that was requested.
    pub(crate) fn redeem(
        &self,
        id: &str,
        now_bound: &ApprovalBinding,
        arguments: &Map<String, Value>,
        session: &str,
        concerns: &[Concern],
    ) -> Result<Ticket, ApprovalError> {
        let owner = self.owner()?;
        self.change(Durable::Machine, |change| {
            let row = self.open_question(change, id)?;
            if row.status != Status::Approved {
                return Ok(Err(ApprovalError::Settled(row.status)));
            }
            if change.is_waited_for(&row)? && row.owner != owner.id() {
                return Ok(Err(ApprovalError::WaitedFor));
            }
            if row.expires_at <= change.now() {
                let _ = change.step(id, StatusStep::Expire, None)?;
                return Ok(Err(ApprovalError::Expired));
            }
            let body = QuestionBody::parse(id, row.body.as_deref())?;
            // Use the request's own subject, because a call and its repetition are the same call.
            let bound = ApprovalBinding { subject: body.binding.subject.clone(), ..now_bound.clone() };
            // The digest is what the approval is bound to. The arguments in the body are what the approver was shown.
            if bound.digest(arguments, session) != row.binding || covered(id, &body)? != *arguments {
                let changed = body.binding.changed(&bound).unwrap_or_else(|| "its arguments changed".to_owned());
                let _ = change.step(id, StatusStep::Withdraw, Some(&changed))?;
                return Ok(Err(ApprovalError::Changed(changed)));
            }
            if let Some(unseen) = unseen(concerns, body.concerns()) {
                let changed = format!("no approver was asked about this: {}", unseen.reason);
                let _ = change.step(id, StatusStep::Withdraw, Some(cut(&changed, NOTE_BYTES_MAX)))?;
                return Ok(Err(ApprovalError::Changed(changed)));
            }
            let row = change.hand_over(&row, owner.id())?;
            Ok(change.step(&row.id, StatusStep::Claim, None)?.map(drop).map_err(Into::into))
        })??;
        Ok(self.ticket(id))
    }
}
