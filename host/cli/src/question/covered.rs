//! Finds the arguments that a difference does not show, so that an approver sees every argument in one of the two.
//!
//! The difference shows text of files, so it can only stand for an argument that is such text. A word such as `force`
//! in a file says nothing about an argument `"mode": "force"`.

use super::difference_line::{DifferenceLine, difference_lines};
use serde_json::Value;

/// Maximum length of a difference that arguments are compared with, in bytes. Beside a longer one, all are shown.
const COMPARED_BYTES_MAX: usize = 256 * 1024;

/// Maximum arguments that are searched for in a difference, because each search reads all of it. Others are shown.
const SEARCHED_TEXTS_MAX: usize = 64;

/// Names of arguments that are text of a file before the call.
const OLD_TEXT_NAMES: [&str; 4] = ["old", "old_str", "old_string", "old_text"];

/// Names of arguments that are text of a file after the call.
const NEW_TEXT_NAMES: [&str; 6] = ["content", "new", "new_str", "new_string", "new_text", "text"];

/// What is left of the arguments to show.
pub(super) enum Uncovered {
    /// All of them.
    All,
    /// These arguments: the pointer and the value of each.
    Some(Vec<(String, Value)>),
}

/// Returns the arguments that neither the heading nor the difference shows.
pub(super) fn uncovered(arguments: &Value, heading: Option<&str>, difference: Option<&str>) -> Uncovered {
    let difference = difference.unwrap_or_default();
    if difference.len() > COMPARED_BYTES_MAX {
        return Uncovered::All;
    }
    let shown = HunkTexts::of(difference);
    let mut left = Vec::new();
    let (mut leaves, mut searched) = (0, 0);
    walk(arguments, "", &mut |pointer, value| {
        leaves += 1;
        let covered = heading == Some(pointer)
            || match (value.as_str(), TextSide::of_argument(pointer)) {
                (Some(text), Some(side)) => {
                    searched += 1;
                    searched <= SEARCHED_TEXTS_MAX && shown.has(text, side)
                }
                (_, _) => false,
            };
        if !covered {
            left.push((pointer.to_owned(), value.clone()));
        }
    });
    if left.len() == leaves && leaves > 0 { Uncovered::All } else { Uncovered::Some(left) }
}

/// Which text of a file an argument is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TextSide {
    Old,
    New,
}

impl TextSide {
    /// Returns which text of a file the argument at this pointer is, by its name. `None` for any other argument.
    ///
    /// The plugin has chosen the name. Deeper in the arguments, in a map for example, a model may choose it.
    fn of_argument(pointer: &str) -> Option<Self> {
        let names: Vec<&str> = pointer.split('/').skip(1).collect();
        let name = match names.as_slice() {
            [name] => name,
            [_, index, name] if index.bytes().all(|byte| byte.is_ascii_digit()) => name,
            _ => return None,
        };
        match name {
            name if OLD_TEXT_NAMES.contains(name) => Some(Self::Old),
            name if NEW_TEXT_NAMES.contains(name) => Some(Self::New),
            _ => None,
        }
    }
}

/// The texts that the hunks of a difference show, before the call and after it.
#[derive(Default)]
struct HunkTexts {
    old: Vec<String>,
    new: Vec<String>,
}

impl HunkTexts {
    fn of(difference: &str) -> Self {
        let mut texts = Self::default();
        for (_, line) in difference_lines(difference) {
            match line {
                DifferenceLine::Note | DifferenceLine::Path => {}
                DifferenceLine::Hunk => {
                    texts.old.push(String::new());
                    texts.new.push(String::new());
                }
                DifferenceLine::Unchanged(text) => {
                    append(&mut texts.old, text);
                    append(&mut texts.new, text);
                }
                DifferenceLine::Removed(text) => append(&mut texts.old, text),
                DifferenceLine::Added(text) => append(&mut texts.new, text),
            }
        }
        texts
    }

    /// Returns whether one hunk has a whole text. A text that is spread over several hunks has lines between them that
    /// are not shown.
    fn has(&self, text: &str, side: TextSide) -> bool {
        let texts = match side {
            TextSide::Old => &self.old,
            TextSide::New => &self.new,
        };
        texts.iter().any(|shown| shown.contains(text))
    }
}

/// Appends a line to the text of the last hunk.
fn append(texts: &mut [String], line: &str) {
    if let Some(text) = texts.last_mut() {
        text.push_str(line);
        text.push('\n');
    }
}

