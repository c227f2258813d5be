//! Formats a verdict of the policy.

use portcullis_policy::{Source, Verdict};

/// Formats a verdict of the policy as one line.
pub(super) fn verdict_text(verdict: &Verdict) -> String {
    let reason = verdict.reason.to_string();
    match &verdict.source {
        // The reason of a rule that gives none already starts with the rule's name.
        Source::Rule(rule) if !reason.starts_with(&rule.to_string()) => format!("{rule}: {reason}"),
        Source::Paused(_) => format!("paused: {reason}"),
        Source::Rule(_) | Source::Default => reason,
    }
}
