//! Starts other programs: what they inherit, how long they may take, and what their failure says.
//!
//! Every step of this crate that runs a program goes through here, so that a failure always names the command.

use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

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

/// How often a program with a deadline is asked whether it has ended.
const POLL: Duration = Duration::from_millis(50);

/// The cargo that runs this program, without the variables that it added for this program alone.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    clear(&mut command);
    command
}

/// Removes the variables that would change a nested build.
pub(crate) fn clear(command: &mut Command) {
    for name in FOREIGN {
        command.env_remove(name);
    }
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|name| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_BIN_")) {
            command.env_remove(name);
        }
    }
}

/// Runs a command whose output belongs to the caller's standard output.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| not_started(command))?;
    judge(command, status)
}

/// Runs a command whose output is progress only: all of it goes to standard error.
pub(crate) fn run_aside(command: &mut Command) -> Result<()> {
    run(command.stdin(Stdio::null()).stdout(Stdio::from(std::io::stderr())))
}

/// Runs a command and returns what it wrote to standard output.
pub(crate) fn capture(command: &mut Command) -> Result<String> {
    let output =
        command.stdin(Stdio::null()).stderr(Stdio::inherit()).output().with_context(|| not_started(command))?;
    judge(command, output.status)?;
    String::from_utf8(output.stdout).with_context(|| format!("`{}` wrote something that is not text", line(command)))
}

/// As [`run_aside`], but a program that has not ended at the deadline is stopped.
pub(crate) fn run_within(command: &mut Command, limit: Duration) -> Result<()> {
    command.stdin(Stdio::null()).stdout(Stdio::from(std::io::stderr()));
    let mut child = command.spawn().with_context(|| not_started(command))?;
    let deadline = Instant::now() + limit;
    while Instant::now() < deadline {
        if let Some(status) = child.try_wait()? {
            return judge(command, status);
        }
        std::thread::sleep(POLL);
    }
    stop(&mut child)?;
    bail!("`{}` had not ended after {} s", line(command), limit.as_secs())
}

/// Runs `first | second`.
pub(crate) fn pipe(first: &mut Command, second: &mut Command) -> Result<()> {
    let mut source = first.stdout(Stdio::piped()).spawn().with_context(|| not_started(first))?;
    let stream = source.stdout.take().context("the first program of a pipe has no output")?;
    let sunk = run(second.stdin(Stdio::from(stream)));
    let status = source.wait()?;
    // When the reader fails, the writer dies of a broken pipe: the reader's failure is the cause.
    sunk.and_then(|()| judge(first, status))
}

/// The command as a person would type it.
pub(crate) fn line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| quote(&word.to_string_lossy())).collect::<Vec<_>>().join(" ")
}

/// One word of a shell line, quoted where the shell would read it as something else.
pub(crate) fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=+./:,@%~".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

fn stop(child: &mut Child) -> Result<()> {
    child.kill()?;
    child.wait()?;
    Ok(())
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
}
