//! A question as a person sees it, and what their line means as an answer.

use crate::screen::quoted;
use portcullis::approvals::Subject;
use portcullis::text::OneLine;
use portcullis::{Answer, Question};
use serde_json::Value;

/// The most of a question that is shown, in bytes: more than that nobody reads at a prompt, and nobody approves here.
const SHOWN_BYTES_MAX: usize = 16 * 1024;

/// What is put on the screen.
pub(crate) struct Sheet {
    pub(crate) text: String,
    /// The words before the answer.
    pub(crate) prompt: String,
    /// Whether all of it is there.
    pub(crate) whole: bool,
}

/// What a line means.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Ruling {
    /// It is an answer.
    Answer(Answer),
    /// The person wants something else done.
    Instead(String),
    /// It says nothing.
    Again,
}

/// Shows everything that the answer is about. Only this program writes at the left edge.
pub(crate) fn shown(question: &Question) -> Sheet {
    let tool = &question.tool;
    let mut text = format!("\n{tool} waits for your answer, because {}\n", OneLine(&question.reason));
    let mut part = |label: &str, words: &str| text.extend([label, "\n", &quoted(words)]);
    match &question.subject {
        Subject::Call | Subject::Repeat => part("  the arguments:", &indented(&question.arguments)),
        Subject::Resource { permission, resource, reason } => {
            part("  it runs with the arguments:", &indented(&question.arguments));
            part("  it asks for the right:", permission);
            part("  to use, in its own words:", resource);
            part("  because, in its own words:", reason);
        }
    }
    part("  it would reach:", if question.handles.is_empty() { "nothing" } else { "" });
    question.handles.iter().for_each(|handle| text.push_str(&quoted(handle)));
    let mut part = |label: &str, words: &Option<String>| {
        if let Some(words) = words {
            text.extend([label, "\n", &quoted(words)]);
        }
    };
    part("  unlike what was approved before:", &question.changed);
    part("  what would change, by the plugin's own claim:", &question.difference);
    let whole = text.len() <= SHOWN_BYTES_MAX;
    if !whole {
        text.truncate(text.floor_char_boundary(SHOWN_BYTES_MAX));
        text.push_str(&format!(
            "\nThe rest is not shown, so it cannot be approved here. See all of it with\n  portcullis approvals show {}\n",
            question.id
        ));
    }
    let answers = if whole { "y, n" } else { "n" };
    Sheet { text, prompt: format!("Allow {tool}? [{answers}, or what to do instead] "), whole }
}

/// What a line means as an answer to a question; none is the end of input, which denies the call.
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

/// Whether a line can only be an answer: it says nothing to a model.
pub(crate) fn is_short_answer(line: &str) -> bool {
    matches!(line.trim().to_ascii_lowercase().as_str(), "y" | "yes" | "n" | "no")
}

fn no(note: &str) -> Ruling {
    Ruling::Answer(Answer::No { note: Some(note.to_owned()) })
}

/// JSON with a line for each member; as it is where it cannot be read.
fn indented(json: &str) -> String {
    let read = serde_json::from_str::<Value>(json).and_then(|value| serde_json::to_string_pretty(&value));
    read.unwrap_or_else(|_| json.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_yes_to_a_whole_question_is_one() {
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
