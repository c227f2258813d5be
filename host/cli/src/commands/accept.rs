//! `portcullis accept`: shows how the tools that a plugin generates differ from those that were accepted, and accepts
//! the new ones.

use super::Context;
use super::no_result::fail_as;
use crate::arguments::AcceptArguments;
use crate::confirmation::confirmed;
use crate::exit_code::Exit;
use crate::failure::{CommandError, FailureCode};
use crate::json::{self, DocumentKind};
use crate::opening;
use crate::style::{Style, TextStyle};
use crate::wrap::wrapped;
use anyhow::bail;
use portcullis::Host;
use portcullis::plugins::{GeneratedChange, Tool};
use portcullis::text::{Lines, OneLine, WithCauses};
use serde_json::{Value, json};
use std::fmt::Write;
use std::sync::Arc;

pub(super) async fn run(arguments: &AcceptArguments, context: &Context) -> anyhow::Result<Exit> {
    let host = opening::open(context).await?;
    let terminal = context.terminal;
    let Some(change) = host.generated_change(&arguments.plugin) else {
        return without_change(&host, &arguments.plugin, context);
    };
    if !context.json {
        let width = terminal.width();
        terminal.show(&wrapped(&text(&change, terminal.style())?, width))?;
    }
    if !arguments.yes {
        if !terminal.can_ask() {
            let error = CommandError::new(FailureCode::NoTerminal, "there is no terminal to ask at");
            bail!(error.help("review the tools, then accept them with --yes"));
        }
        if !confirmed(terminal, "Accept exactly these tools?").await {
            return fail_as(FailureCode::NotConfirmed, "not accepted: nothing was changed", Exit::Denied, context);
        }
    }
    // Accepts the change that was shown, whatever the plugin generates by now.
    host.accept(&change).await?;
    if context.json {
        terminal.print(&json::document(DocumentKind::Accepted, &document(&change))?)?;
    } else {
        terminal.note("accepted; a running server uses the new tools within a few seconds");
    }
    Ok(Exit::Completed)
}

/// Reports why there is nothing to accept. Tools that are accepted already are no error.
fn without_change(host: &Host, name: &str, context: &Context) -> anyhow::Result<Exit> {
    let catalog = host.catalog();
    if let Some(refused) = catalog.refusal(name) {
        let why = format!("the plugin {name} was refused: {}", WithCauses(&*refused.error));
        return fail_as(FailureCode::PluginRefused, &why, Exit::PluginRefused, context);
    }
    if catalog.plugin(name).is_none() {
        let why = format!("there is no plugin {}", OneLine(name));
        return fail_as(FailureCode::UnknownPlugin, &why, Exit::InvalidArguments, context);
    }
    if context.json {
        let nothing = json!({ "plugin": name, "added": [], "changed": [], "removed": [] });
        context.terminal.print(&json::document(DocumentKind::Accepted, &nothing)?)?;
    } else {
        context.terminal.note(format_args!("nothing to accept: the tools of {name} have not changed"));
    }
    Ok(Exit::Completed)
}

/// Returns the change for programs.
pub(super) fn document(change: &GeneratedChange) -> Value {
    let tools = |tools: &[Arc<Tool>]| -> Vec<Value> {
        let tool = |tool: &Arc<Tool>| {
            json!({
                "name": tool.name().tool.as_str(),
                "description": tool.description(),
                "permissions": tool.permissions(),
            })
        };
        tools.iter().map(tool).collect()
    };
    json!({
        "plugin": change.plugin(),
        "added": tools(&change.added),
        "changed": tools(&change.changed),
        "removed": change.removed,
    })
}

/// Returns the change for people. The texts of the tools are the plugin's, so they are escaped.
pub(super) fn text(change: &GeneratedChange, style: Style) -> Result<String, std::fmt::Error> {
    let mut text = String::new();
    if change.pin_is_damaged {
        let plugin = change.plugin();
        writeln!(text, "The stored list of the tools of {plugin} is damaged, so every tool counts as new.\n")?;
    }
    for (look, what, tools) in
        [(TextStyle::Good, "new", &change.added), (TextStyle::Doubtful, "changed", &change.changed)]
    {
        for tool in tools {
            let permissions = crate::view::permissions(tool.permissions());
            writeln!(
                text,
                "{} {} [{permissions}]",
                style.paint(look, what),
                style.paint(TextStyle::Strong, tool.name())
            )?;
            for line in Lines(tool.description().trim_end()).to_string().lines() {
                writeln!(text, "    {line}")?;
            }
        }
    }
    for name in &change.removed {
        writeln!(text, "{} {}.{}", style.paint(TextStyle::Bad, "removed"), change.plugin(), OneLine(name))?;
    }
    Ok(text)
}
