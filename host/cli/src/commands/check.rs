//! `portcullis check`: reports whether a plugin would load, its conformance level, and what would have to change.

mod conformance;
mod examined;

pub(super) use examined::Examined;

use super::Context;
use crate::arguments::CheckArguments;
use crate::exit_code::Exit;
use crate::json::{self, DocumentKind};
use crate::plugin_file::ReadPluginFile;
use crate::policy_lines::{self, HEADING};
use crate::style::TextStyle;
use crate::wrap::wrapped;
use crate::{opening, remedy};
use anyhow::Context as _;
use portcullis::plugins::{Conformance, DefinitionError, FileError, LINTS_MAX, Lint, LoadError, Loaded, Manifest};
use portcullis::policy::PluginName;
use portcullis::text::{Lines, OneLine, WithCauses};
use serde_json::{Value, json};
use std::path::Path;

/// A stand-in name for a file whose own name is invalid, so that the rest of it can be checked.
const NAME_LENT: &str = "unnamed";

pub(super) async fn run(arguments: &CheckArguments, context: &Context) -> anyhow::Result<Exit> {
    let path = &arguments.file;
    let examined = match ReadPluginFile::read(path) {
        Ok(file) => {
            let examined = examine(path, &file, context).await?;
            forget_refusal(&file, &examined, context).await;
            examined
        }
        Err(FileError::Io(error)) => return Err(error).with_context(|| path.display().to_string()),
        Err(error) => Examined::refused(error.into()),
    };
    let lints = examined.manifest.as_ref().map(portcullis::plugins::lints).unwrap_or_default();
    let conformance = conformance::of(&examined, &lints).await;
    let text = match context.json {
        true => json::document(DocumentKind::Check, &document(&examined, &lints, &conformance))?,
        false => {
            let (line, reasons) = conformance::text(&conformance, loaded(&examined), context);
            let lines = policy_lines(&examined).map(|lines| format!("\n{HEADING}\n\n{lines}"));
            let text = text(path, &examined, &line, context) + &lint_lines(&lints, context) + &reasons;
            // Lines to copy are not broken.
            wrapped(&text, context.terminal.width()) + &lines.unwrap_or_default()
        }
    };
    context.terminal.print(&text)?;
    let refused = !examined.problems.is_empty() || arguments.deny_lints && !lints.is_empty();
    Ok(if refused { Exit::PluginRefused } else { Exit::Completed })
}

/// Removes a recorded refusal of a plugin that loads now, so that hosts try it again. Ignores errors of the state
/// directory: the next command that needs it reports them.
async fn forget_refusal(file: &ReadPluginFile, examined: &Examined, context: &Context) {
    if let (Some((engine, _)), Ok(state)) = (&examined.loaded, context.environment.state()) {
        let _ = portcullis::plugins::forget_refusal(state, &file.bytes, engine).await;
    }
}

/// Examines a file, and the description files next to it, and collects all problems. An invalid file name does not stop
/// the examination.
///
/// # Errors
/// The engine cannot start.
pub(super) async fn examine(path: &Path, file: &ReadPluginFile, context: &Context) -> anyhow::Result<Examined> {
    let mut descriptions = Vec::new();
    let mut problems: Vec<LoadError> = Vec::new();
    let plain = file.name.as_deref().filter(|name| PluginName::new(name).is_ok());
    if plain.is_none() {
        problems.push(FileError::Name.into());
    }
    problems.extend(file.problems().map(LoadError::from));
    let (engine, opened) = opening::load(context, plain.unwrap_or(NAME_LENT), &file.bytes).await?;
    let mut loaded = None;
    let manifest = match opened {
        Ok(opened) => {
            let mut manifest = opened.manifest.clone();
            loaded = Some((engine, opened));
            if plain.is_some() {
                match portcullis::plugins::describe_beside(directory_of(path), &mut manifest).await {
                    Ok(files) => descriptions = files,
                    Err(LoadError::Descriptions(found)) => {
                        problems.extend(found.into_iter().map(|problem| LoadError::Descriptions(vec![problem])));
                    }
                    Err(problem) => problems.push(problem),
                }
            }
            Some(manifest)
        }
        Err(LoadError::Definition(found)) => {
            // The manifest need not match a stand-in name.
            let lent =
                |problem: &DefinitionError| plain.is_none() && matches!(problem, DefinitionError::OtherName { .. });
            let found = found.into_iter().filter(|problem| !lent(problem));
            problems.extend(found.map(|problem| LoadError::Definition(vec![problem])));
            None
        }
        Err(problem) => {
            problems.push(problem);
            None
        }
    };
    Ok(Examined { manifest, descriptions, problems, loaded })
}

