//! Confines the process of a host: after opening, it gives up every right that its policy and its state do not need. It
//! is a second wall behind the sandbox, for the case that a guest breaks out of the engine.

use crate::host::Host;
use crate::places::OwnPlace;
use crate::policy_in_force::PolicyInForce;
use portcullis_policy::{
    Access, Binding, DependencyKey, Escalation, OwnConfinement, PluginName, Policy, Scheme, SecretSource,
};
use portcullis_sandbox::{ConfineError, OwnRights, ViewAccess, confine_process};
use std::io;
use std::path::{Path, PathBuf};

/// What name resolution, local time and the terminal need.
const READABLE: &[&str] = &[
    "/etc/resolv.conf",
    "/etc/hosts",
    "/etc/localtime",
    "/etc/timezone",
    "/usr/share/zoneinfo",
    "/proc/self",
    "/proc/meminfo",
    "/proc/stat",
    "/sys/fs/cgroup",
    "/sys/devices/system/cpu",
    "/dev/urandom",
];

/// What the process also writes to.
const WRITABLE: &[&str] = &["/dev/null", "/dev/tty"];

/// The port of name servers.
const DNS_PORT: u16 = 53;

/// What the command around a host needs in addition.
#[derive(Debug, Default)]
pub struct OwnNeeds {
    /// Whether plugins and policies are loaded again, which compiles plugins.
    pub reloads: bool,
    /// The files that the command reads again.
    pub files: Vec<PathBuf>,
    /// The files that the command replaces.
    pub written: Vec<PathBuf>,
    /// The ports of other machines and of this one to which the command connects.
    pub ports: Vec<u16>,
}

/// What a process has given up.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum GivenUp {
    /// Nothing, because the policy says so.
    Nothing,
    /// The dangerous system calls, but no files and connections, for this reason.
    Calls(&'static str),
    /// Everything that the host does not need.
    Everything,
}

