//! Forks processes, and turns one into the program. The only file of this crate with unsafe code.

#![expect(unsafe_code, reason = "clone, execveat, signals and mount_setattr have no safe wrapper")]

use super::privileges;
use super::tier_cell::TierCell;
use crate::confinement::{Confinement, ConfinementLimits};
use crate::message::{StartDescriptors, StartRequest};
use rustix::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use rustix::io::{Errno, FdFlags, fcntl_getfd, fcntl_setfd};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, PidfdFlags, Resource, Rlimit, Signal, pidfd_open, setrlimit, setsid};
use std::ffi::CString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Maximum bytes of the reason why a program was not executed.
const REASON_BYTES_MAX: u64 = 4096;

/// The permission bits that new files do not get.
const UMASK: u32 = 0o022;

/// Maximum bytes that a program may lock in memory: the kernel's default.
const LOCKED_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// Forks this process, which has one thread. Returns none in the child.
pub(super) fn fork() -> Result<Option<Pid>, Errno> {
    fork_with(0)
}

/// Forks this process into new namespaces.
pub(super) fn fork_with(namespaces: libc::c_int) -> Result<Option<Pid>, Errno> {
    let flags = libc::c_long::from(namespaces | libc::SIGCHLD);
    // SAFETY: without `CLONE_VM` and with no stack, this is `fork`. The process has one thread, so the child may
    // allocate and take locks.
    let number = unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) };
    match i32::try_from(number) {
        Ok(0) => Ok(None),
        Ok(number) if number > 0 => Ok(Pid::from_raw(number)),
        _ => Err(last_error()),
    }
}

fn last_error() -> Errno {
    Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO)
}

thread_local! {
    /// The user and the group of the broker, read before any cell has its own namespace.
    static OUTER_USER: (u32, u32) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
}

/// Returns the user and the group of the host. The broker calls it first.
pub(super) fn outer_user() -> (u32, u32) {
    OUTER_USER.with(|user| *user)
}

/// Ends this process without running what its parent would run at the end.
pub(super) fn exit(code: i32) -> ! {
    // SAFETY: `_exit` has no preconditions.
    unsafe { libc::_exit(code) }
}

/// Lets children disappear when they end.
pub(super) fn ignore_children() -> io::Result<()> {
    set_signal(Signal::CHILD, libc::SIG_IGN)
}

/// Keeps children that have ended until they are waited for.
pub(super) fn heed_children() -> io::Result<()> {
    set_signal(Signal::CHILD, libc::SIG_DFL)
}

