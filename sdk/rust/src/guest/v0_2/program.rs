//! Programs: `programs.program` and the streams of a run.

use std::io::{self, BufRead, Read, Write};
use std::rc::Rc;
use std::time::Duration;

use super::bindings::portcullis::tool::programs;
use super::bindings::wasi::io::poll::{Pollable, poll};
use super::bindings::wasi::io::streams::{InputStream, OutputStream};
use super::errors;
use super::text::{stream_error, write_blocking, write_some};
use super::wait::Deadline;
use crate::Failure;
use crate::program::exit::{Exit, ExitReport, RunningEvent};
use crate::program::feed::{Feed, Side};
use crate::program::launch::{Launch, Missing};

/// Number of bytes to read at once.
const READ_BYTES: u64 = 64 * 1024;

/// The handle behind a program.
#[derive(Debug)]
pub(crate) struct Program {
    handle: programs::Program,
}

impl Program {
    pub(super) fn open(key: &str) -> Result<Self, Failure> {
        let handle = programs::open_program(key).map_err(|why| errors::no_handle("program", key, why))?;
        Ok(Self { handle })
    }

    pub(crate) fn start(&self, launch: &Launch) -> Result<Running, String> {
        let missing = launch.missing().map(|missing| match missing {
            Missing::Destination(destination) => programs::Missing::Destination(destination.clone()),
            Missing::ReadableDirectory(path) => programs::Missing::ReadableDirectory(path.clone()),
            Missing::WritableDirectory(path) => programs::Missing::WritableDirectory(path.clone()),
        });
        let launch = programs::Launch {
            arguments: launch.arguments().to_vec(),
            environment: launch.variables().to_vec(),
            directory: launch.start_directory().map(str::to_owned),
            merge: launch.is_merged(),
        };
        let started = match missing {
            Some(missing) => self.handle.start_with(&launch, &missing),
            None => self.handle.start(&launch),
        };
        started.map(|handle| Running { handle: Rc::new(handle) })
    }
}

/// The handle behind a program that runs.
#[derive(Debug)]
pub(crate) struct Running {
    handle: Rc<programs::Running>,
}

impl Drop for Running {
    /// Ends the program even if the tool still holds one of its streams.
    fn drop(&mut self) {
        if self.handle.exit().is_none() {
            self.handle.kill();
        }
    }
}

impl Running {
    pub(crate) fn stdin(&self) -> Option<InputPipe> {
        self.handle.stdin().map(|stream| InputPipe { stream, _running: Rc::clone(&self.handle) })
    }

    pub(crate) fn stdout(&self) -> Option<OutputPipe> {
        self.handle.stdout().map(|stream| self.output_pipe(stream))
    }

    pub(crate) fn stderr(&self) -> Option<OutputPipe> {
        self.handle.stderr().map(|stream| self.output_pipe(stream))
    }

    fn output_pipe(&self, stream: InputStream) -> OutputPipe {
        OutputPipe { stream, _running: Rc::clone(&self.handle) }
    }

    pub(crate) fn exit(&self) -> Option<ExitReport> {
        self.handle.exit().map(report)
    }

    pub(crate) fn kill(&self) {
        self.handle.kill();
    }

