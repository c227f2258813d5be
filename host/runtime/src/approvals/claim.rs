//! A yes is spent: by the call that waited for it, or later by whoever runs the call whose process is gone.

use super::answer::{NOTE_BYTES_MAX, covered};
use super::binding::Binding;
use super::body::Body;
use super::concern::{Concern, unseen};
use super::error::ApprovalError;
use super::shared::Approvals;
use crate::ledger::{Durable, Status, Step, Subject, drop_blocking, now};
use crate::origin::Origin;
use crate::text::cut;
use serde_json::{Map, Value};

/// A spent approval whose call has begun. When it is dropped, its approval request is done. Only a process that dies
/// leaves the request as running.
pub(crate) struct Ticket(Option<SpentApproval>);

/// The approval of a ticket. It writes to the ledger when it is dropped, so drop it on a thread that may block.
struct SpentApproval {
    approvals: Approvals,
    id: String,
}

/// A question whose call can be run now.
pub(crate) struct Redeemed {
    /// The tool, as it was asked for.
    pub(crate) tool: String,
    pub(crate) arguments: String,
    pub(crate) origin: Origin,
    /// The id the call had when it was asked.
    pub(crate) call: String,
}

impl Ticket {
    /// Ends the approval request, after its call has ended. Returns when that is in the ledger.
    pub(crate) async fn finish(mut self) {
        let spent = self.0.take();
        // A runtime that shuts down drops it all the same.
        let _ = tokio::task::spawn_blocking(move || drop(spent)).await;
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
        // If this cannot be written the question stays as running, and nobody runs it again.
        let _ = self.approvals.change(Durable::Process, |change| {
            let _ = change.step(&self.id, Step::Finish, None)?;
            Ok(())
        });
    }
}

impl Approvals {
    /// Spends the yes of a question that this process waited for.
    pub(super) fn claim(&self, id: &str, subject: Subject) -> Result<Option<Ticket>, ApprovalError> {
        let owner = self.owner()?;
        self.change(Durable::Machine, |change| {
            let row = change.question(id)?.ok_or(ApprovalError::Unknown)?;
            if row.status == Status::Approved && row.expires_at <= now() {
                let _ = change.step(id, Step::Expire, None)?;
                return Ok(Err(ApprovalError::Expired));
            }
            if row.status == Status::Approved && row.owner != owner.id() {
                // The call runs in this process, and is lost if the process dies.
                change.hand_over(&row, owner.id())?;
            }
            if let Err(conflict) = change.step(id, Step::Claim, None)? {
                return Ok(Err(conflict.into()));
            }
            if subject == Subject::Resource {
                // The running call goes on: there is nothing left that could happen twice.
                let _ = change.step(id, Step::Finish, None)?;
            }
            Ok(Ok(()))
        })??;
        Ok((subject != Subject::Resource).then(|| self.ticket(id)))
    }

    /// Made when the spending is written, never before: a ticket that is dropped says that its call has ended.
    pub(super) fn ticket(&self, id: &str) -> Ticket {
        Ticket(Some(SpentApproval { approvals: self.clone(), id: id.to_owned() }))
    }

    /// The call of an approved question, to be run by this process. It is not spent yet.
    pub(crate) fn redeemable(&self, id: &str) -> Result<Redeemed, ApprovalError> {
        let row = self.shared.ledger.look(|change| {
            let row = self.open_question(change, id)?;
            match row.status {
                Status::Approved if change.is_waited_for(&row) => Err(ApprovalError::WaitedFor),
                // What it was about was in the middle of a call that has gone; it is no yes to a call.
                Status::Approved if row.subject == Subject::Resource => Err(ApprovalError::Gone),
                Status::Approved => Ok(row),
                status => Err(ApprovalError::Settled(status)),
            }
        })?;
        let body = Body::parse(id, row.body.as_deref())?;
        let origin = body.origin(&row)?;
        Ok(Redeemed { tool: row.tool, arguments: body.question.arguments, origin, call: row.call })
    }

    /// Spends the yes of a question whose process is gone, if what would run now is what was asked about.
    pub(crate) fn redeem(
        &self,
        id: &str,
        now_bound: &Binding,
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
            if change.is_waited_for(&row) && row.owner != owner.id() {
                return Ok(Err(ApprovalError::WaitedFor));
            }
            if row.expires_at <= now() {
                let _ = change.step(id, Step::Expire, None)?;
                return Ok(Err(ApprovalError::Expired));
            }
            let body = Body::parse(id, row.body.as_deref())?;
            // A repetition asks about the same call as the call itself.
            let bound = Binding { subject: body.binding.subject.clone(), ..now_bound.clone() };
            if bound.digest(arguments, session) != row.binding || covered(id, &body)? != *arguments {
                let changed = body.binding.changed(&bound).unwrap_or_else(|| "its arguments are others".to_owned());
                let _ = change.step(id, Step::Withdraw, Some(&changed))?;
                return Ok(Err(ApprovalError::Changed(changed)));
            }
            if let Some(unseen) = unseen(concerns, body.concerns()) {
                let changed = format!("there is something that nobody was asked about. {}", unseen.reason);
                let _ = change.step(id, Step::Withdraw, Some(cut(&changed, NOTE_BYTES_MAX)))?;
                return Ok(Err(ApprovalError::Changed(changed)));
            }
            let row = change.hand_over(&row, owner.id())?;
            Ok(change.step(&row.id, Step::Claim, None)?.map(drop).map_err(Into::into))
        })??;
        Ok(self.ticket(id))
    }
}
