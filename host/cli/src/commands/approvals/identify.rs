//! Which question or answer a person means by the beginning of its id.

use portcullis::Approvals;
use portcullis::approvals::{ApprovalError, HeldAnswer, OpenQuestion};

/// The fewest digits that name something: with fewer, a slip of the hand may name another.
const DIGITS_MIN: usize = 6;

/// What an id names.
pub(super) enum Found {
    Question(Box<OpenQuestion>),
    Answer(Box<HeldAnswer>),
}

/// Looks for what has this id, settled ones too; the inner error is what is wrong with the id.
///
/// # Errors
/// The ledger cannot be read.
pub(super) fn find(approvals: &Approvals, typed: &str) -> Result<Result<Found, String>, ApprovalError> {
    let typed = typed.to_ascii_lowercase();
    if typed.len() < DIGITS_MIN || !typed.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Ok(Err(format!("an id is hexadecimal digits, of which the first {DIGITS_MIN} are enough at best")));
    }
    let listing = approvals.list_all()?;
    let questions = listing.questions.into_iter().filter(|question| question.id.starts_with(&typed));
    let answers = listing.answers.into_iter().filter(|answer| answer.id.starts_with(&typed));
    let found = questions.map(|question| Found::Question(Box::new(question)));
    let mut found = found.chain(answers.map(|answer| Found::Answer(Box::new(answer))));
    Ok(match (found.next(), found.next()) {
        (None, _) => Err(ApprovalError::Unknown.to_string()),
        (Some(found), None) => Ok(found),
        (Some(_), Some(_)) => Err("several ids begin so: write more digits of it".to_owned()),
    })
}
