//! The difference that an approver is shown, as the audit log keeps it: only if the policy keeps texts, without secrets,
//! and within a limit.

use super::case::ApprovalCase;
use crate::text::cut;

/// Maximum length of a kept difference, in bytes. Its entry fits a line of the audit log even if JSON escapes every byte
/// with six characters.
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
        Some(Self::cut(whole))
    }

    fn cut(whole: String) -> Self {
        if whole.len() <= KEPT_BYTES_MAX {
            return Self { text: whole, whole_bytes: None };
        }
        let kept = cut(&whole, KEPT_BYTES_MAX);
        let end = kept.rfind('\n').map_or(kept.len(), |line_feed| line_feed + 1);
        Self { text: kept[..end].to_owned(), whole_bytes: Some(whole.len()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_difference_is_cut_after_a_line() {
        let short = KeptDifference::cut("+one\n".to_owned());
        assert_eq!((short.text.as_str(), short.whole_bytes), ("+one\n", None));
        let long = "+é\n".repeat(KEPT_BYTES_MAX);
        let kept = KeptDifference::cut(long.clone());
        assert!(kept.text.len() <= KEPT_BYTES_MAX && kept.text.ends_with('\n'), "{}", kept.text.len());
        assert_eq!(kept.whole_bytes, Some(long.len()));
        let one_line = KeptDifference::cut("x".repeat(2 * KEPT_BYTES_MAX));
        assert_eq!(one_line.text.len(), KEPT_BYTES_MAX);
    }
}
