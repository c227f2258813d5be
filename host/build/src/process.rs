//! Starts other programs: their environment, their timeouts, and the text of their failures.
//!
//! Every program that this crate runs is started here, so that a failure always names the command, and so that ending a
//! build ends everything that it has started.

use std::io::{self, Read};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// Variables from `cargo run` or a shell that would change a nested build.
const FOREIGN: [&str; 9] = [
    "CARGO_ENCODED_RUSTFLAGS",
    "CARGO_BUILD_TARGET",
    "CARGO_BUILD_RUSTFLAGS",
    "CARGO_MANIFEST_DIR",
    "CARGO_MANIFEST_PATH",
    "CARGO_PRIMARY_PACKAGE",
    "LD_LIBRARY_PATH",
    "RUSTFLAGS",
    "RUSTDOCFLAGS",
];

/// How many lines to show of the beginning and of the end of a failed tool's output: a screen each.
const LINES_SHOWN: usize = 40;

/// How often to check whether a program with a deadline has ended.
const POLL: Duration = Duration::from_millis(50);

/// Returns the cargo that runs this program, without the variables that it set for this program.
pub fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    clear(&mut command);
    command
}

/// Removes the variables that would change a nested build.
pub fn clear(command: &mut Command) {
    for name in FOREIGN {
        command.env_remove(name);
    }
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|name| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_BIN_")) {
            command.env_remove(name);
        }
    }
}

/// Whether the failure of a tool shows its command.
static SHOWS_COMMANDS: AtomicBool = AtomicBool::new(false);

/// Makes [`run_tool`] show the command of a tool that fails. By default it does not, because commands are long.
pub fn show_commands() {
    // The flag guards no other data, so no order is needed.
    SHOWS_COMMANDS.store(true, Ordering::Relaxed);
}

/// Returns whether [`show_commands`] was called.
pub(crate) fn shows_commands() -> bool {
    SHOWS_COMMANDS.load(Ordering::Relaxed)
}

/// The running programs.
static PROGRAMS: Mutex<Programs> = Mutex::new(Programs { led: false, ended: false, groups: Vec::new() });

struct Programs {
    /// Whether each program gets its own process group.
    led: bool,
    /// Whether starting programs is refused.
    ended: bool,
    groups: Vec<Pid>,
}

impl Programs {
    fn lock() -> MutexGuard<'static, Self> {
        // No function leaves a change of the fields half done, so they are valid after a panic too.
        PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Gives each program its own process group from now on, so that [`end`] reaches it with all of its children. The
/// signals of a terminal, such as Ctrl-C, no longer reach the programs: the caller must handle them and call [`end`].
pub fn lead() {
    Programs::lock().led = true;
}

/// How to end programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// With SIGINT, as Ctrl-C does, so that they can clean up.
    Interrupt,
    /// With SIGKILL.
    Kill,
}

/// Ends the programs that have their own groups. No more programs can be started afterwards.
pub fn end(how: End) {
    let signal = match how {
        End::Interrupt => Signal::INT,
        End::Kill => Signal::KILL,
    };
    let mut programs = Programs::lock();
    programs.ended = true;
    // Keep the lock meanwhile: `forget` waits for it, so no process is reaped and no id in the list is reused.
    for group in &programs.groups {
        // A group that has ended meanwhile is not an error.
        let _ = kill_process_group(*group, signal);
    }
}

/// A running program. Dropping this ends it.
struct RunningProcess {
    child: Child,
    pid: Pid,
    led: bool,
}

impl RunningProcess {
    fn start(command: &mut Command) -> io::Result<Self> {
        // Hold the lock while starting, so that `end` either sees the program or prevents its start.
        let mut programs = Programs::lock();
        if programs.ended {
            return Err(io::Error::new(io::ErrorKind::Interrupted, "interrupted"));
        }
        if programs.led {
            // The group is set before the program runs, so none of its children can be outside of it.
            command.process_group(0);
        }
        let child = command.spawn()?;
        let running = Self { pid: Pid::from_child(&child), led: programs.led, child };
        if running.led {
            programs.groups.push(running.pid);
        }
        Ok(running)
    }

