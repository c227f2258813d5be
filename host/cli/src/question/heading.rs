//! The first line of a request: who wants to do what. This file must not know what else of the request is shown.

use portcullis::Question;
use portcullis::approvals::Subject;
use portcullis::text::{OneLine, count_blanks};
use serde_json::Value;

/// Rows that a target may take in the line. A longer one is shown below it, where it can be cut.
const TARGET_ROWS_MAX: usize = 2;

/// The first line, encoded, and the argument that it shows whole.
pub(super) struct Heading {
    /// Who wants what.
    pub(super) text: String,
    /// The tool, if `text` does not name it.
    pub(super) tool: Option<String>,
    /// The pointer of the argument that the line shows.
    pub(super) shows: Option<String>,
}

impl Heading {
    /// Describes a request for a screen of this width.
    pub(super) fn of(question: &Question, arguments: Option<&Value>, width: usize) -> Self {
        let (who, tool) = (OneLine(&question.who()).to_string(), &question.tool);
        // The line about several calls names no place.
        let arguments = arguments.filter(|_| question.selectable_calls().is_none());
        let target = arguments.and_then(|arguments| target(question, arguments, width));
        let (shows, place) = match target {
            Some((pointer, text)) => (Some(pointer), Some(text)),
            None => (None, None),
        };
        let verb = question.verb();
        let (deed, named) = match (&question.subject, verb, &place) {
            (Subject::Resource { .. }, _, Some(place)) => {
                (format!("{tool} asks for something more, while it works on {place}"), true)
            }
            (Subject::Calls(_), ..) => {
                (format!("{tool} wants to {}", question.planned_calls().unwrap_or_default()), true)
            }
            (Subject::Resource { .. }, _, None) => (format!("{tool} asks for something more, while it runs"), true),
            (Subject::Call | Subject::Repeat, Some(verb), Some(place)) => (format!("wants to {verb} {place}"), false),
            (Subject::Call | Subject::Repeat, None, Some(place)) => {
                (format!("wants to call {tool} with {place}"), true)
            }
            (Subject::Call | Subject::Repeat, _, None) => (format!("wants to call {tool}"), true),
        };
        let comma = if question.called_by.is_empty() { "" } else { "," };
        let text = match &question.subject {
            Subject::Call => format!("{who}{comma} {deed}"),
            Subject::Repeat => {
                format!("{who}{comma} {deed} once more: it made the same call several times in a row")
            }
            Subject::Resource { .. } | Subject::Calls(_) => format!("{who}: {deed}"),
        };
        Self { text, tool: (!named).then(|| tool.to_string()), shows }
    }
}

/// Returns the first place that the arguments name, if it fits the line: its pointer, and its whole text, encoded.
fn target(question: &Question, arguments: &Value, width: usize) -> Option<(String, String)> {
    let (pointer, _) = question.targets.iter().next()?;
    // The request keeps targets cut and without queries. The arguments are what runs.
    let text = arguments.pointer(pointer)?.as_str()?;
    let encoded = OneLine(&count_blanks(text)).to_string();
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "/._-+:@%,=~?&#*".contains(character);
    let shown = if !encoded.is_empty() && encoded.chars().all(is_plain) { encoded } else { format!("\"{encoded}\"") };
    (shown.chars().count() <= width * TARGET_ROWS_MAX).then(|| (pointer.to_owned(), shown))
}
