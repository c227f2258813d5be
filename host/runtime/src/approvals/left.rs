//! Approval requests that no call waits for. The host keeps what a later policy needs to decide on their calls again.

use super::answer::covered;
use super::asked_under::{AskedUnder, Observed};
use super::binding::ApprovalBinding;
use super::body::QuestionBody;
use super::error::ApprovalError;
use super::line::WithdrawalLine;
use super::note::NOTE_BYTES_MAX;
use super::shared::Approvals;
use crate::approver::Question;
use crate::audit::Kind;
use crate::ledger::{Durable, LedgerChange, LedgerError, QuestionRow, Status, StatusStep};
use crate::origin::RequestOrigin;
use crate::text::cut;
use serde_json::{Map, Value};
use std::collections::HashSet;

/// The call of an approval request that was left open.
pub(crate) struct LeftCall {
    pub(crate) origin: RequestOrigin,
    pub(crate) question: Question,
    pub(crate) arguments: Map<String, Value>,
    pub(crate) binding: ApprovalBinding,
    pub(crate) observed: Observed,
}

impl LeftCall {
    /// Returns the call of a request that was made under a policy from `policy_source`.
    fn of(row: &QuestionRow, policy_source: &str) -> Result<Option<Self>, ApprovalError> {
        let mut body = QuestionBody::parse(&row.id, row.body.as_deref())?;
        let Some(AskedUnder { observed, .. }) =
            body.asked_under.take().filter(|asked| asked.policy_source == policy_source)
        else {
            return Ok(None);
        };
        let (origin, arguments) = (body.origin(row)?, covered(&row.id, &body)?);
        let QuestionBody { question, binding, .. } = body;
        Ok(Some(Self { origin, question, arguments, binding, observed }))
    }
}

impl Approvals {
    /// Withdraws the requests that no call waits for, that were made under a policy from `policy_source`, and for which
    /// `obsolete` returns a reason. Their callers have to make the calls again. Leaves out the ids in `decided`, and
    /// returns the ids that stay.
    ///
    /// # Errors
    /// The ledger or the audit log cannot be read or written.
    pub(crate) fn withdraw_left(
        &self,
        policy_source: &str,
        decided: &HashSet<String>,
        obsolete: impl Fn(&LeftCall) -> Option<String>,
    ) -> Result<HashSet<String>, ApprovalError> {
        let ids = self.shared.ledger.look(|change| change.waiting_call_ids())?;
        let (mut stay, mut withdrawn) = (HashSet::new(), Vec::new());
        for id in ids {
            if decided.contains(&id) {
                stay.insert(id);
                continue;
            }
            // Read one at a time, so that calls which need the ledger do not wait for all of them.
            let Some(row) = self.shared.ledger.look(|change| self.left_behind(change, &id))? else { continue };
            // A row that cannot be read gives no right, and `list` reports it.
            let left = LeftCall::of(&row, policy_source).ok().flatten();
            match left.and_then(|left| obsolete(&left)) {
                Some(why) => withdrawn.push((id, why)),
                None => drop(stay.insert(id)),
            }
        }
        if !withdrawn.is_empty() {
            self.change(Durable::Machine, |change| {
                withdrawn.iter().try_for_each(|(id, why)| self.withdraw(change, id, cut(why, NOTE_BYTES_MAX)))
            })?;
        }
        Ok(stay)
    }

    fn withdraw(&self, change: &LedgerChange<'_>, id: &str, why: &str) -> Result<(), ApprovalError> {
        // If a call has joined the request since, that call decides again by itself.
        let Some(row) = self.left_behind(change, id)? else { return Ok(()) };
        if change.step(id, StatusStep::Withdraw, Some(why))?.is_ok() {
            change.post(Kind::Withdrawn.as_str(), &WithdrawalLine { call: &row.call, question: id, why })?;
        }
        Ok(())
    }

    /// Returns an open request if no call of this process waits for it and no other process that still runs owns it.
    fn left_behind(&self, change: &LedgerChange<'_>, id: &str) -> Result<Option<QuestionRow>, ApprovalError> {
        let row = match change.question(id) {
            Err(LedgerError::Seal(_)) => return Ok(None),
            row => row?,
        };
        // This process runs, so its own requests always count as waited for. `waiters` says whether a call waits.
        let is_own = |row: &QuestionRow| self.owner().map(|owner| owner.id() == row.owner);
        Ok(match row {
            Some(row) if !matches!(row.status, Status::Pending | Status::Approved) => None,
            Some(_) if self.shared.waiters.count(id) > 0 => None,
            Some(row) if change.is_waited_for(&row)? && !is_own(&row)? => None,
            row => row,
        })
    }
}
