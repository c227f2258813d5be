//! `portcullis audit`: shows and verifies the audit log.

use super::{Context, log};
use crate::arguments::ShowArguments;
use crate::audit_log::{exit, open_log, tell_fault};
use crate::exit_code::Exit;
use crate::failure::{CommandError, FailureCode};
use crate::json::{self, DocumentKind};
use crate::short_id::short_id;
use crate::style::{Style, TextStyle};
use crate::table::{Table, TableCell};
use anyhow::ensure;
use portcullis::audit::{Entry, Kind};
use portcullis::text::OneLine;
use serde_json::{Map, Value, json};
use std::collections::{HashMap, VecDeque};
use std::time::Duration;

/// Digits of a hash that distinguish the policies of one audit log.
const HASH_DIGITS: usize = 12;

/// Maximum length of a reason in the overview, in characters. `--call` shows all of it.
const REASON_CHARACTERS_MAX: usize = 160;

/// The members that have their own column, or mean nothing to people.
const IN_COLUMNS: [&str; 6] = ["seq", "time", "kind", "call", "tool", "mac"];

pub(super) async fn verify(context: &Context) -> anyhow::Result<Exit> {
    let mut rollbacks = Vec::new();
    let note_rollback = |entry: Entry| {
        if member(&entry, "kind") == Some(Kind::Ledger.as_str()) {
            rollbacks.push(entry.sequence);
        }
        Ok(())
    };
    let verified = open_log(context).await?.read(note_rollback).await?;
    if context.json {
        let (entries, fault) = (verified.lines, verified.fault.as_ref().map(ToString::to_string));
        let verifies = fault.is_none();
        let document =
            json!({ "entries": entries, "verifies": verifies, "fault": fault, "ledger_rollbacks": rollbacks });
        context.terminal.print(&json::document(DocumentKind::AuditVerification, &document)?)?;
    } else if verified.fault.is_none() {
        context.terminal.print(&format!("{} verify\n", entries(verified.lines)))?;
    } else {
        tell_fault(&verified, context);
    }
    for entry in rollbacks {
        let what = "the ledger was replaced or removed, and everything in it was revoked";
        context.terminal.note(format_args!("entry {entry}: {what}"));
    }
    Ok(exit(&verified))
}

pub(super) async fn show(arguments: &ShowArguments, context: &Context) -> anyhow::Result<Exit> {
    if arguments.tree {
        return log::tree(arguments.limit, context).await;
    }
    let mut kept = LastEntries { entries: VecDeque::new(), most: arguments.limit, left_out: 0 };
    // Read everything before printing anything: the log is locked during the read, and a pager may block for long.
    let call = arguments.call.as_deref().map(str::to_ascii_lowercase);
    let keep = |entry| {
        kept.offer(entry, call.as_deref());
        Ok(())
    };
    let verified = open_log(context).await?.read(keep).await?;
    if let Some(call) = arguments.call.as_deref().filter(|_| kept.entries.is_empty()) {
        let exit = tell_fault(&verified, context);
        // A damaged log may have lost the entries, which says more than an unknown id.
        let unknown = || format!("the audit log has no call {}", OneLine(call));
        let unknown = || CommandError::new(FailureCode::UnknownCall, unknown());
        ensure!(verified.fault.is_some(), unknown().help("to list the calls, run `portcullis audit show`"));
        return Ok(exit);
    }
    if context.json {
        for entry in &kept.entries {
            context.terminal.print(&json::document(DocumentKind::AuditEntry, &entry.document)?)?;
        }
    } else {
        let whole = arguments.call.is_some();
        context.terminal.show(&text(&kept.entries, whole, context.terminal.style(), context.terminal.width()))?;
    }
    if kept.left_out > 0 {
        context.terminal.note(format_args!("{} before these are not shown: raise --limit", entries(kept.left_out)));
    }
    Ok(tell_fault(&verified, context))
}

fn entries(count: u64) -> String {
    if count == 1 { "1 entry".to_owned() } else { format!("{count} entries") }
}

/// The last of the matching entries.
struct LastEntries {
    entries: VecDeque<Entry>,
    most: usize,
    left_out: u64,
}

impl LastEntries {
    fn offer(&mut self, entry: Entry, call: Option<&str>) {
        let id = entry.document.get("call").and_then(Value::as_str);
        if call.is_some_and(|asked| !id.is_some_and(|id| id.starts_with(asked))) {
            return;
        }
        // Pushed before the check, so that a limit of 0 keeps nothing and counts everything.
        self.entries.push_back(entry);
        if self.entries.len() > self.most {
            self.entries.pop_front();
            self.left_out += 1;
        }
    }
}

fn text(entries: &VecDeque<Entry>, whole: bool, style: Style, width: Option<usize>) -> String {
    let mut tools: HashMap<&str, &str> = HashMap::new();
    let mut table = Table::default();
    for entry in entries {
        if let (Some(call), Some(tool)) = (member(entry, "call"), member(entry, "tool")) {
            tools.insert(call, tool);
        }
        // The entry of an outcome has no tool: take it from the entry of the decision.
        let tool = member(entry, "tool").or_else(|| member(entry, "call").and_then(|call| tools.get(call).copied()));
        table.row(cells(entry, tool, whole));
    }
    let mut text = String::new();
    for (line, entry) in table.lines(style, "", width).zip(entries) {
        text.push_str(&line);
        text.push('\n');
        if whole {
            text.push_str(&details(entry).render_whole(style, "      ", width));
        }
    }
    text
}

