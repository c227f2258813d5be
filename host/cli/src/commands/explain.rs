//! `portcullis explain`: shows what would happen to a call, and why. Asks no approver and records nothing.

use super::Context;
use super::typed_arguments::read_arguments;
use crate::arguments::ExplainArguments;
use crate::exit_code::Exit;
use crate::failure::OpenFault;
use crate::json::{self, DocumentKind};
use crate::policy_lines::{self, HEADING, WithLines};
use crate::style::{Style, TextStyle};
use crate::table::{Table, TableCell};
use crate::wrap::wrapped;
use crate::{opening, view};
use portcullis::audit::Entry;
use portcullis::policy::{Decision, MatchedRule, Source};
use portcullis::text::{Lines, OneLine};
use portcullis::{Explained, Host, Outlook, Reply, Request};
use serde_json::Value;
use std::fmt::Write;

pub(super) async fn run(arguments: ExplainArguments, context: &Context) -> anyhow::Result<Exit> {
    let bytes = read_arguments(arguments.arguments, context)?;
    let tool = arguments.tool.clone();
    let request = super::call::of_caller(Request::new(arguments.tool, bytes), &arguments.caller)?;
    // A call from this terminal would ask here, so the policy's `unattended` does not apply.
    let request = if context.terminal.can_ask() { request.answered_elsewhere() } else { request };
    let host = match opening::open_for(context, &tool).await {
        Ok(host) => host,
        Err(error) => {
            tell_in_force(&error, context).await;
            return Err(error);
        }
    };
    match host.explain(request).await {
        Ok(explained) => {
            let denied = matches!(explained.outlook, Outlook::Refuse { .. });
            let lines = if denied { policy_lines(&host, &explained) } else { None };
            let mut text = match context.json {
                true => json::document(DocumentKind::Explanation, &WithLines::new(&explained, lines.as_deref()))?,
                false => wrapped(&text(&explained, context)?, context.terminal.width()),
            };
            if let (Some(lines), false) = (lines, context.json) {
                text.push_str(&format!("\n{HEADING}\n\n{lines}"));
            }
            context.terminal.print(&text)?;
            Ok(Exit::Completed)
        }
        Err(reply) => not_decided(&reply, context),
    }
}

/// Prints which policy a running server still uses, if the one in the files cannot be used.
async fn tell_in_force(error: &anyhow::Error, context: &Context) {
    if !error.downcast_ref().is_some_and(|error| OpenFault::of(error).is_of_policy()) {
        return;
    }
    let Some(last) = last_named(context).await else { return };
    let note = format!(
        "a running server keeps its current policy; the audit log last names {} at {}",
        OneLine(&last.sha256),
        OneLine(&last.time)
    );
    context.terminal.note(context.terminal.note_style().paint(TextStyle::Doubtful, note));
}

/// A policy that the audit log names.
struct NamedPolicy {
    sha256: String,
    time: String,
}

/// Returns the policy that the last entry names, or none if no entry names one.
async fn last_named(context: &Context) -> Option<NamedPolicy> {
    let mut last = None;
    // The note is only a hint, so a log that cannot be read is no error here.
    let audit = portcullis::open_audit(context.environment.state_place().ok()?).await.ok()?;
    let each = |entry: Entry| {
        let member = |name: &str| entry.document.get(name).and_then(Value::as_str).map(str::to_owned);
        let sha256 = match member("kind").as_deref() {
            Some("policy") => member("sha256"),
            Some("decision") => member("policy_sha256"),
            Some(_) | None => None,
        };
        if let (Some(sha256), Some(time)) = (sha256, member("time")) {
            last = Some(NamedPolicy { sha256, time });
        }
        Ok(())
    };
    let verified = audit.read(each).await.ok()?;
    // Entries after a damaged one are not read, and a later one may name another policy.
    last.filter(|_| verified.fault.is_none())
}

/// Shows the reply to a call that would end before a decision.
fn not_decided(reply: &Reply, context: &Context) -> anyhow::Result<Exit> {
    if context.json {
        context.terminal.print(&json::document(DocumentKind::Reply, reply)?)?;
    } else {
        let label = format!("{} ({}):", reply.outcome().as_str(), reply.code);
        let label = context.terminal.note_style().paint(TextStyle::Bad, label);
        context.terminal.note(format_args!("{label} {}", Lines(&reply.message)));
    }
    Ok(Exit::after(reply))
}

