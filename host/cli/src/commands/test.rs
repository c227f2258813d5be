//! `portcullis test`: runs the test cases of a project in the real host.

use super::Context;
use super::conduct::Interrupts;
use super::making::{self, Making};
use super::no_result::fail;
use crate::arguments::TestArguments;
use crate::exit_code::Exit;
use crate::failure::{CommandError, FailureCode, WithCode};
use crate::json::{self, DocumentKind};
use crate::plugin_file::ReadPluginFile;
use crate::progress::{CompileProgress, StatusLine};
use crate::style::TextStyle;
use anyhow::{Context as _, bail, ensure};
use portcullis::Compiler;
use portcullis::plugins::FileError;
use portcullis::policy::PluginName;
use portcullis::text::{Lines, OneLine, WithCauses};
use portcullis_cases::{CaseRunner, CaseVerdict, LocatedCase, RefusedComponent};
use serde_json::{Value, json};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The folder of a project's cases.
const CASES: &str = "tests";

pub(super) async fn run(arguments: &TestArguments, context: &Context) -> anyhow::Result<Exit> {
    let mut interrupts = Interrupts::listen()?;
    Making::configure(&arguments.making);
    let folder = arguments.cases.clone().unwrap_or_else(|| arguments.project.join(CASES));
    let wanted = |located: &LocatedCase| arguments.only.as_ref().is_none_or(|text| located.name().contains(text));
    let cases: Vec<LocatedCase> =
        portcullis_cases::read(&folder).code(FailureCode::NoCases)?.into_iter().filter(wanted).collect();
    // A run without cases must not pass.
    let none = || format!("{} contains no case{}", folder.display(), chosen(arguments));
    ensure!(!cases.is_empty(), CommandError::new(FailureCode::NoCases, none()));
    let (plugin, component) = component(arguments, &mut interrupts, context).await?;
    let bytes = match ReadPluginFile::read(&component) {
        Ok(file) => file.bytes,
        Err(FileError::Io(error)) => return Err(error).with_context(|| component.display().to_string()),
        Err(error) => return refused(&component, &error, context),
    };
    let work = async {
        let progress = CompileProgress::new(&StatusLine::new(context.terminal));
        let (compiler, project) = (Compiler::default(), &arguments.project);
        let mut runner = CaseRunner::open(plugin, bytes, project, compiler, Arc::new(progress)).await?;
        let mut report = TestReport::default();
        for located in &cases {
            let verdict = runner.run(located).await;
            report.take(located, &verdict, context)?;
        }
        anyhow::Ok(report)
    };
    let report = tokio::select! {
        report = work => report,
        () = interrupts.next() => bail!(CommandError::new(FailureCode::Interrupted, "interrupted: not every case was run")),
    };
    match report {
        Ok(report) => report.end(context),
        // A refused component has an exit code of its own.
        Err(error) => match error.downcast::<RefusedComponent>() {
            Ok(RefusedComponent(why)) => refused(&component, &*why, context),
            Err(error) => Err(error),
        },
    }
}

/// Reports that the host refuses the component, so that no case can run.
fn refused(component: &Path, why: &(dyn Error + 'static), context: &Context) -> anyhow::Result<Exit> {
    let text = format!("{}: the host refuses this plugin: {}", component.display(), WithCauses(why));
    fail(&text, Exit::PluginRefused, context)
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
    making::component(&arguments.project, "interrupted: nothing was tested", interrupts, context).await
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
    fn take(&mut self, located: &LocatedCase, verdict: &CaseVerdict, context: &Context) -> anyhow::Result<()> {
        let passed = verdict.passed();
        if passed {
            self.passed += 1;
        } else {
            self.failed += 1;
        }
        if context.json {
            self.documents.push(document(located, verdict));
            return Ok(());
        }
        Ok(context.terminal.show(&text(located, verdict, context))?)
    }

    fn end(self, context: &Context) -> anyhow::Result<Exit> {
        let (passed, failed) = (self.passed, self.failed);
        let summary = match context.json {
            true => json::document(
                DocumentKind::TestReport,
                &json!({ "passed": passed, "failed": failed, "cases": self.documents }),
            )?,
            false => format!("{passed} passed, {failed} failed\n"),
        };
        context.terminal.print(&summary)?;
        Ok(if failed == 0 { Exit::Completed } else { Exit::ToolFailed })
    }
}

fn document(located: &LocatedCase, verdict: &CaseVerdict) -> Value {
    json!({
        "name": located.name(),
        "file": shown(&located.file),
        "ok": verdict.passed(),
        "problems": verdict.problems,
        "log": verdict.log,
        "outcome": verdict.end.as_ref().map(|end| end.outcome.as_str()),
        "code": verdict.end.as_ref().map(|end| end.code.as_str()),
        "milliseconds": milliseconds(verdict),
    })
}

fn milliseconds(verdict: &CaseVerdict) -> u64 {
    u64::try_from(verdict.time.as_millis()).unwrap_or(u64::MAX)
}

/// Formats the lines of a case.
fn text(located: &LocatedCase, verdict: &CaseVerdict, context: &Context) -> String {
    let style = context.terminal.style();
    let (name, time) = (OneLine(located.name()), milliseconds(verdict));
    if verdict.passed() {
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
    for problem in &verdict.problems {
        text.push_str(&format!("      {}\n", indented(problem)));
    }
    if !verdict.log.is_empty() {
        let log = indented(verdict.log.trim_end());
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
