//! Starts other programs: what they inherit, how long they may take, and what their failure says.
//!
//! Every step of this crate that runs a program goes through here, so that a failure always names the command, and so
//! that whoever ends a build ends what it has started.

use std::io::{self, Read};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// Variables that `cargo run` gives to this program or that a shell may hold, and that would change a nested build.
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

/// How many lines are shown of the beginning and of the end of what a failed tool said: a screen each.
const LINES_SHOWN: usize = 40;

/// How often a program with a deadline is asked whether it has ended.
const POLL: Duration = Duration::from_millis(50);

/// The cargo that runs this program, without the variables that it added for this program alone.
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

/// Whether the failure of a tool shows the command that it was started by.
static SHOWS_COMMANDS: AtomicBool = AtomicBool::new(false);

/// From here on [`run_tool`] shows the command of a tool that fails. It is long, and says nothing of the source.
pub fn show_commands() {
    SHOWS_COMMANDS.store(true, Ordering::Relaxed);
}

/// Whether [`show_commands`] was called.
pub(crate) fn shows_commands() -> bool {
    SHOWS_COMMANDS.load(Ordering::Relaxed)
}

/// The programs that run.
static PROGRAMS: Mutex<Programs> = Mutex::new(Programs { led: false, ended: false, groups: Vec::new() });

struct Programs {
    /// Whether each leads a process group of its own.
    led: bool,
    /// Whether no more are started.
    ended: bool,
    groups: Vec<Pid>,
}

impl Programs {
    fn lock() -> MutexGuard<'static, Self> {
        PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// From here on each program leads a process group of its own, which [`end`] reaches with all that it has started. What
/// a terminal sends, such as Ctrl-C, does not reach it any more: who calls this hears the signals, and calls [`end`].
pub fn lead() {
    Programs::lock().led = true;
}

/// How programs are ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// As Ctrl-C does it: they can remove what they have begun.
    Interrupt,
    /// At once.
    Kill,
}

/// Ends the programs that run in groups of their own, and starts no more.
pub fn end(how: End) {
    let signal = match how {
        End::Interrupt => Signal::INT,
        End::Kill => Signal::KILL,
    };
    let mut programs = Programs::lock();
    programs.ended = true;
    for group in &programs.groups {
        // One that has ended meanwhile has nothing to hear it.
        let _ = kill_process_group(*group, signal);
    }
}

/// A program that runs. It does not outlive this.
struct Running {
    child: Child,
    pid: Pid,
    led: bool,
}

