//! Programs that a policy grants. The operating system confines them.
//!
//! In the order of a run: `Launch`, `Program`, `Running`, `Chunk`, `ExitReport`.

pub(crate) mod exit;
pub(crate) mod feed;
pub(crate) mod launch;

use std::io::{self, Cursor, Read, Write};
use std::time::Duration;

use self::exit::{ExitReport, RunningEvent};
use self::feed::{Feed, Side};
use self::launch::Launch;
use crate::host;
use crate::{Context, Failure};

/// The interval at which `read` checks whether the caller has cancelled the call.
const CANCELLATION_INTERVAL: Duration = Duration::from_millis(200);

/// A program that the policy binds to a key.
///
/// ```
/// use portcullis_sdk::prelude::*;
///
/// /// Shows the last commits.
/// #[tool(requires(execute))]
/// fn log(context: &Context) -> Result<String, Failure> {
///     let output = context.program("git")?.output(&Launch::new(["log", "-5", "--oneline"]), 64 * 1024)?;
///     match output.report.is_success() {
///         true => Ok(output.text()),
///         false => Err(Failure::failed(output.errors())),
///     }
/// }
///
/// plugin! {
///     name: "history",
///     description: "Shows commits.",
///     tools: [log],
///     dependencies: [process "git": "reads the commits"],
/// }
/// # fn main() {
/// # use portcullis_sdk::testing::{self, Execution, call};
/// let context = testing::Context::new().plays_program("git", |_| Ok(Execution::new(0).stdout("c02ddb Begin\n")));
/// assert!(call(&PLUGIN, "log", json!({}), &context).is_ok());
/// # }
/// ```
#[derive(Debug)]
pub struct Program {
    handle: host::Program,
}

impl Context {
    /// Returns the program that the policy binds to a key of the manifest. Nothing runs yet.
    ///
    /// # Errors
    /// As [`Context::directory`].
    pub fn program(&self, key: &str) -> Result<Program, Failure> {
        self.host().program(key).map(Program::new)
    }
}

impl Program {
    pub(crate) fn new(handle: host::Program) -> Self {
        Self { handle }
    }

    /// Starts the program.
    ///
    /// # Errors
    /// `Failed`: the host could not start it, with a text for the model. If the launch needs something, it is also the
    /// error if the policy does not let the program ask, or if the person said no.
    pub fn start(&self, launch: &Launch) -> Result<Running, Failure> {
        let handle = self.handle.start(launch).map_err(Failure::Failed)?;
        Ok(Running { handle, feed: Feed::New(launch.input_bytes().to_vec()), stdout: Side::Ready, stderr: Side::Ready })
    }

    /// Runs the program to its end, and returns what it wrote. It keeps `bytes_max` bytes of each stream at most, and
    /// drops the rest.
    ///
    /// # Errors
    /// As [`Program::start`], or a stream broke.
    pub fn output(&self, launch: &Launch, bytes_max: usize) -> Result<ProgramOutput, Failure> {
        let (mut stdout, mut stderr, mut is_cut) = (Vec::new(), Vec::new(), false);
        let report = self.start(launch)?.read(|chunk| {
            let (kept, bytes) = match chunk {
                Chunk::Stdout(bytes) => (&mut stdout, bytes),
                Chunk::Stderr(bytes) => (&mut stderr, bytes),
            };
            let room = bytes.len().min(bytes_max - kept.len());
            kept.extend_from_slice(&bytes[..room]);
            is_cut |= room < bytes.len();
            Ok(())
        })?;
        Ok(ProgramOutput { stdout, stderr, is_cut, report })
    }
}

/// What a program wrote, and how it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramOutput {
    /// What it wrote to stdout.
    pub stdout: Vec<u8>,
    /// What it wrote to stderr. Empty if stderr went to the stream of stdout.
    pub stderr: Vec<u8>,
    /// Whether it wrote more than was kept.
    pub is_cut: bool,
    /// How it ended.
    pub report: ExitReport,
}

impl ProgramOutput {
    /// Returns stdout as text. Invalid UTF-8 becomes `�`.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// Returns stderr as text. Invalid UTF-8 becomes `�`.
    #[must_use]
    pub fn errors(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }
}

