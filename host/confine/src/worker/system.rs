//! The system calls that have no safe wrapper. The only file of the broker with unsafe code.

#![expect(unsafe_code, reason = "clone, execveat, signals and mount_setattr have no safe wrapper")]

use rustix::fd::{AsRawFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::process::{Pid, Signal};
use std::ffi::CString;
use std::io;
use std::time::Duration;

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

pub(super) fn set_signal(signal: Signal, handler: libc::sighandler_t) -> io::Result<()> {
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

pub(super) fn close_range(first: u32, last: u32, flags: libc::c_uint) -> io::Result<()> {
    // SAFETY: the callers are in a process that was forked, and no object of it uses a descriptor that it closes.
    let closed = unsafe { libc::syscall(libc::SYS_close_range, first, last, flags) };
    if closed == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Executes an open file in this process. Returns only if that fails.
pub(super) fn execute(program: &OwnedFd, arguments: &[CString], environment: &[CString]) -> io::Error {
    let pointers = |words: &[CString]| -> Vec<*const libc::c_char> {
        words.iter().map(|word| word.as_ptr()).chain([std::ptr::null()]).collect()
    };
    let (arguments_list, environment_list) = (pointers(arguments), pointers(environment));
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
    io::Error::last_os_error()
}

/// Switches on the loopback interface of this network namespace, netdevice(7).
pub(super) fn raise_loopback() -> io::Result<()> {
    use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};
    let socket = socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
    // SAFETY: all bytes of `ifreq` may be zero. The name ends with NUL, and the call reads the structure.
    let raised = unsafe {
        let mut request: libc::ifreq = std::mem::zeroed();
        request.ifr_name[0] = libc::c_char::from_ne_bytes([b'l']);
        request.ifr_name[1] = libc::c_char::from_ne_bytes([b'o']);
        request.ifr_ifru.ifru_flags = libc::IFF_UP as libc::c_short;
        libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS as _, &raw const request)
    };
    if raised == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
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

/// Returns the CPU time of the children of this process that were waited for, and of their children.
pub(super) fn children_cpu_time() -> Duration {
    // SAFETY: all bytes of `rusage` may be zero, and the call fills it.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage);
        usage
    };
    let time = |value: libc::timeval| {
        let seconds = u64::try_from(value.tv_sec).unwrap_or_default();
        Duration::from_secs(seconds) + Duration::from_micros(u64::try_from(value.tv_usec).unwrap_or_default())
    };
    time(usage.ru_utime) + time(usage.ru_stime)
}
