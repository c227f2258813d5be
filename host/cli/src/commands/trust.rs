//! `portcullis trust`: shows what a project's policy would allow and where its grants lead. Records that the user
//! trusts this text at this path with these places.

use super::Context;
use super::no_result::fail_as;
use crate::arguments::TrustArguments;
use crate::confirmation::confirmed;
use crate::exit_code::Exit;
use crate::failure::{CommandError, FailureCode, WithCode};
use crate::json::{self, DocumentKind};
use crate::opening::note_rollback;
use crate::style::{Style, TextStyle};
use crate::table::{Table, TableCell};
use anyhow::{Context as _, anyhow, bail};
use portcullis::policy::{
    Approvals, Binding, ClockResolution, Decision, DependencyKey, InstanceLifetime, Limits, PluginName, Policy, Rule,
};
use portcullis::policy_files::{GrantPlace, ProjectPolicy};
use portcullis::text::OneLine;
use serde_json::{Value, json};
use std::path::Path;

/// Digits of a SHA-256.
const HASH_DIGITS: usize = 64;

pub(super) async fn run(arguments: &TrustArguments, context: &Context) -> anyhow::Result<Exit> {
    if arguments.remove { remove(&arguments.file, context).await } else { add(arguments, context).await }
}

async fn add(arguments: &TrustArguments, context: &Context) -> anyhow::Result<Exit> {
    let path = &arguments.file;
    let project =
        ProjectPolicy::read_with_home(path, context.environment.home()).await.code(FailureCode::PolicyInvalid)?;
    let project = project.with_context(|| format!("there is no policy at {}", path.display())).code(FailureCode::Io)?;
    let policy = Policy::parse(project.text()).map_err(|error| anyhow!("{}: {error}", path.display()));
    let policy = policy.code(FailureCode::PolicyInvalid)?;
    let terminal = context.terminal;
    if !context.json {
        terminal.show(&summary(&project, &policy, terminal.style(), terminal.width()))?;
    }
    if project.fault().is_some() {
        // This fails and names the grant. No answer of the user could help.
        approvals(context).await?.trust_policy(&project).await?;
    }
    if !arguments.yes {
        if !terminal.can_ask() {
            let error = CommandError::new(FailureCode::NoTerminal, "there is no terminal to ask at");
            bail!(error.help("review the policy, then trust it with --yes"));
        }
        if !confirmed(terminal, "Trust exactly this text, with these places?").await {
            return fail_as(FailureCode::NotConfirmed, "not trusted: nothing was changed", Exit::Denied, context);
        }
    }
    // Trusts what was read and shown, and not what the file has become since.
    let identity = approvals(context).await?.trust_policy(&project).await?;
    if context.json {
        terminal.print(&json::document(DocumentKind::Trust, &document(&project, &identity))?)?;
    } else {
        terminal.note("trusted until the file or a place that its grants lead to changes");
    }
    Ok(Exit::Completed)
}

fn document(project: &ProjectPolicy, identity: &str) -> Value {
    let place = |grant: &GrantPlace| {
        json!({
            "plugin": grant.plugin,
            "key": grant.key.to_string(),
            "kind": grant.kind.as_str(),
            "path": grant.written,
            "place": grant.resolved.to_string_lossy(),
        })
    };
    let places: Vec<Value> = project.grants().iter().map(place).collect();
    let file = project.place().to_string_lossy();
    json!({ "sha256": project.sha256(), "identity": identity, "file": file, "places": places, "trusted": true })
}

async fn remove(named: &Path, context: &Context) -> anyhow::Result<Exit> {
    // The file may be gone, so the identity is accepted in its place.
    let identity = named.to_str().map(str::to_ascii_lowercase).filter(|text| is_hash(text));
    let approvals = approvals(context).await?;
    let removed = match &identity {
        Some(identity) => approvals.distrust(identity).await?,
        None => approvals.distrust_policy(named).await?,
    };
    if !removed {
        let why = format!("no policy was trusted at {}: give the path under which it was trusted", named.display());
        return fail_as(FailureCode::NotTrusted, &why, Exit::Usage, context);
    }
    if context.json {
        let document = json!({ "identity": identity, "file": named.to_string_lossy(), "trusted": false });
        context.terminal.print(&json::document(DocumentKind::Trust, &document)?)?;
    } else {
        context.terminal.note("no longer trusted");
    }
    Ok(Exit::Completed)
}

