//! What a person is shown before they answer: everything the decision needs, on one screen, in the host's order.
//!
//! It must not read or write anything: it makes text, and every character of a model or a plugin in it is encoded.

use crate::json;
use crate::style::{Look, Style};
use portcullis::text::{Lines, OneLine, is_deceptive};
use portcullis::{Question, Subject};
use serde_json::Value;
use std::fmt::Write;

/// Rows of a screen that the arguments may take: with everything else they fit the 24 of the smallest terminal.
const ARGUMENT_ROWS_MAX: usize = 10;

/// Rows that one line of the arguments may take: a long content must not hide the path that comes after it.
const ARGUMENT_LINE_ROWS_MAX: usize = 3;

/// Rows that any other text of a model, a plugin or a policy may take.
const FIELD_ROWS_MAX: usize = 3;

/// Handles that are listed.
const HANDLES_MAX: usize = 4;

/// Where the width is not known.
const WIDTH_DEFAULT: usize = 80;

/// The column in which the values of fields begin.
const FIELD_COLUMN: usize = 15;

/// The column in which the arguments begin.
const ARGUMENTS_COLUMN: usize = 4;

/// Digits of a hash that are shown: enough to tell one's plugins apart; the record holds all of them.
const HASH_DIGITS: usize = 12;

/// How much is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// What fits on a screen.
    Screen,
    /// Everything.
    Whole,
}

/// A question as text, the question itself left out.
pub(crate) fn shown(question: &Question, extent: Extent, style: Style, width: Option<usize>) -> String {
    let mut sheet = Sheet { text: String::new(), extent, style, width: width.unwrap_or(WIDTH_DEFAULT).max(40) };
    sheet.heading(&question.subject);
    let hash = question.plugin_sha256.get(..HASH_DIGITS).unwrap_or(&question.plugin_sha256);
    sheet.field("tool", &format!("{}   (plugin {hash}…)", question.tool));
    let permissions = question.permissions.to_string();
    sheet.field("permissions", if permissions.is_empty() { "none" } else { &permissions });
    sheet.field("for", &format!("{}, session {}", question.principal, question.session));
    sheet.handles(&question.handles);
    sheet.field("because", &question.reason);
    sheet.arguments(&question.arguments);
    if let Subject::Resource { permission, resource, reason } = &question.subject {
        sheet.resource(permission, resource, reason);
    }
    sheet.text
}

struct Sheet {
    text: String,
    extent: Extent,
    style: Style,
    width: usize,
}

impl Sheet {
    fn line(&mut self, look: Look, text: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "{}", self.style.paint(look, text));
    }

    fn heading(&mut self, subject: &Subject) {
        self.line(
            Look::Strong,
            match subject {
                Subject::Call => "The policy asks you about a call.",
                Subject::Resource { .. } => "A running call asks for one more thing.",
            },
        );
    }

    /// A value behind its label, on as many rows as it may take.
    fn field(&mut self, label: &str, value: &str) {
        let value = OneLine(value).to_string();
        let rows = rows(&value, self.width.saturating_sub(FIELD_COLUMN));
        let (kept, left) = self.keep(&rows, FIELD_ROWS_MAX);
        for (index, row) in kept.iter().enumerate() {
            let label = if index == 0 { label } else { "" };
            let _ = writeln!(self.text, "  {label:<width$}{row}", width = FIELD_COLUMN - 2);
        }
        self.left_out(left, FIELD_COLUMN);
    }

    fn handles(&mut self, handles: &[String]) {
        let most = match self.extent {
            Extent::Screen => HANDLES_MAX,
            Extent::Whole => handles.len(),
        };
        if handles.is_empty() {
            self.field("handles", "none");
        }
        for (index, handle) in handles.iter().take(most).enumerate() {
            self.field(if index == 0 { "handles" } else { "" }, handle);
        }
        if handles.len() > most {
            let left = format!("… {} more handles; type `more` to see all", handles.len() - most);
            self.line(Look::Doubtful, &format!("{:FIELD_COLUMN$}{left}", ""));
        }
    }

    fn arguments(&mut self, arguments: &str) {
        self.line(Look::Plain, &format!("  arguments, exactly as they will run ({} bytes):", arguments.len()));
        let text = Lines(&json::indent(arguments)).to_string();
        let mut shown = Vec::new();
        for line in text.lines() {
            let rows = rows(line, self.width.saturating_sub(ARGUMENTS_COLUMN));
            let (kept, left) = self.keep(&rows, ARGUMENT_LINE_ROWS_MAX);
            shown.extend(kept.iter().map(|row| (*row).to_owned()));
            if left > 0 {
                shown.push(format!("… {left} more bytes here; type `more` to see all"));
            }
        }
        let shown: Vec<&str> = shown.iter().map(String::as_str).collect();
        let (kept, left) = self.keep(&shown, ARGUMENT_ROWS_MAX);
        for row in kept {
            let _ = writeln!(self.text, "{:ARGUMENTS_COLUMN$}{row}", "");
        }
        self.left_out(left, ARGUMENTS_COLUMN);
        if hides_something(arguments) {
            self.line(Look::Bad, "  Careful: the arguments hold invisible characters. They are shown as escapes.");
        }
    }

    fn resource(&mut self, permission: &str, resource: &str, reason: &str) {
        self.field("wants to", permission);
        self.line(Look::Plain, "  in the tool's own words, which nobody has checked:");
        self.field("  what", resource);
        self.field("  why", reason);
        if resource.chars().chain(reason.chars()).any(is_deceptive) {
            self.line(Look::Bad, "  Careful: these words hold invisible characters. They are shown as escapes.");
        }
    }

    /// The rows that may be shown, and the bytes of those that are left out.
    fn keep<'a>(&self, rows: &'a [&'a str], most: usize) -> (&'a [&'a str], usize) {
        match self.extent {
            Extent::Screen if rows.len() > most => {
                let (kept, left) = rows.split_at(most);
                (kept, left.iter().map(|row| row.len()).sum())
            }
            Extent::Screen | Extent::Whole => (rows, 0),
        }
    }

    fn left_out(&mut self, bytes: usize, column: usize) {
        if bytes > 0 {
            self.line(Look::Doubtful, &format!("{:column$}… {bytes} more bytes; type `more` to see all", ""));
        }
    }
}

