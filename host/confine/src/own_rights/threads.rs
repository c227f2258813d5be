//! Limits every thread of the process.

#![expect(unsafe_code, reason = "a handler of a signal that every thread runs, and the two system calls in it")]

use rustix::fd::{AsRawFd, OwnedFd};
use rustix::thread::gettid;
use std::collections::BTreeSet;
use std::io;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a thread may take to handle the signal. A thread in a system call that cannot be interrupted is not left
/// out: the process then reports that it could not confine itself.
const THREAD_TIME_MAX: Duration = Duration::from_secs(5);

/// The wait between two looks at a thread.
const LOOK_AGAIN_AFTER: Duration = Duration::from_micros(50);

/// The rules, while threads limit themselves.
static RULES: AtomicI32 = AtomicI32::new(-1);
/// The number of threads that have limited themselves.
static DONE: AtomicUsize = AtomicUsize::new(0);
/// The error of a thread that could not.
static FAILED: AtomicI32 = AtomicI32::new(0);
/// One process confines itself once at a time.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Limits this thread. It calls nothing that a handler may not call.
extern "C" fn restrict_this_thread(_: libc::c_int) {
    // SAFETY: both system calls are allowed in a handler. The location of `errno` is that of this thread, and its
    // value is restored for the code that the signal interrupted.
    unsafe {
        let place = libc::__errno_location();
        let before = *place;
        let restricted = libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::syscall(libc::SYS_landlock_restrict_self, RULES.load(Ordering::Acquire), 0) == 0;
        if !restricted {
            FAILED.store(*place, Ordering::Release);
        }
        *place = before;
    }
    DONE.fetch_add(1, Ordering::AcqRel);
}

/// Limits all threads of this process.
pub(super) fn restrict_all(rules: &OwnedFd) -> io::Result<()> {
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    RULES.store(rules.as_raw_fd(), Ordering::Release);
    FAILED.store(0, Ordering::Release);
    // A real-time signal that nothing else uses: the libraries of C and Rust use none of the last ones.
    let signal = libc::SIGRTMAX() - 1;
    let before = set_action(signal, &action_of(restrict_this_thread as *const () as libc::sighandler_t))?;
    let restricted = each_thread(signal);
    // A thread that was too slow still has the signal pending. The default action would end the process. Ignoring a
    // signal discards it where it is pending, sigaction(2).
    set_action(signal, &action_of(libc::SIG_IGN))?;
    set_action(signal, &before)?;
    RULES.store(-1, Ordering::Release);
    restricted
}

fn action_of(handler: libc::sighandler_t) -> libc::sigaction {
    // SAFETY: all bytes of `sigaction` may be zero.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = handler;
    action.sa_flags = libc::SA_RESTART;
    action
}

/// Sets what a signal does. Returns what it did before.
fn set_action(signal: libc::c_int, action: &libc::sigaction) -> io::Result<libc::sigaction> {
    let mut before = action_of(libc::SIG_DFL);
    // SAFETY: the action is one of this module, or the one that the signal had before.
    let set = unsafe { libc::sigaction(signal, action, &raw mut before) };
    if set == 0 { Ok(before) } else { Err(io::Error::last_os_error()) }
}

/// Signals each thread, until there is none that was not signalled.
fn each_thread(signal: libc::c_int) -> io::Result<()> {
    let own = gettid().as_raw_nonzero().get();
    let mut known = BTreeSet::from([own]);
    loop {
        let new: Vec<i32> = threads()?.into_iter().filter(|thread| !known.contains(thread)).collect();
        if new.is_empty() {
            // The last one, because it may not be able to list the threads afterwards. All others have their limits
            // by now, and so has each thread that they start.
            return one_thread(own, signal);
        }
        for thread in new {
            one_thread(thread, signal)?;
            known.insert(thread);
        }
    }
}

fn one_thread(thread: i32, signal: libc::c_int) -> io::Result<()> {
    let done = DONE.load(Ordering::Acquire);
    let process = i32::try_from(std::process::id()).unwrap_or_default();
    // SAFETY: the call has no preconditions, and names a thread of this process.
    let sent = unsafe { libc::syscall(libc::SYS_tgkill, process, thread, signal) };
    if sent != 0 {
        let error = io::Error::last_os_error();
        // It has ended.
        return if error.raw_os_error() == Some(libc::ESRCH) { Ok(()) } else { Err(error) };
    }
    let began = Instant::now();
    // Only one thread is signalled at a time, so a change of the number is this thread's.
    while DONE.load(Ordering::Acquire) == done {
        // A thread that has ended never runs the handler. The calling thread exists, and may be unable to list threads
        // by now.
        if thread != gettid().as_raw_nonzero().get() && !threads()?.contains(&thread) {
            return Ok(());
        }
        if began.elapsed() > THREAD_TIME_MAX {
            return Err(io::Error::other("a thread did not limit itself in time"));
        }
        std::thread::sleep(LOOK_AGAIN_AFTER);
    }
    match FAILED.load(Ordering::Acquire) {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

/// Returns the threads of this process.
#[expect(clippy::disallowed_methods, reason = "the kernel lists the threads of this process there")]
fn threads() -> io::Result<Vec<i32>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc/self/task")? {
        found.extend(entry?.file_name().to_str().and_then(|name| name.parse::<i32>().ok()));
    }
    Ok(found)
}
