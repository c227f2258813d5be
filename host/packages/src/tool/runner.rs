//! Runs npm and pip with limits, and keeps what they say for an error. What they say is untrusted, because registries
//! and packages write parts of it.

use portcullis_definitions::text::cut;
use rustix::process::{Pid, Signal, kill_process_group};
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use super::error::{Tool, ToolError, ToolOutput};
use super::usage::{Usage, measure};
use crate::bounded_file;
use crate::options::InstallOptions;
use crate::store::WorkFolder;

/// The file in the work folder that has the output of the last tool.
const OUTPUT_FILE: &str = "output.txt";

/// Maximum bytes of a tool's output that an error shows: two pages of a terminal. The cause is at the end.
const SHOWN_BYTES_MAX: usize = 4096;

/// Maximum bytes of a tool's output that are read to show its end. The tools are told to be quiet.
const OUTPUT_BYTES_MAX: u64 = 1 << 20;

/// The time between two looks at a running tool.
const POLL: Duration = Duration::from_millis(20);

/// The minimum time between two measurements of the work folder. Meanwhile a tool writes at most about 100 MiB.
const MEASURE: Duration = Duration::from_millis(200);

/// The part of the time that measuring may take: one in this many.
const MEASURE_SHARE: u32 = 5;

/// The exit code of the guard of pip if pip is missing or too old.
const EXIT_TOOL_MISSING: i32 = 77;

/// What the tools of one installation share: their folder, their limits and their deadline.
pub(crate) struct ToolRunner<'a> {
    pub(crate) work: &'a WorkFolder,
    pub(crate) options: &'a InstallOptions,
    deadline: Instant,
}

impl<'a> ToolRunner<'a> {
    /// Starts the clock of an installation.
    pub(crate) fn new(work: &'a WorkFolder, options: &'a InstallOptions) -> Self {
        Self { work, options, deadline: Instant::now() + options.limits.time }
    }

    /// Runs a command in the work folder until it ends or reaches a limit. Then nothing of it runs any more.
    pub(crate) fn run(&self, tool: Tool, command: &mut Command) -> Result<(), ToolError> {
        let status = self.run_to_end(tool, command)?;
        match status.code() {
            Some(0) => Ok(()),
            Some(EXIT_TOOL_MISSING) if tool == Tool::Pip => Err(ToolError::Missing { tool }),
            Some(_) | None => Err(self.failure(tool, status)),
        }
    }

    /// Runs a command like [`Self::run`], and accepts every exit code. Only a signal is an error.
    pub(crate) fn run_leniently(&self, tool: Tool, command: &mut Command) -> Result<(), ToolError> {
        let status = self.run_to_end(tool, command)?;
        if status.code().is_some() { Ok(()) } else { Err(self.failure(tool, status)) }
    }

    /// Returns what the last tool printed, up to a limit.
    pub(crate) fn output(&self) -> io::Result<String> {
        let bytes = bounded_file::read(self.work.directory(), OUTPUT_FILE, OUTPUT_BYTES_MAX)?;
        String::from_utf8(bytes).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8"))
    }

