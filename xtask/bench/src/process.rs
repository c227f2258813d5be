//! A program from start to exit: by the handle of a call, beside `fork` and `exec`, and beside bubblewrap. Many calls
//! that are killed, after which nothing may be left. And calls in a process that gave up its rights.

use crate::governed::Governed;
use crate::rounds::{Row, block, paired, row, spaced_block};
use crate::work::gather;
use anyhow::{Context, Result, bail, ensure};
use portcullis::confinement::OwnNeeds;
use portcullis::{Cancellation, Code, Outcome, Request};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Starts of one variant per round.
const STARTS_PER_BLOCK: usize = 30;

/// The pause before a start on an idle machine. In it, the broker prepares the next cell, and the kernel removes the
/// last one. An agent's calls are further apart.
const BETWEEN_STARTS: Duration = Duration::from_millis(10);

/// Blocks of calls before and after the process is confined, and calls of each.
const CONFINED_BLOCKS: usize = 15;
const CALLS_PER_BLOCK: usize = 300;

/// Calls that are cancelled while their program runs.
const KILLED_CALLS: usize = 10_000;

/// Killed calls at the same time.
const KILLED_AT_ONCE: usize = 8;

/// The word by which the killed programs are found.
const MARK: &str = "portcullis-bench-killed";

/// How long the last processes may take to disappear.
const GONE_WITHIN: Duration = Duration::from_secs(5);

/// What bubblewrap is asked for: the nearest to what the handle gives.
const BUBBLEWRAP: &[&str] = &[
    "--unshare-all",
    "--die-with-parent",
    "--new-session",
    "--ro-bind",
    "/usr",
    "/usr",
    "--symlink",
    "usr/lib",
    "/lib",
    "--symlink",
    "usr/lib64",
    "/lib64",
    "--symlink",
    "usr/bin",
    "/bin",
    "--proc",
    "/proc",
    "--dev",
    "/dev",
    "--tmpfs",
    "/tmp",
    "/bin/true",
];

/// Measures the starts, and prints each row.
pub(crate) fn measure(plugins: &Path, guests: &Path, show: &mut impl FnMut(Row)) -> Result<()> {
    let scratch = tempfile::tempdir()?;
    std::fs::create_dir(scratch.path().join("workspace"))?;
    let directory = gather(scratch.path(), &[plugins.join("shell.wasm"), guests.join("json.wasm")])?;
    let governed = Governed::with_programs(&directory, scratch.path())?;
    let bare = || succeeds(Command::new("/bin/true"));
    let by_call = || governed.within(governed.call("shell.exec", TRUE, Outcome::Completed));
    let ours = || block(STARTS_PER_BLOCK, by_call);
    let idle_bare = || spaced_block(STARTS_PER_BLOCK, BETWEEN_STARTS, bare);
    let idle_ours = || spaced_block(STARTS_PER_BLOCK, BETWEEN_STARTS, by_call);
    let [idle_bare, idle_ours] = paired([&idle_bare, &idle_ours])?;
    show(row("/bin/true by a call, idle / fork and exec".to_owned(), &idle_bare, &idle_ours));
    let [bare, handle] = paired([&|| block(STARTS_PER_BLOCK, bare), &ours])?;
    show(row("/bin/true by a call / fork and exec".to_owned(), &bare, &handle));
    if has_bubblewrap() {
        let [bubblewrap, handle] = paired([&|| block(STARTS_PER_BLOCK, in_bubblewrap), &ours])?;
        show(row("/bin/true by a call / bubblewrap".to_owned(), &bubblewrap, &handle));
    }
    killed(&governed)?;
    // Last, because it cannot be undone.
    show(confined(&governed)?);
    Ok(())
}

/// Returns whether bubblewrap is installed, and says so if not.
pub(crate) fn has_bubblewrap() -> bool {
    let is_installed = Command::new("bwrap").arg("--version").stdout(Stdio::null()).status().is_ok();
    if !is_installed {
        println!("bubblewrap is not installed, so it is not measured");
    }
    is_installed
}

/// Runs `/bin/true` in bubblewrap.
pub(crate) fn in_bubblewrap() -> Result<()> {
    let mut command = Command::new("bwrap");
    command.args(BUBBLEWRAP);
    succeeds(command)
}

/// Measures calls of a plugin without programs before and after the process gives up its rights.
fn confined(governed: &Governed) -> Result<Row> {
    let echo = serde_json::json!({ "text": "x".repeat(100) }).to_string();
    let calls = || {
        let call = || governed.within(governed.call("json.echo", &echo, Outcome::Completed));
        (0..CONFINED_BLOCKS).map(|_| block(CALLS_PER_BLOCK, call)).collect::<Result<Vec<_>>>()
    };
    calls()?;
    let before = calls()?;
    governed.host().confine_process(&OwnNeeds::default())?;
    Ok(row("echo, confined process / not confined".to_owned(), &before, &calls()?))
}

/// The call that starts `/bin/true`, to which the policy binds `make`.
const TRUE: &str = r#"{"program":"make","arguments":[]}"#;

fn succeeds(mut command: Command) -> Result<()> {
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status()?;
    ensure!(status.success(), "{command:?}: {status}");
    Ok(())
}

/// Cancels calls while their programs run, with a background process each, and counts the processes that remain.
fn killed(governed: &Governed) -> Result<()> {
    let began = Instant::now();
    let mut slowest = Duration::ZERO;
    governed.within(async {
        let mut left = KILLED_CALLS;
        while left > 0 {
            let batch = left.min(KILLED_AT_ONCE);
            left -= batch;
            let calls: Vec<_> = (0..batch).map(|_| tokio::spawn(cancelled(governed.host().clone()))).collect();
            for call in calls {
                slowest = slowest.max(call.await??);
            }
        }
        anyhow::Ok(())
    })?;
    let took = began.elapsed();
    let ended = Instant::now();
    while processes()? > 0 {
        if ended.elapsed() > GONE_WITHIN {
            bail!("{} processes of killed calls are left", processes()?);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    println!(
        "{KILLED_CALLS} killed calls in {:.1} s left 0 processes; the slowest took {:.1} ms from its cancellation to its reply",
        took.as_secs_f64(),
        slowest.as_secs_f64() * 1e3
    );
    Ok(())
}

/// Makes a call, cancels it once its program prints, and returns how long the reply took from then on.
async fn cancelled(host: portcullis::Host) -> Result<Duration> {
    let arguments = serde_json::json!({ "command": format!("setsid sleep 1000 & sleep 1000 # {MARK}") }).to_string();
    let cancellation = Cancellation::new();
    let request = Request::new("shell.run", arguments).cancellation(cancellation.clone());
    let call = tokio::spawn(async move { host.call(request).await });
    tokio::time::sleep(Duration::from_millis(20)).await;
    let began = Instant::now();
    cancellation.cancel();
    let reply = call.await?;
    ensure!(reply.code == Code::Cancelled, "{}: {}", reply.code, reply.message);
    Ok(began.elapsed())
}

/// Counts the programs of killed calls, and the processes that they started.
fn processes() -> Result<usize> {
    let mut found = 0;
    for entry in std::fs::read_dir("/proc").context("/proc")?.flatten() {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line);
        found += usize::from(line.contains(MARK) || line == "sleep\x001000\0");
    }
    Ok(found)
}