/// Bytes that a program wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chunk<'a> {
    /// From the stream of stdout.
    Stdout(&'a [u8]),
    /// From the stream of stderr.
    Stderr(&'a [u8]),
}

/// A program that runs. Dropping it ends the program and everything that it started.
#[derive(Debug)]
pub struct Running {
    feed: Feed<host::InputPipe>,
    stdout: Side<host::OutputPipe>,
    stderr: Side<host::OutputPipe>,
    handle: host::Running,
}

impl Running {
    /// Returns a writer to stdin. Dropping it ends the input. Returns none from the second time on, and after a read
    /// has written the input of the launch.
    pub fn stdin(&mut self) -> Option<ProgramInput> {
        let pipe = self.feed.is_new().then(|| self.handle.stdin()).flatten();
        self.feed = Feed::Done;
        pipe.map(|pipe| ProgramInput { pipe })
    }

    /// Returns a reader of stdout. Returns none from the second time on. A program that fills a stream that nothing
    /// reads waits without end, so read both streams or use [`Running::read`].
    pub fn stdout(&mut self) -> Option<ProgramStream> {
        take(&mut self.stdout, || self.handle.stdout())
    }

    /// Returns a reader of stderr. Returns none from the second time on, and if stderr goes to stdout.
    pub fn stderr(&mut self) -> Option<ProgramStream> {
        take(&mut self.stderr, || self.handle.stderr())
    }

    /// Waits for the next event, at most for the given time. Writes the input of the launch in the meantime. Skips a
    /// stream that the tool has taken.
    ///
    /// # Errors
    /// A stream broke.
    pub fn next_event(&mut self, time_max: Option<Duration>) -> Result<RunningEvent, Failure> {
        self.open();
        Ok(self.handle.next_event(&mut self.feed, [&mut self.stdout, &mut self.stderr], time_max)?)
    }

    /// Reads stdout and stderr together until the program has ended, and passes each chunk to the function. Writes the
    /// input of the launch in the meantime. An error of the function ends the reading.
    ///
    /// # Errors
    /// A stream broke, or the function failed.
    pub fn read(&mut self, mut chunk: impl FnMut(Chunk<'_>) -> Result<(), Failure>) -> Result<ExitReport, Failure> {
        loop {
            match self.next_event(None)? {
                RunningEvent::Stdout(bytes) => chunk(Chunk::Stdout(&bytes))?,
                RunningEvent::Stderr(bytes) => chunk(Chunk::Stderr(&bytes))?,
                RunningEvent::Elapsed => {}
                RunningEvent::Ended(report) => return Ok(report),
            }
        }
    }

    /// Reads like [`Running::read`], and ends the program when the caller cancels the call.
    ///
    /// # Errors
    /// As [`Running::read`]; `Cancelled`: the caller cancelled the call.
    pub fn read_until_cancelled(
        &mut self,
        context: &Context,
        mut chunk: impl FnMut(Chunk<'_>) -> Result<(), Failure>,
    ) -> Result<ExitReport, Failure> {
        loop {
            if context.is_cancelled() {
                self.kill();
                return Err(Failure::Cancelled);
            }
            match self.next_event(Some(CANCELLATION_INTERVAL))? {
                RunningEvent::Stdout(bytes) => chunk(Chunk::Stdout(&bytes))?,
                RunningEvent::Stderr(bytes) => chunk(Chunk::Stderr(&bytes))?,
                RunningEvent::Elapsed => {}
                RunningEvent::Ended(report) => return Ok(report),
            }
        }
    }

    /// Waits until the program has ended. Drops what it writes to a stream that the tool has not taken.
    pub fn wait(&mut self) -> ExitReport {
        loop {
            match self.next_event(None) {
                Ok(RunningEvent::Ended(report)) => return report,
                Ok(_) => {}
                // A broken stream has nothing more to read; its end follows.
                Err(_) => (self.stdout, self.stderr) = (Side::Done, Side::Done),
            }
        }
    }

    /// Returns how the program ended; none while it runs.
    #[must_use]
    pub fn exit(&self) -> Option<ExitReport> {
        self.handle.exit()
    }

    /// Ends the program and everything that it started. What it wrote before can still be read.
    pub fn kill(&self) {
        self.handle.kill();
    }

    /// Opens the streams that the tool has not taken.
    fn open(&mut self) {
        if let Feed::New(input) = &mut self.feed {
            let input = std::mem::take(input);
            self.feed = match self.handle.stdin() {
                // Without input, dropping the pipe ends stdin.
                Some(pipe) if !input.is_empty() => Feed::Open { pipe, input: Cursor::new(input) },
                _ => Feed::Done,
            };
        }
        if matches!(self.stdout, Side::Ready) {
            self.stdout = self.handle.stdout().map_or(Side::Done, Side::Open);
        }
        if matches!(self.stderr, Side::Ready) {
            self.stderr = self.handle.stderr().map_or(Side::Done, Side::Open);
        }
    }
}

fn take(side: &mut Side<host::OutputPipe>, open: impl FnOnce() -> Option<host::OutputPipe>) -> Option<ProgramStream> {
    let pipe = match std::mem::replace(side, Side::Done) {
        Side::Ready => open(),
        Side::Open(pipe) => Some(pipe),
        Side::Done => None,
    };
    pipe.map(|pipe| ProgramStream { pipe })
}

/// A writer to the stdin of a program. Dropping it ends the input.
#[derive(Debug)]
pub struct ProgramInput {
    pipe: host::InputPipe,
}

impl Write for ProgramInput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.pipe.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pipe.flush()
    }
}

impl Drop for ProgramInput {
    /// Waits until the program has the bytes, because dropping the stream could lose some. A program that has closed
    /// its stdin does not want them.
    fn drop(&mut self) {
        let _ = self.pipe.flush();
    }
}

/// A reader of the stdout or the stderr of a program.
#[derive(Debug)]
pub struct ProgramStream {
    pipe: host::OutputPipe,
}

impl Read for ProgramStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.pipe.read(buffer)
    }
}
