//! The difference that the approver of a call was shown, as far as the audit log keeps it.

use crate::question::show_kept_difference;
use crate::style::{Style, TextStyle};
use portcullis::audit::Entry;
use serde_json::Value;

/// What the entries of a call tell about the difference that its approver was shown.
pub(super) enum LoggedDifference {
    /// The call needed no approver.
    NotAsked,
    /// It was kept.
    Kept {
        text: String,
        /// Bytes that were shown and not kept.
        left_bytes: u64,
    },
    /// The approver was shown none, or the request belongs to an earlier call.
    NotShown,
    /// The policy kept no texts.
    NotKept,
}

impl LoggedDifference {
    pub(super) fn of(entries: &[Entry]) -> Self {
        let text = |entry: &Entry, name| entry.document.get(name).and_then(Value::as_str).map(str::to_owned);
        let asked = || entries.iter().filter(|entry| text(entry, "kind").as_deref() == Some("asked"));
        let kept = asked().find_map(|entry| Some((entry, text(entry, "difference")?)));
        match kept {
            Some((entry, text)) => {
                let whole = entry.document.get("difference_bytes").and_then(Value::as_u64);
                // Without the length of the whole, all of it was kept.
                Self::Kept { left_bytes: whole.map_or(0, |whole| whole.saturating_sub(text.len() as u64)), text }
            }
            None if asked().next().is_none() => Self::NotAsked,
            // A policy that keeps texts keeps the arguments of every call.
            None if entries.iter().any(|entry| text(entry, "arguments").is_some()) => Self::NotShown,
            None => Self::NotKept,
        }
    }

    /// Returns the difference, if it was kept.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Kept { text, .. } => Some(text),
            Self::NotAsked | Self::NotShown | Self::NotKept => None,
        }
    }

    /// Formats the difference for people, or why there is none.
    pub(super) fn show(&self, style: Style, width: Option<usize>) -> String {
        let line = |look, text: &str| format!("{}\n", style.paint(look, text));
        match self {
            Self::NotAsked => String::new(),
            Self::Kept { text, left_bytes: 0 } => show_kept_difference(text, style, width),
            Self::Kept { text, left_bytes } => {
                let left = format!("    … {left_bytes} more bytes, which the audit log does not keep");
                format!("{}{}", show_kept_difference(text, style, width), line(TextStyle::Doubtful, &left))
            }
            Self::NotShown => line(
                TextStyle::Quiet,
                "no difference: the approver was shown none, or an earlier call made the request",
            ),
            Self::NotKept => {
                line(TextStyle::Quiet, "no difference: `[record] payloads = \"keep\"` in the policy would keep it")
            }
        }
    }
}
