//! A program of the machine as a handle. The operating system confines it (`host/confine`): it sees the directories of
//! its binding, and nothing of the host.

mod broker;
mod masks;
mod running;
mod stream;

pub use broker::program_tier;

#[expect(unreachable_pub, reason = "the generated bindings name it as theirs")]
pub use running::Running;

use crate::clock::RunClock;
use crate::directory::Directory;
use portcullis_confine::{
    ConfineError, Confinement, ConfinementLimits, OpenProgram, ProgramStart, StartingProgram, ViewAccess,
    ViewDirectory, path_of,
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
#[derive(Debug)]
pub struct ProgramSetup {
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
}

/// A program that is granted to a call. Clones share it, and its number of runs.
#[derive(Clone, Debug)]
pub struct Program {
    setup: Arc<ProgramSetup>,
    runs: Arc<AtomicU32>,
}

/// What a guest starts a program with.
#[derive(Debug)]
pub(crate) struct Launch {
    pub(crate) arguments: Vec<String>,
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) directory: Option<String>,
    pub(crate) merge: bool,
}

impl Program {
    /// Returns the handle of one call.
    pub fn new(setup: ProgramSetup) -> Self {
        Self { setup: Arc::new(setup), runs: Arc::new(AtomicU32::new(0)) }
    }

    /// Starts the program. The call does not spend its own time while the program runs. The error is for the model.
    pub(crate) async fn start(&self, launch: Launch, clock: &RunClock) -> Result<Running, String> {
        let limits = &self.setup.limits;
        if self.runs.fetch_add(1, Ordering::Relaxed) >= limits.runs {
            return Err(format!("the call has started {} programs, which is its limit", limits.runs));
        }
        let (variables, words) = (&launch.environment, &launch.arguments);
        let variables = variables.iter().map(|(name, value)| name.len() + value.len());
        if words.iter().map(String::len).chain(variables).sum::<usize>() > LAUNCH_BYTES_MAX {
            return Err(format!("the arguments and variables are longer than {LAUNCH_BYTES_MAX} bytes"));
        }
        let setup = Arc::clone(&self.setup);
        let pause = clock.pause(limits.time);
        // This walks the directories for masked places, and may start the broker.
        let begun = tokio::task::spawn_blocking(move || setup.begin(launch)).await;
        let begun = begun.map_err(|_| "the host failed to prepare the program".to_owned())??;
        let running = begun.started().await.map_err(|error| broker::describe(&error))?;
        Running::new(running, &self.setup.limits, pause).ok_or_else(|| "the program has no streams".to_owned())
    }
}

/// What a program sees, and where it starts.
struct ProgramView {
    directories: Vec<ViewDirectory>,
    start: PathBuf,
}

impl ProgramSetup {
    fn begin(&self, launch: Launch) -> Result<StartingProgram, String> {
        let view = self.view(launch.directory.as_deref())?;
        let set = |(name, _): &(String, String)| !self.environment.contains_key(name);
        let policy = self.environment.iter().map(|(name, value)| (name.clone(), value.clone()));
        let confinement = Confinement {
            directories: view.directories,
            working_directory: view.start,
            environment: launch.environment.into_iter().filter(set).chain(policy).collect(),
            limits: confinement_limits(&self.limits),
        };
        let handles: Vec<_> = self.directories.iter().map(|(_, directory)| directory.handle().as_fd()).collect();
        let start = ProgramStart {
            program: &self.file.0,
            arguments: launch.arguments,
            confinement,
            directories: &handles,
            merge: launch.merge,
            namespaces_required: self.namespaces_required,
        };
        broker::begin(start).map_err(|error| broker::describe(&error))
    }

    fn view(&self, start: Option<&str>) -> Result<ProgramView, String> {
        let mut directories = Vec::new();
        for (key, directory) in &self.directories {
            let masked = masks::masked_places(directory).map_err(|error| format!("`{key}`: {error}"))?;
            let access = match directory.access() {
                Access::ReadOnly => ViewAccess::ReadOnly,
                Access::ReadWrite => ViewAccess::ReadWrite,
            };
            let path = path_of(directory.handle()).map_err(|error| format!("`{key}` cannot be found: {error}"))?;
            directories.push(ViewDirectory { path, link: Some(key.clone()), access, masked });
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
        let rest: PathBuf = parts.collect();
        let found = self.directories.iter().position(|(name, _)| name == key);
        let found = found.and_then(|index| directories.get(index)).ok_or_else(|| {
            let names: Vec<String> = self.directories.iter().map(|(name, _)| format!("/{name}")).collect();
            let has = if names.is_empty() { "no directory".to_owned() } else { names.join(", ") };
            format!("the program cannot start in {place:?}: it has {has}")
        })?;
        Ok(found.path.join(rest))
    }
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
