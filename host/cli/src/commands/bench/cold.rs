//! New processes of this program, each of which opens a host with cached code and makes one call.

use anyhow::{Context as _, ensure};
use portcullis_cases::{CallTemplate, CasePlaces, RepeatedCase};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};
use tokio::io::AsyncWriteExt;

/// Maximum processes. Each takes tens of milliseconds.
const PROCESSES_MAX: usize = 20;

/// Measures processes until the time is over, at least one.
///
/// # Errors
/// A process does not start, or its call does not complete.
pub(super) async fn measure(
    case: &RepeatedCase<'_>,
    template: &CallTemplate,
    budget: Duration,
) -> anyhow::Result<Vec<Duration>> {
    let process = ColdProcess { program: own_program()?, places: case.places(), template };
    let began = Instant::now();
    // The first process creates the files of the state directory, so it does not count.
    process.run(case).await?;
    let mut times = Vec::new();
    while times.is_empty() || times.len() < PROCESSES_MAX && began.elapsed() < budget {
        times.push(process.run(case).await?);
    }
    Ok(times)
}

/// Returns the file of this program.
fn own_program() -> anyhow::Result<PathBuf> {
    std::env::current_exe().context("the system does not tell where this program is")
}

/// A process that makes the call.
struct ColdProcess<'a> {
    program: PathBuf,
    places: CasePlaces,
    template: &'a CallTemplate,
}

impl ColdProcess<'_> {
    /// Runs the process, and returns how long it took from its start to its end.
    async fn run(&self, case: &RepeatedCase<'_>) -> anyhow::Result<Duration> {
        // The clock starts after the directories are filled again.
        case.renew().await?;
        let began = Instant::now();
        let mut child = self.command().spawn().context("a new process cannot be started")?;
        // Dropping `stdin` ends the input, for which the process waits.
        if let Some(mut stdin) = child.stdin.take() {
            // A process that fails early closes its input. Its exit code is reported then.
            let _ = stdin.write_all(self.template.arguments.as_bytes()).await;
        }
        let status = child.wait().await?;
        let time = began.elapsed();
        ensure!(status.success(), "`portcullis call` in a new process ended with {status}");
        Ok(time)
    }

    /// Returns the command. It has none of the user's variables, and none of their places.
    #[expect(clippy::disallowed_methods, reason = "it is this program, with a temporary policy, state and plugins")]
    fn command(&self) -> tokio::process::Command {
        let CasePlaces { plugins, state, policy } = &self.places;
        let mut command = tokio::process::Command::new(&self.program);
        let places: [(&str, &Path); 3] = [("--plugins", plugins), ("--state", state), ("--policy", policy)];
        for (option, place) in places {
            command.arg(option).arg(place);
        }
        // A signal drops the measurement, and with it the process.
        command.args(["--json", "call", &self.template.tool, "-"]).env_clear().kill_on_drop(true);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }
}
