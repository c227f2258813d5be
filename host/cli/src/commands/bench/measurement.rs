//! Measures a plugin: its compilation, and the selected call of each tool.

use super::call_samples::{CallSamples, timed};
use super::concurrent::{self, ConcurrentCalls};
use super::figure::{Figure, FigureKind};
use super::machine::resident_bytes;
use super::run::{MeasuredCall, PluginRun, ToolEnd, ToolRun};
use super::selection::{self, CallOrigin, SelectedCall, SelectedTool};
use super::target::BenchTarget;
use super::{cold, compile, warm};
use crate::arguments::BenchArguments;
use crate::failure::{FailureCode, WithCode};
use crate::plugin_file::ReadPluginFile;
use crate::progress::{CompileProgress, StatusLine};
use crate::user_files;
use anyhow::Context as _;
use data_encoding::HEXLOWER;
use portcullis::Compiler;
use portcullis::plugins::{FileError, LoadError};
use portcullis::policy::PluginName;
use portcullis::text::WithCauses;
use portcullis_cases::{LocatedCase, RefusedComponent, RepeatedCases};
use std::sync::Arc;
use std::time::Duration;

/// The parts into which the time of a tool is divided: cold, warm and concurrent calls. A compilation takes one, too.
const PARTS: u32 = 3;

/// Measures a plugin.
///
/// # Errors
/// The file or its cases cannot be read, or no host can open.
pub(super) async fn of_plugin(
    target: &BenchTarget,
    arguments: &BenchArguments,
    line: &Arc<StatusLine>,
) -> anyhow::Result<PluginRun> {
    let shown = || target.file.display().to_string();
    let mut run = PluginRun::new(target.file.file_stem().unwrap_or_default().to_string_lossy().into_owned());
    let file = match ReadPluginFile::read(&target.file) {
        Err(FileError::Io(error)) => return Err(error).with_context(shown),
        Err(error) => return Ok(run.refused(&LoadError::from(error))),
        Ok(file) => file,
    };
    (run.sha256, run.bytes) = (HEXLOWER.encode(&file.sha256()), file.bytes.len() as u64);
    let Some(name) = file.name.as_deref().and_then(|name| PluginName::new(name).ok()) else {
        return Ok(run.refused(&FileError::Name.into()));
    };
    let part = Duration::from_secs(arguments.seconds) / PARTS;
    line.show(&format!("measuring {name}: compilation"));
    let (manifest, times) = match compile::measure(name.as_str(), &file.bytes, part).await? {
        Ok(compiled) => compiled,
        Err(error) => return Ok(run.refused(&error)),
    };
    run.compile = Figure::of_times(FigureKind::Compile, 50, times.into_iter());
    let cases = match &target.cases {
        Some(path) if arguments.arguments.is_none() => portcullis_cases::read(path).code(FailureCode::NoCases)?,
        Some(_) | None => Vec::new(),
    };
    let described = manifest.tools.into_iter().map(|tool| tool.name);
    let tools = selection::select(name.as_str(), described, cases, arguments)?;
    let (compiler, progress) = (Compiler::default(), Arc::new(CompileProgress::new(line)));
    let opened = RepeatedCases::open(name.clone(), file.bytes, &target.folder, compiler, progress).await;
    let mut repeated = match opened {
        Ok(repeated) => repeated,
        Err(error) => match error.downcast::<RefusedComponent>() {
            Ok(RefusedComponent(why)) => return Ok(run.refused(&why)),
            Err(error) => return Err(error),
        },
    };
    for SelectedTool { tool, call } in tools {
        let measured = match call {
            Err(why) => ToolRun { tool, call: None, end: ToolEnd::NoCall(why) },
            Ok(SelectedCall { located, origin }) => {
                line.show(&format!("measuring {name}.{tool}"));
                let end = of_call(&mut repeated, &located, part).await;
                // The other tools are measured all the same.
                let end = end.unwrap_or_else(|error| ToolEnd::Failed(WithCauses(&*error).to_string()));
                let case = (origin == CallOrigin::Case).then(|| located.name().to_owned());
                let arguments_sha256 = user_files::sha256(located.arguments().as_bytes());
                let call = MeasuredCall { case, grants: located.grants(), arguments_sha256 };
                ToolRun { tool, call: Some(call), end }
            }
        };
        run.tools.push(measured);
    }
    line.clear();
    Ok(run)
}

