//! `portcullis inspect`: shows one plugin, installed or from a file. Runs only its `describe`.

use super::Context;
use super::check::{self, Examined};
use super::no_result::{fail, fail_as};
use crate::arguments::InspectArguments;
use crate::exit_code::Exit;
use crate::failure::FailureCode;
use crate::json::{self, DocumentKind};
use crate::plugin_file::ReadPluginFile;
use crate::policy_lines::HEADING;
use crate::style::{Style, TextStyle};
use crate::table::{Table, TableCell};
use crate::view::{self, PluginView, ToolView};
use crate::wrap::wrapped;
use crate::{opening, schema_summary};
use anyhow::Context as _;
use portcullis::plugins::FileError;
use portcullis::text::{Lines, OneLine, WithCauses};
use std::fmt::{Display, Write};
use std::path::Path;

pub(super) async fn run(arguments: &InspectArguments, context: &Context) -> anyhow::Result<Exit> {
    match arguments.plugin.to_str() {
        // A path has a slash or the extension, as the help says. The name of a plugin has neither.
        Some(name) if !name.contains('/') && !name.ends_with(".wasm") => of_directory(name, context).await,
        Some(_) | None => of_file(&arguments.plugin, context).await,
    }
}

async fn of_directory(name: &str, context: &Context) -> anyhow::Result<Exit> {
    let host = opening::open(context).await?;
    if let Some(plugin) = host.catalog().plugin(name) {
        return show(&PluginView::of_plugin(&host, plugin), context);
    }
    let (code, why, exit) = match host.catalog().refusal(name) {
        Some(refused) => {
            let why = format!("the plugin {name} was refused: {}", WithCauses(&*refused.error));
            (FailureCode::PluginRefused, why, Exit::PluginRefused)
        }
        None => {
            let known: Vec<String> = host.catalog().plugins().map(|plugin| plugin.name().to_string()).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            let why = format!("there is no plugin {name}; loaded: {known}");
            (FailureCode::UnknownPlugin, why, Exit::InvalidArguments)
        }
    };
    fail_as(code, &why, exit, context)
}

async fn of_file(path: &Path, context: &Context) -> anyhow::Result<Exit> {
    let file = match ReadPluginFile::read(path) {
        Ok(file) => file,
        Err(FileError::Io(error)) => return Err(error).with_context(|| path.display().to_string()),
        Err(error) => return refused(path, &WithCauses(&error), context),
    };
    let Examined { manifest, problems, .. } = check::examine(path, &file, context).await?;
    let Some(manifest) = manifest else {
        // Loading comes last, so its problem says why there is no manifest.
        return match problems.last() {
            Some(problem) => refused(path, &WithCauses(problem), context),
            None => refused(path, &"it has no description", context),
        };
    };
    let exit = show(&PluginView::of_manifest(&manifest, &file), context)?;
    for problem in &problems {
        let problem = WithCauses(problem);
        context.terminal.note(Lines(&format!("note: a host would refuse this file: {problem}")));
    }
    Ok(exit)
}

fn refused(path: &Path, why: &dyn Display, context: &Context) -> anyhow::Result<Exit> {
    fail(&format!("{}: {why}", path.display()), Exit::PluginRefused, context)
}

fn show(plugin: &PluginView, context: &Context) -> anyhow::Result<Exit> {
    if context.json {
        context.terminal.print(&json::document(DocumentKind::Plugin, plugin)?)?;
    } else {
        let width = context.terminal.width();
        let mut shown = wrapped(&text(plugin, context.terminal.style(), width)?, width);
        if let Some(lines) = &plugin.policy_lines {
            // Lines to copy are not broken.
            shown.push_str(&format!("\n{HEADING}\n\n{lines}"));
        }
        context.terminal.print(&shown)?;
    }
    Ok(Exit::Completed)
}

