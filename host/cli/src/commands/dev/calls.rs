//! The finished calls of a project, made by any process. They are read from the audit log line by line.
//!
//! The entries are only shown, and nothing depends on them. `portcullis audit verify` checks their authenticity.

use crate::environment;
use crate::style::{Style, TextStyle};
use portcullis::hooks::Hooking;
use portcullis::policy::recovery::RecoverMutex;
use portcullis::text::{Lines, OneLine};
use portcullis::{Hook, HookCall, Hooked, Outcome, Reply};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::future::ready;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// The audit log, in the state directory.
const RECORD: &str = "audit.jsonl";

/// Maximum bytes to read at once, enough for hundreds of calls. The rest is read at the next check.
const READ_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Maximum number of calls to remember between their decision and their end.
const REMEMBERED_MAX: usize = 10_000;

/// Maximum length of a message on a line, in characters.
const MESSAGE_CHARACTERS_MAX: usize = 300;

/// Maximum lines to show of a call's output: half a screen. The audit log and `--json` have more.
const PRINTED_LINES_MAX: usize = 20;

/// Maximum characters to show of a call's output: what the audit log keeps, with its note about the full size.
const PRINTED_CHARACTERS_MAX: usize = 4200;

/// Outcomes whose cause only the audit log has. The tool's author needs it; the caller gets a short message.
const RECORD_KNOWS: [&str; 3] = ["trapped", "limit", "refused"];

/// The messages to the callers of calls that did not complete. Only the calls of this process are here.
#[derive(Default)]
pub(super) struct Messages(Mutex<HashMap<String, String>>);

impl Hook for Messages {
    fn after<'a>(&'a self, call: &'a HookCall<'a>, reply: &'a Reply) -> Hooking<'a> {
        if reply.outcome() != Outcome::Completed {
            let mut messages = self.0.lock_recovered();
            if messages.len() >= REMEMBERED_MAX {
                // These calls never came up in the log. A message is only shown, so a lost one does no harm.
                messages.clear();
            }
            messages.insert(call.id.to_owned(), reply.message.clone());
        }
        Box::pin(ready(Hooked::pass()))
    }
}

impl Messages {
    fn take(&self, call: &str) -> Option<String> {
        self.0.lock_recovered().remove(call)
    }
}

/// A call that has ended. Its texts come from models and plugins, and are not encoded.
pub(super) struct EndedCall {
    time: String,
    tool: String,
    outcome: String,
    code: String,
    milliseconds: f64,
    message: Option<String>,
    printed: Option<String>,
}

impl EndedCall {
    /// Formats the call for people: one line, and the call's output below it.
    pub(super) fn line(&self, style: Style) -> String {
        let look = if self.outcome == "completed" { TextStyle::Good } else { TextStyle::Bad };
        let outcome = match self.code == self.outcome {
            true => self.outcome.clone(),
            false => format!("{} ({})", self.outcome, self.code),
        };
        let outcome = OneLine(&outcome).to_string();
        let message = match &self.message {
            Some(message) => format!("  {}", OneLine(&cut(message, MESSAGE_CHARACTERS_MAX))),
            None => String::new(),
        };
        let printed = self.printed.as_deref().map(|printed| below(printed, style)).unwrap_or_default();
        format!(
            "{}Z  {}  {}  {:.1} ms{message}\n{printed}",
            style.paint(TextStyle::Quiet, OneLine(&self.time)),
            style.paint(TextStyle::Strong, OneLine(&self.tool)),
            style.paint(look, outcome),
            self.milliseconds
        )
    }

    /// Returns the call as JSON.
    pub(super) fn document(&self) -> Value {
        json!({
            "event": "call",
            "time": self.time,
            "tool": self.tool,
            "outcome": self.outcome,
            "code": self.code,
            "milliseconds": self.milliseconds,
            "message": self.message,
            "printed": self.printed,
        })
    }
}

