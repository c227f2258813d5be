//! `portcullis check`: reports whether a plugin would load, its conformance level, and what would have to change.

mod conformance;
mod dynamic;
mod examined;

pub(super) use examined::Examined;

use super::Context;
use crate::arguments::CheckArguments;
use crate::exit_code::Exit;
use crate::json::{self, DocumentKind};
use crate::plugin_file::ReadPluginFile;
use crate::policy_lines::{self, HEADING};
use crate::remedy;
use crate::style::TextStyle;
use crate::wrap::wrapped;
use anyhow::Context as _;
use dynamic::DynamicTools;
use examined::plain_name;
use portcullis::plugins::{Conformance, FileError, LINTS_MAX, Lint, LoadError, Loaded, Manifest};
use portcullis::text::{Lines, OneLine, WithCauses};
use serde_json::{Value, json};
use std::path::Path;

pub(super) async fn run(arguments: &CheckArguments, context: &Context) -> anyhow::Result<Exit> {
    let path = &arguments.file;
    let (examined, dynamic) = match ReadPluginFile::read(path) {
        Ok(file) => {
            let (examined, dynamic) = examine_under_policy(path, &file, context).await?;
            forget_refusal(&file, &examined, context).await;
            (examined, dynamic)
        }
        // A file that cannot be read says nothing about the plugin.
        Err(FileError::Io(error)) => return Err(error).with_context(|| path.display().to_string()),
        Err(error) => (Examined::refused(error.into()), DynamicTools::default()),
    };
    let lints = examined.manifest.as_ref().map(portcullis::plugins::lints).unwrap_or_default();
    let conformance = conformance::of(&examined, &lints).await;
    let text = match context.json {
        true => json::document(DocumentKind::Check, &document(&examined, &dynamic, &lints, &conformance))?,
        false => {
            let (line, reasons) = conformance::text(&conformance, loaded(&examined), context);
            let lines = policy_lines(&examined).map(|lines| format!("\n{HEADING}\n\n{lines}"));
            let text = text(path, (&examined, &dynamic), &line, context) + &lint_lines(&lints, context) + &reasons;
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

/// Examines a file, and the description files next to it, and collects all problems. Runs neither its generator nor its
/// preparer. An invalid file name does not stop the examination.
///
/// # Errors
/// The engine cannot start.
pub(super) async fn examine(path: &Path, file: &ReadPluginFile, context: &Context) -> anyhow::Result<Examined> {
    let mut examined = Examined::load(file, context).await?;
    // The generator does not run here, so a file may describe a tool that is not known.
    let are_known = !loaded(&examined).is_some_and(Loaded::generates);
    examined.describe(path, file, are_known).await;
    Ok(examined)
}

/// Examines a file as a host under the policy would load it, with the tools that it generates.
async fn examine_under_policy(
    path: &Path,
    file: &ReadPluginFile,
    context: &Context,
) -> anyhow::Result<(Examined, DynamicTools)> {
    let mut examined = Examined::load(file, context).await?;
    let mut dynamic = match (plain_name(file), loaded(&examined)) {
        (Some(name), Some(loaded)) => DynamicTools::of((&name, loaded), file, context).await?,
        (None, _) | (_, None) => DynamicTools::default(),
    };
    examined.problems.extend(dynamic.problem.take());
    // Before the descriptions, because a file may describe a generated tool.
    examined.manifest.iter_mut().for_each(|manifest| manifest.tools.extend_from_slice(dynamic.generated()));
    examined.describe(path, file, dynamic.are_known()).await;
    Ok((examined, dynamic))
}

fn loaded(examined: &Examined) -> Option<&Loaded> {
    examined.loaded.as_ref().map(|(_, loaded)| loaded)
}

fn document(examined: &Examined, dynamic: &DynamicTools, lints: &[Lint], conformance: &Conformance) -> Value {
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
        "generator": dynamic.generator_document(),
        "preparer": dynamic.preparer_document(),
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

fn text(path: &Path, (examined, dynamic): (&Examined, &DynamicTools), conformance: &str, context: &Context) -> String {
    let style = context.terminal.style();
    let path = path.display().to_string();
    let path = OneLine(&path);
    if let (Some(manifest), []) = (&examined.manifest, examined.problems.as_slice()) {
        let mut text = format!("{path}: {}, {}\n", style.paint(TextStyle::Good, "ok"), summary(manifest, dynamic));
        text.push_str(&dynamic.text());
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

fn summary(manifest: &Manifest, dynamic: &DynamicTools) -> String {
    let (name, version) = (OneLine(&manifest.name), OneLine(&manifest.version));
    // The generated tools come last, and have a line of their own.
    let described = manifest.tools.len().saturating_sub(dynamic.generated().len());
    let tools = manifest.tools.iter().take(described).map(|tool| OneLine(&tool.name).to_string());
    let tools: Vec<String> = tools.collect();
    let tools = if tools.is_empty() { "none in its manifest".to_owned() } else { tools.join(", ") };
    let asks: Vec<String> = manifest
        .dependencies
        .iter()
        .map(|dependency| format!("{} {}", dependency.kind.as_str(), OneLine(&dependency.key)))
        .collect();
    let asks = if asks.is_empty() { "no handle".to_owned() } else { asks.join(", ") };
    format!("{name} {version} would load\n  tools     {tools}\n  asks for  {asks}")
}
