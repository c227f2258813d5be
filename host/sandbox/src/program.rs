//! A program of the machine as a handle. The operating system confines it (`host/confine`): it sees the directories of
//! its binding, and nothing of the host.

mod broker;
mod escalation;
mod masks;
mod running;
mod server;
mod stream;

pub use broker::program_tier;
pub(crate) use broker::{broker, start_broker};
pub use escalation::{Escalation, Missing, ProgramExtra};

#[expect(unreachable_pub, reason = "the generated bindings name it as theirs")]
pub use running::Running;
pub use server::{ServerProcess, ServerStart};

use crate::clock::RunClock;
use crate::directory::Directory;
use crate::host_memory::HostMemory;
use crate::http::{Client, NetworkCall, Proxy, ProxyRefusals};
use portcullis_confine::{
    ConfineError, Confinement, ConfinementLimits, OpenProgram, PROXY_PORT, ProgramNetwork, ProgramStart,
    RunningProgram, StartingProgram, Tier, ViewAccess, ViewDirectory, path_of,
};
use portcullis_policy::{Access, ProcessLimits};
use std::collections::BTreeMap;
use std::os::fd::AsFd;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Maximum bytes of the arguments and variables of one start. Linux takes 2 MiB of both by default, with their
/// pointers.
const LAUNCH_BYTES_MAX: usize = 1024 * 1024;

/// A program that the host has opened and identified. Clones share it.
#[derive(Clone, Debug)]
pub struct ProgramFile(Arc<OpenProgram>);

impl ProgramFile {
    /// Opens a program, and reads all of it to identify it. Blocks.
    ///
    /// # Errors
    /// The file cannot be opened, or is not a program.
    pub fn open(path: &Path) -> Result<Self, ConfineError> {
        OpenProgram::open(path).map(|program| Self(Arc::new(program)))
    }

    /// Returns the SHA-256 of the file, in hexadecimal digits.
    pub fn sha256(&self) -> &str {
        self.0.sha256()
    }

    /// Returns its path without links.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Returns whether its path still leads to the same file, with the same content.
    pub fn is_current(&self) -> bool {
        self.0.is_current()
    }
}

/// What a call gets of a program.
pub struct ProgramSetup {
    /// The key by which the plugin opens it.
    pub key: String,
    /// The program.
    pub file: ProgramFile,
    /// The directories that it sees, with their keys. The first is where it starts.
    pub directories: Vec<(String, Directory)>,
    /// The variables that the policy sets.
    pub environment: BTreeMap<String, String>,
    /// The limits.
    pub limits: ProcessLimits,
    /// Whether the policy requires namespaces.
    pub namespaces_required: bool,
    /// The client that decides and sends the program's requests. Without one, it has no network.
    pub client: Option<Client>,
    /// Whether a run may ask a person for more.
    pub escalates: bool,
}

/// A program that is granted to a call. Clones share it, and its number of runs.
#[derive(Clone)]
pub struct Program {
    setup: Arc<ProgramSetup>,
    runs: Arc<AtomicU32>,
    /// What a person allowed for one run.
    extra: Option<ProgramExtra>,
}

/// The side of a call that a program's network belongs to.
pub(crate) struct ProgramNetworkCall {
    pub(crate) call: Arc<NetworkCall>,
    pub(crate) memory: HostMemory,
}

/// What a guest starts a program with.
#[derive(Clone, Debug)]
pub(crate) struct Launch {
    pub(crate) arguments: Vec<String>,
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) directory: Option<String>,
    pub(crate) merge: bool,
}

impl Program {
    /// Returns the handle of one call.
    pub fn new(setup: ProgramSetup) -> Self {
        Self { setup: Arc::new(setup), runs: Arc::new(AtomicU32::new(0)), extra: None }
    }