impl Running {
    fn start(command: &mut Command) -> io::Result<Self> {
        // The lock is held meanwhile, so that a program either is started before the end and hears of it, or never.
        let mut programs = Programs::lock();
        if programs.ended {
            return Err(io::Error::new(io::ErrorKind::Interrupted, "interrupted"));
        }
        if programs.led {
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
        self.forget();
        Ok(self.child.wait()?)
    }

    /// Whether it has ended; it waits for that where it is not told otherwise. Until it is taken from the system as
    /// well, no other program and no other group can have its number.
    fn has_ended(&self, options: WaitIdOptions) -> Result<bool> {
        let options = options | WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        Ok(rustix::io::retry_on_intr(|| waitid(WaitId::Pid(self.pid), options))?.is_some())
    }

    fn forget(&self) {
        Programs::lock().groups.retain(|group| *group != self.pid);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.forget();
        if matches!(self.child.try_wait(), Ok(None)) {
            // There is nobody to tell that it cannot be ended.
            if self.led {
                let _ = kill_process_group(self.pid, Signal::KILL);
            }
            let _ = self.child.kill().and_then(|()| self.child.wait());
        }
    }
}

/// Runs a command whose output belongs to the caller's standard output.
pub fn run(command: &mut Command) -> Result<()> {
    let status = Running::start(command).with_context(|| not_started(command))?.wait()?;
    judge(command, status)
}

/// Runs a command whose output is progress only: all of it goes to standard error.
pub fn run_aside(command: &mut Command) -> Result<()> {
    run(command.stdin(Stdio::null()).stdout(Stdio::from(io::stderr())))
}

/// Runs a command and returns what it wrote to standard output.
pub fn capture(command: &mut Command) -> Result<String> {
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    let mut running = Running::start(command).with_context(|| not_started(command))?;
    let mut output = Vec::new();
    if let Some(stdout) = &mut running.child.stdout {
        stdout.read_to_end(&mut output)?;
    }
    judge(command, running.wait()?)?;
    String::from_utf8(output).with_context(|| format!("`{}` wrote something that is not text", line(command)))
}

/// Runs a tool that a person did not ask for by name. What it says is shown when it fails, with what to do then.
///
/// # Errors
/// It could not be started, or it failed.
pub fn run_tool(command: &mut Command, remedy: &str) -> Result<()> {
    // One pipe for both, so that words are in the order in which they were said.
    let (mut reader, writer) = io::pipe()?;
    command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
    let started = Running::start(command);
    // The command has ends of the pipe, which is read until nobody has one.
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

/// Says that a tool failed: by its name, or by its command.
fn failed_tool(command: &Command, status: ExitStatus, shows_command: bool) -> String {
    if shows_command {
        return format!("`{}` failed ({status})", line(command));
    }
    let name = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    format!("{} failed ({status}); --verbose shows its command", name.to_string_lossy())
}

/// The text, or where it is long its beginning and its end: compilers say the cause first, installers last.
fn ends_of(words: &str) -> String {
    let lines: Vec<&str> = words.lines().collect();
    if lines.len() <= 2 * LINES_SHOWN {
        return words.to_owned();
    }
    let (head, tail) = (&lines[..LINES_SHOWN], &lines[lines.len() - LINES_SHOWN..]);
    format!("{}\n... {} lines ...\n{}", head.join("\n"), lines.len() - 2 * LINES_SHOWN, tail.join("\n"))
}

/// As [`run_aside`], but a program that has not ended at the deadline is stopped.
pub fn run_within(command: &mut Command, limit: Duration) -> Result<()> {
    command.stdin(Stdio::null()).stdout(Stdio::from(io::stderr()));
    let running = Running::start(command).with_context(|| not_started(command))?;
    let deadline = Instant::now() + limit;
    while Instant::now() < deadline {
        if running.has_ended(WaitIdOptions::NOHANG)? {
            return judge(command, running.wait()?);
        }
        std::thread::sleep(POLL);
    }
    drop(running);
    bail!("`{}` had not ended after {} s", line(command), limit.as_secs())
}

/// Runs `first | second`.
pub fn pipe(first: &mut Command, second: &mut Command) -> Result<()> {
    let mut source = Running::start(first.stdout(Stdio::piped())).with_context(|| not_started(first))?;
    let stream = source.child.stdout.take().context("the first program of a pipe has no output")?;
    let sunk = run(second.stdin(Stdio::from(stream)));
    let status = source.wait()?;
    // When the reader fails, the writer dies of a broken pipe: the reader's failure is the cause.
    sunk.and_then(|()| judge(first, status))
}

/// The command as a person would type it.
pub fn line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| quote(&word.to_string_lossy())).collect::<Vec<_>>().join(" ")
}

/// One word of a shell line, quoted where the shell would read it as something else.
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
    fn a_word_that_the_shell_would_split_is_quoted() {
        assert_eq!(quote("files.read"), "files.read");
        assert_eq!(quote(r#"{"path":"a"}"#), r#"'{"path":"a"}'"#);
        assert_eq!(quote("it's"), r"'it'\''s'");
        assert_eq!(quote(""), "''");
    }

    #[test]
    fn a_program_is_stopped_at_its_deadline() {
        let failure = run_within(Command::new("sleep").arg("60"), Duration::from_millis(100));
        assert!(failure.is_err_and(|failure| failure.to_string().contains("had not ended")));
    }

    #[test]
    fn a_tool_that_fails_is_heard_and_says_what_to_do() {
        let mut tool = Command::new("sh");
        let failure = run_tool(tool.args(["-c", "echo to one; echo to other >&2; exit 3"]), "try again").unwrap_err();
        let text = failure.to_string();
        assert!(text.starts_with("to one\nto other\n") && text.ends_with("try again"), "{text}");
        let absent = run_tool(&mut Command::new("no-such-compiler"), "install it").unwrap_err().to_string();
        assert!(absent.contains("no-such-compiler") && absent.contains("install it"), "{absent}");
    }

    /// Commands of compilers hold hundreds of paths that the person did not write.
    #[test]
    fn a_tool_that_fails_shows_its_command_only_where_that_is_wanted() {
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
