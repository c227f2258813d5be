//! The difference that an approver is shown, as the audit log keeps it: only if the policy keeps texts, without
//! secrets, and within a limit.

use super::case::ApprovalCase;
use crate::text::cut;

/// Maximum length of a kept difference, in bytes. Its entry fits a line of the audit log even if JSON escapes every
/// byte with six characters.
const KEPT_BYTES_MAX: usize = 12 * 1024;

/// A difference as the audit log keeps it.
pub(super) struct KeptDifference {
    pub(super) text: String,
    /// The length of the whole difference in bytes, if only its beginning is kept.
    pub(super) whole_bytes: Option<usize>,
}

impl KeptDifference {
    /// Returns what to keep of the difference of a request. `None` if the policy keeps no texts.
    pub(super) fn of(case: &ApprovalCase) -> Option<Self> {
        let network = case.difference_redactor.as_ref()?;
        // Search all of it first, because the cut could divide a secret.
        let whole = network.redact(case.question.difference.clone()?);
        if whole.len() <= KEPT_BYTES_MAX {
            return Some(Self { text: whole, whole_bytes: None });
        }
        let kept = cut(&whole, KEPT_BYTES_MAX);
        let end = kept.rfind('\n').map_or(kept.len(), |line_feed| line_feed + 1);
        Some(Self { text: kept[..end].to_owned(), whole_bytes: Some(whole.len()) })
    }
}
