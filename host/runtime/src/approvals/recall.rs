//! Finds remembered approvals that answer a request.

use super::answer::subject_text;
use super::binding::{ApprovalBinding, Coverage};
use super::case::ApprovalCase;
use super::concern::Concern;
use super::error::ApprovalError;
use super::line::AnswerLine;
use super::recorded::GrantAnnouncer;
use super::shared::Approvals;
use crate::audit::Kind;
use crate::json;
use crate::ledger::{AnswerHold, AnswerRow, LedgerChange};
use crate::text::sha256;

/// The result of looking for remembered approvals.
pub(super) enum Recall {
    /// Remembered approvals cover the request. Their use is recorded and counted.
    Yes,
    /// No approval applies.
    Nothing {
        /// What has changed since an approval that would cover the request, for people.
        changed: Option<String>,
    },
}

/// The remembered approvals that together answer a request, or why the nearest one does not.
pub(super) struct Remembered {
    /// `None` if they leave something unanswered.
    pub(super) rows: Option<Vec<AnswerRow>>,
    /// What has changed since an approval that would cover the call.
    pub(super) changed: Option<String>,
}

/// The part of a request that no remembered approval has answered yet.
struct Unanswered<'a> {
    /// Whether the policy or a fixed rule of the host asks.
    by_host: bool,
    concerns: Vec<&'a Concern>,
}

impl<'a> Unanswered<'a> {
    fn new(by_host: bool, concerns: &'a [Concern]) -> Self {
        Self { by_host, concerns: concerns.iter().collect() }
    }

    /// Removes what an approval answers. Returns whether it answered anything.
    fn answer(&mut self, coverage: &Coverage) -> bool {
        let (by_host, concerns) = (self.by_host, self.concerns.len());
        self.by_host = by_host && !coverage.answers_policy();
        self.concerns.retain(|concern| !coverage.answers(concern));
        (by_host, concerns) != (self.by_host, self.concerns.len())
    }

    fn is_empty(&self) -> bool {
        !self.by_host && self.concerns.is_empty()
    }
}

impl Approvals {
    /// Answers a request by remembered approvals, and records and counts their use.
    pub(super) fn recall(
        &self,
        change: &LedgerChange<'_>,
        announcer: &GrantAnnouncer<'_>,
        case: &ApprovalCase,
    ) -> Result<Recall, ApprovalError> {
        let Remembered { rows, changed } = self.remembered(change, case)?;
        let Some(rows) = rows else { return Ok(Recall::Nothing { changed }) };
        let now = change.now();
        for row in &rows {
            if change.use_answer(&row.id, now)? != AnswerHold::Yes {
                return Ok(Recall::Nothing { changed });
            }
        }
        rows.iter().try_for_each(|row| announcer.announce(Kind::Answer, &line(case, row)))?;
        Ok(Recall::Yes)
    }

    /// Finds the remembered approvals that together answer a request. Changes nothing.
    pub(super) fn remembered(
        &self,
        change: &LedgerChange<'_>,
        case: &ApprovalCase,
    ) -> Result<Remembered, ApprovalError> {
        let (now, sha256) = (change.now(), sha256(json::canonical(&case.covered)));
        let (mut rows, mut changed) = (Vec::new(), None);
        let mut unanswered = Unanswered::new(case.by_host, &case.concerns);
        for row in change.held(case.binding.tool.to_string().as_str(), &case.binding.principal)? {
            let elsewhere = row.session.as_ref().is_some_and(|session| *session != case.question.session);
            let Some((binding, coverage)) = read(&row) else { continue };
            if elsewhere || row.expires_at <= now || !coverage.covers(&case.covered, &sha256) {
                continue;
            }
            if binding != case.binding {
                changed = changed.or_else(|| binding.changed(&case.binding));
                continue;
            }
            if unanswered.answer(&coverage) {
                rows.push(row);
            }
            if unanswered.is_empty() {
                return Ok(Remembered { rows: Some(rows), changed });
            }
        }
        Ok(Remembered { rows: None, changed })
    }
}

/// Parses what an approval covers. A row that cannot be parsed answers nothing.
fn read(row: &AnswerRow) -> Option<(ApprovalBinding, Coverage)> {
    Some((serde_json::from_str(&row.binding).ok()?, serde_json::from_str(&row.covers).ok()?))
}

fn line<'a>(case: &'a ApprovalCase, row: &'a AnswerRow) -> AnswerLine<'a> {
    AnswerLine {
        call: &case.question.call,
        question: None,
        subject: subject_text(&case.question.subject),
        answer: "remembered",
        covers: None,
        held: Some(&row.id),
        note: None,
        by: None,
    }
}
