//! The plugins and their tools: permissions, handles in words, hash, contract, and what the policy would decide now.

use super::frame::{Section, framed, heading, no_host};
use super::rows::decision;
use crate::console::ConsoleState;
use crate::html::{cell, count, hash, shown, size};
use crate::session::ConsoleSession;
use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};
use portcullis::plugins::{Contract, Plugin, Tool};
use portcullis::text::WithCauses;
use portcullis::{Host, ToolOutlook};
use std::fmt::Write;
use std::sync::Arc;

/// Shows the plugins as they are now.
pub(crate) async fn show(
    State(state): State<Arc<ConsoleState>>,
    Extension(session): Extension<ConsoleSession>,
) -> Response {
    let content = match state.host.get().await {
        Ok(host) => plugins(&host),
        Err(why) => no_host(&why),
    };
    framed(&state, &session, Section::Tools, "Tools", &content).await
}

fn plugins(host: &Host) -> Markup {
    let catalog = host.catalog();
    let loading = host.loading();
    html! {
        section.page {
            (heading("Tools", catalog.tools().count(), "tool"))
            @if !loading.is_empty() { p.hint { (count(loading.len(), "plugin")) " still being compiled. Load the page again." } }
            @for refused in catalog.refused() {
                p.warning { b { (cell(&refused.file)) " is refused: " } (shown(&WithCauses(&*refused.error).to_string())) }
            }
            @for gap in host.rule_gaps() { p.warning { (shown(&gap.to_string())) } }
            @for plugin in catalog.plugins() { (one(host, plugin)) }
        }
    }
}

fn one(host: &Host, plugin: &Plugin) -> Markup {
    let handles = host.handles(plugin);
    let mut sha256 = String::new();
    for byte in plugin.sha256() {
        // Writing to a string cannot fail.
        let _ = write!(sha256, "{byte:02x}");
    }
    html! {
        section.plugin {
            h2 { (shown(plugin.name().as_str())) " " small { (cell(plugin.version())) } }
            p.byline {
                @if plugin.is_standard() { "built into the host" }
                @else if plugin.is_native() { "native: runs inside the application, without a sandbox" }
                @else if plugin.is_server() { "MCP server of the policy" }
                @else {
                    "sha256 " code title=(sha256) { (hash(&sha256)) }
                    " · " (size(usize::try_from(plugin.bytes()).unwrap_or(usize::MAX)))
                    @if let Some(contract) = plugin.contract().map(Contract::as_str) { " · contract " (contract) }
                    @if plugin.reviews() { " · reviews its calls" }
                    @if plugin.previews() { " · previews its calls" }
                }
            }
            p { (cell(plugin.description())) }
            div.scroll tabindex="0" role="region" aria-label={ "Tools of " (cell(plugin.name().as_str())) } {
                table {
                    thead { tr { th scope="col" { "Tool" } th scope="col" { "May" } th scope="col" { "Policy now" } th scope="col" { "Gets" } th scope="col" { "Description" } } }
                    tbody {
                        @for tool in plugin.tools() {
                            @let name = tool.name().to_string();
                            @let found = handles.iter().find(|(known, _)| *known == name);
                            (line(host, plugin, tool, found.map(|(_, lines)| lines.as_slice()).unwrap_or_default()))
                        }
                    }
                }
            }
        }
    }
}

fn line(host: &Host, plugin: &Plugin, tool: &Tool, handles: &[String]) -> Markup {
    let outlook = ToolOutlook::of(host, plugin, tool);
    let permissions = tool.permissions().to_string();
    html! {
        tr {
            td { b { (shown(tool.name().tool.as_str())) } }
            td { (if permissions.is_empty() { "nothing" } else { &permissions }) }
            td {
                @if outlook.depends_on_arguments { span.doubtful { "depends on arguments" } }
                @else { (decision(outlook.decision.as_str())) }
                @if !outlook.not_granted.is_empty() { br; small.bad { "not granted: " (shown(&outlook.not_granted.join(", "))) } }
                @if let Some(key) = &outlook.read_only { br; small.bad { (shown(key)) " is read-only" } }
            }
            td { @for handle in handles { (cell(handle)) br; } }
            td.text { (cell(tool.description().lines().next().unwrap_or_default())) }
        }
    }
}
