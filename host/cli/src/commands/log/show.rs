//! `portcullis log show`: everything that the audit log and the ledger have about one call.

use super::super::Context;
use super::super::no_result::fail_with_help;
use super::logged_call::{LoggedCall, duration};
use super::logged_difference::LoggedDifference;
use crate::audit_log::{open_log, tell_missing_calls};
use crate::exit_code::Exit;
use crate::failure::FailureCode;
use crate::json::{self, DocumentKind};
use crate::local_time::LocalTime;
use crate::question::{Extent, shown};
use crate::style::{Style, TextStyle};
use crate::table::{Table, TableCell};
use portcullis::Question;
use portcullis::audit::Entry;
use portcullis::text::OneLine;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// Minimum digits of an id that is typed.
const TYPED_DIGITS_MIN: usize = 6;

/// Maximum entries of one call that are shown. A call that asks for more and more resources has one for each.
const ENTRIES_MAX: usize = 1000;

/// The members that the first lines say, or that mean nothing to people.
const SAID: [&str; 11] =
    ["seq", "time", "kind", "call", "tool", "mac", "session", "principal", "targets", "difference", "difference_bytes"];

pub(super) async fn run(typed: &str, context: &Context) -> anyhow::Result<Exit> {
    let typed = typed.to_ascii_lowercase();
    if typed.len() < TYPED_DIGITS_MIN || !typed.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        let why = "a call has at least the first six digits of its id";
        return unknown(why, context);
    }
    let (mut ids, mut entries) = (BTreeSet::new(), Vec::new());
    let collect = |entry: Entry| {
        let id = entry.document.get("call").and_then(Value::as_str).filter(|id| id.starts_with(&typed));
        if let Some(id) = id.filter(|_| entries.len() < ENTRIES_MAX) {
            ids.insert(id.to_owned());
            entries.push(entry);
        }
        Ok(())
    };
    let verified = open_log(context).await?.read(collect).await?;
    let exit = tell_missing_calls(&verified, context);
    let id = match (ids.pop_first(), ids.is_empty()) {
        (Some(id), true) => id,
        (Some(_), false) => {
            return unknown("several calls begin with these digits", context);
        }
        // A damaged log may have lost the call.
        (None, _) if exit != Exit::Completed => return Ok(exit),
        (None, _) => {
            return unknown(&format!("the audit log has no call {}", OneLine(&typed)), context);
        }
    };
    let mut call = LoggedCall::begin(&id, &entries[0].document);
    entries.iter().for_each(|entry| call.add(&entry.document));
    let request = request(&call, context).await;
    let difference = LoggedDifference::of(&entries);
    let text = if context.json {
        let documents: Vec<&Value> = entries.iter().map(|entry| &entry.document).collect();
        let mut document = call.document();
        document["entries"] = json!(documents);
        document["difference"] = json!(difference.text());
        document["approval_request"] = json!(request);
        json::document(DocumentKind::LoggedCallDetails, &document)?
    } else {
        let (style, width) = (context.terminal.style(), context.terminal.width());
        let below = match request {
            // An open request has the difference to the current files.
            Some(request) => format!("\n{}", shown(&request, Extent::Whole, style, width).text),
            None => difference.show(style, width),
        };
        format!("{}{below}", of_call(&call, &entries, style, width))
    };
    context.terminal.print(&text)?;
    Ok(exit)
}

/// Reports that the digits name no call.
fn unknown(why: &str, context: &Context) -> anyhow::Result<Exit> {
    let help = "type more digits of the id: `portcullis log` lists the calls";
    fail_with_help(FailureCode::UnknownCall, why, Some(help), Exit::Usage, context)
}

/// Returns the approval request of a call, as long as the ledger has it.
async fn request(call: &LoggedCall, context: &Context) -> Option<Question> {
    // An unreadable ledger is no error: what the audit log has can still be shown.
    let state = context.environment.state_place().ok()?;
    let approvals = portcullis::open_approvals(state).await.ok()?;
    approvals.question(call.request.as_deref()?).await.ok()?.question
}

fn of_call(call: &LoggedCall, entries: &[Entry], style: Style, width: Option<usize>) -> String {
    let time = LocalTime::read();
    let mut facts = Table::default();
    let mut fact = |label: &str, value: &str| {
        if !value.is_empty() {
            facts.row([TableCell::new(TextStyle::Quiet, label), TableCell::plain(value)]);
        }
    };
    fact("call", &call.id);
    fact("tool", &call.tool);
    for (pointer, target) in &call.targets {
        fact(pointer, target.as_str().unwrap_or_default());
    }
    fact("for", &format!("{}, session {}", call.principal, call.session));
    fact("agent", call.agent.as_deref().unwrap_or_default());
    fact("began", &time.long(&call.time));
    fact("effect", &call.effect());
    fact("took", &duration(call.wall_us));
    let mut text = facts.render_whole(style, "  ", width);
    for entry in entries {
        let kind = entry.document.get("kind").and_then(Value::as_str).unwrap_or_default();
        let at = time.long(entry.document.get("time").and_then(Value::as_str).unwrap_or_default());
        let line = format!("{kind}  {}, entry {}", OneLine(&at), entry.sequence);
        text.push_str(&format!(
            "{}\n{}",
            style.paint(TextStyle::Strong, OneLine(&line)),
            details(entry).render_whole(style, "  ", width)
        ));
    }
    text
}

fn details(entry: &Entry) -> Table {
    let (mut table, empty) = (Table::default(), Map::new());
    let members = entry.document.as_object().unwrap_or(&empty);
    for (name, value) in members.iter().filter(|(name, _)| !SAID.contains(&name.as_str())) {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        table.row([TableCell::new(TextStyle::Quiet, name), TableCell::plain(&value)]);
    }
    table
}