    fn wait(mut self) -> Result<ExitStatus> {
        self.has_ended(WaitIdOptions::empty())?;
        // Forget the group before reaping its process. Afterwards its id may belong to a group that `end` must not
        // signal.
        self.forget();
        Ok(self.child.wait()?)
    }

    /// Returns whether the program has ended. Without `NOHANG`, waits for it. The process is not reaped here, so until
    /// `wait` no other process or group can get its id.
    fn has_ended(&self, options: WaitIdOptions) -> Result<bool> {
        let options = options | WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        Ok(rustix::io::retry_on_intr(|| waitid(WaitId::Pid(self.pid), options))?.is_some())
    }

    fn forget(&self) {
        Programs::lock().groups.retain(|group| *group != self.pid);
    }
}

impl Drop for RunningProcess {
    fn drop(&mut self) {
        self.forget();
        // `try_wait` reaps a process that has ended, so `forget` comes first here too.
        if matches!(self.child.try_wait(), Ok(None)) {
            // Errors cannot be reported from drop.
            if self.led {
                let _ = kill_process_group(self.pid, Signal::KILL);
            }
            let _ = self.child.kill().and_then(|()| self.child.wait());
        }
    }
}

/// Runs a command that writes to the caller's standard output.
pub fn run(command: &mut Command) -> Result<()> {
    let status = RunningProcess::start(command).with_context(|| not_started(command))?.wait()?;
    judge(command, status)
}

/// Runs a command whose output is only progress, and sends all of it to standard error.
pub fn run_aside(command: &mut Command) -> Result<()> {
    run(command.stdin(Stdio::null()).stdout(Stdio::from(io::stderr())))
}

/// Runs a command and returns what it wrote to standard output.
pub fn capture(command: &mut Command) -> Result<String> {
    // The user does not see what is captured, so the program must not wait for an answer to a question in it.
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    let mut running = RunningProcess::start(command).with_context(|| not_started(command))?;
    // Read before waiting: a program that fills the pipe ends only when the pipe is read.
    let mut output = Vec::new();
    if let Some(stdout) = &mut running.child.stdout {
        stdout.read_to_end(&mut output)?;
    }
    judge(command, running.wait()?)?;
    String::from_utf8(output).with_context(|| format!("the output of `{}` is not text", line(command)))
}

/// Runs a tool quietly. If it fails, the error has its output and the remedy.
///
/// # Errors
/// The tool could not be started, or it failed.
pub fn run_tool(command: &mut Command, remedy: &str) -> Result<()> {
    // One pipe for stdout and stderr, so that the output stays in order.
    let (mut reader, writer) = io::pipe()?;
    command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
    let started = RunningProcess::start(command);
    // Close the command's write ends of the pipe: reading ends only when no write end is open.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let running = started.with_context(|| format!("{}: {remedy}", not_started(command)))?;
    let mut words = Vec::new();
    reader.read_to_end(&mut words)?;
    let status = running.wait()?;
    if status.success() {
        return Ok(());
    }
    let words = String::from_utf8_lossy(&words);
    let failed = failed_tool(command, status, shows_commands());
    bail!("{}\n{failed}\n{remedy}", ends_of(words.trim()))
}

/// Formats the failure of a tool, with its name or with its command.
fn failed_tool(command: &Command, status: ExitStatus, shows_command: bool) -> String {
    if shows_command {
        return format!("`{}` failed ({status})", line(command));
    }
    let name = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    format!("{} failed ({status}); --verbose shows its command", name.to_string_lossy())
}

/// Returns the text, or the beginning and the end of a long one. Compilers print the cause first, installers last.
fn ends_of(words: &str) -> String {
    let lines: Vec<&str> = words.lines().collect();
    if lines.len() <= 2 * LINES_SHOWN {
        return words.to_owned();
    }
    let (head, tail) = (&lines[..LINES_SHOWN], &lines[lines.len() - LINES_SHOWN..]);
    format!("{}\n... {} lines ...\n{}", head.join("\n"), lines.len() - 2 * LINES_SHOWN, tail.join("\n"))
}

