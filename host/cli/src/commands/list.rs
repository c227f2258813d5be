//! `portcullis list`: lists the installed tools and what the policy would decide for each.

mod listed;
mod tokens;

use self::listed::ListedTools;
use super::Context;
use crate::arguments::{DEFAULT_SESSION, ListToolsArguments};
use crate::environment::{PluginPlaces, PolicyPlaces};
use crate::exit_code::Exit;
use crate::failure::{FailureCode, WithCode};
use crate::json::{self, DocumentKind};
use crate::opening;
use crate::pause_note::pause_note;
use crate::style::TextStyle;
use crate::table::{Table, TableCell};
use crate::view;
use portcullis::plugins::{Catalog, Plugin, Tool};
use portcullis::policy::{Audience, Decision, Principal};
use portcullis::text::{OneLine, WithCauses};
use portcullis::{Host, OfferedTools, ToolOutlook};
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub(super) async fn run(arguments: &ListToolsArguments, context: &Context) -> anyhow::Result<Exit> {
    let host = opening::open(context).await?;
    let selected = match &arguments.toolset {
        None => OfferedTools::everything(),
        Some(toolset) => host.tools_of(toolset).code(FailureCode::Usage)?,
    };
    let principal = Principal::default();
    let audience = Audience::new(&principal, DEFAULT_SESSION);
    let offered = host.prepared_tools(selected.clone(), &audience).await;
    let listed = ListedTools { selected, offered };
    if arguments.tokens {
        return tokens::show(&host, &listed, context);
    }
    if context.json {
        context.terminal.print(&json::document(DocumentKind::Tools, &document(&host, &listed, context))?)?;
    } else {
        context.terminal.show(&text(&host, &listed, context))?;
    }
    Ok(Exit::Completed)
}

fn document(host: &Host, listed: &ListedTools, context: &Context) -> Value {
    let catalog = host.catalog();
    let plugins: Vec<Value> = catalog.plugins().map(|plugin| plugin_document(host, listed, plugin)).collect();
    let refused = catalog.refused().iter();
    let refused: Vec<Value> = refused
        .map(|refused| json!({ "file": refused.file, "reason": WithCauses(&*refused.error).to_string() }))
        .collect();
    let gaps: Vec<String> = host.rule_gaps().iter().map(ToString::to_string).collect();
    let policy = policy_document(context);
    json!({ "plugins": plugins, "refused": refused, "rule_gaps": gaps, "policy": policy, "paused": host.policy().paused() })
}

/// Returns the file of the user's policy that is in force, and the directory that it is for.
fn policy_document(context: &Context) -> Value {
    match &context.environment.policy {
        PolicyPlaces::Named(path) => json!({ "file": path, "project": null }),
        PolicyPlaces::Usual { user: Some(user), .. } => json!({ "file": user.path, "project": user.project }),
        PolicyPlaces::Usual { user: None, .. } => json!({ "file": null, "project": null }),
    }
}

fn plugin_document(host: &Host, listed: &ListedTools, plugin: &Plugin) -> Value {
    let tools: Vec<Value> = listed.tools_of(plugin).map(|tool| tool_document(host, listed, plugin, tool)).collect();
    json!({
        "name": plugin.name(),
        "version": plugin.version(),
        "description": plugin.description(),
        "places": places_document(host, plugin),
        "tools": tools,
    })
}

fn tool_document(host: &Host, listed: &ListedTools, plugin: &Plugin, tool: &Tool) -> Value {
    let outlook = ToolOutlook::of(host, plugin, tool);
    json!({
        "name": tool.name(),
        "title": tool.title(),
        "description": listed.definition(tool).description(),
        "hidden": listed.offered.hidden_reason(tool),
        "narrowed": listed.offered.narrowed(tool).is_some(),
        "permissions": tool.permissions(),
        "decision": outlook.decision,
        "depends_on_arguments": outlook.depends_on_arguments,
        "not_granted": outlook.not_granted,
        "read_only": outlook.read_only,
    })
}