    /// Returns the request to a person for what a launch lacks.
    pub(crate) fn escalation(&self, launch: &Launch, missing: Missing) -> Result<Escalation, String> {
        if !self.setup.escalates {
            return Err("the policy does not let this program ask for more than its binding".to_owned());
        }
        let (key, program) = (self.setup.key.clone(), self.setup.file.path().to_owned());
        let Launch { arguments, environment, directory, .. } = launch.clone();
        Ok(Escalation { key, program, arguments, environment, directory, missing })
    }

    /// Returns the program with what a person allowed.
    pub(crate) fn with(&self, extra: ProgramExtra) -> Self {
        Self { extra: Some(extra), ..self.clone() }
    }

    /// Returns the clients that decide the requests of a run. What a person allowed comes first.
    fn clients(&self) -> Vec<Client> {
        let extra = match &self.extra {
            Some(ProgramExtra::Client(client)) => Some(client.clone()),
            Some(ProgramExtra::Directory(_)) | None => None,
        };
        extra.into_iter().chain(self.setup.client.clone()).collect()
    }

    /// Starts the program. The call does not spend its own time while the program runs. The error is for the model.
    pub(crate) async fn start(
        &self,
        launch: Launch,
        clock: &RunClock,
        network: ProgramNetworkCall,
    ) -> Result<Running, String> {
        let limits = &self.setup.limits;
        // Counted first, so that a start that fails counts, too.
        if self.runs.fetch_add(1, Ordering::Relaxed) >= limits.runs {
            return Err(format!("the call has started {} programs, which is its limit", limits.runs));
        }
        let (variables, words) = (&launch.environment, &launch.arguments);
        let variables = variables.iter().map(|(name, value)| name.len() + value.len());
        if words.iter().map(String::len).chain(variables).sum::<usize>() > LAUNCH_BYTES_MAX {
            return Err(format!("the arguments and variables are longer than {LAUNCH_BYTES_MAX} bytes"));
        }
        let pause = clock.pause(limits.time);
        let running = self.start_confined(launch).await?;
        let proxy = Proxy {
            clients: self.clients(),
            call: network.call,
            memory: network.memory,
            refusals: ProxyRefusals::default(),
        };
        Running::new(running, &self.setup.limits, pause, proxy).ok_or_else(|| "the program has no streams".to_owned())
    }
}

/// What a program sees, and where it starts.
struct ProgramView {
    directories: Vec<ViewDirectory>,
    start: PathBuf,
}

impl Program {
    /// Starts the program, and waits until it runs.
    async fn start_confined(&self, launch: Launch) -> Result<RunningProgram, String> {
        let program = self.clone();
        // This walks the directories for masked places, and may start the broker.
        let begun = tokio::task::spawn_blocking(move || program.begin(launch)).await;
        let begun = begun.map_err(|_| "the host failed to prepare the program".to_owned())??;
        begun.started().await.map_err(|error| broker::describe(&error))
    }

    fn begin(&self, launch: Launch) -> Result<StartingProgram, String> {
        let view = self.view(launch.directory.as_deref())?;
        let network = self.network()?;
        let setup = &self.setup;
        let policy = setup.environment.iter().map(|(name, value)| (name.clone(), value.clone()));
        // A later variable replaces an earlier one of the same name, so the guest cannot change those of the policy.
        let mut environment: BTreeMap<String, String> = proxy_variables(network).collect();
        environment.extend(launch.environment.into_iter().chain(policy));
        let confinement = Confinement {
            directories: view.directories,
            working_directory: view.start,
            environment: environment.into_iter().collect(),
            network,
            limits: confinement_limits(&setup.limits),
        };
        let handles: Vec<_> = self.directories().map(|(_, directory)| directory.handle().as_fd()).collect();
        let start = ProgramStart {
            program: &setup.file.0,
            arguments: launch.arguments,
            confinement,
            directories: &handles,
            merge: launch.merge,
            namespaces_required: setup.namespaces_required,
        };
        broker::begin(start).map_err(|error| broker::describe(&error))
    }