/// Calls `each` with every value that has no members, and its pointer.
fn walk(value: &Value, pointer: &str, each: &mut impl FnMut(&str, &Value)) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            for (name, member) in members {
                walk(member, &format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1")), each);
            }
        }
        Value::Array(elements) if !elements.is_empty() => {
            for (index, element) in elements.iter().enumerate() {
                walk(element, &format!("{pointer}/{index}"), each);
            }
        }
        // The object of the arguments itself may be empty, and is then shown by the heading.
        Value::Object(_) if pointer.is_empty() => {}
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
            each(pointer, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const DIFFERENCE: &str = "--- a/a.rs\n+++ b/a.rs\n@@ -1,2 +1,2 @@\n-let old = 1;\n+let new = 2;\n last\n";

    fn left(arguments: &Value) -> Option<Vec<String>> {
        match uncovered(arguments, Some("/path"), Some(DIFFERENCE)) {
            Uncovered::All => None,
            Uncovered::Some(left) => Some(left.into_iter().map(|(pointer, _)| pointer).collect()),
        }
    }

    #[test]
    fn only_arguments_that_are_shown_elsewhere_are_left_out() {
        let edit = |old: &str, new: &str| json!({ "path": "a.rs", "edits": [{ "old": old, "new": new }] });
        assert_eq!(left(&edit("old = 1", "new = 2")), Some(vec![]));
        assert_eq!(left(&edit("let old = 1;\nlast", "")), Some(vec![]));
        assert_eq!(left(&edit("old = 1", "new = 3")), Some(vec!["/edits/0/new".to_owned()]));
        // The host's own lines are no text of the call.
        for line in ["-1,2 +1,2", "-- a/a.rs", "++ b/a.rs", "a.rs", "b"] {
            assert_eq!(left(&edit("old = 1", line)), Some(vec!["/edits/0/new".to_owned()]), "{line}");
        }
        // Each text is searched for on its side, and as it is: in one piece.
        assert_eq!(left(&edit("new = 2", "new = 2")), Some(vec!["/edits/0/old".to_owned()]));
        assert_eq!(left(&edit("last\nlet old", "new = 2")), Some(vec!["/edits/0/old".to_owned()]));
        assert_eq!(left(&json!({ "path": "a.rs", "all": true })), Some(vec!["/all".to_owned()]));
        assert_eq!(left(&json!({ "path": "a.rs" })), Some(vec![]));
        assert_eq!(left(&json!({})), Some(vec![]));
        assert_eq!(left(&json!({ "other": "rm -rf /" })), None);
    }

    /// What the difference shows of a file says nothing about an argument that is not text of the file.
    #[test]
    fn an_argument_that_is_no_text_of_a_file_is_shown_whatever_the_difference_has() {
        for (name, value) in [("to", "b"), ("to", "a.rs"), ("mode", "new"), ("mode", "let new = 2;"), ("branch", "")] {
            let arguments = json!({ "path": "a.rs", "content": "let new = 2;\nlast\n", name: value });
            assert_eq!(left(&arguments), Some(vec![format!("/{name}")]), "{name}: {value}");
        }
        // A model may choose the names in a map.
        let map = json!({ "path": "a.rs", "headers": { "text": "last" }, "list": [[{ "new": "last" }]] });
        assert_eq!(left(&map), Some(vec!["/headers/text".to_owned(), "/list/0/0/new".to_owned()]));
    }

    #[test]
    fn a_text_that_lies_in_two_hunks_is_shown() {
        let difference = "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+one\n@@ -9 +9 @@\n-9\n+nine\n";
        let left = |content: &str| {
            let arguments = json!({ "path": "a", "content": content });
            match uncovered(&arguments, Some("/path"), Some(difference)) {
                Uncovered::All => panic!("the heading shows one"),
                Uncovered::Some(left) => left.len(),
            }
        };
        assert_eq!((left("one\n"), left("nine"), left("one\nnine\n")), (0, 0, 1));
    }

    #[test]
    fn without_a_difference_no_text_is_shown_elsewhere() {
        let arguments = json!({ "path": "a", "content": "" });
        let Uncovered::Some(left) = uncovered(&arguments, Some("/path"), None) else { panic!("the heading shows one") };
        assert_eq!(left, [("/content".to_owned(), json!(""))]);
    }
}
