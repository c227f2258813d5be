//! Forks a process, and turns it into the program.

use super::privileges;
use super::system::{self, close_all_except, close_range, exit, fork, set_signal};
use super::tier_cell::{ProgramDescriptors, TierCell};
use crate::confinement::ConfinementLimits;
use crate::message::{START_BYTES_MAX, StartDescriptors, StartRequest, receive_bytes, send_bytes, socket_pair};
use crate::program::same_file;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::{FdFlags, fcntl_getfd, fcntl_setfd};
use rustix::net::{RecvFlags, SendFlags};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, PidfdFlags, Resource, Rlimit, Signal, pidfd_open, setrlimit, setsid};
use seccompiler::BpfProgram;
use std::convert::Infallible;
use std::ffi::CString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;

/// The message with the descriptors of a start.
const LAUNCH: &[u8] = b"launch";

/// Maximum bytes of the reason why a program was not executed.
const REASON_BYTES_MAX: u64 = 4096;

/// The permission bits that new files do not get.
const UMASK: u32 = 0o022;

/// Maximum bytes of a core file. With 1, the kernel neither writes a file nor starts the machine's crash handler, which
/// would run unconfined and read the program's memory. With 0, it starts the handler.
const CORE_BYTES_MAX: u64 = 1;

/// Maximum bytes that a program may lock in memory: the kernel's default.
const LOCKED_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// A program that was started, with a descriptor of its process.
pub(super) struct StartedProgram {
    pub(super) pid: Pid,
    pub(super) process: OwnedFd,
}

/// A process that waits to become the program. It is forked before the start arrives, because that and its filters take
/// half a millisecond. It has no rights of the program yet, and ends when this is dropped.
pub(super) struct Launcher {
    pid: Pid,
    /// Takes the descriptors of the program.
    descriptors: OwnedFd,
    /// Takes the [`StartRequest`].
    request: OwnedFd,
    /// Tells why the program was not executed. It closes when the program is executed.
    reason: OwnedFd,
}

/// The ends of a launcher's own process.
struct LauncherEnds {
    descriptors: OwnedFd,
    request: OwnedFd,
    reason: OwnedFd,
}

impl Launcher {
    /// Forks it in a prepared cell.
    pub(super) fn fork<T: TierCell>(cell: &T) -> io::Result<Self> {
        let filters = T::filters()?;
        let (descriptors, its_descriptors) = socket_pair()?;
        let (its_request, request) = pipe_with(PipeFlags::CLOEXEC)?;
        let (reason, its_reason) = pipe_with(PipeFlags::CLOEXEC)?;
        // Above the standard streams, which the child replaces while it still needs these.
        let ends = LauncherEnds {
            descriptors: above_streams(&its_descriptors)?,
            request: above_streams(&its_request)?,
            reason: above_streams(&its_reason)?,
        };
        let Some(pid) = fork()? else {
            drop((descriptors, request, reason, its_descriptors, its_request, its_reason));
            exit(ends.wait_and_become(cell, &filters))
        };
        Ok(Self { pid, descriptors, request, reason })
    }

    /// Starts the program of a request. Returns when it was executed.
    pub(super) fn start(
        self,
        request: &StartRequest,
        descriptors: StartDescriptors<OwnedFd>,
    ) -> io::Result<StartedProgram> {
        let StartDescriptors { control: _control, request: _, program, stdin, stdout, stderr, directories } =
            descriptors;
        let granted = [&program, &stdin, &stdout, &stderr].into_iter().chain(&directories);
        let granted: Vec<BorrowedFd<'_>> = granted.map(AsFd::as_fd).collect();
        let sent = send_bytes(&self.descriptors, LAUNCH, &granted, SendFlags::empty())
            .and_then(|()| File::from(self.request).write_all(&serde_json::to_vec(request)?));
        // A copy of the streams in the supervisor would keep the host from seeing their end.
        drop((program, stdin, stdout, stderr, directories, self.descriptors));
        let mut text = String::new();
        File::from(self.reason).take(REASON_BYTES_MAX).read_to_string(&mut text)?;
        if !text.is_empty() {
            return Err(io::Error::other(text));
        }
        // Only now, because the reason of a launcher that has failed says more than its closed socket.
        sent?;
        Ok(StartedProgram { pid: self.pid, process: pidfd_open(self.pid, PidfdFlags::empty())? })
    }
}

impl LauncherEnds {
    /// Waits for a start, and executes its program in this process. Returns the exit code if there is none, or if that
    /// fails.
    fn wait_and_become<T: TierCell>(self, cell: &T, filters: &[BpfProgram]) -> i32 {
        let become_program = || -> io::Result<Option<Infallible>> {
            // The socket of the cell must close with its supervisor.
            close_all_except(&[self.descriptors.as_fd(), self.request.as_fd(), self.reason.as_fd()])?;
            // Until the streams of the program have these numbers, no other descriptor may get one of them.
            put_streams([&self.reason; 3])?;
            setsid()?;
            // The filters keep the limit of core files as it is from now on.
            set_limit(Resource::Core, CORE_BYTES_MAX)?;
            privileges::refuse_calls(filters)?;
            let Some((_, granted)) = receive_bytes(&self.descriptors, RecvFlags::empty())? else { return Ok(None) };
            let granted = ProgramDescriptors::from_list(granted)?;
            let mut bytes = Vec::new();
            File::from(self.request).take(START_BYTES_MAX).read_to_end(&mut bytes)?;
            let request: StartRequest = serde_json::from_slice(&bytes)?;
            Err(become_program(cell, &request, &granted))
        };
        match become_program() {
            Ok(_) => 0,
            Err(error) => {
                let _ = File::from(self.reason).write_all(error.to_string().as_bytes());
                127
            }
        }
    }
}