/// Returns the directory that contains a file.
fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn loaded(examined: &Examined) -> Option<&Loaded> {
    examined.loaded.as_ref().map(|(_, loaded)| loaded)
}

fn document(examined: &Examined, lints: &[Lint], conformance: &Conformance) -> Value {
    let lint = |lint: &Lint| {
        json!({
            "rule": lint.rule.name(),
            "tool": lint.tool,
            "pointer": lint.pointer,
            "lint": lint.what,
            "remedy": lint.remedy,
        })
    };
    let problem = |error: &LoadError| json!({ "problem": WithCauses(error).to_string(), "remedy": remedy::of(error) });
    json!({
        "ok": examined.problems.is_empty(),
        "name": examined.manifest.as_ref().map(|manifest| &manifest.name),
        "plugin_version": examined.manifest.as_ref().map(|manifest| &manifest.version),
        "tools": examined.manifest.as_ref().map(|manifest| manifest.tools.len()),
        "reviews": loaded(examined).map(Loaded::reviews),
        "previews": loaded(examined).map(Loaded::previews),
        "descriptions": examined.descriptions,
        "policy_lines": policy_lines(examined),
        "problems": examined.problems.iter().map(problem).collect::<Vec<_>>(),
        "lints": lints.iter().map(lint).collect::<Vec<_>>(),
        "conformance": conformance::document(conformance, loaded(examined)),
    })
}

/// Returns the lines that a policy needs for the plugin, if a host would load it.
fn policy_lines(examined: &Examined) -> Option<String> {
    let manifest = examined.manifest.as_ref().filter(|_| examined.problems.is_empty());
    manifest.and_then(policy_lines::of_manifest)
}

fn text(path: &Path, examined: &Examined, conformance: &str, context: &Context) -> String {
    let style = context.terminal.style();
    let path = path.display().to_string();
    let path = OneLine(&path);
    if let (Some(manifest), []) = (&examined.manifest, examined.problems.as_slice()) {
        let (name, version) = (OneLine(&manifest.name), OneLine(&manifest.version));
        let mut text =
            format!("{path}: {}, {}\n", style.paint(TextStyle::Good, "ok"), summary(manifest, &name, &version));
        text.push_str(conformance);
        if !examined.descriptions.is_empty() {
            text.push_str(&format!("  described {}\n", OneLine(&examined.descriptions.join(", "))));
        }
        return text;
    }
    let count = match examined.problems.len() {
        1 => "one problem was found".to_owned(),
        count => format!("{count} problems were found"),
    };
    let mut text = format!("{path}: {}, {count}\n", style.paint(TextStyle::Bad, "refused"));
    for problem in &examined.problems {
        text.push_str(&format!("  - {}\n", Lines(&WithCauses(problem).to_string())));
        if let Some(remedy) = remedy::of(problem) {
            text.push_str(&format!("    {} {remedy}\n", style.paint(TextStyle::Quiet, "remedy:")));
        }
    }
    text
}

/// Formats the lints: problems that should be fixed, and do not prevent loading.
fn lint_lines(lints: &[Lint], context: &Context) -> String {
    let style = context.terminal.style();
    let mut text = String::new();
    for lint in lints {
        let tool = lint.tool.as_ref().map(|tool| format!(" {}", OneLine(tool))).unwrap_or_default();
        let at = if lint.pointer.is_empty() { String::new() } else { format!(" {}", OneLine(&lint.pointer)) };
        let (mark, rule, what) = (style.paint(TextStyle::Doubtful, "lint:"), lint.rule.name(), OneLine(&lint.what));
        text.push_str(&format!("{mark} {rule}{tool}{at}: {what}\n"));
        text.push_str(&format!("    {} {}\n", style.paint(TextStyle::Quiet, "remedy:"), lint.remedy));
    }
    if lints.len() == LINTS_MAX {
        text.push_str(&format!("only the first {LINTS_MAX} lints are shown\n"));
    }
    text
}

fn summary(manifest: &Manifest, name: &OneLine<'_>, version: &OneLine<'_>) -> String {
    let tools: Vec<String> = manifest.tools.iter().map(|tool| OneLine(&tool.name).to_string()).collect();
    let asks: Vec<String> = manifest
        .dependencies
        .iter()
        .map(|dependency| format!("{} {}", dependency.kind.as_str(), OneLine(&dependency.key)))
        .collect();
    let asks = if asks.is_empty() { "no handle".to_owned() } else { asks.join(", ") };
    format!("{name} {version} would load\n  tools     {}\n  asks for  {asks}", tools.join(", "))
}