    fn run_to_end(&self, tool: Tool, command: &mut Command) -> Result<ExitStatus, ToolError> {
        let not_started = |source| ToolError::NotStarted { tool, source };
        let output = self.work.create_file(OUTPUT_FILE).map_err(not_started)?;
        // A file needs no thread that empties a pipe, and what it holds counts toward the limits.
        command.stderr(output.try_clone().map_err(not_started)?).stdout(output);
        // A process group of its own, so that a kill also reaches what the tool has started.
        command.current_dir(self.work.path()).process_group(0);
        // Temporary files count, too, and go with the work folder.
        command.env("TMPDIR", self.work.temporary_path());
        let child = command.spawn().map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => ToolError::Missing { tool },
            _ => ToolError::NotStarted { tool, source },
        })?;
        // From here on, an error kills the tool.
        let mut child = RunningTool(child);
        child.limit_files(self.options.limits.file_bytes_max).map_err(not_started)?;
        let status = self.wait(tool, &mut child)?;
        // What was written since the last measurement counts, too.
        self.check(measure(self.work.directory(), &self.options.limits))?;
        Ok(status)
    }

    /// Waits until a tool ends or reaches a limit.
    fn wait(&self, tool: Tool, child: &mut RunningTool) -> Result<ExitStatus, ToolError> {
        let mut next_measurement = Instant::now() + MEASURE;
        loop {
            if let Some(status) = child.0.try_wait().map_err(|source| ToolError::NotStarted { tool, source })? {
                return Ok(status);
            }
            let now = Instant::now();
            if now >= self.deadline {
                return Err(ToolError::TimedOut { tool, limit: self.options.limits.time });
            }
            if self.options.cancelled.load(Ordering::Relaxed) {
                return Err(ToolError::Cancelled);
            }
            if now >= next_measurement {
                self.check(measure(self.work.directory(), &self.options.limits))?;
                next_measurement = Instant::now() + MEASURE.max(now.elapsed() * MEASURE_SHARE);
            }
            thread::sleep(POLL);
        }
    }

    fn check(&self, usage: Usage) -> Result<(), ToolError> {
        let limits = &self.options.limits;
        match usage {
            Usage::Within => Ok(()),
            Usage::TooManyBytes => Err(ToolError::TooManyBytes { bytes_max: limits.bytes_max }),
            Usage::TooManyFiles => Err(ToolError::TooManyFiles { files_max: limits.files_max }),
        }
    }

    /// Returns the error of a tool that failed, with the end of its output.
    fn failure(&self, tool: Tool, status: ExitStatus) -> ToolError {
        // An unreadable output is no reason to hide the failure.
        let output = bounded_file::read_end(self.work.directory(), OUTPUT_FILE, OUTPUT_BYTES_MAX).unwrap_or_default();
        let output = String::from_utf8_lossy(&output);
        // Node.js and Python ignore SIGXFSZ. The write then fails with EFBIG, which they print by name or by number.
        let too_large = ["EFBIG", "SIGXFSZ", "Errno 27"].iter().any(|code| output.contains(code));
        if too_large || status.signal() == Some(Signal::XFSZ.as_raw()) {
            return ToolError::TooLargeFile { bytes_max: self.options.limits.file_bytes_max };
        }
        ToolError::Failed { tool, status, output: ToolOutput(end_of(output.trim()).to_owned()) }
    }
}

/// Cuts a text to its end, at the beginning of a line if possible.
fn end_of(text: &str) -> &str {
    let Some(removed) = text.len().checked_sub(SHOWN_BYTES_MAX) else { return text };
    let end = &text[cut(text, removed).len()..];
    end.split_once('\n').map_or(end, |(_, lines)| lines)
}

/// A tool that is killed with its process group when this is dropped before its end.
struct RunningTool(Child);

impl RunningTool {
    /// Limits the size of each file that the tool writes. It has not written any yet: it is still starting.
    #[cfg(target_os = "linux")]
    fn limit_files(&self, bytes_max: u64) -> io::Result<()> {
        use rustix::process::{Resource, Rlimit, prlimit};
        let limit = Rlimit { current: Some(bytes_max), maximum: Some(bytes_max) };
        match prlimit(Some(pid_of(&self.0)?), Resource::Fsize, limit) {
            // The tool has already ended.
            Err(rustix::io::Errno::SRCH) => Ok(()),
            other => Ok(other.map(drop)?),
        }
    }

    /// Does nothing: other systems cannot limit a running process. The measurements still find a large file.
    #[cfg(not(target_os = "linux"))]
    fn limit_files(&self, _: u64) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for RunningTool {
    fn drop(&mut self) {
        // After a wait, the number can belong to another process, and so can the group.
        if matches!(self.0.try_wait(), Ok(None)) {
            // Errors cannot be reported from drop.
            if let Ok(pid) = pid_of(&self.0) {
                let _ = kill_process_group(pid, Signal::KILL);
            }
            // The tool itself, in case its group could not be killed. The wait removes the zombie.
            let _ = self.0.kill().and_then(|()| self.0.wait());
        }
    }
}

fn pid_of(child: &Child) -> io::Result<Pid> {
    i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_shows_the_end_of_a_long_output() {
        assert_eq!(end_of("short"), "short");
        let long: String = (0..2000).map(|line| format!("é{line}\n")).collect();
        let shown = end_of(&long);
        assert!(shown.len() <= SHOWN_BYTES_MAX && shown.starts_with('é') && shown.ends_with("1999\n"), "{shown}");
    }

    #[test]
    fn the_output_of_a_tool_is_encoded() {
        assert_eq!(ToolOutput("a\u{1b}[2J\nb\u{202e}".to_owned()).to_string(), "a\\u{1b}[2J\nb\\u{202e}");
    }
}
