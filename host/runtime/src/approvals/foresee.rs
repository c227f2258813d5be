//! Predicts the result of an approval request with the same look-ups as a call. Spends, counts and writes nothing.

use super::ask::{FULL, NO_APPROVER};
use super::case::ApprovalCase;
use super::channel::ApproverChannel;
use super::error::ApprovalError;
use super::join::Fate;
use super::open_limits::is_full;
use super::shared::Approvals;
use crate::ledger::{LedgerChange, QuestionSubject, Status};
use portcullis_policy::Unattended;

/// The predicted result of an approval request.
pub(crate) enum Foreseen {
    /// These approvals would answer it: remembered ones, or an approved request.
    Answered(Vec<String>),
    /// An approver would be asked. The id is that of an open request for the same call, if there is one.
    Asked(Option<String>),
    /// The call would be denied.
    Refused {
        /// The note for the model.
        note: Option<String>,
    },
}

impl Approvals {
    /// Predicts the result of [`Approvals::ask`] before an approver answers. Blocks on the ledger.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub(crate) fn foresee(&self, channel: &ApproverChannel, case: &ApprovalCase) -> Result<Foreseen, ApprovalError> {
        let found = self.shared.ledger.look(|change| self.foresee_answer(change, channel, case))?;
        if let Some(foreseen) = found {
            return Ok(foreseen);
        }
        if let Some(note) = self.shared.refusals.again(&case.question) {
            return Ok(Foreseen::Refused { note: Some(note) });
        }
        if matches!(
            (channel, case.subject),
            (ApproverChannel::NoApprover(Unattended::Deny), _)
                | (ApproverChannel::NoApprover(_), QuestionSubject::Resource)
        ) {
            return Ok(Foreseen::Refused { note: Some(NO_APPROVER.to_owned()) });
        }
        let question = &case.question;
        let open = |change: &LedgerChange<'_>| change.open_questions_count(&question.session, &question.principal);
        match is_full(self.shared.ledger.look(open)?) {
            true => Ok(Foreseen::Refused { note: Some(FULL.to_owned()) }),
            false => Ok(Foreseen::Asked(None)),
        }
    }

    /// Returns the result that earlier answers and requests lead to, if any.
    fn foresee_answer(
        &self,
        change: &LedgerChange<'_>,
        channel: &ApproverChannel,
        case: &ApprovalCase,
    ) -> Result<Option<Foreseen>, ApprovalError> {
        if !case.afresh
            && let Some(rows) = self.remembered(change, case)?.rows
        {
            return Ok(Some(Foreseen::Answered(rows.into_iter().map(|row| row.id).collect())));
        }
        if case.subject == QuestionSubject::Resource {
            return Ok(None);
        }
        let bindings = case.bindings();
        let [call, repeat] = &bindings;
        let open = change.open_questions_bound_to([call, repeat])?;
        if open.is_empty() {
            let left = self.shared.left.look(&case.question.principal, &bindings);
            let row = left.map_or(Ok(None), |id| change.question(&id))?;
            let rejected = row.filter(|row| row.status == Status::Rejected);
            return Ok(rejected.map(|row| Foreseen::Refused { note: row.note }));
        }
        let owner = self.owner()?;
        for row in open {
            match self.fate(change, channel, case, &row, owner.id())? {
                Fate::Expired | Fate::Other => {}
                Fate::Spendable => return Ok(Some(Foreseen::Answered(vec![row.id]))),
                Fate::Joinable { .. } => return Ok(Some(Foreseen::Asked(Some(row.id)))),
            }
        }
        Ok(None)
    }
}