fn set_signal(signal: Signal, handler: libc::sighandler_t) -> io::Result<()> {
    // SAFETY: both handlers are the system's own.
    let before = unsafe { libc::signal(signal.as_raw(), handler) };
    if before == libc::SIG_ERR { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Closes all descriptors besides these, in the whole process.
pub(super) fn close_all_except(kept: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut kept: Vec<u32> = kept.iter().map(|descriptor| descriptor.as_raw_fd().unsigned_abs()).collect();
    kept.sort_unstable();
    let mut first = 0;
    for one in kept.into_iter().chain([u32::MAX]) {
        if first < one {
            close_range(first, one - 1, 0)?;
        }
        first = one.saturating_add(1);
    }
    Ok(())
}

fn close_range(first: u32, last: u32, flags: libc::c_uint) -> io::Result<()> {
    // SAFETY: the callers own what they close: no object of this process refers to it any more, because each caller is
    // in a process that was forked and uses none of them.
    let closed = unsafe { libc::syscall(libc::SYS_close_range, first, last, flags) };
    if closed == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// A program that was started, with a descriptor of its process.
pub(super) struct Launch {
    pub(super) pid: Pid,
    pub(super) process: OwnedFd,
}

/// Starts the program of a request. Returns when it was executed.
pub(super) fn start<T: TierCell>(
    cell: &T,
    request: &StartRequest,
    descriptors: StartDescriptors<OwnedFd>,
) -> io::Result<Launch> {
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
    Ok(Launch { pid, process: pidfd_open(pid, PidfdFlags::empty())? })
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
        let program = cell.program(request, program.as_fd())?;
        rustix::process::chdir(&request.confinement.working_directory).map_err(|error| {
            let place = request.confinement.working_directory.display();
            io::Error::other(format!("it cannot start in {place}: {}", io::Error::from(error)))
        })?;
        put_streams(streams)?;
        // What is still open is closed by `execveat`.
        close_range(3, u32::MAX, libc::CLOSE_RANGE_CLOEXEC)?;
        if request.script {
            // The interpreter opens the script by the descriptor's name.
            fcntl_setfd(&program, fcntl_getfd(&program)? - FdFlags::CLOEXEC)?;
        }
        rustix::process::umask(rustix::fs::Mode::from_raw_mode(UMASK));
        limit(&request.confinement.limits)?;
        // Rust ignores this signal, and programs expect it.
        set_signal(Signal::PIPE, libc::SIG_DFL)?;
        cell.enter(&request.confinement)?;
        Ok(program)
    };
    match prepare() {
        Ok(program) => execute(&program, request),
        Err(error) => error,
    }
}

/// Makes three descriptors the standard streams. None of them has a number below 3 itself, or the order would matter.
fn put_streams(streams: [&OwnedFd; 3]) -> io::Result<()> {
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
        (Resource::Core, 0),
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
    let name = bytes_of(&request.name);
    let arguments = [name].into_iter().chain(request.arguments.iter().map(|word| word.clone().into_bytes())).collect();
    let (Ok(arguments), Ok(environment)) = (words(arguments), words(environment.map(String::into_bytes).collect()))
    else {
        return io::Error::other("an argument or a variable has a NUL character");
    };
    let pointers = |words: &[CString]| -> Vec<*const libc::c_char> {
        words.iter().map(|word| word.as_ptr()).chain([std::ptr::null()]).collect()
    };
    let (arguments_list, environment_list) = (pointers(&arguments), pointers(&environment));
    // SAFETY: both lists end with null, and their strings live until the call returns.
    unsafe {
        libc::syscall(
            libc::SYS_execveat,
            program.as_raw_fd(),
            c"".as_ptr(),
            arguments_list.as_ptr(),
            environment_list.as_ptr(),
            libc::AT_EMPTY_PATH,
        );
    }
    let error = io::Error::last_os_error();
    io::Error::new(error.kind(), format!("{} cannot be executed: {error}", request.name.display()))
}

fn bytes_of(path: &Path) -> Vec<u8> {
    path.as_os_str().as_bytes().to_vec()
}

/// Takes every privilege from this process, for good.
pub(super) fn drop_privileges(filters: &[seccompiler::BpfProgram]) -> io::Result<()> {
    privileges::drop_capabilities()?;
    for filter in filters {
        // This sets `no_new_privs` too.
        seccompiler::apply_filter(filter).map_err(|error| io::Error::other(error.to_string()))?;
    }
    Ok(())
}

/// Kills every process that this process may signal, besides itself. In a process namespace of its own, these are all
/// others of the namespace.
pub(super) fn kill_everyone() -> io::Result<()> {
    // SAFETY: `kill` has no preconditions.
    let killed = unsafe { libc::kill(-1, libc::SIGKILL) };
    if killed == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Starts the loopback device of this network namespace.
pub(super) fn start_loopback() -> io::Result<()> {
    let socket = rustix::net::socket(rustix::net::AddressFamily::INET, rustix::net::SocketType::DGRAM, None)?;
    // SAFETY: all bytes of `ifreq` may be zero.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (target, byte) in request.ifr_name.iter_mut().zip(b"lo") {
        *target = libc::c_char::from_ne_bytes([*byte]);
    }
    request.ifr_ifru.ifru_flags = libc::c_short::try_from(libc::IFF_UP | libc::IFF_RUNNING).unwrap_or_default();
    // SAFETY: the structure has a name and flags, which is what this call reads.
    let done = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Changes the attributes of a mount and of all mounts below it.
pub(super) fn set_mount_attributes(place: &CString, attributes: u64) -> io::Result<()> {
    // `struct mount_attr`, mount_setattr(2).
    #[repr(C)]
    struct MountAttributes {
        set: u64,
        clear: u64,
        propagation: u64,
        user_namespace: u64,
    }
    let wanted = MountAttributes { set: attributes, clear: 0, propagation: 0, user_namespace: 0 };
    // SAFETY: the path ends with NUL, and the structure has the size that is passed.
    let changed = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            place.as_ptr(),
            libc::AT_RECURSIVE,
            &raw const wanted,
            size_of::<MountAttributes>(),
        )
    };
    if changed == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Returns the limits of a process for the kernel, where the number of processes is one of them.
pub(super) fn limit_processes(confinement: &Confinement) -> io::Result<()> {
    let most = Some(u64::from(confinement.limits.processes));
    Ok(setrlimit(Resource::Nproc, Rlimit { current: most, maximum: most })?)
}

/// Returns the CPU time of the children of this process that were waited for, and of their children.
pub(super) fn children_cpu_time() -> std::time::Duration {
    // SAFETY: all bytes of `rusage` may be zero, and the call fills it.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage);
        usage
    };
    let time = |value: libc::timeval| {
        let seconds = u64::try_from(value.tv_sec).unwrap_or_default();
        std::time::Duration::from_secs(seconds)
            + std::time::Duration::from_micros(u64::try_from(value.tv_usec).unwrap_or_default())
    };
    time(usage.ru_utime) + time(usage.ru_stime)
}
