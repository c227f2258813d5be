//! What the policy says of a call, in words.

use portcullis_policy::{Source, Verdict};

/// A verdict of the policy in one line.
pub(super) fn verdict_text(verdict: &Verdict) -> String {
    let reason = verdict.reason.to_string();
    match &verdict.source {
        // A rule without a reason of its own says which it is.
        Source::Rule(rule) if !reason.starts_with(&rule.to_string()) => format!("{rule}: {reason}"),
        Source::Rule(_) | Source::Default => reason,
    }
}
