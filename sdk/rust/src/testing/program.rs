//! Programs that a test plays. They test the logic of a plugin, without a system.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::io::{self, Read, Write};
use std::rc::Rc;
use std::time::Duration;

use crate::program::exit::{Exit, ExitReport, RunningEvent};
use crate::program::feed::{Feed, Side};
use crate::program::launch::Launch;

/// Number of bytes of a played stream that arrive at once: few, so that even a short output arrives in pieces.
const CHUNK_BYTES: usize = 1024;

/// The signal of a program that was killed.
const KILL_SIGNAL: u8 = 9;

/// A run of a played program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Execution {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    report: ExitReport,
    is_endless: bool,
}

impl Execution {
    /// Creates a run that ends with a code and writes nothing.
    #[must_use]
    pub fn new(code: u8) -> Self {
        Self::ended(Exit::Code(code))
    }

    /// Creates a run that ends in another way, and writes nothing.
    #[must_use]
    pub fn ended(exit: Exit) -> Self {
        let report = ExitReport { exit, duration: Duration::ZERO, left_processes: 0, refused: Vec::new() };
        Self { stdout: Vec::new(), stderr: Vec::new(), report, is_endless: false }
    }

    /// Creates a run that goes on until the tool kills it.
    #[must_use]
    pub fn endless() -> Self {
        Self { is_endless: true, ..Self::ended(Exit::Signal(KILL_SIGNAL)) }
    }

    /// Sets what the program writes to stdout.
    #[must_use]
    pub fn stdout(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdout = bytes.into();
        self
    }

    /// Sets what the program writes to stderr. If the launch merges the streams, it comes after stdout.
    #[must_use]
    pub fn stderr(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stderr = bytes.into();
        self
    }

    /// Sets the time from start to end. The test does not wait for it.
    #[must_use]
    pub fn takes(mut self, duration: Duration) -> Self {
        self.report.duration = duration;
        self
    }

    /// Sets the number of background processes that the host ended with the program.
    #[must_use]
    pub fn left_processes(mut self, number: u32) -> Self {
        self.report.left_processes = number;
        self
    }

    /// Adds something that the confinement refused.
    #[must_use]
    pub fn refused(mut self, what: impl Into<String>) -> Self {
        self.report.refused.push(what.into());
        self
    }
}

/// A start of a played program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Started {
    /// The key of the program.
    pub key: String,
    /// What it was started with.
    pub launch: Launch,
    /// What was written to its stdin.
    pub stdin: Vec<u8>,
    /// Whether the tool killed it before its end.
    pub is_killed: bool,
}

type Runs = dyn Fn(&Launch) -> Result<Execution, String>;

/// The logic of a played program.
#[derive(Clone)]
pub(super) struct ProgramLogic(Rc<Runs>);

impl ProgramLogic {
    pub(super) fn new(logic: impl Fn(&Launch) -> Result<Execution, String> + 'static) -> Self {
        Self(Rc::new(logic))
    }
}

impl fmt::Debug for ProgramLogic {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a played program")
    }
}

/// A played program.
#[derive(Debug)]
pub(crate) struct Program {
    key: String,
    logic: ProgramLogic,
    starts: Rc<RefCell<Vec<Started>>>,
}

impl Program {
    pub(super) fn new(key: &str, logic: ProgramLogic, starts: Rc<RefCell<Vec<Started>>>) -> Self {
        Self { key: key.to_owned(), logic, starts }
    }

    pub(crate) fn start(&self, launch: &Launch) -> Result<Running, String> {
        let Execution { mut stdout, mut stderr, report, is_endless } = (self.logic.0)(launch)?;
        if launch.is_merged() {
            stdout.append(&mut stderr);
        }
        let mut starts = self.starts.borrow_mut();
        starts.push(Started { key: self.key.clone(), launch: launch.clone(), stdin: Vec::new(), is_killed: false });
        let start = Start { index: starts.len() - 1, starts: Rc::clone(&self.starts) };
        let stderr = (!launch.is_merged()).then(|| OutputPipe::new(stderr));
        let (stdout, stderr) = (RefCell::new(Some(OutputPipe::new(stdout))), RefCell::new(stderr));
        let stdin = RefCell::new(Some(InputPipe { start: start.clone() }));
        Ok(Running { start, stdin, stdout, stderr, report, is_endless: Cell::new(is_endless) })
    }
}

/// The entry of a start in the list of the context.
#[derive(Debug, Clone)]
struct Start {
    index: usize,
    starts: Rc<RefCell<Vec<Started>>>,
}

/// A run of a played program.
#[derive(Debug)]
pub(crate) struct Running {
    start: Start,
    stdin: RefCell<Option<InputPipe>>,
    stdout: RefCell<Option<OutputPipe>>,
    stderr: RefCell<Option<OutputPipe>>,
    report: ExitReport,
    is_endless: Cell<bool>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Running {
    pub(crate) fn stdin(&self) -> Option<InputPipe> {
        self.stdin.take()
    }

    pub(crate) fn stdout(&self) -> Option<OutputPipe> {
        self.stdout.take()
    }

    pub(crate) fn stderr(&self) -> Option<OutputPipe> {
        self.stderr.take()
    }

    pub(crate) fn exit(&self) -> Option<ExitReport> {
        (!self.is_endless.get()).then(|| self.report.clone())
    }

    pub(crate) fn kill(&self) {
        if self.is_endless.replace(false) {
            self.start.starts.borrow_mut()[self.start.index].is_killed = true;
        }
    }

    #[expect(clippy::panic, reason = "a test that would wait without end has failed")]
    pub(crate) fn next_event(
        &self,
        feed: &mut Feed<InputPipe>,
        sides: [&mut Side<OutputPipe>; 2],
        time_max: Option<Duration>,
    ) -> io::Result<RunningEvent> {
        if let Feed::Open { pipe, input, .. } = feed {
            pipe.write_all(input.get_ref())?;
            *feed = Feed::Done;
        }
        let [stdout, stderr] = sides;
        if let Some(bytes) = read_side(stdout)? {
            return Ok(RunningEvent::Stdout(bytes));
        }
        if let Some(bytes) = read_side(stderr)? {
            return Ok(RunningEvent::Stderr(bytes));
        }
        if let Some(report) = self.exit() {
            return Ok(RunningEvent::Ended(report));
        }
        let Some(time_max) = time_max else { panic!("the played program runs until the tool kills it") };
        std::thread::sleep(time_max);
        Ok(RunningEvent::Elapsed)
    }
}

fn read_side(side: &mut Side<OutputPipe>) -> io::Result<Option<Vec<u8>>> {
    let Side::Open(pipe) = side else { return Ok(None) };
    let mut bytes = vec![0; CHUNK_BYTES];
    let length = pipe.read(&mut bytes)?;
    bytes.truncate(length);
    if bytes.is_empty() {
        *side = Side::Done;
        return Ok(None);
    }
    Ok(Some(bytes))
}

/// Collects what a tool writes to stdin.
#[derive(Debug)]
pub(crate) struct InputPipe {
    start: Start,
}

impl Write for InputPipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.start.starts.borrow_mut()[self.start.index].stdin.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A played stream.
#[derive(Debug)]
pub(crate) struct OutputPipe {
    bytes: io::Cursor<Vec<u8>>,
}

impl OutputPipe {
    fn new(bytes: Vec<u8>) -> Self {
        Self { bytes: io::Cursor::new(bytes) }
    }
}

impl Read for OutputPipe {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.bytes.read(buffer)
    }
}