fn text(explained: &Explained, context: &Context) -> Result<String, std::fmt::Error> {
    let (style, width) = (context.terminal.style(), context.terminal.width());
    let mut text = String::new();
    let verdict = &explained.explanation.verdict;
    let by = match verdict.source {
        Source::Rule(rule) => rule.to_string(),
        Source::Paused(_) => "because the policy is paused".to_owned(),
        Source::Default => "by default".to_owned(),
    };
    let decision = style.paint(look(verdict.decision), verdict.decision);
    writeln!(text, "{}: {decision}, {by}", style.paint(TextStyle::Strong, &explained.tool))?;
    writeln!(text, "  {}\n", OneLine(&verdict.reason))?;
    let mut facts = Table::default();
    let quiet = |label| TableCell::new(TextStyle::Quiet, label);
    facts.row([quiet("arguments"), TableCell::plain(&explained.arguments)]);
    facts.row([quiet("permissions"), TableCell::plain(&view::permissions(explained.permissions))]);
    for limit in &explained.rate_limits {
        facts.row([quiet("rate limit"), TableCell::plain(limit)]);
    }
    for handle in &explained.handles {
        facts.row([quiet("handle"), TableCell::plain(handle)]);
    }
    if explained.handles.is_empty() {
        facts.row([quiet("handle"), TableCell::plain("none: the plugin asks for none")]);
    }
    text.push_str(&facts.render_whole(style, "", width));
    write_outlook(&mut text, explained, style)?;
    write_rules(&mut text, &explained.explanation.matched, style, width)?;
    write_changes(&mut text, &explained.explanation.changes, style)?;
    for gap in &explained.rule_gaps {
        writeln!(text, "\n{}", style.paint(TextStyle::Doubtful, OneLine(gap)))?;
    }
    Ok(text)
}

/// Writes what would happen to the call, unless the rules deny it: the first line says that already.
fn write_outlook(text: &mut String, explained: &Explained, style: Style) -> std::fmt::Result {
    let decision = explained.explanation.verdict.decision;
    let (look, line) = match &explained.outlook {
        Outlook::Refuse { .. } if decision == Decision::Deny => return Ok(()),
        Outlook::Refuse { code, message } => {
            (TextStyle::Bad, format!("It would still be refused ({code}): {}", OneLine(message)))
        }
        Outlook::Ask { reason, request } => {
            let joined = request.as_ref().map(|id| format!(" Request {id} is open for it.")).unwrap_or_default();
            let same = if decision == Decision::Ask { "" } else { " still" };
            (TextStyle::Doubtful, format!("It would{same} need approval: {}.{}", OneLine(reason), OneLine(&joined)))
        }
        Outlook::Run { approvals } if approvals.is_empty() => (TextStyle::Good, "It would run.".to_owned()),
        Outlook::Run { approvals } => {
            let held = approvals.join(", ");
            (TextStyle::Good, format!("It would run without a request: approved by {}.", OneLine(&held)))
        }
    };
    writeln!(text, "\n{}", style.paint(look, line))
}

fn policy_lines(host: &Host, explained: &Explained) -> Option<String> {
    let catalog = host.catalog();
    let (plugin, tool) = catalog.tools().find(|(_, tool)| *tool.name() == explained.tool)?;
    policy_lines::of_tool(host, plugin, tool)
}

fn look(decision: Decision) -> TextStyle {
    match decision {
        Decision::Allow => TextStyle::Good,
        Decision::Ask => TextStyle::Doubtful,
        Decision::Deny => TextStyle::Bad,
    }
}

fn write_rules(text: &mut String, rules: &[MatchedRule], style: Style, width: Option<usize>) -> std::fmt::Result {
    if rules.is_empty() {
        return writeln!(text, "\nNo rule matches this call.");
    }
    writeln!(text, "\n{}", style.paint(TextStyle::Strong, "Rules that match this call"))?;
    let mut table = Table::default();
    for rule in rules {
        let weight = if rule.decisive { "decisive" } else { "overruled" };
        table.row([
            TableCell::plain(&rule.rule.to_string()),
            TableCell::new(look(rule.decision), decided(rule)),
            TableCell::new(if rule.decisive { TextStyle::Strong } else { TextStyle::Quiet }, weight),
            TableCell::plain(&subject(rule)),
        ]);
    }
    text.push_str(&table.render_whole(style, "  ", width));
    Ok(())
}

/// Returns the decision of a rule, and what it wins over.
fn decided(rule: &MatchedRule) -> &'static str {
    if rule.over_ask { "allow over ask" } else { rule.decision.as_str() }
}

/// Formats the conditions and the reason of a rule, as the policy writes them.
fn subject(rule: &MatchedRule) -> String {
    let permission = rule.permission.map(|permission| permission.to_string());
    let named = [
        ("permission", &permission),
        ("hint", &rule.hint),
        ("session", &rule.session),
        ("principal", &rule.principal),
        ("origin", &rule.origin),
        ("when", &rule.when),
    ];
    let named = named.into_iter().filter_map(|(key, value)| Some(format!(", {key} {}", value.as_ref()?)));
    let reason = rule.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    format!("{}{}{reason}", rule.tool, named.collect::<String>())
}

fn write_changes(text: &mut String, changes: &[String], style: Style) -> std::fmt::Result {
    if changes.is_empty() {
        return Ok(());
    }
    writeln!(text, "\n{}", style.paint(TextStyle::Strong, "What would change it"))?;
    for change in changes {
        for (index, line) in change.lines().enumerate() {
            writeln!(text, "  {}{}", if index == 0 { "- " } else { "      " }, OneLine(line))?;
        }
    }
    Ok(())
}
