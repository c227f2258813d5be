//! Writes and removes the key `paused`.
//!
//! The key is written as the first line, where it is valid in every policy, so a pause needs no parsed document. This
//! file must not know what a pause does.

use portcullis_policy::Policy;

use crate::document::PolicyDocument;
use crate::error::EditError;
use crate::meaning::PolicyMeaning;
use crate::quote;
use crate::splice::{TextSplice, insert_lines, line_end, line_start, spliced, text_start};
use crate::written::WrittenEdit;

/// Pauses a policy, or replaces the reason of its pause.
pub(crate) fn pause(text: &str, old: &Policy, reason: &str) -> WrittenEdit {
    let lines = format!("paused = {}\n", quote::quoted(reason));
    let present = PolicyDocument::parse(text).and_then(|document| document.top_level("paused"));
    let splice = match present {
        Some((_, value)) => TextSplice::replace(value, quote::quoted(reason)),
        None => {
            // Only the line breaks are taken from here: the line goes behind a byte order mark.
            let TextSplice { with, .. } = insert_lines(text, 0, &lines);
            TextSplice::insert(text_start(text), with)
        }
    };
    let mut expected = PolicyMeaning::of(old);
    expected.paused = Some(reason.to_owned());
    WrittenEdit { text: spliced(text, vec![splice]), expected, lines }
}

/// Ends the pause of a policy. A comment on the same line stays.
///
/// # Errors
/// The policy is not paused.
pub(crate) fn resume(text: &str, old: &Policy) -> Result<WrittenEdit, EditError> {
    let present = PolicyDocument::parse(text).and_then(|document| document.top_level("paused"));
    let (key, value) = present.ok_or(EditError::NotPaused)?;
    let rest = text.get(value.end..line_end(text, value.end)).unwrap_or_default();
    let splice = if rest.trim().is_empty() {
        TextSplice::replace(line_start(text, key.start)..value.end + rest.len(), "")
    } else {
        // The comment moves to the beginning of the line, and the blanks before it go.
        TextSplice::replace(key.start..value.end + (rest.len() - rest.trim_start().len()), "")
    };
    let mut expected = PolicyMeaning::of(old);
    expected.paused = None;
    Ok(WrittenEdit { text: spliced(text, vec![splice]), expected, lines: String::new() })
}
