//! Shows an approval request, and interprets the person's line as an answer.

use crate::screen::quoted;
use portcullis::approvals::Subject;
use portcullis::text::OneLine;
use portcullis::{Answer, Question};
use serde_json::Value;

/// Maximum bytes to show of a request. A longer one cannot be approved at the prompt.
const SHOWN_BYTES_MAX: usize = 16 * 1024;

/// A request as it is shown.
pub(crate) struct Sheet {
    pub(crate) text: String,
    /// The prompt.
    pub(crate) prompt: String,
    /// Whether the text is complete.
    pub(crate) whole: bool,
}

/// The meaning of a line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Ruling {
    /// It is an answer.
    Answer(Answer),
    /// The person wants something else done.
    Instead(String),
    /// The line has no meaning; ask again.
    Again,
}

/// Formats a request. Only this program's own text starts at the left edge.
pub(crate) fn shown(question: &Question) -> Sheet {
    let tool = &question.tool;
    let mut text = format!("\n{tool} needs your approval: {}\n", OneLine(&question.reason));
    let mut part = |label: &str, words: &str| text.extend([label, "\n", &quoted(words)]);
    match &question.subject {
        Subject::Call | Subject::Repeat => part("  the arguments:", &indented(&question.arguments)),
        Subject::Calls(_) => part("  it plans these calls:", &indented(&question.arguments)),
        Subject::Resource { permission, resource, reason, .. } => {
            part("  it runs with the arguments:", &indented(&question.arguments));
            part("  it asks for the permission:", permission);
            part("  for the resource, in its own words:", resource);
            part("  for the reason, in its own words:", reason);
        }
    }
    part("  it could access:", if question.handles.is_empty() { "nothing" } else { "" });
    question.handles.iter().for_each(|handle| text.push_str(&quoted(handle)));
    let mut part = |label: &str, words: &Option<String>| {
        if let Some(words) = words {
            text.extend([label, "\n", &quoted(words)]);
        }
    };
    part("  changed since the last approval:", &question.changed);
    part("  changes, as computed by the plugin:", &question.difference);
    let whole = text.len() <= SHOWN_BYTES_MAX;
    if !whole {
        text.truncate(text.floor_char_boundary(SHOWN_BYTES_MAX));
        text.push_str(&format!(
            "\nThe rest is not shown, so you cannot approve it here. To see it, run:\n  portcullis approvals show {}\n",
            question.id
        ));
    }
    let answers = if whole { "y, n" } else { "n" };
    Sheet { text, prompt: format!("Allow {tool}? [{answers}, or what to do instead] "), whole }
}

/// Interprets a line as an answer. `None` is the end of input, which denies the call.
pub(crate) fn ruling(line: Option<&str>, whole: bool) -> Ruling {
    let Some(line) = line.map(str::trim) else { return no("no answer: the input ended") };
    let (word, note) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    match (word.to_ascii_lowercase().as_str(), note.trim()) {
        ("", _) => Ruling::Again,
        ("y" | "yes", "") if whole => Ruling::Answer(Answer::Yes),
        ("y" | "yes", "") => Ruling::Again,
        ("n" | "no", "") => no("the person said no"),
        ("n" | "no", note) => no(note),
        (_, _) => Ruling::Instead(line.to_owned()),
    }
}

/// Returns whether a line can only be an answer, and makes no sense to a model.
pub(crate) fn is_short_answer(line: &str) -> bool {
    matches!(line.trim().to_ascii_lowercase().as_str(), "y" | "yes" | "n" | "no")
}

fn no(note: &str) -> Ruling {
    Ruling::Answer(Answer::No { note: Some(note.to_owned()) })
}

/// Formats JSON with one line per member. Returns invalid JSON unchanged.
fn indented(json: &str) -> String {
    let read = serde_json::from_str::<Value>(json).and_then(|value| serde_json::to_string_pretty(&value));
    read.unwrap_or_else(|_| json.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_yes_to_a_complete_request_approves_it() {
        for line in ["y\n", "Yes\n", " y \n"] {
            assert_eq!(ruling(Some(line), true), Ruling::Answer(Answer::Yes), "{line:?}");
            assert_eq!(ruling(Some(line), false), Ruling::Again, "{line:?}");
        }
        assert_eq!(ruling(Some("n use src/\n"), true), no("use src/"));
        assert_eq!(ruling(Some("\n"), true), Ruling::Again);
        assert_eq!(ruling(None, true), no("no answer: the input ended"));
        for line in ["yes please", "y n", "yy", "ok", "ｙ"] {
            assert_eq!(ruling(Some(line), true), Ruling::Instead(line.to_owned()), "{line:?}");
        }
    }
}
