//! Finds whether the heading and the difference of a request show all of its arguments. Otherwise the page opens them,
//! so that an approver sees each argument before the answer.

use crate::words::target;
use portcullis::approvals::Question;
use serde_json::Value;
use std::collections::HashSet;

/// Names of arguments that are text of a file before the call.
const OLD_TEXT_NAMES: [&str; 4] = ["old", "old_str", "old_string", "old_text"];

/// Names of arguments that are text of a file after the call.
const NEW_TEXT_NAMES: [&str; 6] = ["content", "new", "new_str", "new_string", "new_text", "text"];

/// The lines of a difference, before the call and after it.
struct DifferenceTexts<'a> {
    old: HashSet<&'a str>,
    new: HashSet<&'a str>,
}

/// Returns whether the heading and the difference show every argument. A name such as `mode` is never text of a file,
/// so its argument is not shown by a difference that happens to contain the same word.
pub(crate) fn shows_all_arguments(question: &Question) -> bool {
    let Some(difference) = &question.difference else { return false };
    let Ok(Value::Object(arguments)) = serde_json::from_str(&question.arguments) else { return false };
    let texts = DifferenceTexts::of(difference);
    let mut target = target(question);
    arguments.iter().all(|(name, value)| match value {
        // The heading names one argument.
        Value::String(text) if target.as_deref() == Some(text) => target.take().is_some(),
        Value::Array(elements) => elements.iter().all(|element| match element {
            Value::Object(members) => members.iter().all(|(name, value)| texts.has(name, value)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => false,
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => texts.has(name, value),
    })
}

impl<'a> DifferenceTexts<'a> {
    fn of(difference: &'a str) -> Self {
        // Lines with the paths of files. If a line of a file looks like one, the page shows the arguments, too.
        let is_path = |line: &&str| line.starts_with("--- ") || line.starts_with("+++ ");
        let lines = |mark: char| {
            let lines = difference.lines().filter(|line| !is_path(line));
            lines.filter_map(|line| line.strip_prefix([mark, ' '])).collect()
        };
        Self { old: lines('-'), new: lines('+') }
    }

    /// Returns whether this argument is text of a file that the difference shows.
    fn has(&self, name: &str, value: &Value) -> bool {
        let Value::String(text) = value else { return false };
        let shown = match name {
            name if OLD_TEXT_NAMES.contains(&name) => &self.old,
            name if NEW_TEXT_NAMES.contains(&name) => &self.new,
            _ => return false,
        };
        text.lines().all(|line| shown.contains(line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use portcullis::approvals::Subject;

    fn question(arguments: &str) -> Question {
        let difference = "--- a/a.rs\n+++ b/a.rs\n@@ -1,2 +1,2 @@\n one\n-two\n+force\n";
        let mut question = crate::words::tests::question(Subject::Call);
        (question.arguments, question.difference) = (arguments.to_owned(), Some(difference.to_owned()));
        question
    }

    #[test]
    fn only_texts_of_files_and_the_place_in_the_heading_are_shown_elsewhere() {
        for (arguments, is_shown) in [
            (r#"{"path":"a.rs","content":"one\nforce\n"}"#, true),
            (r#"{"path":"a.rs","edits":[{"old":"one\ntwo","new":"force"}]}"#, true),
            (r#"{"path":"a.rs","edits":[{"old":"two","new":"force","replace_all":true}]}"#, false),
            (r#"{"path":"a.rs","content":"one\nforce\n","mode":"force"}"#, false),
            (r#"{"path":"a.rs","content":"one\nforce\n","to":"a.rs"}"#, false),
            (r#"{"path":"a.rs","content":"another text"}"#, false),
            (r#"{"path":"a.rs","content":"++ b/a.rs"}"#, false),
            ("[]", false),
        ] {
            assert_eq!(shows_all_arguments(&question(arguments)), is_shown, "{arguments}");
        }
    }
}