/// Why a process could not be confined as the policy requires.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OwnConfinementError {
    /// The system cannot do it.
    #[error("this process cannot be confined")]
    Confine(#[from] ConfineError),
    /// A place of the host cannot be kept.
    #[error("this process cannot be confined")]
    Io(#[from] io::Error),
    /// The policy requires the confinement, and something in it makes that impossible.
    #[error("the policy has `confine = \"require\"`, but {0}")]
    Needed(&'static str),
}

impl Host {
    /// Takes every right from this process that the host does not need, for good: files, connections, the start of
    /// programs, and dangerous system calls. What remains are the places that the policy in force names, the state and
    /// plugins of the host, and what name resolution needs. A binding that a later policy adds can then not be opened.
    /// Blocks for some milliseconds.
    ///
    /// Call it when everything else of the process is open. It concerns all threads and everything that the process
    /// does, so it is for programs that only run a host.
    ///
    /// # Errors
    /// The system cannot do it, or the policy requires more than is possible.
    pub fn confine_process(&self, needs: &OwnNeeds) -> Result<GivenUp, OwnConfinementError> {
        let in_force = self.0.policy();
        let policy = &in_force.policy;
        if policy.own_confinement() == OwnConfinement::Off {
            return Ok(GivenUp::Nothing);
        }
        let mut bindings = bindings_of(policy);
        // Afterwards, only the broker can start programs and compile workers, so it has to run before.
        let needs_broker = needs.reloads || bindings.any(|(_, _, binding)| matches!(binding, Binding::Process(_)));
        let (rights, given_up) = match needs_more(policy) {
            None => (self.needed_rights(&in_force, needs)?, GivenUp::Everything),
            Some(why) if policy.own_confinement() == OwnConfinement::Require => {
                return Err(OwnConfinementError::Needed(why));
            }
            Some(why) => {
                let mut rights = OwnRights::default();
                rights.keep_all_but_calls();
                (rights, GivenUp::Calls(why))
            }
        };
        confine_process(&rights, needs_broker)?;
        Ok(given_up)
    }

    /// Returns what the policy, the state and the plugins need.
    fn needed_rights(&self, in_force: &PolicyInForce, needs: &OwnNeeds) -> io::Result<OwnRights> {
        let (state, policy, home) = (&self.0.state, &in_force.policy, in_force.bases.user.home());
        let mut rights = OwnRights::default();
        rights.keep_open(&state.directory, ViewAccess::ReadWrite)?;
        rights.keep_open(&state.cache, ViewAccess::ReadWrite)?;
        if let Some(outputs) = state.outputs_directory() {
            rights.keep_open(outputs, ViewAccess::ReadWrite)?;
        }
        if let Some(code) = &state.examined_code {
            rights.keep(code, ViewAccess::ReadOnly)?;
        }
        let of_outputs = self.0.outputs.needs();
        for file in &of_outputs.files {
            keep_file(&mut rights, file, home, ViewAccess::ReadOnly)?;
        }
        for place in self.0.loader.plugins.held().iter().chain(&in_force.policy_directories) {
            keep_place(&mut rights, place, home)?;
        }
        let policies = in_force.files.iter().map(|file| &file.path);
        // A policy that does not exist yet can be created later.
        let policies = policies.chain([&in_force.bases.user_file, &in_force.bases.project_file]);
        for file in policies.chain(&needs.files) {
            keep_file(&mut rights, file, home, ViewAccess::ReadOnly)?;
        }
        for file in &needs.written {
            keep_file(&mut rights, file, home, ViewAccess::ReadWrite)?;
        }
        for (paths, access) in [(READABLE, ViewAccess::ReadOnly), (WRITABLE, ViewAccess::ReadWrite)] {
            for path in paths {
                rights.keep(Path::new(path), access)?;
            }
        }
        rights.keep_port(DNS_PORT);
        let ports = needs.ports.iter().copied().chain(self.0.approvals.ledger_ports()).chain(of_outputs.ports);
        ports.for_each(|port| rights.keep_port(port));
        policy.name_servers().iter().for_each(|server| rights.keep_port(server.port()));
        for (plugin, key, binding) in bindings_of(policy) {
            let base = in_force.bases.of(policy.binding_layer(plugin, key));
            keep_binding(&mut rights, binding, home, |path| base.join(path))?;
        }
        Ok(rights)
    }
}

/// Returns every binding of a policy, also those of plugins that are not loaded.
fn bindings_of(policy: &Policy) -> impl Iterator<Item = (&PluginName, &DependencyKey, &Binding)> {
    let of = |plugin| policy.bindings(plugin).iter().map(move |(key, binding)| (plugin, key, binding));
    policy.plugins().flat_map(of)
}

/// Returns why a policy needs files and programs that it does not name.
fn needs_more(policy: &Policy) -> Option<&'static str> {
    if !policy.notify().is_empty() {
        return Some("`notify` runs a command of yours, which needs your files");
    }
    bindings_of(policy).find_map(|(_, _, binding)| match binding {
        Binding::Http(client) => {
            let from = client.secret.as_ref().map(|secret| &secret.from);
            matches!(from, Some(SecretSource::Command(_)))
                .then_some("a secret comes from a command, which needs your files")
        }
        Binding::Process(program) => {
            (program.escalate == Escalation::Ask).then_some("`escalate = \"ask\"` can grant any directory later")
        }
        Binding::Directory(_) | Binding::Store(_) | Binding::Service(_) | Binding::Tools(_) => None,
    })
}

fn keep_binding(
    rights: &mut OwnRights,
    binding: &Binding,
    home: Option<&Path>,
    place: impl Fn(&str) -> PathBuf,
) -> io::Result<()> {
    match binding {
        Binding::Directory(directory) => {
            let access = match directory.access {
                Access::ReadOnly => ViewAccess::ReadOnly,
                Access::ReadWrite => ViewAccess::ReadWrite,
            };
            rights.keep(&place(&directory.path), access)
        }
        Binding::Http(client) => {
            client.ports.iter().for_each(|port| rights.keep_port(*port));
            let login = client.server.as_ref().and_then(|server| server.login.as_ref());
            if login.is_some() {
                // Tokens are renewed at the authorization server, which the policy does not name.
                rights.keep_port(Scheme::Https.default_port());
            }
            let of_login = login.and_then(|login| login.client.as_ref()?.secret.as_ref());
            for from in client.secret.iter().map(|secret| &secret.from).chain(of_login) {
                if let SecretSource::File(path) = from {
                    keep_file(rights, &place(path), home, ViewAccess::ReadOnly)?;
                }
            }
            client.roots.iter().try_for_each(|roots| keep_file(rights, &place(roots), home, ViewAccess::ReadOnly))
        }
        // A replaced program is identified again.
        Binding::Process(program) => keep_file(rights, &place(&program.program), home, ViewAccess::ReadOnly),
        Binding::Store(_) | Binding::Service(_) | Binding::Tools(_) => Ok(()),
    }
}

/// Keeps a directory of the host's own for reading. One that does not exist yet can be made later.
fn keep_place(rights: &mut OwnRights, place: &OwnPlace, home: Option<&Path>) -> io::Result<()> {
    match &place.directory {
        Some(directory) => rights.keep_open(&**directory, ViewAccess::ReadOnly),
        None => keep_file(rights, &place.path, home, ViewAccess::ReadOnly),
    }
}

/// Keeps a file, with its directory: an editor replaces the file. A home directory and the root are too
/// much for that, so a file there is found again only while it is the same one.
fn keep_file(rights: &mut OwnRights, file: &Path, home: Option<&Path>, access: ViewAccess) -> io::Result<()> {
    rights.keep(file, access)?;
    let Some(directory) = file.parent() else { return Ok(()) };
    let directory = if directory == Path::new("") { Path::new(".") } else { directory };
    // A directory that cannot be resolved becomes an empty path, which has no parent. Then only the file is kept.
    let resolved = crate::places::resolve(directory).unwrap_or_default();
    let home = home.and_then(|home| crate::places::resolve(home).ok());
    if resolved.parent().is_none() || Some(&resolved) == home.as_ref() {
        return Ok(());
    }
    rights.keep(&resolved, access)
}