/// Breaks a line into rows of a screen, counting a character that may be wide as two columns.
fn rows(line: &str, width: usize) -> Vec<&str> {
    let (mut rows, mut start, mut used) = (Vec::new(), 0, 0);
    for (at, character) in line.char_indices() {
        let columns = match character {
            '\t' => 8,
            _ if character.is_ascii() => 1,
            _ => 2,
        };
        if used + columns > width && at > start {
            rows.push(&line[start..at]);
            (start, used) = (at, 0);
        }
        used += columns;
    }
    rows.push(&line[start..]);
    rows
}

/// Whether any name or text in a JSON document has a character that does not show, line breaks and tabs aside. They are
/// looked for in what the document means, since JSON may spell them as escapes.
fn hides_something(json: &str) -> bool {
    let hidden =
        |text: &str| text.chars().any(|character| is_deceptive(character) && !matches!(character, '\n' | '\r' | '\t'));
    fn any(value: &Value, hidden: &impl Fn(&str) -> bool) -> bool {
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
            Value::String(text) => hidden(text),
            Value::Array(items) => items.iter().any(|item| any(item, hidden)),
            Value::Object(members) => members.iter().any(|(name, member)| hidden(name) || any(member, hidden)),
        }
    }
    // What cannot be read cannot be vouched for.
    serde_json::from_str(json).map_or(true, |value| any(&value, &hidden))
}

#[cfg(test)]
mod tests {
    use super::*;
    use portcullis::policy::Permissions;

    fn question(arguments: &str) -> Question {
        Question {
            call: "c".repeat(32),
            session: "default".to_owned(),
            principal: "local".to_owned(),
            tool: "files.write".parse().unwrap(),
            plugin_sha256: "ab".repeat(32),
            permissions: Permissions::NONE,
            arguments: arguments.to_owned(),
            handles: vec!["directory workspace: ., read-write".to_owned()],
            subject: Subject::Call,
            reason: "rule 1 (line 3): a person looks".to_owned(),
        }
    }

    fn text(question: &Question, extent: Extent) -> String {
        shown(question, extent, Style::Plain, Some(80))
    }

    #[test]
    fn a_question_fits_a_small_screen_however_large_its_texts_are() {
        let mut question = question(&format!(r#"{{"a":"{}"}}"#, "x\\n".repeat(100_000)));
        question.reason = "r".repeat(2000);
        question.handles = vec!["h".repeat(79); 40];
        let long = "w".repeat(4000);
        question.subject = Subject::Resource { permission: "write".to_owned(), resource: long.clone(), reason: long };
        let screen = text(&question, Extent::Screen);
        assert!(screen.lines().count() < 48, "{screen}");
        assert!(screen.lines().all(|line| line.chars().count() <= 80), "{screen}");
        assert!(screen.contains("more bytes; type `more` to see all"), "{screen}");
        assert!(text(&question, Extent::Whole).len() > 300_000);
    }

    #[test]
    fn a_long_content_does_not_hide_the_path_after_it() {
        let question = question(&format!(r#"{{"content":"{}","path":"etc/passwd"}}"#, "x".repeat(5000)));
        assert!(text(&question, Extent::Screen).contains(r#""path": "etc/passwd""#));
    }

    #[test]
    fn no_text_moves_the_cursor_or_hides() {
        let evil = "\u{1b}[2J\r\u{202e}\u{200b}";
        let mut question = question(&serde_json::json!({ "a": evil }).to_string());
        question.reason = evil.to_owned();
        question.session = format!("{evil}\nallowed");
        question.subject = Subject::Resource { permission: evil.into(), resource: evil.into(), reason: evil.into() };
        for extent in [Extent::Screen, Extent::Whole] {
            let shown = text(&question, extent);
            assert!(!shown.chars().any(|character| is_deceptive(character) && character != '\n'), "{shown:?}");
            assert!(shown.contains("the arguments hold invisible characters"), "{shown}");
        }
    }

    #[test]
    fn ordinary_arguments_are_not_called_hidden() {
        assert!(!hides_something(r#"{"text":"two\nlines\tand é 日本"}"#));
        assert!(hides_something(r#"{"text":"a\u200bb"}"#));
        assert!(hides_something(r#"{"a\u001b":1}"#));
    }

    #[test]
    fn a_wide_character_never_passes_the_edge() {
        assert_eq!(rows("日本語", 4), ["日本", "語"]);
        assert_eq!(rows("abcdef", 4), ["abcd", "ef"]);
        assert_eq!(rows("", 4), [""]);
    }
}