fn text(host: &Host, listed: &ListedTools, context: &Context) -> String {
    let catalog = host.catalog();
    let (style, width) = (context.terminal.style(), context.terminal.width());
    let mut table = Table::default();
    let heading = |text| TableCell::new(TextStyle::Quiet, text);
    table.row([heading("TOOL"), heading("DECISION"), heading("PERMISSIONS"), heading("DESCRIPTION")]);
    for (plugin, tool) in listed.tools(&catalog) {
        table.row([
            TableCell::new(TextStyle::Strong, &tool.name().to_string()),
            match listed.offered.hidden_reason(tool) {
                Some(reason) => TableCell::new(TextStyle::Quiet, &format!("hidden: {}", OneLine(reason))),
                None => fate(&ToolOutlook::of(host, plugin, tool)),
            },
            TableCell::plain(&view::permissions(tool.permissions())),
            TableCell::plain(listed.definition(tool).description().lines().next().unwrap_or_default()),
        ]);
    }
    let mut text = String::new();
    if let Some(pause) = host.policy().paused() {
        text.push_str(&format!("{}\n\n", style.paint(TextStyle::Bad, pause_note(pause))));
    }
    text.push_str(&table.render(style, "", width));
    if catalog.plugins().all(Plugin::is_standard) {
        text.push_str("There are only the host's own tools: no plugin in the plugin directories loads.\n");
        if matches!(&context.environment.plugins, PluginPlaces::Usual { .. }) {
            text.push_str("To install the plugins that come with the program, run `portcullis init`.\n");
        }
    }
    let places = places(host, &catalog);
    if !places.is_empty() {
        text.push('\n');
        // Never cut a place, because the part left out may be what matters.
        text.push_str(&places.render_whole(style, "", width));
    }
    text.push_str(&format!("\n{}\n", style.paint(TextStyle::Quiet, opening::in_force_line(context))));
    let refused = refused(&catalog);
    if !refused.is_empty() {
        text.push('\n');
        // Never cut a reason, because the user needs all of it.
        text.push_str(&refused.render_whole(style, "", width));
    }
    for gap in host.rule_gaps() {
        text.push_str(&format!("\n{}\n", style.paint(TextStyle::Doubtful, OneLine(&gap.to_string()))));
    }
    text
}

/// Returns a cell with what would happen to a call.
fn fate(outlook: &ToolOutlook) -> TableCell {
    if outlook.depends_on_arguments {
        return TableCell::new(TextStyle::Doubtful, "depends on arguments");
    }
    let look = match outlook.decision {
        Decision::Allow => TextStyle::Good,
        Decision::Ask => TextStyle::Doubtful,
        Decision::Deny => return TableCell::new(TextStyle::Bad, "deny"),
    };
    match (outlook.not_granted.as_slice(), &outlook.read_only) {
        ([], None) => TableCell::new(look, outlook.decision.as_str()),
        ([], Some(key)) => TableCell::new(TextStyle::Bad, &format!("deny: {key} is read-only")),
        (keys, _) => TableCell::new(TextStyle::Bad, &format!("deny: {} not granted", keys.join(", "))),
    }
}

fn places_document(host: &Host, plugin: &Plugin) -> BTreeMap<String, String> {
    host.places(plugin).into_iter().map(|(key, place)| (key.to_string(), place)).collect()
}

/// Returns the places of the directories that plugins are granted.
fn places(host: &Host, catalog: &Catalog) -> Table {
    let mut table = Table::default();
    for plugin in catalog.plugins() {
        for (key, place) in host.places(plugin) {
            let grant = format!("{}.{key}", plugin.name());
            table.row([
                TableCell::new(TextStyle::Strong, &grant),
                TableCell::new(TextStyle::Quiet, "leads to"),
                TableCell::plain(&place),
            ]);
        }
    }
    table
}

fn refused(catalog: &Catalog) -> Table {
    let mut table = Table::default();
    for refused in catalog.refused() {
        table.row([
            TableCell::new(TextStyle::Strong, &refused.file),
            TableCell::new(TextStyle::Bad, "refused"),
            TableCell::plain(&WithCauses(&*refused.error).to_string()),
        ]);
    }
    table
}
