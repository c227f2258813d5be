//! Finds the arguments that a difference does not show, so that an approver sees every argument in one of the two.

use serde_json::Value;
use std::collections::HashSet;

/// Maximum length of arguments that are compared with a difference, in bytes. Longer ones are shown.
const COMPARED_BYTES_MAX: usize = 256 * 1024;

/// Maximum lines of one text that are searched for within the lines of a difference, as those of a replaced word are.
const SEARCHED_LINES_MAX: usize = 32;

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
    let shown = ShownLines::of(difference);
    let mut left = Vec::new();
    let mut leaves = 0;
    walk(arguments, "", &mut |pointer, value| {
        leaves += 1;
        let covered = match value {
            _ if heading == Some(pointer) => true,
            Value::String(text) => shown.has(text),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => false,
        };
        if !covered {
            left.push((pointer.to_owned(), value.clone()));
        }
    });
    if left.len() == leaves && leaves > 0 { Uncovered::All } else { Uncovered::Some(left) }
}

/// The changed and unchanged lines of a difference, without their signs and without the host's own lines.
struct ShownLines<'a> {
    list: Vec<&'a str>,
    set: HashSet<&'a str>,
}

impl<'a> ShownLines<'a> {
    fn of(difference: &'a str) -> Self {
        let lines = difference.split('\n').filter(|line| !line.starts_with("@@"));
        let list: Vec<&str> = lines.filter_map(|line| line.strip_prefix(['+', '-', ' '])).collect();
        let set = list.iter().copied().collect();
        Self { list, set }
    }

    /// Returns whether every line of a text is in the difference.
    fn has(&self, text: &str) -> bool {
        if self.list.is_empty() {
            return false;
        }
        let mut searched = 0;
        text.split('\n').all(|line| {
            // An empty line hides nothing.
            line.is_empty() || self.set.contains(line) || {
                // Each search reads all lines of the difference, so the number of searches is limited.
                searched += 1;
                searched <= SEARCHED_LINES_MAX && self.list.iter().any(|shown| shown.contains(line))
            }
        })
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
        assert_eq!(left(&edit("old = 1", "-1,2 +1,2")), Some(vec!["/edits/0/new".to_owned()]));
        assert_eq!(left(&json!({ "path": "a.rs", "all": true })), Some(vec!["/all".to_owned()]));
        assert_eq!(left(&json!({ "path": "a.rs" })), Some(vec![]));
        assert_eq!(left(&json!({})), Some(vec![]));
        assert_eq!(left(&json!({ "other": "rm -rf /" })), None);
    }

    #[test]
    fn without_a_difference_no_text_is_shown_elsewhere() {
        let arguments = json!({ "path": "a", "content": "" });
        let Uncovered::Some(left) = uncovered(&arguments, Some("/path"), None) else { panic!("the heading shows one") };
        assert_eq!(left, [("/content".to_owned(), json!(""))]);
    }
}
