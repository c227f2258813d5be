//! Finds a request or an approval by the first digits of its id.

use portcullis::Approvals;
use portcullis::approvals::{ApprovalError, HeldAnswer, OpenQuestion};

/// Minimum number of digits. With fewer, a typing error could name another id.
const DIGITS_MIN: usize = 6;

/// The request or approval that an id names.
pub(super) enum IdentifiedApproval {
    Question(Box<OpenQuestion>),
    Answer(Box<HeldAnswer>),
}

/// Finds the request or approval with this id, including settled ones. The inner error says what is wrong with the id.
///
/// # Errors
/// The ledger cannot be read.
pub(super) async fn find(
    approvals: &Approvals,
    typed: &str,
) -> Result<Result<IdentifiedApproval, String>, ApprovalError> {
    let typed = typed.to_ascii_lowercase();
    if typed.len() < DIGITS_MIN || !typed.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Ok(Err(format!("an id consists of hexadecimal digits: give at least the first {DIGITS_MIN}")));
    }
    let listing = approvals.list_all().await?;
    let questions = listing.questions.into_iter().filter(|question| question.id.starts_with(&typed));
    let answers = listing.answers.into_iter().filter(|answer| answer.id.starts_with(&typed));
    let found = questions.map(|question| IdentifiedApproval::Question(Box::new(question)));
    let mut found = found.chain(answers.map(|answer| IdentifiedApproval::Answer(Box::new(answer))));
    Ok(match (found.next(), found.next()) {
        (None, _) => Err(ApprovalError::Unknown.to_string()),
        (Some(found), None) => Ok(found),
        (Some(_), Some(_)) => Err("several ids begin with these digits: give more of them".to_owned()),
    })
}
