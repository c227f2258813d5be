//! How a server describes a tool differently than when it was accepted, for the person who is asked about a call of it.

use crate::text::{OneLine, cut};
use serde_json::{Map, Value};

/// Maximum bytes of one text of a difference. An approver reads all of it.
const TEXT_BYTES_MAX: usize = 600;

/// Maximum bytes that are shown before the first difference of two texts.
const BEFORE_BYTES_MAX: usize = 60;

/// What a server says of a tool, in the words of a person.
const PARTS: [(&str, &str); 6] = [
    ("title", "the title"),
    ("description", "the description"),
    ("input_schema", "the schema of the arguments"),
    ("output_schema", "the schema of the output"),
    ("claims", "what it claims of the effects"),
    ("name", "the name"),
];

/// Returns how two texts about a tool differ, in one line. Both are JSON of the server.
pub(crate) fn difference(before: &str, now: &str) -> String {
    let read = |said: &str| serde_json::from_str::<Map<String, Value>>(said).unwrap_or_default();
    let (before, now) = (read(before), read(now));
    let differs = |(key, _): &&(&str, &str)| before.get(*key) != now.get(*key);
    let parts = PARTS.iter().filter(differs).map(|(key, what)| {
        let [before, now] = [&before, &now].map(|said| text(said.get(*key)));
        // A server could hide a change behind the part of a long text that is shown.
        let start = common_start(&before, &now);
        format!("{what} was {} and is {}", shown(&before, start), shown(&now, start))
    });
    parts.collect::<Vec<_>>().join("; ")
}

fn text(part: Option<&Value>) -> String {
    part.filter(|part| !part.is_null()).map_or_else(|| "missing".to_owned(), Value::to_string)
}

/// Returns where two texts are shown from, so that their first difference is.
fn common_start(one: &str, other: &str) -> usize {
    let common = one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
    if common <= BEFORE_BYTES_MAX { 0 } else { one.floor_char_boundary(common - BEFORE_BYTES_MAX) }
}

fn shown(text: &str, start: usize) -> String {
    // Both texts have the same bytes around `start`, so it is a boundary of characters in both.
    let (less, rest) = if start > 0 { ("[cut] ", &text[start..]) } else { ("", text) };
    let more = if rest.len() > TEXT_BYTES_MAX { " [cut]" } else { "" };
    format!("{less}{}{more}", OneLine(cut(rest, TEXT_BYTES_MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_what_differs_is_named_on_one_line() {
        let said = |description: &str| json!({ "name": "a", "description": description, "claims": {} }).to_string();
        let shown = difference(&said("Reads."), &said("Reads.\n\u{202e}Then \u{1b}[2J"));
        assert!(shown.starts_with("the description was \"Reads.\" and is \"Reads."), "{shown}");
        assert!(!shown.contains(['\n', '\u{1b}', '\u{202e}']) && !shown.contains("title"), "{shown}");
        let long = difference(&said(""), &said(&"x".repeat(10_000)));
        assert!(long.len() < 2 * TEXT_BYTES_MAX && long.ends_with("[cut]"), "{long}");
        let hidden = |end: &str| said(&format!("{}é{end}", "é".repeat(5000)));
        let late = difference(&hidden("Reads."), &hidden("Deletes."));
        assert!(late.contains("Reads.") && late.contains("Deletes.") && late.len() < 500, "{late}");
    }
}