fn is_hash(text: &str) -> bool {
    text.len() == HASH_DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

async fn approvals(context: &Context) -> anyhow::Result<portcullis::Approvals> {
    let approvals = portcullis::open_approvals(context.environment.state_place()?).await?;
    note_rollback(&approvals, context);
    Ok(approvals)
}

/// Summarizes the policy, one line for each rule, grant and setting.
fn summary(project: &ProjectPolicy, policy: &Policy, style: Style, width: Option<usize>) -> String {
    let path = project.place().display().to_string();
    let mut text = format!("{}\n  sha256 {}\n\n", style.paint(TextStyle::Strong, OneLine(&path)), project.sha256());
    let mut table = Table::default();
    let quiet = |text: &str| TableCell::new(TextStyle::Quiet, text);
    let default = policy.default_decision();
    let decided = TableCell::new(look(default), default.as_str());
    table.row([quiet("default"), decided, TableCell::plain("if no rule matches")]);
    add_rules(&mut table, policy);
    for plugin in policy.plugins() {
        for (key, binding) in policy.bindings(plugin) {
            let grant = of_binding(plugin, key, binding);
            table.row([quiet("grant"), TableCell::new(TextStyle::Doubtful, "give"), TableCell::plain(&grant)]);
            for place in project.grants().iter().filter(|place| place.plugin == *plugin && place.key == *key) {
                table.row([
                    quiet("place"),
                    TableCell::new(look_of(place), place.kind.as_str()),
                    TableCell::plain(&of_place(place)),
                ]);
            }
        }
        for (key, value) in policy.config(plugin) {
            let what = format!("{plugin}: {key} = {}", OneLine(value));
            table.row([quiet("setting"), TableCell::new(TextStyle::Doubtful, "set"), TableCell::plain(&what)]);
        }
        // A setting that equals its default changes nothing, so the summary leaves it out.
        if policy.clock(plugin) != ClockResolution::default() {
            let what = format!("{} clocks for {plugin}", policy.clock(plugin).as_str());
            table.row([quiet("clock"), TableCell::new(TextStyle::Doubtful, "set"), TableCell::plain(&what)]);
        }
        if policy.instance(plugin) != InstanceLifetime::default() {
            let what = format!("{plugin} keeps its memory between the calls of a session");
            table.row([quiet("instance"), TableCell::new(TextStyle::Doubtful, "set"), TableCell::plain(&what)]);
        }
        if policy.limits(plugin) != Limits::default() {
            let what = format!("other limits for {plugin}");
            table.row([quiet("limits"), TableCell::new(TextStyle::Doubtful, "set"), TableCell::plain(&what)]);
        }
    }
    if !policy.name_servers().is_empty() {
        let servers: Vec<String> = policy.name_servers().iter().map(ToString::to_string).collect();
        let what = format!("all DNS queries go to {}", servers.join(" "));
        table.row([quiet("network"), TableCell::new(TextStyle::Doubtful, "set"), TableCell::plain(&what)]);
    }
    if policy.default_limits() != Limits::default() {
        table.row([
            quiet("limits"),
            TableCell::new(TextStyle::Doubtful, "set"),
            TableCell::plain("other limits for every plugin"),
        ]);
    }
    if policy.approvals() != Approvals::default() {
        let what = "how approval requests are handled, and how long approvals last";
        table.row([quiet("approvals"), TableCell::new(TextStyle::Doubtful, "set"), TableCell::plain(what)]);
    }
    text.push_str(&table.render_whole(style, "  ", width));
    text.push('\n');
    text
}

/// Adds a row for each rule and for each rate limit.
fn add_rules(table: &mut Table, policy: &Policy) {
    let quiet = |text: &str| TableCell::new(TextStyle::Quiet, text);
    for rule in policy.rules() {
        let line = format!("line {}", rule.id.line);
        let decision = if rule.over_ask { "allow over ask" } else { rule.decision.as_str() };
        let decided = TableCell::new(look(rule.decision), decision);
        table.row([quiet(&line), decided, TableCell::plain(&of_rule(rule))]);
    }
    for limit in policy.rate_limits() {
        let line = format!("line {}", limit.place().line);
        let limited = TableCell::new(TextStyle::Doubtful, "limit");
        table.row([quiet(&line), limited, TableCell::plain(limit.text())]);
    }
}

fn look(decision: Decision) -> TextStyle {
    match decision {
        Decision::Allow => TextStyle::Good,
        Decision::Ask => TextStyle::Doubtful,
        Decision::Deny => TextStyle::Bad,
    }
}

fn look_of(place: &GrantPlace) -> TextStyle {
    if place.fault.is_some() { TextStyle::Bad } else { TextStyle::Doubtful }
}

fn of_place(place: &GrantPlace) -> String {
    let fault = place.fault.as_ref().map(|fault| format!(": {fault}")).unwrap_or_default();
    let (written, resolved) = (&place.written, place.resolved.to_string_lossy());
    format!("{} leads to {}{fault}", OneLine(written), OneLine(&resolved))
}

fn of_rule(rule: &Rule) -> String {
    let permission = rule.permission.map(|permission| format!(", permission {permission}")).unwrap_or_default();
    let hint = rule.hint.map(|hint| format!(", hint {hint}")).unwrap_or_default();
    let subject = rule.subject_text().map(|subject| format!(", {subject}")).unwrap_or_default();
    let when = rule.when.as_ref().map(|when| format!(", when {when}")).unwrap_or_default();
    let reason = rule.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    format!("{}{permission}{hint}{subject}{when}{reason}", rule.tool)
}

fn of_binding(plugin: &PluginName, key: &DependencyKey, binding: &Binding) -> String {
    format!("{plugin}.{key}: {}", binding.describe())
}