/// Runs a command like [`run_aside`], and stops it at the deadline.
pub fn run_within(command: &mut Command, limit: Duration) -> Result<()> {
    command.stdin(Stdio::null()).stdout(Stdio::from(io::stderr()));
    let running = RunningProcess::start(command).with_context(|| not_started(command))?;
    let deadline = Instant::now() + limit;
    // `waitid` has no timeout, so poll.
    while Instant::now() < deadline {
        if running.has_ended(WaitIdOptions::NOHANG)? {
            return judge(command, running.wait()?);
        }
        std::thread::sleep(POLL);
    }
    drop(running);
    bail!("`{}` did not end within {} s", line(command), limit.as_secs())
}

/// Runs `first | second`.
pub fn pipe(first: &mut Command, second: &mut Command) -> Result<()> {
    let mut source = RunningProcess::start(first.stdout(Stdio::piped())).with_context(|| not_started(first))?;
    let stream = source.child.stdout.take().context("the first program of a pipe has no output")?;
    let sunk = run(second.stdin(Stdio::from(stream)));
    // A command keeps its end of the pipe. Without this, the writer would wait forever for a reader that has failed.
    second.stdin(Stdio::null());
    let status = source.wait()?;
    // If the reader fails, the writer dies of a broken pipe, so report the reader's failure.
    sunk.and_then(|()| judge(first, status))
}

/// Formats a command as a shell line.
pub fn line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| quote(&word.to_string_lossy())).collect::<Vec<_>>().join(" ")
}

/// Quotes a word for a shell, if necessary.
pub fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=+./:,@%~".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

fn judge(command: &Command, status: ExitStatus) -> Result<()> {
    if !status.success() {
        bail!("`{}` failed ({status})", line(command));
    }
    Ok(())
}

fn not_started(command: &Command) -> String {
    format!("`{}` could not be started", command.get_program().to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_writer_ends_when_its_reader_has_failed() {
        // Much more than the kernel keeps of a pipe.
        let mut writer = Command::new("head");
        writer.args(["-c", "8000000", "/dev/zero"]);
        assert!(pipe(&mut writer, &mut Command::new("false")).is_err());
    }

    #[test]
    fn a_word_that_the_shell_would_split_is_quoted() {
        assert_eq!(quote("files.read"), "files.read");
        assert_eq!(quote(r#"{"path":"a"}"#), r#"'{"path":"a"}'"#);
        assert_eq!(quote("it's"), r"'it'\''s'");
        assert_eq!(quote(""), "''");
    }

    #[test]
    fn a_program_is_stopped_at_its_deadline() {
        let failure = run_within(Command::new("sleep").arg("60"), Duration::from_millis(100));
        assert!(failure.is_err_and(|failure| failure.to_string().contains("did not end")));
    }

    #[test]
    fn a_failed_tool_shows_its_output_and_the_remedy() {
        let mut tool = Command::new("sh");
        let failure = run_tool(tool.args(["-c", "echo to one; echo to other >&2; exit 3"]), "try again").unwrap_err();
        let text = failure.to_string();
        assert!(text.starts_with("to one\nto other\n") && text.ends_with("try again"), "{text}");
        let absent = run_tool(&mut Command::new("no-such-compiler"), "install it").unwrap_err().to_string();
        assert!(absent.contains("no-such-compiler") && absent.contains("install it"), "{absent}");
    }

    /// Commands of compilers contain hundreds of paths that the user did not write.
    #[test]
    fn a_failed_tool_shows_its_command_only_on_request() {
        let mut tool = Command::new("/bin/sh");
        let status = tool.args(["-c", "exit 3"]).status().unwrap();
        assert_eq!(failed_tool(&tool, status, false), format!("sh failed ({status}); --verbose shows its command"));
        assert!(failed_tool(&tool, status, true).contains("/bin/sh -c 'exit 3'"));
    }

    #[test]
    fn a_long_failure_keeps_its_beginning_and_its_end() {
        let words: Vec<String> = (0..1000).map(|line| line.to_string()).collect();
        let shown = ends_of(&words.join("\n"));
        assert!(shown.starts_with("0\n1\n") && shown.ends_with("998\n999") && shown.lines().count() < 100, "{shown}");
    }
}