/// Formats a call's output, indented.
fn below(printed: &str, style: Style) -> String {
    let printed = cut(printed.trim_end(), PRINTED_CHARACTERS_MAX);
    let lines: Vec<&str> = printed.split('\n').collect();
    let shown = lines.iter().take(PRINTED_LINES_MAX).map(|line| format!("    {}\n", Lines(line)));
    let mut text: String = shown.collect();
    if let Some(more) = lines.len().checked_sub(PRINTED_LINES_MAX).filter(|more| *more > 0) {
        text.push_str(&format!("    … and {more} more lines\n"));
    }
    style.paint(TextStyle::Quiet, text).to_string()
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A reader of the audit log as it grows.
pub(super) struct Calls {
    file: PathBuf,
    /// How many bytes were read.
    read: u64,
    /// The incomplete last line.
    rest: Vec<u8>,
    /// The prefixes of the project's tools, one for each name that the project has had.
    prefixes: Vec<String>,
    /// The decided calls that have not ended: the tool, and the reason of the decision.
    decided: HashMap<String, (String, String)>,
}

impl Calls {
    /// Starts at the end of the audit log, for the tools of a plugin.
    pub(super) fn from_now_on(state: &Path, plugin: &str) -> Self {
        let file = state.join(RECORD);
        let read = environment::open_named(&file).and_then(|file| file.metadata()).map_or(0, |metadata| metadata.len());
        Self { file, read, rest: Vec::new(), prefixes: vec![prefix(plugin)], decided: HashMap::new() }
    }

    /// Adds a name of the project's plugin.
    pub(super) fn also_of(&mut self, plugin: &str) {
        let prefix = prefix(plugin);
        if !self.prefixes.contains(&prefix) {
            self.prefixes.push(prefix);
        }
    }

    /// Returns the calls that have ended since the last check. Returns none if the log cannot be read.
    pub(super) fn news(&mut self, messages: &Messages) -> Vec<EndedCall> {
        let mut bytes = Vec::new();
        let read = environment::open_named(&self.file).and_then(|mut file| {
            if file.metadata()?.len() < self.read {
                // The log was replaced by a new one.
                (self.read, self.rest) = (0, Vec::new());
            }
            file.seek(SeekFrom::Start(self.read))?;
            file.take(READ_BYTES_MAX).read_to_end(&mut bytes)
        });
        let Ok(read) = read else { return Vec::new() };
        self.read += read as u64;
        self.rest.append(&mut bytes);
        let whole = self.rest.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let lines: Vec<u8> = self.rest.drain(..whole).collect();
        let entries = lines.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice::<Value>(line).ok());
        entries.filter_map(|entry| self.ended(&entry, messages)).collect()
    }

    fn ended(&mut self, entry: &Value, messages: &Messages) -> Option<EndedCall> {
        let member = |name: &str| entry.get(name).and_then(Value::as_str);
        let (kind, call) = (member("kind")?, member("call")?);
        let tool = member("tool").filter(|tool| self.prefixes.iter().any(|prefix| tool.starts_with(prefix)));
        if let ("decision", Some(tool)) = (kind, tool) {
            if self.decided.len() >= REMEMBERED_MAX {
                // The outcomes of these calls are then not shown, unless an outcome names its tool.
                self.decided.clear();
            }
            let reason = member("reason").unwrap_or_default().to_owned();
            self.decided.insert(call.to_owned(), (tool.to_owned(), reason));
        }
        if kind != "outcome" {
            return None;
        }
        let decided = self.decided.remove(call);
        let (tool, reason) = decided.or_else(|| Some((tool?.to_owned(), String::new())))?;
        let outcome = member("outcome")?.to_owned();
        let text = |name: &str| member(name).map(str::to_owned).filter(|text| !text.is_empty());
        let reason = Some(reason).filter(|reason| outcome == "denied" && !reason.is_empty());
        let (told, detail) = (messages.take(call), text("detail"));
        let message = match outcome.as_str() {
            "completed" => None,
            outcome if RECORD_KNOWS.contains(&outcome) => detail.or(told),
            _ => told.or(detail).or(reason),
        };
        // Microseconds are exact in a float for a century.
        #[expect(clippy::cast_precision_loss, reason = "a call takes less than a century")]
        let milliseconds = entry.get("wall_us").and_then(Value::as_u64).unwrap_or(0) as f64 / 1000.0;
        // The time of day of a recorded time.
        let time = member("time").and_then(|time| time.get(11..19)).unwrap_or_default().to_owned();
        let code = member("code").unwrap_or_default().to_owned();
        Some(EndedCall { time, tool, outcome, code, milliseconds, message, printed: text("printed") })
    }
}

