//! A running build, on its own thread. Ending it also ends every program that it has started.

use super::conduct::Interrupts;
use crate::arguments::MakingArguments;
use crate::context::Context;
use crate::failure::{CommandError, FailureCode, WithCode};
use crate::style::TextStyle;
use anyhow::bail;
use portcullis::policy::PluginName;
use portcullis::text::OneLine;
use portcullis_build::process::{self, End};
use portcullis_build::{Built, Project, size};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::task::{JoinError, JoinHandle};
use tokio::time::timeout;

/// How long an interrupted build may take to clean up.
const GRACE: Duration = Duration::from_secs(2);

/// A running build.
pub(super) struct Making(JoinHandle<anyhow::Result<Built>>);

impl Making {
    /// Sets how failures of the builds of this process are shown.
    pub(super) fn configure(arguments: &MakingArguments) {
        if arguments.verbose {
            process::show_commands();
        }
    }

    /// Starts a build. From now on no signal of the terminal reaches a compiler, only [`Self::end`] does.
    pub(super) fn begin(project: Project, out: PathBuf) -> Self {
        process::lead();
        // A build waits for other programs, which must not block the async runtime.
        Self(tokio::task::spawn_blocking(move || portcullis_build::build(&project, &out)))
    }

    pub(super) fn has_ended(&self) -> bool {
        self.0.is_finished()
    }

    /// Waits for the result.
    pub(super) async fn ended(&mut self) -> Result<anyhow::Result<Built>, JoinError> {
        (&mut self.0).await
    }

    /// Ends the build and all programs that it has started. This process cannot build anything afterwards.
    pub(super) async fn end(mut self) {
        process::end(End::Interrupt);
        // The error of an interrupted build is expected.
        let _ = timeout(GRACE, &mut self.0).await;
        // Some programs ignore SIGINT, or leave children that do.
        process::end(End::Kill);
    }
}

/// Builds the component of the project in a folder, and notes its size. Returns the plugin's name and the file.
///
/// # Errors
/// There is no project, the build fails, or a signal ended it. `interrupted` is the message of the last.
pub(super) async fn component(
    folder: &Path,
    interrupted: &str,
    interrupts: &mut Interrupts,
    context: &Context,
) -> anyhow::Result<(PluginName, PathBuf)> {
    let project = Project::open(folder).code(FailureCode::ProjectInvalid)?;
    let (name, out) = (PluginName::new(&project.name)?, project.output());
    let Some(built) = to_its_end(project, out, interrupts).await.code(FailureCode::BuildFailed)? else {
        bail!(CommandError::new(FailureCode::Interrupted, interrupted));
    };
    let file = built.file.display().to_string();
    let text = format!("{}: {}", OneLine(&file), size(built.bytes));
    context.terminal.note(context.terminal.note_style().paint(TextStyle::Quiet, text));
    Ok((name, built.file))
}

/// Builds a project. Returns `None` if a signal ended the build.
///
/// # Errors
/// Those of [`portcullis_build::build`].
pub(super) async fn to_its_end(
    project: Project,
    out: PathBuf,
    interrupts: &mut Interrupts,
) -> anyhow::Result<Option<Built>> {
    let mut making = Making::begin(project, out);
    tokio::select! {
        built = making.ended() => return Ok(Some(built??)),
        () = interrupts.next() => {}
    }
    making.end().await;
    Ok(None)
}
