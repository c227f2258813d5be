//! Takes rights from this process itself, for good: from all of its threads. What remains is what the caller names.
//!
//! Landlock limits files and connections by thread, and only the newest kernels can limit all threads of a process at
//! once. So each thread limits itself in the handler of a signal. A thread inherits the limits of the thread that
//! starts it.

use crate::confinement::ViewAccess;
use crate::worker::own_filters;
use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, NetPort, PathBeneath, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr,
};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{CWD, FileType, Mode, OFlags, fstat, openat};
use rustix::io::Errno;
use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The version of Landlock whose rules are used: that of the programs (Linux 6.12).
const NEEDED: ABI = ABI::V6;

/// How long a thread may take to handle the signal. A thread in a system call that cannot be interrupted is not left
/// out: the process then reports that it could not confine itself.
const THREAD_TIME_MAX: Duration = Duration::from_secs(5);

/// The wait between two looks at a thread.
const LOOK_AGAIN_AFTER: Duration = Duration::from_micros(50);

/// What this process keeps when it restricts itself.
#[derive(Debug, Default)]
pub struct OwnRights {
    places: Vec<(OwnedFd, ViewAccess)>,
    ports: BTreeSet<u16>,
    connects_anywhere: bool,
    starts_programs: bool,
    keeps_files: bool,
}

impl OwnRights {
    /// Keeps a file or a directory with everything below it. Does nothing if it does not exist or cannot be opened,
    /// because the process then has no right to keep.
    ///
    /// # Errors
    /// There are too many open files.
    pub fn keep(&mut self, path: &Path, access: ViewAccess) -> io::Result<()> {
        match openat(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) {
            Ok(place) => self.places.push((place, access)),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS | Errno::LOOP) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// Keeps an open directory.
    ///
    /// # Errors
    /// There are too many open files.
    pub fn keep_open(&mut self, directory: impl AsFd, access: ViewAccess) -> io::Result<()> {
        self.places.push((directory.as_fd().try_clone_to_owned()?, access));
        Ok(())
    }

    /// Keeps TCP connections to a port.
    pub fn keep_port(&mut self, port: u16) {
        self.ports.insert(port);
    }

    /// Keeps TCP connections to all ports.
    pub fn keep_all_ports(&mut self) {
        self.connects_anywhere = true;
    }

    /// Returns whether the process can still start programs.
    pub fn starts_programs(&self) -> bool {
        self.starts_programs
    }

    /// Keeps all files and connections. Only dangerous system calls are given up then, and the start of programs.
    pub fn keep_files_and_connections(&mut self) {
        self.keeps_files = true;
    }

    /// Keeps the start of programs. A program that is started gets the same limits as this process.
    pub fn keep_programs(&mut self) {
        self.starts_programs = true;
    }
}

/// Returns why this machine cannot confine a process that is already running, if it cannot.
///
/// # Errors
/// The kernel has no Landlock, or too old a version.
pub fn can_restrict_own_process() -> io::Result<()> {
    ruleset(true).map(drop)
}

/// Takes every other right from all threads of this process: files, TCP connections and listeners, the start of
/// programs, and the system calls that no program gets, such as those that trace a process. What is already open stays
/// open. It cannot be undone.
///
/// # Errors
/// The kernel has no Landlock or no filters. Or a thread did not limit itself in time; then some threads are limited.
pub fn restrict_own_process(rights: &OwnRights) -> io::Result<()> {
    if !rights.keeps_files {
        restrict_files(rights)?;
    }
    for filter in &own_filters(rights.starts_programs)? {
        // This sets `no_new_privs` too.
        seccompiler::apply_filter_all_threads(filter).map_err(|error| io::Error::other(error.to_string()))?;
    }
    Ok(())
}

/// Takes all other files, connections and listeners from all threads.
fn restrict_files(rights: &OwnRights) -> io::Result<()> {
    let mut rules = ruleset(!rights.connects_anywhere)?;
    for (place, access) in &rights.places {
        rules = allow(rules, place.as_fd(), *access)?;
    }
    if !rights.connects_anywhere {
        for port in &rights.ports {
            rules = rules.add_rule(NetPort::new(*port, AccessNet::ConnectTcp)).map_err(io::Error::other)?;
        }
    }
    let descriptor: Option<OwnedFd> = rules.into();
    let descriptor = descriptor.ok_or_else(|| io::Error::other("the rules have no descriptor"))?;
    threads::restrict_all(&descriptor)
}

fn ruleset(limits_connections: bool) -> io::Result<RulesetCreated> {
    let create = || -> Result<RulesetCreated, landlock::RulesetError> {
        let rules = Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessFs::from_all(NEEDED))?
            .handle_access(AccessNet::BindTcp)?;
        let rules = if limits_connections { rules.handle_access(AccessNet::ConnectTcp)? } else { rules };
        rules.create()
    };
    create().map_err(|error| io::Error::other(format!("Linux 6.12 or later is needed, with Landlock: {error}")))
}

fn allow(rules: RulesetCreated, place: BorrowedFd<'_>, access: ViewAccess) -> io::Result<RulesetCreated> {
    let devices = AccessFs::MakeChar | AccessFs::MakeBlock;
    let read = AccessFs::from_read(NEEDED) & !AccessFs::Execute;
    let wanted: BitFlags<AccessFs> = match access {
        ViewAccess::ReadOnly => read,
        ViewAccess::ReadWrite => AccessFs::from_all(NEEDED) & !devices & !AccessFs::Execute,
    };
    let is_directory = FileType::from_raw_mode(fstat(place)?.st_mode).is_dir();
    let wanted = if is_directory { wanted } else { wanted & AccessFs::from_file(NEEDED) };
    rules.add_rule(PathBeneath::new(place, wanted)).map_err(io::Error::other)
}

/// Runs a step in every thread of the process.
mod threads {
    #![expect(unsafe_code, reason = "a handler of a signal that every thread runs, and the two system calls in it")]

    use super::{AtomicI32, AtomicUsize, BTreeSet, Instant, Mutex, Ordering, PoisonError, io};
    use super::{LOOK_AGAIN_AFTER, OwnedFd, THREAD_TIME_MAX};
    use rustix::fd::AsRawFd;

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
        let before = handle(signal, restrict_this_thread as *const () as libc::sighandler_t)?;
        let restricted = each_thread(signal);
        handle(signal, before)?;
        RULES.store(-1, Ordering::Release);
        restricted
    }

    fn handle(signal: libc::c_int, handler: libc::sighandler_t) -> io::Result<libc::sighandler_t> {
        // SAFETY: all bytes of `sigaction` may be zero. The handler is that of this module, or the one before.
        unsafe {
            let (mut action, mut before): (libc::sigaction, libc::sigaction) = (std::mem::zeroed(), std::mem::zeroed());
            action.sa_sigaction = handler;
            action.sa_flags = libc::SA_RESTART;
            if libc::sigaction(signal, &raw const action, &raw mut before) == 0 {
                Ok(before.sa_sigaction)
            } else {
                Err(io::Error::last_os_error())
            }
        }
    }

    /// Signals each thread, until there is none that was not signalled.
    fn each_thread(signal: libc::c_int) -> io::Result<()> {
        let own = rustix::thread::gettid().as_raw_nonzero().get();
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
        while DONE.load(Ordering::Acquire) == done {
            if thread != rustix::thread::gettid().as_raw_nonzero().get() && !threads()?.contains(&thread) {
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
}