    /// Waits for the next event of `sides`: stdout and stderr. Writes the input in the meantime.
    pub(crate) fn next_event(
        &self,
        feed: &mut Feed<InputPipe>,
        sides: [&mut Side<OutputPipe>; 2],
        time_max: Option<Duration>,
    ) -> io::Result<RunningEvent> {
        let deadline = Deadline::after(time_max);
        let [stdout, stderr] = sides;
        loop {
            write_input(feed);
            if let Some(bytes) = read_side(stdout)? {
                return Ok(RunningEvent::Stdout(bytes));
            }
            if let Some(bytes) = read_side(stderr)? {
                return Ok(RunningEvent::Stderr(bytes));
            }
            let has_output = matches!(stdout, Side::Open(_)) || matches!(stderr, Side::Open(_));
            if !has_output && let Some(report) = self.exit() {
                return Ok(RunningEvent::Ended(report));
            }
            // The end of the program stays ready, so it counts only when there is nothing left to read.
            let end = (!has_output).then(|| self.handle.subscribe());
            let input = match feed {
                Feed::Open { pipe, .. } => Some(pipe.stream.subscribe()),
                Feed::New(_) | Feed::Done => None,
            };
            let pollables = [subscribe(stdout), subscribe(stderr), input, end, deadline.timer()];
            let pollables: Vec<&Pollable> = pollables.iter().flatten().collect();
            poll(&pollables);
            if deadline.is_over() {
                return Ok(RunningEvent::Elapsed);
            }
        }
    }
}

fn subscribe(side: &Side<OutputPipe>) -> Option<Pollable> {
    match side {
        Side::Open(pipe) => Some(pipe.stream.subscribe()),
        Side::Ready | Side::Done => None,
    }
}

/// Writes as much of the input as the program accepts now. A program that closes its stdin does not want the rest.
fn write_input(feed: &mut Feed<InputPipe>) {
    while let Feed::Open { pipe, input } = feed {
        let rest = input.fill_buf().unwrap_or_default();
        let is_over = if rest.is_empty() {
            match pipe.stream.check_write() {
                Ok(0) => return,
                Ok(_) | Err(_) => true,
            }
        } else {
            match write_some(&pipe.stream, rest) {
                Ok(0) => return,
                Ok(bytes) => {
                    let is_last = bytes == rest.len();
                    input.consume(bytes);
                    // Dropping the stream could lose bytes that the host has accepted and not passed on.
                    is_last && pipe.stream.flush().is_err()
                }
                Err(_) => true,
            }
        };
        if is_over {
            *feed = Feed::Done;
        }
    }
}

/// Reads what has arrived; none if nothing has.
fn read_side(side: &mut Side<OutputPipe>) -> io::Result<Option<Vec<u8>>> {
    let Side::Open(pipe) = side else { return Ok(None) };
    match pipe.stream.read(READ_BYTES) {
        Ok(bytes) if bytes.is_empty() => Ok(None),
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) => {
            *side = Side::Done;
            match stream_error(error) {
                error if error.kind() == io::ErrorKind::BrokenPipe => Ok(None),
                error => Err(error),
            }
        }
    }
}

fn report(report: programs::ExitReport) -> ExitReport {
    let programs::ExitReport { exit, milliseconds, left_processes, refused } = report;
    let exit = match exit {
        programs::Exit::Code(code) => Exit::Code(code),
        programs::Exit::Signal(signal) => Exit::Signal(signal),
        programs::Exit::Stopped(text) => Exit::Stopped(text),
    };
    ExitReport { exit, duration: Duration::from_millis(milliseconds), left_processes, refused }
}

/// The stream to stdin. Fields are dropped in order, and the host requires children to be dropped first.
#[derive(Debug)]
pub(crate) struct InputPipe {
    stream: OutputStream,
    _running: Rc<programs::Running>,
}

impl Write for InputPipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        write_blocking(&self.stream, bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.blocking_flush().map_err(stream_error)
    }
}

/// The stream of stdout or stderr. Fields are dropped in order, and the host requires children to be dropped first.
#[derive(Debug)]
pub(crate) struct OutputPipe {
    stream: InputStream,
    _running: Rc<programs::Running>,
}

impl Read for OutputPipe {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        let room = u64::try_from(buffer.len()).unwrap_or(READ_BYTES).min(READ_BYTES);
        match self.stream.blocking_read(room).map_err(stream_error) {
            Ok(bytes) => {
                buffer[..bytes.len()].copy_from_slice(&bytes);
                Ok(bytes.len())
            }
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(0),
            Err(error) => Err(error),
        }
    }
}
