//! Forks a process, and turns it into the program.

use super::system::{self, close_range, exit, fork, set_signal};
use super::tier_cell::TierCell;
use crate::confinement::ConfinementLimits;
use crate::message::{StartDescriptors, StartRequest};
use crate::program::same_file;
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags, open};
use rustix::io::{FdFlags, fcntl_getfd, fcntl_setfd};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, PidfdFlags, Resource, Rlimit, Signal, pidfd_open, setrlimit, setsid};
use std::ffi::CString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;

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

/// Starts the program of a request. Returns when it was executed.
pub(super) fn start<T: TierCell>(
    cell: &T,
    request: &StartRequest,
    descriptors: StartDescriptors<OwnedFd>,
) -> io::Result<StartedProgram> {
    let (reason, failed) = pipe_with(PipeFlags::CLOEXEC)?;
    let StartDescriptors { control: _control, request: _, program, stdin, stdout, stderr, directories } = descriptors;
    let pid = fork()?;
    let Some(pid) = pid else {
        let error = become_program(cell, request, &program, [&stdin, &stdout, &stderr]);
        let _ = File::from(failed).write_all(error.to_string().as_bytes());
        exit(127)
    };
    drop((program, stdin, stdout, stderr, directories, failed));
    let mut text = String::new();
    File::from(reason).take(REASON_BYTES_MAX).read_to_string(&mut text)?;
    if !text.is_empty() {
        return Err(io::Error::other(text));
    }
    Ok(StartedProgram { pid, process: pidfd_open(pid, PidfdFlags::empty())? })
}

/// Executes the program in this process. Returns only if that fails.
fn become_program<T: TierCell>(
    cell: &T,
    request: &StartRequest,
    program: &OwnedFd,
    streams: [&OwnedFd; 3],
) -> io::Error {
    let prepare = || -> io::Result<OwnedFd> {
        setsid()?;
        // As the program's own view has it, so that the program finds itself by its path.
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let found = open(&request.path, flags, Mode::empty())?;
        same_file(&found, program)?;
        rustix::process::chdir(&request.confinement.working_directory).map_err(|error| {
            let place = request.confinement.working_directory.display();
            io::Error::other(format!("it cannot start in {place}: {}", io::Error::from(error)))
        })?;
        put_streams(streams)?;
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
        cell.enter(&request.confinement)?;
        Ok(found)
    };
    match prepare() {
        Ok(program) => execute(&program, request),
        Err(error) => error,
    }
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
    let rows = [
        (Resource::Core, CORE_BYTES_MAX),
        (Resource::Cpu, limits.cpu_time.as_secs() + 1),
        (Resource::Data, limits.memory_bytes),
        (Resource::Fsize, limits.file_bytes),
        (Resource::Nofile, limits.open_files.into()),
        (Resource::Memlock, LOCKED_BYTES_MAX),
        (Resource::Msgqueue, 0),
        (Resource::Nice, 0),
        (Resource::Rtprio, 0),
    ];
    for (resource, most) in rows {
        // A lower maximum of the host stays.
        let before = rustix::process::getrlimit(resource).maximum.unwrap_or(u64::MAX);
        let most = Some(most.min(before));
        setrlimit(resource, Rlimit { current: most, maximum: most })?;
    }
    Ok(())
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