fn text(plugin: &PluginView, style: Style, width: Option<usize>) -> Result<String, std::fmt::Error> {
    let mut text = String::new();
    let version = OneLine(&plugin.version);
    writeln!(text, "{} {version}", style.paint(TextStyle::Strong, OneLine(&plugin.name)))?;
    writeln!(text, "{}\n", Lines(plugin.description.trim_end()))?;
    let mut facts = Table::default();
    facts.row([TableCell::new(TextStyle::Quiet, "sha256"), TableCell::plain(&plugin.sha256)]);
    let size = match plugin {
        PluginView { standard: true, .. } => "none: it is built into the host".to_owned(),
        PluginView { native: true, .. } => "none: it runs inside the application, without a sandbox".to_owned(),
        PluginView { server: true, .. } => "none: it is an MCP server of the policy".to_owned(),
        PluginView { bytes, .. } => view::size(*bytes),
    };
    facts.row([TableCell::new(TextStyle::Quiet, "size"), TableCell::plain(&size)]);
    if let Some(contract) = plugin.contract {
        facts.row([TableCell::new(TextStyle::Quiet, "contract"), TableCell::plain(contract)]);
    }
    if plugin.reviews {
        facts.row([
            TableCell::new(TextStyle::Quiet, "reviews calls"),
            TableCell::plain("yes: it can ask for approval or refuse"),
        ]);
    }
    if plugin.previews {
        let what = "yes: it computes what a call would change in files";
        facts.row([TableCell::new(TextStyle::Quiet, "previews calls"), TableCell::plain(what)]);
    }
    if plugin.generates {
        let what = "yes: it makes tools from its settings and its directories when it loads";
        facts.row([TableCell::new(TextStyle::Quiet, "generates tools"), TableCell::plain(what)]);
    }
    if plugin.prepares {
        let what = "yes: it may hide or narrow its tools for some callers";
        facts.row([TableCell::new(TextStyle::Quiet, "prepares tools"), TableCell::plain(what)]);
    }
    for dependency in &plugin.dependencies {
        let need = if dependency.optional { " (optional)" } else { "" };
        let asked = format!("{} {}{need}: {}", dependency.kind.as_str(), dependency.key, dependency.reason);
        facts.row([TableCell::new(TextStyle::Quiet, "asks for"), TableCell::plain(&asked)]);
    }
    let imports = if plugin.imports.is_empty() { "nothing".to_owned() } else { plugin.imports.join(", ") };
    facts.row([TableCell::new(TextStyle::Quiet, "imports"), TableCell::plain(&imports)]);
    text.push_str(&facts.render_whole(style, "", width));
    for tool in &plugin.tools {
        write_tool(&mut text, tool, style, width)?;
    }
    Ok(text)
}

fn write_tool(text: &mut String, tool: &ToolView, style: Style, width: Option<usize>) -> std::fmt::Result {
    let title = tool.title.as_deref().map(|title| format!("  {}", OneLine(title))).unwrap_or_default();
    writeln!(text, "\n{}{title}", style.paint(TextStyle::Strong, OneLine(&tool.name)))?;
    for line in tool.description.trim_end().lines() {
        writeln!(text, "  {}", OneLine(line))?;
    }
    let mut facts = Table::default();
    let mut fact =
        |name: &str, value: &str| facts.row([TableCell::new(TextStyle::Quiet, name), TableCell::plain(value)]);
    fact("permissions", &permissions(tool));
    if !tool.hints.is_empty() {
        fact("hints", &tool.hints.iter().map(|hint| view::hint(*hint)).collect::<Vec<_>>().join(", "));
    }
    for handle in tool.handles.iter().flatten() {
        fact("handle", handle);
    }
    if tool.output_schema.is_some() {
        fact("returns", "JSON, with a schema");
    }
    text.push_str(&facts.render_whole(style, "  ", width));
    let arguments = schema_summary::table(&tool.schema);
    if !arguments.is_empty() {
        writeln!(text, "  {}", style.paint(TextStyle::Quiet, "arguments"))?;
        text.push_str(&arguments.render(style, "    ", width));
    }
    Ok(())
}

fn permissions(tool: &ToolView) -> String {
    let required = view::permissions(tool.required);
    if tool.optional.is_empty() { required } else { format!("{required}; optional: {}", tool.optional) }
}
