//! A build on its way: on a thread of its own, and ended with every program that it has started.

use super::conduct::Interrupts;
use crate::arguments::MakingArguments;
use portcullis_build::process::{self, End};
use portcullis_build::{Built, Project};
use std::path::PathBuf;
use std::time::Duration;
use tokio::task::{JoinError, JoinHandle};
use tokio::time::timeout;

/// How long a build that is ended may take to remove what it has begun.
const GRACE: Duration = Duration::from_secs(2);

/// A build that goes on.
pub(super) struct Making(JoinHandle<anyhow::Result<Built>>);

impl Making {
    /// Sets how failures of the builds of this process are shown.
    pub(super) fn configure(arguments: &MakingArguments) {
        if arguments.verbose {
            process::show_commands();
        }
    }

    /// Begins to build. From here on no signal of the terminal reaches a compiler: [`Self::end`] does it.
    pub(super) fn begin(project: Project, out: PathBuf) -> Self {
        process::lead();
        // Building waits for other programs, which must not keep anything else from going on.
        Self(tokio::task::spawn_blocking(move || portcullis_build::build(&project, &out)))
    }

    pub(super) fn has_ended(&self) -> bool {
        self.0.is_finished()
    }

    /// What came of it.
    pub(super) async fn ended(&mut self) -> Result<anyhow::Result<Built>, JoinError> {
        (&mut self.0).await
    }

    /// Ends it with all that it has started. Nothing is built by this process any more.
    pub(super) async fn end(mut self) {
        process::end(End::Interrupt);
        // What it says of that is no news.
        let _ = timeout(GRACE, &mut self.0).await;
        process::end(End::Kill);
    }
}

/// Builds a project; nothing where a signal ended that.
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
