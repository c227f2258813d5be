//! Takes rights from this process itself, for good: from all of its threads. What remains is what the caller names.
//!
//! Landlock limits files and connections by thread, and only the newest kernels can limit all threads of a process at
//! once. So each thread limits itself in the handler of a signal. A thread inherits the limits of the thread that
//! starts it.

mod threads;

use crate::confinement::ViewAccess;
use crate::landlock_rules::{NEEDED, NO_LANDLOCK, allow};
use crate::worker::own_filters;
use landlock::{
    Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, NetPort, Ruleset, RulesetAttr, RulesetCreated,
    RulesetCreatedAttr,
};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;
use std::collections::BTreeSet;
use std::io;
use std::path::Path;

/// What this process keeps when it restricts itself.
#[derive(Debug, Default)]
pub struct OwnRights {
    places: Vec<(OwnedFd, ViewAccess)>,
    ports: BTreeSet<u16>,
    keeps_all_but_calls: bool,
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

    /// Keeps all files and connections, and the start of programs. Only dangerous system calls are given up then. A
    /// program that is started does not get them either.
    pub fn keep_all_but_calls(&mut self) {
        self.keeps_all_but_calls = true;
    }

    /// Returns whether the process can still start programs.
    pub fn starts_programs(&self) -> bool {
        self.keeps_all_but_calls
    }
}

/// Returns why this machine cannot confine a process that is already running, if it cannot.
///
/// # Errors
/// The kernel has no Landlock, or too old a version.
pub fn can_restrict_own_process() -> io::Result<()> {
    ruleset().map(drop)
}

/// Takes every other right from all threads of this process: files, TCP connections and listeners, the start of
/// programs, and the system calls that no program gets, such as those that trace a process. What is already open stays
/// open. It cannot be undone.
///
/// # Errors
/// The kernel has no Landlock or no filters. Or a thread did not limit itself in time; then some threads are limited.
pub fn restrict_own_process(rights: &OwnRights) -> io::Result<()> {
    if !rights.keeps_all_but_calls {
        restrict_files(rights)?;
    }
    for filter in &own_filters(rights.starts_programs())? {
        // This sets `no_new_privs` too.
        seccompiler::apply_filter_all_threads(filter).map_err(|error| io::Error::other(error.to_string()))?;
    }
    Ok(())
}

/// Takes all other files, connections and listeners from all threads.
fn restrict_files(rights: &OwnRights) -> io::Result<()> {
    let mut rules = ruleset()?;
    for (place, access) in &rights.places {
        rules = allow(rules, place.as_fd(), rights_of(*access))?;
    }
    for port in &rights.ports {
        rules = rules.add_rule(NetPort::new(*port, AccessNet::ConnectTcp)).map_err(io::Error::other)?;
    }
    let descriptor: Option<OwnedFd> = rules.into();
    let descriptor = descriptor.ok_or_else(|| io::Error::other("the rules have no descriptor"))?;
    threads::restrict_all(&descriptor)
}

/// Returns rules that refuse everything.
fn ruleset() -> io::Result<RulesetCreated> {
    let create = || -> Result<RulesetCreated, landlock::RulesetError> {
        Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessFs::from_all(NEEDED))?
            .handle_access(AccessNet::from_all(NEEDED))?
            .create()
    };
    create().map_err(|error| io::Error::other(format!("{NO_LANDLOCK}: {error}")))
}

/// Returns what the process may do in a place. It executes nothing, and makes no devices.
fn rights_of(access: ViewAccess) -> BitFlags<AccessFs> {
    let never = AccessFs::Execute | AccessFs::MakeChar | AccessFs::MakeBlock;
    let all = match access {
        ViewAccess::ReadOnly => AccessFs::from_read(NEEDED),
        ViewAccess::ReadWrite => AccessFs::from_all(NEEDED),
    };
    all & !never
}
