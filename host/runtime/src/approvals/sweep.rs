//! What dead processes and passed time left in the ledger, settled when a process opens it.

use super::desk::SETTLED_KEPT;
use super::line::LossLine;
use super::{ApprovalError, Approvals};
use crate::audit::Kind;
use crate::ledger::{Change, Durable, QuestionRow, Status, Step, now};

impl Approvals {
    /// Settles what nobody will: calls that ran when their process died, questions of calls that are gone, and what
    /// has expired.
    pub(super) fn sweep(&self) -> Result<(), ApprovalError> {
        let stale = |change: &Change<'_>| {
            let rows = change.perhaps_stale(now())?.into_iter();
            let stale = rows.filter_map(|row| Some((end_of(change, &row)?, row)));
            Ok::<_, ApprovalError>(stale.collect::<Vec<_>>())
        };
        let found = self.shared.ledger.look(stale)?;
        if found.is_empty() {
            return Ok(());
        }
        self.change(Durable::Machine, |change| {
            for (step, row) in stale(change)? {
                if step == Step::Lose {
                    self.shared.audit.append(Kind::Outcome, None::<&()>, &loss(&row))?;
                }
                let _ = change.step(&row.id, step, None)?;
            }
            Ok(change.prune(SETTLED_KEPT)?)
        })
    }
}

/// What has to become of an open question that nobody moves on, if anything.
fn end_of(change: &Change<'_>, row: &QuestionRow) -> Option<Step> {
    match row.status {
        Status::Running if !change.is_waited_for(row) => Some(Step::Lose),
        Status::Pending | Status::Approved if row.expires_at <= now() => Some(Step::Expire),
        Status::Pending | Status::Approved
            if row.subject == crate::ledger::Subject::Resource && !change.is_waited_for(row) =>
        {
            Some(Step::Withdraw)
        }
        Status::Pending
        | Status::Approved
        | Status::Running
        | Status::Done
        | Status::Rejected
        | Status::Expired
        | Status::Withdrawn
        | Status::Lost => None,
    }
}

fn loss(row: &QuestionRow) -> LossLine<'_> {
    LossLine {
        call: &row.call,
        tool: &row.tool,
        outcome: "unknown",
        code: "host-died",
        detail: "the host died while the tool ran; what it had done is done, and it is not run again",
    }
}
