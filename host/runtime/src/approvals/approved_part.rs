//! The part of a request about several calls that an approver approved. The ledger keeps it until the call spends it.

use super::note::NOTE_BYTES_MAX;
use crate::approver::Answer;
use crate::call_selection::CallSelection;
use crate::text::cut;

/// How the text begins. A ledger that has a seal for each row contains no other note of an approved request.
const PREFIX: &str = "calls ";

/// What separates the calls from the note.
const NOTE: &str = "; ";

/// The approved calls, and a note for the model about the others.
pub(super) struct ApprovedPart {
    pub(super) calls: CallSelection,
    pub(super) note: Option<String>,
}

impl ApprovedPart {
    /// Returns the part that an answer approves. `None` if it is about the whole request.
    pub(super) fn of(answer: &Answer) -> Option<Self> {
        match answer {
            Answer::Part { calls, note } => Some(Self { calls: calls.clone(), note: note.clone() }),
            Answer::Yes | Answer::Session(_) | Answer::Always(_) | Answer::No { .. } => None,
        }
    }

    /// Returns the text for the ledger, such as `calls 1-3, 7; the others are in vendor/`.
    pub(super) fn text(&self) -> String {
        let note = self.note.as_deref().map(|note| format!("{NOTE}{}", cut(note, NOTE_BYTES_MAX)));
        format!("{PREFIX}{}{}", self.calls, note.unwrap_or_default())
    }

    /// Parses the text of a request about `count` calls.
    pub(super) fn parse(text: &str, count: usize) -> Option<Self> {
        let rest = text.strip_prefix(PREFIX)?;
        let (calls, note) = match rest.split_once(NOTE) {
            Some((calls, note)) => (calls, Some(note.to_owned())),
            None => (rest, None),
        };
        Some(Self { calls: CallSelection::parse(calls, count).ok()?, note })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_survives_the_ledger() {
        for note in [None, Some("not in vendor/; ask again".to_owned())] {
            let part = ApprovedPart { calls: CallSelection::parse("1-3, 7", 9).unwrap(), note };
            let read = ApprovedPart::parse(&part.text(), 9).unwrap();
            assert_eq!((read.calls, read.note), (part.calls.clone(), part.note.clone()));
            assert!(ApprovedPart::parse(&part.text(), 6).is_none());
        }
        assert!(ApprovedPart::parse("calls ", 9).is_none());
        assert!(ApprovedPart::parse("yes", 9).is_none());
    }
}