fn prefix(plugin: &str) -> String {
    format!("{plugin}.")
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the test writes a record")]
mod tests {
    use super::*;
    use std::fs;
    use std::io::Write;

    #[test]
    fn a_call_is_reported_when_its_line_is_complete() {
        let state = std::env::temp_dir().join(format!("portcullis-calls-{}", std::process::id()));
        fs::create_dir_all(&state).unwrap();
        fs::write(
            state.join(RECORD),
            "{\"kind\":\"outcome\",\"call\":\"old\",\"tool\":\"a.b\",\"outcome\":\"failed\"}\n",
        )
        .unwrap();
        let (mut calls, messages) = (Calls::from_now_on(&state, "a"), Messages::default());
        assert!(calls.news(&messages).is_empty());
        let mut record = fs::File::options().append(true).open(state.join(RECORD)).unwrap();
        let lines = "{\"kind\":\"decision\",\"call\":\"1\",\"tool\":\"a.b\\u001b\",\"reason\":\"none\"}\n\
            {\"kind\":\"decision\",\"call\":\"2\",\"tool\":\"other.b\",\"reason\":\"\"}\n\
            {\"kind\":\"outcome\",\"call\":\"2\",\"outcome\":\"completed\",\"code\":\"completed\"}\n\
            {\"kind\":\"outcome\",\"call\":\"1\",\"time\":\"2026-11-22T00:15:02.1Z\",\"outcome\":\"denied\",\
            \"code\":\"policy-denied\",\"wall_us\":1500}\n";
        let (first, second) = lines.split_at(lines.len() - 10);
        record.write_all(first.as_bytes()).unwrap();
        assert!(calls.news(&messages).is_empty(), "an incomplete line is not a call");
        record.write_all(second.as_bytes()).unwrap();
        let ended = calls.news(&messages);
        let told: Vec<String> = ended.iter().map(|ended| ended.line(Style::Plain)).collect();
        assert_eq!(told, ["00:15:02Z  a.b\\u{1b}  denied (policy-denied)  1.5 ms  none\n"]);
        assert!(calls.news(&messages).is_empty());
        fs::remove_dir_all(state).unwrap();
    }

    #[test]
    fn a_failed_call_shows_its_cause_and_its_output() {
        let (mut calls, messages) = (Calls::from_now_on(Path::new("/nowhere"), "a"), Messages::default());
        let mut ended = |outcome: &str, detail: Option<&str>, printed: &str| {
            messages.0.lock().unwrap().insert("1".to_owned(), "told".to_owned());
            let entry = json!({ "kind": "outcome", "call": "1", "tool": "a.b", "outcome": outcome, "code": outcome,
                "detail": detail, "printed": printed });
            calls.ended(&entry, &messages).unwrap()
        };
        let why = |ended: &EndedCall| ended.message.clone();
        assert_eq!(why(&ended("trapped", Some("unreachable"), "")).as_deref(), Some("unreachable"));
        assert_eq!(why(&ended("limit", None, "")).as_deref(), Some("told"));
        assert_eq!(why(&ended("failed", Some("for the operator"), "")).as_deref(), Some("told"));
        assert_eq!(why(&ended("completed", None, "")), None);

        let printed = ended("trapped", Some("unreachable"), "one\n\u{1b}[2Jtwo\n");
        let line = printed.line(Style::Plain);
        assert!(line.ends_with("trapped  0.0 ms  unreachable\n    one\n    \\u{1b}[2Jtwo\n"), "{line}");
        assert_eq!(printed.document()["printed"], "one\n\u{1b}[2Jtwo\n");
        let many = ended("completed", None, &"a\n".repeat(4000)).line(Style::Plain);
        assert_eq!(many.lines().count(), 1 + PRINTED_LINES_MAX + 1, "{many}");
        let long = ended("completed", None, &"a".repeat(100_000)).line(Style::Plain);
        assert!(long.len() < 2 * PRINTED_CHARACTERS_MAX, "{}", long.len());
        calls.also_of("c");
        assert_eq!(calls.prefixes, ["a.", "c."]);
    }
}
