//! Binds an answer to what its approver was shown, for channels where time passes between the two.

use super::answer::Onward;
use super::error::ApprovalError;
use super::shared::Approvals;
use crate::approver::{Answer, Question};
use crate::ledger::Status;
use crate::text::sha256;
use std::fmt;

/// A digest of everything that an approver is shown of a request: arguments, difference, handles, reason and offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownDigest(String);

/// What became of an answer that is bound to what its approver was shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShownAnswer {
    /// The request is what was shown, and the answer was given.
    Given(Onward),
    /// The request looks different now, for example because a file has changed. Nothing was approved.
    Changed,
}

impl ShownDigest {
    /// Returns the digest of a request as it is shown.
    pub fn of(question: &Question) -> Self {
        // Serializing texts and lists cannot fail. An empty digest matches no request.
        Self(serde_json::to_string(question).map(|text| sha256(&text)).unwrap_or_default())
    }

    /// Takes a digest back that went through a page or a file. Any other text matches no request.
    pub fn from_text(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl fmt::Display for ShownDigest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl Approvals {
    /// Answers an approval request like [`Approvals::answer`], but approves only if the request still is what was
    /// shown. A denial needs no such proof, because no one has to read all of what they deny.
    ///
    /// # Errors
    /// The same as those of [`Approvals::answer`].
    pub async fn answer_as_shown(
        &self,
        id: &str,
        shown: &ShownDigest,
        answer: &Answer,
    ) -> Result<ShownAnswer, ApprovalError> {
        // This check needs no transaction with the answer. What a pending row shows does not change, and a file can
        // change until the call runs anyway.
        if !matches!(answer, Answer::No { .. }) {
            let open = self.question(id).await?;
            if open.status != Status::Pending {
                return Err(ApprovalError::Settled(open.status));
            }
            let now = ShownDigest::of(&open.question.ok_or(ApprovalError::Gone)?);
            if now != *shown || now.0.is_empty() {
                return Ok(ShownAnswer::Changed);
            }
        }
        self.answer(id, answer).await.map(ShownAnswer::Given)
    }
}