/// Executes the program in this process. Returns only if that fails.
fn become_program<T: TierCell>(cell: &T, request: &StartRequest, granted: &ProgramDescriptors) -> io::Error {
    let prepare = || -> io::Result<OwnedFd> {
        // As the program's own view has it, so that the program finds itself by its path.
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let found = open(&request.path, flags, Mode::empty())?;
        same_file(&found, &granted.program)?;
        rustix::process::chdir(&request.confinement.working_directory).map_err(|error| {
            let place = request.confinement.working_directory.display();
            io::Error::other(format!("it cannot start in {place}: {}", io::Error::from(error)))
        })?;
        put_streams(granted.streams.each_ref())?;
        // What is still open is closed by `execveat`.
        close_range(3, u32::MAX, libc::CLOSE_RANGE_CLOEXEC)?;
        if request.script {
            // The interpreter opens the script by the descriptor's name.
            fcntl_setfd(&found, fcntl_getfd(&found)? - FdFlags::CLOEXEC)?;
        }
        rustix::process::umask(Mode::from_raw_mode(UMASK));
        limit(&request.confinement.limits)?;
        // Rust ignores this signal, and programs expect it.
        set_signal(Signal::PIPE, libc::SIG_DFL)?;
        cell.enter(request, granted)?;
        Ok(found)
    };
    match prepare() {
        Ok(program) => execute(&program, request),
        Err(error) => error,
    }
}

/// Returns a copy of a descriptor whose number is none of a standard stream.
fn above_streams(descriptor: &OwnedFd) -> io::Result<OwnedFd> {
    Ok(rustix::io::fcntl_dupfd_cloexec(descriptor, 3)?)
}

/// Makes three descriptors the standard streams. Their copies have numbers above 2, so that none replaces another.
pub(super) fn put_streams(streams: [&OwnedFd; 3]) -> io::Result<()> {
    let mut safe = Vec::new();
    for stream in streams {
        safe.push(rustix::io::fcntl_dupfd_cloexec(stream, 3)?);
    }
    rustix::stdio::dup2_stdin(&safe[0])?;
    rustix::stdio::dup2_stdout(&safe[1])?;
    rustix::stdio::dup2_stderr(&safe[2])?;
    Ok(())
}

/// Sets what the kernel limits for each process by itself.
fn limit(limits: &ConfinementLimits) -> io::Result<()> {
    // The kernel counts whole seconds of one process. The supervisor compares the exact time of all. At the lower limit
    // the kernel sends SIGXCPU, which says why, and at the maximum SIGKILL.
    let cpu = limits.cpu_time.as_secs() + 1;
    set_limits(Resource::Cpu, cpu, cpu + 1)?;
    let rows = [
        (Resource::Data, limits.memory_bytes),
        (Resource::Fsize, limits.file_bytes),
        (Resource::Nofile, limits.open_files.into()),
        (Resource::Memlock, LOCKED_BYTES_MAX),
        (Resource::Msgqueue, 0),
        (Resource::Nice, 0),
        (Resource::Rtprio, 0),
    ];
    rows.into_iter().try_for_each(|(resource, most)| set_limit(resource, most))
}

/// Sets a limit that the program cannot raise.
fn set_limit(resource: Resource, most: u64) -> io::Result<()> {
    set_limits(resource, most, most)
}

/// Sets a limit and its maximum. A lower maximum of the host stays.
fn set_limits(resource: Resource, current: u64, maximum: u64) -> io::Result<()> {
    let before = rustix::process::getrlimit(resource).maximum.unwrap_or(u64::MAX);
    let [current, maximum] = [current, maximum].map(|most| Some(most.min(before)));
    Ok(setrlimit(resource, Rlimit { current, maximum })?)
}

fn execute(program: &OwnedFd, request: &StartRequest) -> io::Error {
    let environment = request.confinement.environment.iter().map(|(name, value)| format!("{name}={value}"));
    let words = |words: Vec<Vec<u8>>| words.into_iter().map(CString::new).collect::<Result<Vec<_>, _>>();
    let name = request.name.as_os_str().as_bytes().to_vec();
    let arguments = [name].into_iter().chain(request.arguments.iter().map(|word| word.clone().into_bytes())).collect();
    let (Ok(arguments), Ok(environment)) = (words(arguments), words(environment.map(String::into_bytes).collect()))
    else {
        return io::Error::other("an argument or a variable has a NUL character");
    };
    let error = system::execute(program, &arguments, &environment);
    io::Error::new(error.kind(), format!("{} cannot be executed: {error}", request.name.display()))
}