fn cells(entry: &Entry, tool: Option<&str>, whole: bool) -> [TableCell; 7] {
    let what = ["decision", "answer", "outcome"].into_iter().find_map(|name| member(entry, name)).unwrap_or_default();
    let call = member(entry, "call").unwrap_or_default();
    let reason = if whole { String::new() } else { reason(entry) };
    [
        TableCell::new(TextStyle::Quiet, &time(member(entry, "time").unwrap_or_default())),
        TableCell::new(TextStyle::Quiet, &format!("{:>4}", entry.sequence)),
        TableCell::plain(member(entry, "kind").unwrap_or_default()),
        TableCell::new(TextStyle::Quiet, short_id(call)),
        TableCell::new(TextStyle::Strong, tool.or_else(|| member(entry, "plugin")).unwrap_or_default()),
        TableCell::new(look(what), what),
        TableCell::plain(&reason),
    ]
}

fn member<'a>(entry: &'a Entry, name: &str) -> Option<&'a str> {
    entry.document.get(name).and_then(Value::as_str)
}

/// Formats a recorded time to the second, in UTC.
fn time(recorded: &str) -> String {
    match recorded.get(..19) {
        Some(second) if recorded.ends_with('Z') => format!("{}Z", second.replace('T', " ")),
        Some(_) | None => recorded.to_owned(),
    }
}

fn look(what: &str) -> TextStyle {
    match what {
        "allow" | "yes" | "session" | "always" | "remembered" | "pass" | "completed" => TextStyle::Good,
        "ask" | "cancelled" | "pending" => TextStyle::Doubtful,
        "" => TextStyle::Plain,
        // A word that this version does not know must not look good.
        _ => TextStyle::Bad,
    }
}

/// Returns the reason in an entry of any kind, on one line.
fn reason(entry: &Entry) -> String {
    let number = |name: &str| entry.document.get(name).and_then(Value::as_u64);
    let words = ["subject", "covers", "reason", "why", "note", "path", "detail", "event"];
    let words = words.into_iter().filter_map(|name| member(entry, name));
    // Most outcomes have a code of the same name, and the outcome has its own column.
    let code = member(entry, "code").filter(|code| Some(*code) != member(entry, "outcome"));
    let mut text = code.into_iter().chain(words).collect::<Vec<_>>().join(": ");
    if let Some(entry) = number("entry") {
        text = format!("entry {entry}: {text}");
    }
    if let (Some("policy"), Some(sha256)) = (member(entry, "kind"), member(entry, "sha256")) {
        text = format!("{text} (in force: {})", sha256.get(..HASH_DIGITS).unwrap_or(sha256));
    }
    // If a rule has no reason, the policy's own text names the rule with its line.
    if let Some(line) = number("line").filter(|line| !text.contains(&format!("(line {line})"))) {
        text = format!("{text} (policy line {line})");
    }
    if let Some(wall) = number("wall_us").filter(|wall| *wall > 0) {
        let separator = if text.is_empty() { "" } else { ", " };
        let milliseconds = Duration::from_micros(wall).as_secs_f64() * 1000.0;
        text = format!("{text}{separator}{milliseconds:.1} ms");
    }
    match text.char_indices().nth(REASON_CHARACTERS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn details(entry: &Entry) -> Table {
    let mut table = Table::default();
    let empty = Map::new();
    let members = entry.document.as_object().unwrap_or(&empty);
    for (name, value) in members.iter().filter(|(name, _)| !IN_COLUMNS.contains(&name.as_str())) {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        table.row([TableCell::new(TextStyle::Quiet, name), TableCell::plain(&value)]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(sequence: u64, document: Value) -> Entry {
        Entry { sequence, document }
    }

    #[test]
    fn an_outcome_is_shown_with_the_tool_of_its_decision() {
        let time = "2026-11-22T00:15:02.123456Z";
        let decision = json!({ "time": time, "kind": "decision", "call": "0123456789", "tool": "files.read",
            "decision": "allow", "line": 4, "reason": "read it" });
        let outcome = json!({ "time": time, "kind": "outcome", "call": "0123456789", "outcome": "completed",
            "code": "completed", "wall_us": 1500 });
        let shown = text(&[entry(1, decision), entry(2, outcome)].into(), false, Style::Plain, None);
        let expected = "\
2026-11-22 00:15:02Z     1  decision  01234567  files.read  allow      read it (policy line 4)
2026-11-22 00:15:02Z     2  outcome   01234567  files.read  completed  1.5 ms
";
        assert_eq!(shown, expected);
    }

    #[test]
    fn text_in_an_entry_cannot_move_the_cursor() {
        let evil = "a\n\u{1b}[2J\u{202e}";
        let document = json!({ "time": evil, "kind": evil, "call": evil, "tool": evil, "outcome": evil, evil: evil });
        for whole in [false, true] {
            let shown = text(&[entry(1, document.clone())].into(), whole, Style::Plain, None);
            assert!(!shown.contains(['\u{1b}', '\u{202e}']), "{shown:?}");
            assert_eq!(shown.lines().count(), if whole { 3 } else { 1 }, "{shown}");
        }
    }

    #[test]
    fn only_the_last_entries_of_the_call_are_kept() {
        let mut kept = LastEntries { entries: VecDeque::new(), most: 2, left_out: 0 };
        for (sequence, call) in [(1, "aa"), (2, "ab"), (3, "bb"), (4, "ab"), (5, "aa")] {
            kept.offer(entry(sequence, json!({ "call": call })), Some("a"));
        }
        assert_eq!(kept.entries.iter().map(|entry| entry.sequence).collect::<Vec<_>>(), [4, 5]);
        assert_eq!(kept.left_out, 2);
    }
}
