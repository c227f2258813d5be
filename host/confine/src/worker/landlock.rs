//! Tier "landlock": a program has the machine's tree, of which Landlock lets it reach only its own places. It has no
//! network and no `/proc`.

use super::cell::TierCell;
use super::launch;
use super::processes::descendants;
use super::system_calls::{self, Sockets};
use super::view::same_file;
use crate::confinement::{Confinement, ViewAccess};
use crate::message::{StartDescriptors, StartRequest};
use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, RulesetStatus, Scope,
};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{Mode, OFlags, open};
use rustix::process::{Pid, Signal, getpid, kill_process, set_child_subreaper};
use seccompiler::BpfProgram;
use std::io;

/// The first version of Landlock that keeps a program from signalling the user's other processes and from their abstract
/// sockets (Linux 6.12). Without it, a program could end its own supervisor.
const NEEDED: ABI = ABI::V6;

/// The directories of the system that a program may read and execute.
const SYSTEM: &[&str] = &["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix"];

/// What a program may read besides.
const READABLE: &[&str] = &[
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/alternatives",
    "/etc/ssl",
    "/etc/ca-certificates",
    "/etc/pki",
    "/etc/localtime",
    "/etc/timezone",
    "/etc/passwd",
    "/etc/group",
    "/etc/nsswitch.conf",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/filesystems",
    "/proc/version",
    "/proc/uptime",
    "/proc/loadavg",
];

/// The devices that a program may read and write.
const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

pub(super) struct LandlockCell {
    filters: [BpfProgram; 2],
    /// The rules, once the confinement is known.
    rules: Option<RulesetCreated>,
}

impl TierCell for LandlockCell {
    fn prepare() -> io::Result<Self> {
        // Orphans of the program become children of this process, which can then kill them.
        set_child_subreaper(Some(getpid()))?;
        rules()?;
        let filters = [system_calls::absent_calls_filter()?, system_calls::filter(Sockets::Pairs)?];
        Ok(Self { filters, rules: None })
    }

    fn furnish(
        &mut self,
        request: &StartRequest,
        descriptors: &StartDescriptors<OwnedFd>,
    ) -> io::Result<Option<OwnedFd>> {
        let confinement = &request.confinement;
        if confinement.proxied {
            return Err(io::Error::other("it needs the network, which this machine gives only with namespaces"));
        }
        if confinement.directories.iter().any(|directory| !directory.masked.is_empty()) {
            let why = "a directory has masked places, which this machine can protect only with namespaces: bind the \
                       directory read-only or lift its masks";
            return Err(io::Error::other(why));
        }
        let mut rules = rules()?;
        let read = AccessFs::from_read(NEEDED);
        for path in SYSTEM {
            rules = allow_path(rules, path, read)?;
        }
        for path in READABLE {
            rules = allow_path(rules, path, read & !AccessFs::Execute)?;
        }
        for path in DEVICES {
            rules = allow_path(rules, path, AccessFs::ReadFile | AccessFs::WriteFile)?;
        }
        rules = allow(rules, descriptors.program.as_fd(), AccessFs::ReadFile | AccessFs::Execute)?;
        for (directory, granted) in confinement.directories.iter().zip(&descriptors.directories) {
            let access = match directory.access {
                ViewAccess::ReadOnly => read,
                ViewAccess::ReadWrite => {
                    let devices = AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::MakeSock | AccessFs::IoctlDev;
                    AccessFs::from_all(NEEDED) & !devices
                }
            };
            rules = allow(rules, granted.as_fd(), access)?;
        }
        self.rules = Some(rules);
        Ok(None)
    }

    fn enter(&self, confinement: &Confinement) -> io::Result<()> {
        launch::limit_processes(confinement)?;
        let rules = self.rules.as_ref().ok_or_else(|| io::Error::other("the rules are missing"))?;
        let rules = rules.try_clone()?;
        // This sets `no_new_privs` too.
        let status = rules.restrict_self().map_err(io::Error::other)?;
        if status.ruleset != RulesetStatus::FullyEnforced {
            return Err(io::Error::other("the kernel did not enforce all rules"));
        }
        launch::drop_privileges(&self.filters)
    }

    fn program(&self, request: &StartRequest, program: BorrowedFd<'_>) -> io::Result<OwnedFd> {
        let found = open(&request.path, OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW, Mode::empty())?;
        same_file(&found, program)?;
        Ok(found)
    }

    fn processes(&self) -> io::Result<Vec<u32>> {
        descendants(getpid())
    }

    fn kill(&self) {
        for number in self.processes().unwrap_or_default() {
            // All of them are descendants of this process, which has not waited for them, so no number was reused.
            if let Some(number) = i32::try_from(number).ok().and_then(Pid::from_raw) {
                let _ = kill_process(number, Signal::KILL);
            }
        }
    }
}

/// Returns rules that refuse everything.
fn rules() -> io::Result<RulesetCreated> {
    let create = || -> Result<RulesetCreated, landlock::RulesetError> {
        Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessFs::from_all(NEEDED))?
            .handle_access(AccessNet::from_all(NEEDED))?
            .scope(Scope::from_all(NEEDED))?
            .create()
    };
    create().map_err(|error| io::Error::other(format!("Linux 6.12 or later is needed, with Landlock: {error}")))
}

/// Allows an access below a path of the machine. A machine without the path needs no rule.
fn allow_path(rules: RulesetCreated, path: &str, access: BitFlags<AccessFs>) -> io::Result<RulesetCreated> {
    match PathFd::new(path) {
        Ok(place) => allow(rules, place.as_fd(), access),
        Err(_) => Ok(rules),
    }
}

fn allow(rules: RulesetCreated, place: BorrowedFd<'_>, access: BitFlags<AccessFs>) -> io::Result<RulesetCreated> {
    let kind = rustix::fs::FileType::from_raw_mode(rustix::fs::fstat(place)?.st_mode);
    // A rule of a file must not have the accesses of directories.
    let access = if kind.is_dir() { access } else { access & AccessFs::from_file(NEEDED) };
    rules.add_rule(PathBeneath::new(place, access)).map_err(io::Error::other)
}
