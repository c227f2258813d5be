//! `portcullis grant`: binds what a plugin asks for.

use super::known::KnownPolicy;
use super::review::{ReviewedEdit, review};
use crate::arguments::GrantArguments;
use crate::context::Context;
use crate::exit_code::Exit;
use crate::failure::{CommandError, FailureCode};
use crate::policy_lines;
use crate::style::TextStyle;
use crate::table::{Table, TableCell};
use crate::tty::Tty;
use anyhow::{Context as _, anyhow, bail};
use portcullis::Host;
use portcullis::plugins::{DependencyKind, Plugin};
use portcullis::policy::{DependencyKey, StoreScope};
use portcullis::text::OneLine;
use portcullis_policy_edit::{GrantBinding, GrantEdit, PolicyEdit, apply};

/// Binds the keys that were given, or shows what the plugin asks for and asks for each value.
///
/// # Errors
/// The plugin is not installed, a value is malformed, or the policy cannot be read or replaced.
pub(in crate::commands) async fn run(arguments: &GrantArguments, context: &Context) -> anyhow::Result<Exit> {
    let known = KnownPolicy::read(context).await?;
    let host = known.host().context("the plugins cannot be loaded, so what they ask for is not known")?;
    let catalog = host.catalog();
    let plugin = catalog.plugin(arguments.plugin.as_str()).with_context(|| {
        format!("the plugin {} is not installed: `portcullis list` shows those that are", arguments.plugin)
    })?;
    let asked = if arguments.bindings.is_empty() {
        show(host, plugin, context)?;
        ask(host, plugin, context).await?
    } else {
        arguments.bindings.clone()
    };
    if asked.is_empty() {
        context.terminal.note("nothing to grant");
        return Ok(Exit::Completed);
    }
    let (mut text, mut changes, tools) = (known.file.text().to_owned(), Vec::new(), known.tools());
    for (key, value) in &asked {
        let edit = PolicyEdit::Grant(grant(plugin, key, value, arguments)?);
        let edited = apply(&known.layers(&text), &edit, &tools)?;
        (text, changes) = (edited.text, edited.changes);
    }
    let edited = ReviewedEdit { text, changes, notes: Vec::new() };
    review(&known, &edited, arguments.yes, context).await
}

/// Shows what the plugin asks for, and the lines that would grant it.
fn show(host: &Host, plugin: &Plugin, context: &Context) -> anyhow::Result<()> {
    let policy = host.policy();
    let bound = policy.bindings(plugin.name());
    let mut table = Table::default();
    for (key, dependency) in plugin.dependencies() {
        let state = if bound.contains_key::<DependencyKey>(key) { "granted" } else { "not granted" };
        let need = if dependency.optional { "optional" } else { "required" };
        table.row([
            TableCell::new(TextStyle::Strong, key.as_str()),
            TableCell::plain(dependency.kind.as_str()),
            TableCell::plain(need),
            TableCell::new(TextStyle::Quiet, state),
            TableCell::plain(&dependency.reason),
        ]);
    }
    let style = context.terminal.style();
    let mut text = format!("{} asks for\n", style.paint(TextStyle::Strong, plugin.name()));
    text.push_str(&table.render_whole(style, "  ", context.terminal.width()));
    let lacks = plugin.dependencies().keys().any(|key| !bound.contains_key::<DependencyKey>(key));
    if lacks && let Some(lines) = policy_lines::of_plugin(host, plugin) {
        text.push_str(&format!("\n{}\n\n{lines}", policy_lines::HEADING));
    }
    context.terminal.print(&text)?;
    Ok(())
}

/// Asks for the value of each key that is not granted yet. An empty answer leaves a key out.
async fn ask(host: &Host, plugin: &Plugin, context: &Context) -> anyhow::Result<Vec<(String, String)>> {
    let policy = host.policy();
    let bound = policy.bindings(plugin.name());
    let unbound = plugin.dependencies().iter().filter(|(key, _)| !bound.contains_key::<DependencyKey>(key));
    let unbound: Vec<_> = unbound.collect();
    if unbound.is_empty() {
        return Ok(Vec::new());
    }
    if !context.terminal.can_ask() {
        let error = CommandError::new(FailureCode::NoTerminal, "there is no terminal to ask at");
        bail!(error.help("repeat the command with KEY=VALUE for each key, and --yes"));
    }
    let tty = Tty::open()?;
    let mut answers = Vec::new();
    for (key, dependency) in unbound {
        // What was typed before the prompt is no value of this key.
        tty.forget_typed()?;
        context.terminal.say(&format!("{} ({}; empty to skip): ", OneLine(key.as_str()), blank(dependency.kind)));
        let line = tty.line().await?.unwrap_or_default();
        if !line.trim().is_empty() {
            answers.push((key.to_string(), line.trim().to_owned()));
        }
    }
    Ok(answers)
}

/// Returns what a value of a kind is.
fn blank(kind: DependencyKind) -> &'static str {
    match kind {
        DependencyKind::Directory => "a path, relative to the policy's directory",
        DependencyKind::Http => "hosts, separated by commas",
        DependencyKind::Store => "session, principal or plugin",
        DependencyKind::Service => "the name of a service",
        DependencyKind::Process => "the absolute path of a program",
        DependencyKind::Tools => "tools such as files.read or web.*, separated by commas",
    }
}

/// Returns the grant of one key.
fn grant(plugin: &Plugin, key: &str, value: &str, arguments: &GrantArguments) -> anyhow::Result<GrantEdit> {
    let found = plugin.dependencies().iter().find(|(known, _)| known.as_str() == key);
    let Some((key, dependency)) = found else {
        let known: Vec<&str> = plugin.dependencies().keys().map(DependencyKey::as_str).collect();
        let similar = portcullis::text::nearest(key, known.iter().copied());
        let similar = similar.map(|similar| format!("; did you mean `{similar}`?")).unwrap_or_default();
        bail!("{} does not ask for `{}`, but for {}{similar}", plugin.name(), OneLine(key), known.join(", "));
    };
    let binding = match dependency.kind {
        DependencyKind::Directory => GrantBinding::Directory {
            path: value.to_owned(),
            access: arguments.access.into(),
            hidden: arguments.hidden.clone(),
            read_only: arguments.read_only.clone(),
        },
        DependencyKind::Http => GrantBinding::Http { hosts: words(value) },
        DependencyKind::Store => GrantBinding::Store { scope: scope(value)? },
        DependencyKind::Service => GrantBinding::Service { name: value.to_owned() },
        DependencyKind::Process => GrantBinding::Process { program: value.to_owned(), directories: Vec::new() },
        DependencyKind::Tools => GrantBinding::Tools { tools: words(value) },
    };
    Ok(GrantEdit { plugin: plugin.name().clone(), key: key.clone(), binding })
}

/// Returns the words of a list with commas.
fn words(value: &str) -> Vec<String> {
    value.split(',').map(|word| word.trim().to_owned()).collect()
}

fn scope(value: &str) -> anyhow::Result<StoreScope> {
    let known = StoreScope::ALL.into_iter().find(|scope| scope.as_str() == value);
    known.ok_or_else(|| anyhow!("{} is not a scope: write session, principal or plugin", OneLine(value)))
}
