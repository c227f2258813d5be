//! `portcullis test`: runs the test cases of a project in the real host.

use super::Context;
use super::conduct::Interrupts;
use super::making::{self, Making};
use super::no_result::fail;
use crate::arguments::TestArguments;
use crate::cases::{self, Finished, Located, RefusedComponent, Runner};
use crate::exit_code::Exit;
use crate::json;
use crate::progress::{CompileProgress, StatusLine};
use crate::style::TextStyle;
use anyhow::{Context as _, bail, ensure};
use portcullis::Compiler;
use portcullis::policy::PluginName;
use portcullis::text::{Lines, OneLine};
use portcullis_build::{Project, size};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The folder of a project's cases.
const CASES: &str = "tests";

pub(super) async fn run(arguments: &TestArguments, context: &Context) -> anyhow::Result<Exit> {
    let mut interrupts = Interrupts::listen()?;
    Making::configure(&arguments.making);
    let folder = arguments.cases.clone().unwrap_or_else(|| arguments.project.join(CASES));
    let wanted = |located: &Located| arguments.only.as_ref().is_none_or(|text| located.case.name.contains(text));
    let cases: Vec<Located> = cases::read(&folder)?.into_iter().filter(wanted).collect();
    // A run without cases must not pass.
    ensure!(!cases.is_empty(), "{} contains no case{}", folder.display(), chosen(arguments));
    let (plugin, component) = component(arguments, &mut interrupts, context).await?;
    let work = async {
        let progress = CompileProgress::new(&StatusLine::new(context.terminal));
        let (compiler, project) = (Compiler::default(), &arguments.project);
        let mut runner = Runner::open(plugin, &component, project, compiler, Arc::new(progress)).await?;
        let mut report = TestReport::default();
        for located in &cases {
            let finished = runner.run(located).await;
            report.take(located, &finished, context)?;
        }
        anyhow::Ok(report)
    };
    let report = tokio::select! {
        report = work => report,
        () = interrupts.next() => bail!("interrupted: not every case was run"),
    };
    match report {
        Err(error) if error.is::<RefusedComponent>() => fail(&error.to_string(), Exit::PluginRefused, context),
        report => report?.end(context),
    }
}

fn chosen(arguments: &TestArguments) -> String {
    arguments.only.as_ref().map(|text| format!(" whose name contains `{}`", text.escape_debug())).unwrap_or_default()
}

/// Returns the component to test with its plugin's name: the given one, or the project's after a build.
async fn component(
    arguments: &TestArguments,
    interrupts: &mut Interrupts,
    context: &Context,
) -> anyhow::Result<(PluginName, PathBuf)> {
    if let Some(file) = &arguments.component {
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        let name = PluginName::new(&name).with_context(|| file.display().to_string())?;
        return Ok((name, file.clone()));
    }
    let project = Project::open(&arguments.project)?;
    let (name, out) = (PluginName::new(&project.name)?, project.output());
    let Some(built) = making::to_its_end(project, out, interrupts).await? else {
        bail!("interrupted: nothing was tested");
    };
    let style = context.terminal.note_style();
    let file = built.file.display().to_string();
    context.terminal.note(style.paint(TextStyle::Quiet, format!("{}: {}", OneLine(&file), size(built.bytes))));
    Ok((name, built.file))
}

/// The results of all cases.
#[derive(Default)]
struct TestReport {
    passed: usize,
    failed: usize,
    documents: Vec<Value>,
}

impl TestReport {
    /// Counts a case. Without `--json`, also prints it.
    fn take(&mut self, located: &Located, finished: &Finished, context: &Context) -> anyhow::Result<()> {
        let passed = finished.problems.is_empty();
        if passed {
            self.passed += 1;
        } else {
            self.failed += 1;
        }
        if context.json {
            self.documents.push(document(located, finished));
            return Ok(());
        }
        Ok(context.terminal.print(&text(located, finished, context))?)
    }

    fn end(self, context: &Context) -> anyhow::Result<Exit> {
        let (passed, failed) = (self.passed, self.failed);
        let summary = match context.json {
            true => json::line(&json!({ "passed": passed, "failed": failed, "cases": self.documents }))?,
            false => format!("{passed} passed, {failed} failed\n"),
        };
        context.terminal.print(&summary)?;
        Ok(if failed == 0 { Exit::Completed } else { Exit::ToolFailed })
    }
}

fn document(located: &Located, finished: &Finished) -> Value {
    json!({
        "name": located.case.name,
        "file": shown(&located.file),
        "ok": finished.problems.is_empty(),
        "problems": finished.problems,
        "log": finished.log,
        "outcome": finished.end.as_ref().map(|end| end.outcome),
        "code": finished.end.as_ref().map(|end| end.code),
        "milliseconds": milliseconds(finished),
    })
}

fn milliseconds(finished: &Finished) -> u64 {
    u64::try_from(finished.time.as_millis()).unwrap_or(u64::MAX)
}

/// Formats the lines of a case.
fn text(located: &Located, finished: &Finished, context: &Context) -> String {
    let style = context.terminal.style();
    let (name, time) = (OneLine(&located.case.name), milliseconds(finished));
    if finished.problems.is_empty() {
        return format!(
            "{}  {name} {}\n",
            style.paint(TextStyle::Good, "pass"),
            style.paint(TextStyle::Quiet, format!("{time} ms"))
        );
    }
    let file = shown(&located.file);
    let mut text = format!(
        "{}  {name} {}\n",
        style.paint(TextStyle::Bad, "FAIL"),
        style.paint(TextStyle::Quiet, format!("{time} ms, {}", OneLine(&file)))
    );
    for problem in &finished.problems {
        text.push_str(&format!("      {}\n", indented(problem)));
    }
    if !finished.log.is_empty() {
        let log = indented(finished.log.trim_end());
        text.push_str(&format!("      {} {log}\n", style.paint(TextStyle::Quiet, "the call's log:")));
    }
    text
}

/// Encodes a text of any origin, and aligns its lines below the first.
fn indented(text: &str) -> String {
    Lines(text).to_string().replace('\n', "\n      ")
}

/// Formats a path. Replaces what is not UTF-8.
fn shown(file: &Path) -> String {
    file.display().to_string()
}
