//! The host's side of the broker: the process that starts programs.

use crate::confinement::Confinement;
use crate::error::ConfineError;
use crate::message::{
    DESCRIPTORS_MAX, START_BYTES_MAX, START_PROGRAM, START_WORKER, StartDescriptors, StartRequest, receive, send_bytes,
    socket_pair,
};
use crate::program::OpenProgram;
use crate::running::{RunningWorker, StandardStreams, StartingProgram};
use crate::tier::{Tier, TierReport};
use crate::worker::BROKER_ARGUMENT;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::net::{RecvFlags, SendFlags};
use rustix::pipe::{PipeFlags, pipe_with};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Seek, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// The program that becomes the broker. Its `main` must begin with [`broker_main`](crate::broker_main) if it gets these
/// arguments.
#[derive(Clone, Debug)]
pub struct BrokerProgram {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
}

impl BrokerProgram {
    /// Names a program that becomes the broker if its only argument is [`BROKER_ARGUMENT`].
    pub fn new(program: PathBuf) -> Self {
        Self { program, arguments: vec![BROKER_ARGUMENT.into()] }
    }
}

/// The process that starts programs. Dropping this ends it. It does not end the programs, whose handles do that.
#[derive(Debug)]
pub struct Broker {
    socket: OwnedFd,
    report: TierReport,
    process: Child,
}

/// What to start.
#[derive(Debug)]
pub struct ProgramStart<'a> {
    /// The program.
    pub program: &'a OpenProgram,
    /// The arguments after the program's own name.
    pub arguments: Vec<String>,
    /// What it may see and use.
    pub confinement: Confinement,
    /// The directories of the confinement, in its order.
    pub directories: &'a [BorrowedFd<'a>],
    /// Whether stderr goes to the stream of stdout.
    pub merge: bool,
    /// Whether the caller refuses a tier below namespaces.
    pub namespaces_required: bool,
}

impl Broker {
    /// Starts the broker, and waits until it knows which confinement this machine offers. Blocks for some milliseconds.
    ///
    /// # Errors
    /// The process cannot be started, or is another program.
    pub fn start(program: &BrokerProgram) -> Result<Self, ConfineError> {
        Self::try_start(program).map_err(ConfineError::Broker)
    }

    fn try_start(program: &BrokerProgram) -> io::Result<Self> {
        let (ours, theirs) = socket_pair()?;
        #[expect(clippy::disallowed_methods, reason = "the broker is the one process that starts programs")]
        let mut command = Command::new(&program.program);
        // All cells are forked from this process. A program could find the host's variables in one of them.
        let command = command.args(&program.arguments).env_clear().current_dir("/");
        let mut process = command.stdin(Stdio::from(theirs)).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        let report = match receive(&ours, RecvFlags::empty()) {
            Ok(Some((report, _))) => report,
            other => {
                let _ = process.kill();
                let _ = process.wait();
                let why = || io::Error::other("the program did not become a broker: is init() the first line of main?");
                return Err(other.err().unwrap_or_else(why));
            }
        };
        Ok(Self { socket: ours, report, process })
    }

    /// Returns how this machine confines programs.
    pub fn tier(&self) -> &TierReport {
        &self.report
    }

    /// Begins to start a program. Blocks if the broker is busy.
    ///
    /// # Errors
    /// The machine cannot confine programs, or not as required. Or the broker has ended.
    pub fn begin(&self, start: ProgramStart<'_>) -> Result<StartingProgram, ConfineError> {
        let tier = match self.report.tier {
            None => return Err(ConfineError::NoTier(self.report.reason())),
            Some(Tier::Landlock) if start.namespaces_required => {
                return Err(ConfineError::NamespacesRequired(self.report.reason()));
            }
            Some(tier) => tier,
        };
        let (control, streams) = self.hand_over(start).map_err(ConfineError::Broker)?;
        Ok(StartingProgram { control, tier, streams })
    }

    /// Starts the worker of the host's own program: the function that [`broker_main`](crate::broker_main) was called
    /// with, in a process of its own. A host that has taken the start of programs from itself can still start it.
    ///
    /// # Errors
    /// The broker has ended.
    pub fn start_worker(&self) -> Result<RunningWorker, ConfineError> {
        let start = || -> io::Result<RunningWorker> {
            let (stdin_read, stdin) = pipe_with(PipeFlags::CLOEXEC)?;
            let (stdout, stdout_write) = pipe_with(PipeFlags::CLOEXEC)?;
            let (stderr, stderr_write) = pipe_with(PipeFlags::CLOEXEC)?;
            let (ours, theirs) = socket_pair()?;
            let descriptors = [theirs.as_fd(), stdin_read.as_fd(), stdout_write.as_fd(), stderr_write.as_fd()];
            send_bytes(&self.socket, START_WORKER, &descriptors, SendFlags::empty())?;
            RunningWorker::new(ours, StandardStreams { stdin, stdout, stderr: Some(stderr) })
        };
        start().map_err(ConfineError::Broker)
    }

    /// Sends a start to the broker. Returns the socket to the program's supervisor, and the program's streams.
    fn hand_over(&self, start: ProgramStart<'_>) -> io::Result<(OwnedFd, StandardStreams<OwnedFd>)> {
        let ProgramStart { program, arguments, confinement, directories, merge, .. } = start;
        let (name, path) = (program.name().to_owned(), program.path().to_owned());
        let script = program.is_script();
        let request = StartRequest { name, path, script, arguments, confinement, temporary: None };
        let request = in_memory(&request)?;
        let (stdin_read, stdin) = pipe_with(PipeFlags::CLOEXEC)?;
        let (stdout, stdout_write) = pipe_with(PipeFlags::CLOEXEC)?;
        let (stderr, stderr_write) = if merge {
            (None, stdout_write.try_clone()?)
        } else {
            let (read, write) = pipe_with(PipeFlags::CLOEXEC)?;
            (Some(read), write)
        };
        let (ours, theirs) = socket_pair()?;
        let descriptors = StartDescriptors {
            control: theirs.as_fd(),
            request: request.as_fd(),
            program: program.as_fd(),
            stdin: stdin_read.as_fd(),
            stdout: stdout_write.as_fd(),
            stderr: stderr_write.as_fd(),
            directories: directories.to_vec(),
        };
        let descriptors = descriptors.into_list();
        if descriptors.len() > DESCRIPTORS_MAX {
            return Err(io::Error::other("the confinement has too many directories"));
        }
        send_bytes(&self.socket, START_PROGRAM, &descriptors, SendFlags::empty())?;
        // The program's ends of the streams close here. A copy in the host would keep the host from seeing their end.
        Ok((ours, StandardStreams { stdin, stdout, stderr }))
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        // It holds nothing that must be finished: each program has a supervisor of its own.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn in_memory(request: &StartRequest) -> io::Result<File> {
    let bytes = serde_json::to_vec(request)?;
    if bytes.len() as u64 > START_BYTES_MAX {
        return Err(io::Error::other("the arguments are too long"));
    }
    // Not a pipe, which could fill up: no process reads the request before its descriptor was sent.
    let mut file = File::from(memfd_create("portcullis-start", MemfdFlags::CLOEXEC)?);
    file.write_all(&bytes)?;
    file.rewind()?;
    Ok(file)
}
