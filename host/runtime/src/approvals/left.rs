//! Approval requests that no call waits for. The host keeps what a later policy needs to decide on their calls again.

use super::answer::{NOTE_BYTES_MAX, covered};
use super::binding::Binding;
use super::concern::Concern;
use super::line::WithdrawalLine;
use super::principal_map::PrincipalMap;
use super::{ApprovalError, Approvals, Body};
use crate::approver::Question;
use crate::audit::Kind;
use crate::ledger::{Change, Durable, LedgerError, QuestionRow, Status, Step};
use crate::request::Request;
use crate::text::cut;
use portcullis_policy::Principal;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

/// The inputs of the decision to ask an approver, apart from the call and the rules.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AskedUnder {
    /// The source of the policy. A policy from another source does not decide on the call again.
    pub(crate) policy_source: String,
    pub(crate) observed: Observed,
}

/// What is known about a call before an approver is asked. It is valid under every policy.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Observed {
    /// Why the plugin's review and the hooks ask for an approval.
    pub(crate) concerns: Vec<Concern>,
    /// How many times in a row exactly this call was made.
    pub(crate) count: u64,
    /// The repairs of the arguments, as text.
    pub(crate) repaired: Option<String>,
}

/// The call of an approval request that was left open.
pub(crate) struct LeftCall {
    pub(crate) request: Request,
    pub(crate) question: Question,
    pub(crate) arguments: Map<String, Value>,
    pub(crate) binding: Binding,
    pub(crate) observed: Observed,
}

/// Approval requests that calls of this process have left open for their callers, by the binding of the call. With
/// them, a caller that makes a call again learns that it was denied.
#[derive(Default)]
pub(super) struct LeftRequests(Mutex<PrincipalMap<String, String>>);

impl LeftRequests {
    /// Remembers a request that its call has left.
    pub(super) fn put(&self, principal: &str, binding: String, id: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(principal, binding, id);
    }

    /// Returns the request of a call with one of these bindings.
    pub(super) fn look(&self, principal: &str, bindings: &[String; 2]) -> Option<String> {
        let mut left = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        bindings.iter().find_map(|binding| left.get(principal, binding).cloned())
    }

    /// Returns the request of a call with one of these bindings, and forgets both.
    pub(super) fn take(&self, principal: &str, bindings: &[String; 2]) -> Option<String> {
        let mut left = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let id = bindings.iter().find_map(|binding| left.get(principal, binding).cloned());
        bindings.iter().for_each(|binding| left.remove(principal, binding));
        id
    }
}

impl Body {
    /// Makes the request of the call again.
    pub(super) fn request(&self, row: &QuestionRow) -> Result<Request, ApprovalError> {
        let principal: Principal = row.principal.parse().map_err(|error| LedgerError::form(&row.id, error))?;
        let request = Request::new(&*row.tool, &*self.question.arguments).session(&row.session).principal(principal);
        Ok(request.automated(self.automated).written_by(self.message.as_deref(), self.agent.as_deref()))
    }
}

impl LeftCall {
    /// Returns the call of a request that was made under a policy from `policy_source`.
    fn of(row: &QuestionRow, policy_source: &str) -> Result<Option<Self>, ApprovalError> {
        let mut body = Body::parse(&row.id, row.body.as_deref())?;
        let Some(AskedUnder { observed, .. }) =
            body.asked_under.take().filter(|asked| asked.policy_source == policy_source)
        else {
            return Ok(None);
        };
        let (request, arguments) = (body.request(row)?, covered(&row.id, &body)?);
        let Body { question, binding, .. } = body;
        Ok(Some(Self { request, question, arguments, binding, observed }))
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

    fn withdraw(&self, change: &Change<'_>, id: &str, why: &str) -> Result<(), ApprovalError> {
        // If a call has joined the request since, that call decides again by itself.
        let Some(row) = self.left_behind(change, id)? else { return Ok(()) };
        if change.step(id, Step::Withdraw, Some(why))?.is_ok() {
            change.post(Kind::Withdrawn.as_str(), &WithdrawalLine { call: &row.call, question: id, why })?;
        }
        Ok(())
    }

    /// Returns an open request if no call of this process waits for it and no other process that still runs owns it.
    fn left_behind(&self, change: &Change<'_>, id: &str) -> Result<Option<QuestionRow>, ApprovalError> {
        let row = match change.question(id) {
            Err(LedgerError::Seal(_)) => return Ok(None),
            row => row?,
        };
        let is_own = |row: &QuestionRow| self.owner().map(|owner| owner.id() == row.owner);
        Ok(match row {
            Some(row) if !matches!(row.status, Status::Pending | Status::Approved) => None,
            Some(_) if self.shared.waiters.count(id) > 0 => None,
            Some(row) if change.is_waited_for(&row) && !is_own(&row)? => None,
            row => row,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_one_principal_does_not_remove_requests_of_another() {
        let left = LeftRequests::default();
        let bindings = |name: &str| [name.to_owned(), format!("{name} again")];
        left.put("alice", "call".to_owned(), "id".to_owned());
        for number in 0..10_000 {
            left.put("bob", number.to_string(), number.to_string());
        }
        assert_eq!(left.take("bob", &bindings("call")), None);
        assert_eq!(left.take("alice", &bindings("call")).as_deref(), Some("id"));
        assert_eq!(left.take("alice", &bindings("call")), None, "it is returned once");
    }
}
