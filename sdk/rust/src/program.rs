//! Programs that a policy grants. The operating system confines them.
//!
//! In the order of a run: `Launch`, `Program`, `Running`, `Chunk`, `ExitReport`.

use std::io::{self, Cursor, Read, Write};
use std::time::Duration;

use crate::host;
use crate::{Context, Failure};

/// The interval at which `read` checks whether the caller has cancelled the call.
const CANCELLATION_INTERVAL: Duration = Duration::from_millis(200);

/// What to start a program with.
///
/// ```
/// use portcullis_sdk::Launch;
///
/// let launch = Launch::new(["log", "--oneline"]).environment("TZ", "UTC").directory("/workspace/src").merged();
/// assert_eq!(launch.arguments(), ["log", "--oneline"]);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Launch {
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
    directory: Option<String>,
    input: Vec<u8>,
    is_merged: bool,
    missing: Option<Missing>,
}

impl Launch {
    /// Creates a launch with the arguments after the program's own name. No shell reads them.
    #[must_use]
    pub fn new(arguments: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { arguments: arguments.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    /// Adds an environment variable. A variable of the policy wins over one of the same name.
    #[must_use]
    pub fn environment(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }

    /// Sets the directory to start in, such as `/workspace/src`: the key of a directory of the program's binding, and a
    /// path below it. The default is the first directory of the binding.
    #[must_use]
    pub fn directory(mut self, directory: impl Into<String>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// Sets what [`Running::read`] and [`Running::next_event`] write to stdin. By default stdin is empty.
    #[must_use]
    pub fn input(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.input = bytes.into();
        self
    }

    /// Sends stderr to the stream of stdout, in the order of the writes.
    #[must_use]
    pub fn merged(mut self) -> Self {
        self.is_merged = true;
        self
    }

    /// Adds what the program lacks for this run. The start then asks an approver, who reads the program and its
    /// arguments, and waits for the answer. Only a person can allow it.
    #[must_use]
    pub fn needs(mut self, missing: Missing) -> Self {
        self.missing = Some(missing);
        self
    }

    /// Returns the arguments after the program's own name.
    #[must_use]
    pub fn arguments(&self) -> &[String] {
        &self.arguments
    }

    /// Returns the environment variables.
    #[must_use]
    pub fn variables(&self) -> &[(String, String)] {
        &self.environment
    }

    /// Returns the directory to start in, if it is set.
    #[must_use]
    pub fn start_directory(&self) -> Option<&str> {
        self.directory.as_deref()
    }

    /// Returns the input.
    #[must_use]
    pub fn input_bytes(&self) -> &[u8] {
        &self.input
    }

    /// Returns what the program lacks.
    #[must_use]
    pub fn missing(&self) -> Option<&Missing> {
        self.missing.as_ref()
    }

    /// Returns whether stderr goes to the stream of stdout.
    #[must_use]
    pub fn is_merged(&self) -> bool {
        self.is_merged
    }
}

/// What a program lacks for one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Missing {
    /// A host and a port, such as `files.example.org:443`.
    Destination(String),
    /// A directory to read, by its absolute path on the machine.
    ReadableDirectory(String),
    /// A directory to read and write, by its absolute path on the machine.
    WritableDirectory(String),
}

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
        Ok(Running { handle, feed: Feed::new(launch.input.clone()), stdout: Side::Ready, stderr: Side::Ready })
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

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Exit {
    /// It ended by itself, with this code.
    Code(u8),
    /// This signal ended it.
    Signal(u8),
    /// The host ended it. The text says which limit it reached, for the model.
    Stopped(String),
}

/// The report of a program that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExitReport {
    /// How it ended.
    pub exit: Exit,
    /// The time from start to end.
    pub duration: Duration,
    /// The number of background processes that the host ended with the program.
    pub left_processes: u32,
    /// What the confinement refused and the host knows of, such as `GET http://a.example/`: for the model.
    pub refused: Vec<String>,
}

impl ExitReport {
    /// Returns whether the program ended by itself with the code 0.
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.exit == Exit::Code(0)
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

/// What happened to a program next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunningEvent {
    /// It wrote to stdout.
    Stdout(Vec<u8>),
    /// It wrote to stderr.
    Stderr(Vec<u8>),
    /// The time to wait has passed.
    Elapsed,
    /// It has ended, and everything that it wrote has been read.
    Ended(ExitReport),
}

/// A program that runs. Dropping it ends the program and everything that it started.
#[derive(Debug)]
pub struct Running {
    feed: Feed,
    stdout: Side,
    stderr: Side,
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

fn take(side: &mut Side, open: impl FnOnce() -> Option<host::OutputPipe>) -> Option<ProgramStream> {
    let pipe = match std::mem::replace(side, Side::Done) {
        Side::Ready => open(),
        Side::Open(pipe) => Some(pipe),
        Side::Done => None,
    };
    pipe.map(|pipe| ProgramStream { pipe })
}

/// The input of a launch, on its way to the program.
#[derive(Debug)]
pub(crate) enum Feed {
    /// Nothing has opened stdin.
    New(Vec<u8>),
    /// A part is written.
    Open {
        /// Stdin.
        pipe: host::InputPipe,
        /// The input. Its position is the number of bytes that are written.
        input: Cursor<Vec<u8>>,
    },
    /// All of it is written, or the tool has taken stdin.
    Done,
}

impl Feed {
    fn new(input: Vec<u8>) -> Self {
        Self::New(input)
    }

    fn is_new(&self) -> bool {
        matches!(self, Self::New(_))
    }
}

/// One of the two streams of a program.
#[derive(Debug)]
pub(crate) enum Side {
    /// Nothing has opened it.
    Ready,
    /// `next_event` reads it.
    Open(host::OutputPipe),
    /// It has ended, or the tool has taken it.
    Done,
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
