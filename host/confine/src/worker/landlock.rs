//! Tier "landlock": a program has the machine's tree, of which Landlock lets it reach only its own places. It has no
//! network and no `/proc`.

use super::kill_scope::KillScope;
use super::privileges;
use super::processes;
use super::system_calls;
use super::tier_cell::{ProgramDescriptors, TierCell, set_default};
use crate::confinement::{ProgramNetwork, ViewAccess};
use crate::landlock_rules::{NEEDED, NO_LANDLOCK, allow};
use crate::message::{StartDescriptors, StartRequest};
use crate::tier::Tier;
use landlock::{
    Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathFd, Ruleset, RulesetAttr, RulesetCreated,
    RulesetStatus, Scope,
};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{Mode, OFlags, mkdir, open};
use rustix::io::Errno;
use rustix::process::{getpid, set_child_subreaper};
use seccompiler::BpfProgram;
use std::io;
use std::path::{Path, PathBuf};

/// The directories of the system that a program may read and execute.
const SYSTEM: &[&str] = &["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix"];

/// What a program may read besides.
const READABLE: &[&str] = &[
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/alternatives",
    // Private keys are beside the certificates.
    "/etc/ssl/certs",
    "/etc/ssl/cert.pem",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/openssl.cnf",
    "/etc/ca-certificates",
    "/etc/pki/ca-trust",
    "/etc/pki/tls/certs",
    "/etc/pki/tls/cert.pem",
    "/etc/pki/tls/openssl.cnf",
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
    scope: KillScope,
    /// The directory for the program's own files.
    temporary: Option<PathBuf>,
}

impl TierCell for LandlockCell {
    fn prepare() -> io::Result<Self> {
        // Orphans of the program become children of this process, which can then kill them.
        set_child_subreaper(Some(getpid()))?;
        let scope = KillScope::of_signals()?;
        // Only tried: a kernel without one of these rules must fail here, when the tier is chosen, and not at a start.
        rules()?;
        if !processes::lists_children() {
            return Err(io::Error::other("the kernel does not list the children of a process (CONFIG_PROC_CHILDREN)"));
        }
        Ok(Self { scope, temporary: None })
    }

    fn kill_scope(&self) -> &KillScope {
        &self.scope
    }

    fn filters() -> io::Result<[BpfProgram; 2]> {
        system_calls::filters(Tier::Landlock)
    }

    fn furnish(&mut self, request: &mut StartRequest, _descriptors: &StartDescriptors<OwnedFd>) -> io::Result<()> {
        let temporary = make_temporary()?;
        // Kept before the checks, so that a start that is refused below removes it, too.
        self.temporary = Some(temporary.clone());
        request.temporary = Some(temporary.clone());
        for name in ["HOME", "TMPDIR"] {
            set_default(request, name, &temporary.to_string_lossy());
        }
        let confinement = &mut request.confinement;
        if confinement.working_directory == Path::new("/tmp") {
            confinement.working_directory.clone_from(&temporary);
        }
        if confinement.directories.iter().any(|directory| !directory.masked.is_empty()) {
            let why = "a directory has masked places, which this machine can protect only with namespaces: bind the \
                       directory read-only or lift its masks";
            return Err(io::Error::other(why));
        }
        if confinement.network != ProgramNetwork::None {
            let why = "the program has a network, which this machine can confine only with namespaces: remove `http`";
            return Err(io::Error::other(why));
        }
        Ok(())
    }

    fn enter(&self, request: &StartRequest, granted: &ProgramDescriptors) -> io::Result<()> {
        let mut rules = system_rules()?;
        rules = allow(rules, granted.program.as_fd(), AccessFs::ReadFile | AccessFs::Execute)?;
        for (directory, granted) in request.confinement.directories.iter().zip(&granted.directories) {
            rules = allow(rules, granted.as_fd(), directory_access(directory.access))?;
        }
        let temporary = request.temporary.as_ref().ok_or_else(|| io::Error::other("its own directory is missing"))?;
        enforce(allow_own(rules, temporary)?)?;
        // The kernel's limit of processes would count all of the user's.
        privileges::drop_capabilities()
    }

    fn processes(&self, proc: &OwnedFd) -> io::Result<Vec<u32>> {
        Ok(processes::descendants(proc, getpid()))
    }
}

/// Removes the program's own directory, after its end and after a start that failed.
impl Drop for LandlockCell {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            #[expect(clippy::disallowed_methods, reason = "this process made the directory, and has no handles")]
            let _ = std::fs::remove_dir_all(temporary);
        }
    }
}

/// Restricts this process to the system and to one directory, by the rules of a program.
pub(super) fn restrict_to(directory: &Path) -> io::Result<()> {
    enforce(allow_own(system_rules()?, directory)?)
}

/// Returns rules that allow what every program gets of the machine.
fn system_rules() -> io::Result<RulesetCreated> {
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
    Ok(rules)
}

/// Allows what a program may do in its own directory.
fn allow_own(rules: RulesetCreated, directory: &Path) -> io::Result<RulesetCreated> {
    let own = open(directory, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    allow(rules, own.as_fd(), directory_access(ViewAccess::ReadWrite))
}

fn enforce(rules: RulesetCreated) -> io::Result<()> {
    let status = rules.restrict_self().map_err(io::Error::other)?;
    if status.ruleset != RulesetStatus::FullyEnforced {
        return Err(io::Error::other("the kernel did not enforce all rules"));
    }
    Ok(())
}

/// Returns everything that a program may do in a directory.
fn directory_access(access: ViewAccess) -> BitFlags<AccessFs> {
    let devices = AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::MakeSock | AccessFs::IoctlDev;
    match access {
        ViewAccess::ReadOnly => AccessFs::from_read(NEEDED),
        ViewAccess::ReadWrite => AccessFs::from_all(NEEDED) & !devices,
    }
}

/// Makes a directory that only this user can read.
fn make_temporary() -> io::Result<PathBuf> {
    let mut number = getpid().as_raw_nonzero().get().unsigned_abs();
    loop {
        let place = PathBuf::from(format!("/tmp/portcullis-{number}"));
        // `mkdir` uses nothing that exists, so another user cannot put a directory or a link of theirs in this place.
        match mkdir(&place, Mode::RWXU) {
            Ok(()) => return Ok(place),
            Err(Errno::EXIST) => number = number.wrapping_add(1),
            Err(error) => return Err(error.into()),
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
    create().map_err(|error| io::Error::other(format!("{NO_LANDLOCK}: {error}")))
}

/// Allows an access below a path of the machine. A machine without the path needs no rule.
fn allow_path(rules: RulesetCreated, path: &str, access: BitFlags<AccessFs>) -> io::Result<RulesetCreated> {
    match PathFd::new(path) {
        Ok(place) => allow(rules, place.as_fd(), access),
        Err(_) => Ok(rules),
    }
}