    /// Returns the directories of the binding with their keys, and the one that a person allowed.
    fn directories(&self) -> impl Iterator<Item = (Option<&str>, &Directory)> {
        let extra = match &self.extra {
            Some(ProgramExtra::Directory(directory)) => Some((None, directory)),
            Some(ProgramExtra::Client(_)) | None => None,
        };
        self.setup.directories.iter().map(|(key, directory)| (Some(key.as_str()), directory)).chain(extra)
    }

    /// Returns what the program can connect to. With namespaces it always has the proxy, which refuses everything
    /// without a client and then says what was refused.
    fn network(&self) -> Result<ProgramNetwork, String> {
        let tier = broker::program_tier().map_err(|error| broker::describe(&error))?.tier;
        let proxied = !self.clients().is_empty() || tier == Some(Tier::Namespaces);
        Ok(if proxied { ProgramNetwork::Proxy } else { ProgramNetwork::None })
    }

    fn view(&self, start: Option<&str>) -> Result<ProgramView, String> {
        let mut directories = Vec::new();
        for (key, directory) in self.directories() {
            let named = key.map_or("the directory that was asked for".to_owned(), |key| format!("`{key}`"));
            let masked = masks::masked_places(directory).map_err(|error| format!("{named}: {error}"))?;
            let access = match directory.access() {
                Access::ReadOnly => ViewAccess::ReadOnly,
                Access::ReadWrite => ViewAccess::ReadWrite,
            };
            let path = path_of(directory.handle()).map_err(|error| format!("{named} cannot be found: {error}"))?;
            directories.push(ViewDirectory { path, link: key.map(str::to_owned), access, masked });
        }
        let start = match start {
            Some(start) => self.find(start, &directories)?,
            None => directories.first().map_or_else(|| PathBuf::from("/tmp"), |directory| directory.path.clone()),
        };
        Ok(ProgramView { directories, start })
    }

    /// Returns the machine's path of a place such as `/workspace/src`.
    fn find(&self, place: &str, directories: &[ViewDirectory]) -> Result<PathBuf, String> {
        let mut parts = Path::new(place).components().filter(|part| !matches!(part, Component::RootDir));
        let key = parts.next().and_then(|part| part.as_os_str().to_str()).unwrap_or_default();
        // A `..` in it gives no access, because the program enters the directory within its own confinement.
        let rest: PathBuf = parts.collect();
        let keyed = &self.setup.directories;
        let found = keyed.iter().position(|(name, _)| name == key);
        let found = found.and_then(|index| directories.get(index)).ok_or_else(|| {
            let names: Vec<String> = keyed.iter().map(|(name, _)| format!("/{name}")).collect();
            let has = if names.is_empty() { "no directory".to_owned() } else { names.join(", ") };
            format!("the program cannot start in {place:?}: it has {has}")
        })?;
        Ok(found.path.join(rest))
    }
}

/// Returns the variables by which programs find the proxy. Most read only one of both spellings.
fn proxy_variables(network: ProgramNetwork) -> impl Iterator<Item = (String, String)> {
    let proxy = format!("http://127.0.0.1:{PROXY_PORT}");
    // Servers that the program itself starts are reached directly.
    let direct = "localhost,127.0.0.1,::1".to_owned();
    let variables = [("http_proxy", &proxy), ("https_proxy", &proxy), ("no_proxy", &direct)];
    let variables =
        variables.map(|(name, value)| [(name.to_owned(), value.clone()), (name.to_uppercase(), value.clone())]);
    variables.into_iter().flatten().filter(move |_| network == ProgramNetwork::Proxy)
}

fn confinement_limits(limits: &ProcessLimits) -> ConfinementLimits {
    ConfinementLimits {
        time: limits.time,
        cpu_time: limits.cpu_time,
        processes: limits.processes,
        memory_bytes: limits.memory_bytes,
        open_files: limits.open_files,
        file_bytes: limits.file_bytes,
        temporary_bytes: limits.temporary_bytes,
    }
}
