//! `portcullis bench`: measures the tools of plugins, and compares them with a saved run.

mod call_samples;
mod cold;
mod comparison;
mod compile;
mod concurrent;
mod document;
mod figure;
mod machine;
mod measurement;
mod run;
mod selection;
mod target;
mod text;
mod warm;

use super::Context;
use super::conduct::Interrupts;
use super::making::Making;
use crate::arguments::BenchArguments;
use crate::exit_code::Exit;
use crate::failure::{CommandError, FailureCode, WithCode};
use crate::json::{self, DocumentKind};
use crate::progress::StatusLine;
use crate::style::TextStyle;
use crate::user_files::{self, SHARED};
use anyhow::{Context as _, bail, ensure};
use comparison::{Comparison, Worse};
use machine::MachineFacts;
use portcullis::text::OneLine;
use run::{BenchRun, ToolEnd};
use std::path::Path;
use text::TextLayout;

pub(super) async fn run(arguments: &BenchArguments, context: &Context) -> anyhow::Result<Exit> {
    let mut interrupts = Interrupts::listen()?;
    Making::configure(&arguments.making);
    // Read and checked before anything is measured, because that takes long.
    let comparison = arguments.compare.as_deref().map(Comparison::read).transpose()?;
    let replaced = arguments.save.as_deref().map(SavedPlace::check).transpose()?;
    let targets = target::find(arguments, &mut interrupts, context).await?;
    let work = async {
        let (line, mut plugins) = (StatusLine::new(context.terminal), Vec::new());
        for target in &targets {
            plugins.push(measurement::of_plugin(target, arguments, &line).await?);
        }
        anyhow::Ok(plugins)
    };
    let mut plugins = tokio::select! {
        plugins = work => plugins?,
        () = interrupts.next() => {
            bail!(CommandError::new(FailureCode::Interrupted, "interrupted: nothing was measured to its end"))
        }
    };
    if let Some(tool) = &arguments.tool {
        // With --tool, a refused plugin counts only if it is the only one: another may lack the tool anyway.
        plugins.retain(|plugin| !plugin.tools.is_empty() || targets.len() == 1 && plugin.refused.is_some());
        let none = format!("no plugin here has the tool `{}`", tool.escape_debug());
        ensure!(!plugins.is_empty(), CommandError::new(FailureCode::Usage, none));
    }
    let run = BenchRun { machine: MachineFacts::read(), seconds: arguments.seconds, plugins };
    if let Some(place) = replaced {
        place.save(&json::document(DocumentKind::Bench, &document::document(&run, None, &[]))?)?;
    }
    // Without --fail-above, only a tool that cannot be measured any more is worse.
    let factor = arguments.fail_above.unwrap_or(f64::INFINITY);
    let worse = comparison.as_ref().map(|comparison| comparison.worse(&run, factor)).unwrap_or_default();
    show(&run, comparison.as_ref(), &worse, context)?;
    Ok(exit(&run, comparison.as_ref().filter(|_| arguments.fail_above.is_some()), &worse))
}

fn show(run: &BenchRun, comparison: Option<&Comparison>, worse: &[Worse], context: &Context) -> anyhow::Result<()> {
    let terminal = context.terminal;
    if context.json {
        return Ok(terminal.print(&json::document(DocumentKind::Bench, &document::document(run, comparison, worse))?)?);
    }
    let layout = TextLayout { style: terminal.style(), width: terminal.width() };
    terminal.print(&layout.run(run, comparison))?;
    let style = terminal.note_style();
    for note in comparison.map(|comparison| comparison.notes(run)).unwrap_or_default() {
        terminal.note(format_args!("{} {}", style.paint(TextStyle::Doubtful, "note:"), OneLine(&note)));
    }
    for worse in worse {
        terminal.note(format_args!("{} {}", style.paint(TextStyle::Bad, "worse:"), OneLine(&worse.text())));
    }
    Ok(())
}

/// Returns the exit code. `compared` is the saved run that decides, if the user asked for that. A run that has nothing
/// in common with it does not pass, and neither does one that measured nothing.
fn exit(run: &BenchRun, compared: Option<&Comparison>, worse: &[Worse]) -> Exit {
    let tools = || run.plugins.iter().flat_map(|plugin| &plugin.tools);
    if run.plugins.iter().any(|plugin| plugin.refused.is_some()) {
        Exit::PluginRefused
    } else if tools().any(|tool| matches!(tool.end, ToolEnd::Failed(_)))
        || compared.is_some_and(|compared| !worse.is_empty() || !compared.is_of(run))
    {
        Exit::ToolFailed
    } else if tools().all(|tool| tool.figures().is_empty()) {
        Exit::Usage
    } else {
        Exit::Completed
    }
}

/// The file of `--save`.
struct SavedPlace<'a> {
    path: &'a Path,
    /// The content of the file before the run.
    before: Option<Vec<u8>>,
}

impl<'a> SavedPlace<'a> {
    /// Checks that the file can be written later.
    fn check(path: &'a Path) -> anyhow::Result<Self> {
        let shown = || path.display().to_string();
        user_files::check_replaceable(path).with_context(shown).code(FailureCode::Io)?;
        if let Some(directory) = user_files::missing_parents(path).last() {
            bail!(CommandError::new(FailureCode::Io, format!("{} does not exist", directory.display())));
        }
        Ok(Self { path, before: user_files::read(path).with_context(shown)? })
    }

    fn save(&self, text: &str) -> anyhow::Result<()> {
        let written = user_files::replace(self.path, self.before.as_deref(), text.as_bytes(), SHARED);
        written.with_context(|| self.path.display().to_string()).code(FailureCode::Io)
    }
}
