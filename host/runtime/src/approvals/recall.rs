//! Answers that were given for longer: whether one of them answers this question, too.

use super::ask::Case;
use super::binding::{Binding, Coverage};
use super::line::AnswerLine;
use super::recorded::Announcer;
use super::{ApprovalError, Approvals};
use crate::audit::Kind;
use crate::json;
use crate::ledger::{AnswerRow, Change, Held, now};
use crate::text::sha256;

/// What is remembered about a question.
pub(super) enum Recall {
    /// An answer that covers it; it is in the record, and its use is noted.
    Yes,
    /// Nothing that holds. Where an answer would cover it and something has changed since: what.
    Nothing {
        /// In words for people.
        changed: Option<String>,
    },
}

impl Approvals {
    pub(super) fn recall(
        &self,
        change: &Change<'_>,
        announcer: &Announcer<'_>,
        case: &Case,
    ) -> Result<Recall, ApprovalError> {
        let now = now();
        let mut changed = None;
        let sha256 = sha256(json::canonical(&case.covered));
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
            if change.use_answer(&row.id, now)? == Held::Yes {
                announcer.announce(Kind::Answer, &line(case, &row))?;
                return Ok(Recall::Yes);
            }
        }
        Ok(Recall::Nothing { changed })
    }
}

/// A row that cannot be read answers nothing.
fn read(row: &AnswerRow) -> Option<(Binding, Coverage)> {
    Some((serde_json::from_str(&row.binding).ok()?, serde_json::from_str(&row.covers).ok()?))
}

fn line<'a>(case: &'a Case, row: &'a AnswerRow) -> AnswerLine<'a> {
    AnswerLine {
        call: &case.question.call,
        question: None,
        subject: super::answer::subject_text(&case.question.subject),
        answer: "remembered",
        covers: None,
        held: Some(&row.id),
        note: None,
    }
}