/// Measures a call.
///
/// # Errors
/// The case cannot be set up, or what it needs fails later.
async fn of_call(repeated: &mut RepeatedCases, located: &LocatedCase, part: Duration) -> anyhow::Result<ToolEnd> {
    let case = repeated.prepare(located).await?;
    let empty = resident_bytes();
    case.load().await?;
    let template = case.template()?;
    // The first call maps the code, so `loaded` includes it.
    if let Err(why) = timed(case.host(), template.request(0, 0)).await {
        return Ok(ToolEnd::Failed(why));
    }
    let loaded = resident_bytes();
    let (mut figures, mut notes) = (Vec::new(), Vec::new());
    match cold::measure(&case, &template, part).await {
        Ok(times) => figures.extend(Figure::of_times(FigureKind::Cold, 50, times.into_iter())),
        // The calls in this process can be measured all the same.
        Err(error) => notes.push(format!("cold: {error:#}")),
    }
    let warm = warm::measure(&case, &template, part).await?;
    figures.extend(of_warm(&warm));
    notes.extend(warm.failures("warm"));
    let concurrent = concurrent::measure(&case, &template, part).await?;
    figures.extend(of_concurrent(&concurrent));
    notes.extend(concurrent.samples.failures("concurrent"));
    let calls = warm.completed.iter().chain(&concurrent.samples.completed);
    if let Some(peak) = calls.clone().map(|call| call.memory_bytes).max() {
        figures.push(Figure::of_bytes(FigureKind::GuestMemory, peak, calls.count()));
    }
    if let (Some(empty), Some(loaded)) = (empty, loaded) {
        figures.push(Figure::of_bytes(FigureKind::LoadedMemory, loaded.saturating_sub(empty), 1));
    }
    if let Some(gained) = concurrent.gained_bytes {
        figures.push(Figure::of_bytes(FigureKind::CallMemory, gained / concurrent.in_host as u64, concurrent.in_host));
    }
    Ok(ToolEnd::Measured { figures, notes })
}

fn of_warm(warm: &CallSamples) -> impl Iterator<Item = Figure> {
    let calls = || warm.completed.iter();
    [
        Figure::of_times(FigureKind::WarmMedian, 50, calls().map(|call| call.time)),
        Figure::of_times(FigureKind::WarmP95, 95, calls().map(|call| call.time)),
        Figure::of_times(FigureKind::WarmP99, 99, calls().map(|call| call.time)),
        Figure::of_times(FigureKind::WarmSandbox, 50, calls().map(|call| call.sandbox)),
        Figure::of_times(FigureKind::WarmHost, 50, calls().map(|call| call.time.saturating_sub(call.sandbox))),
    ]
    .into_iter()
    .flatten()
}

fn of_concurrent(concurrent: &ConcurrentCalls) -> impl Iterator<Item = Figure> {
    let calls = || concurrent.samples.completed.iter();
    let samples = concurrent.samples.completed.len();
    // The number of calls is far below what a float counts exactly.
    let value = samples as f64 / concurrent.time.as_secs_f64();
    let rate = Figure { kind: FigureKind::ConcurrentRate, value, samples };
    [
        (samples > 0).then_some(rate),
        Figure::of_times(FigureKind::ConcurrentMedian, 50, calls().map(|call| call.time)),
        Figure::of_times(FigureKind::ConcurrentP99, 99, calls().map(|call| call.time)),
    ]
    .into_iter()
    .flatten()
}
