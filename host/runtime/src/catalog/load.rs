//! Loading: from a file of the plugin directory to a plugin that can be called, or a reason why not.

use super::definition::{self, DefinitionError};
use super::describing::describe;
use super::description::{self, Beside, DescriptionError};
use super::directory::PluginDirectory;
use super::file::{self, FileError, PluginFile, Sighting};
use super::listing::{self, Listed};
use super::plugin::Plugin;
use super::wanted::Wanted;
use super::{Catalog, RefusedPlugin};
use crate::audit::{AuditError, AuditLog};
use crate::grants::Grants;
use crate::open::OpenError;
use crate::policy_in_force::PolicyInForce;
use crate::text::hex;
use cap_std::fs::Dir;
use portcullis_policy::PluginName;
use portcullis_sandbox::{
    Code, CodeStore, CompileError, Compiler, Contract, DESCRIBE_SLOTS, Engine, Manifest, Refusal, Surface,
    check_component,
};
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::thread::available_parallelism;
use tokio::sync::{OnceCell, Semaphore};
use tokio::task::{JoinSet, spawn_blocking};

/// Plugins that are compiled at one time at most, on a machine with as many cores. Each worker took 600 MB for CPython,
/// and uses all cores itself for a part of its time.
const COMPILATIONS_MAX: usize = 8;

/// Why a file was not loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file.
    #[error(transparent)]
    File(#[from] FileError),
    /// The bytes.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The compiler.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// The description did not come.
    #[error("it could not describe itself: {}", .0)]
    Describe(String),
    /// The description is not always the same.
    #[error("it describes itself differently each time it is asked")]
    Unstable,
    /// The description says what it must not.
    #[error("{}", list(.0))]
    Definition(Vec<DefinitionError>),
    /// A description file beside it is wrong.
    #[error("{}", list(.0))]
    Descriptions(Vec<DescriptionError>),
    /// The file is another than at load.
    #[error("its file was changed since it was loaded")]
    Changed,
    /// What the policy binds to it cannot be opened, or is not what it asks for. When a host opens, this is its error.
    #[error("{0}")]
    Grants(Box<OpenError>),
    /// The record.
    #[error(transparent)]
    Audit(#[from] AuditError),
}

impl LoadError {
    /// Whether the same file could be loaded another time.
    pub(crate) fn may_pass(&self) -> bool {
        match self {
            Self::File(_) | Self::Changed | Self::Grants(_) | Self::Audit(_) => true,
            Self::Compile(CompileError::Worker(_)) => true,
            Self::Compile(CompileError::Refused(_) | CompileError::Exhausted) | Self::Refused(_) => false,
            // Other description files make another plugin.
            Self::Describe(_) | Self::Unstable | Self::Definition(_) | Self::Descriptions(_) => false,
        }
    }
}

fn list(problems: &[impl ToString]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// Hears of what takes time while plugins load.
pub trait Observer: Send + Sync + 'static {
    /// A plugin is being compiled; this is called once, before.
    fn compiling(&self, plugin: &PluginName);

    /// It is compiled, or was refused.
    fn compiled(&self, plugin: &PluginName);
}

/// Hears and says nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {
    fn compiling(&self, _: &PluginName) {}
    fn compiled(&self, _: &PluginName) {}
}

/// The files that were read, by name: what was seen of each then.
pub(crate) type Seen = BTreeMap<String, Sighting>;

/// Everything that loading needs.
pub(crate) struct Loader {
    pub(crate) engine: Engine,
    pub(crate) compiler: Compiler,
    pub(crate) store: Arc<CodeStore>,
    pub(crate) plugins: PluginDirectory,
    pub(crate) audit: Arc<AuditLog>,
    pub(crate) observer: Arc<dyn Observer>,
    pub(crate) slots: LoadSlots,
}

/// How much of loading runs at one time.
pub(crate) struct LoadSlots {
    compilations: Semaphore,
    descriptions: Semaphore,
}

impl Default for LoadSlots {
    fn default() -> Self {
        let descriptions = Semaphore::new(DESCRIBE_SLOTS as usize);
        Self { compilations: Semaphore::new(compilations()), descriptions }
    }
}

/// Plugins that are compiled at one time: one for each core.
fn compilations() -> usize {
    available_parallelism().map_or(1, usize::from).min(COMPILATIONS_MAX)
}

/// What compiling and describing a file gave.
pub(crate) struct Made {
    manifest: Manifest,
    code: Code,
}

/// A file of the directory, with what loading it came to.
struct LoadedFile {
    file: String,
    sighting: Option<Sighting>,
    loaded: Result<Plugin, LoadError>,
}

impl Loader {
    /// Loads the plugins of the directory, several at a time: all, or those that a call of one tool needs. One that is
    /// refused keeps no other from loading.
    pub(crate) async fn load_all(
        self: &Arc<Self>,
        policy: &Arc<PolicyInForce>,
        only_for: Option<&str>,
    ) -> Result<(Catalog, Seen), LoadError> {
        let (mut catalog, mut seen) = (Catalog::under(policy), Seen::new());
        let directory = self.plugins.held();
        let mut loading = JoinSet::new();
        let mut listed = listing::list(&directory).map_err(FileError::Io)?;
        let wanted = only_for.map_or(Wanted::All, |tool| Wanted::by_call(tool, &policy.policy, &listed));
        catalog.left_out = wanted.leave_out(&mut listed);
        let mut listed = listed.into_iter();
        loop {
            // The whole file is in memory while it loads, so that more at a time cost memory and gain nothing.
            while loading.len() < compilations() {
                let Some(Listed { file, beside }) = listed.next() else { break };
                let (loader, directory) = (Arc::clone(self), Arc::clone(&directory));
                loading.spawn(async move { loader.load_file(&directory, file, beside).await });
            }
            let Some(loaded) = loading.join_next().await else { break };
            let LoadedFile { file, sighting, loaded } = loaded.map_err(io::Error::other).map_err(FileError::Io)?;
            seen.extend(sighting.map(|sighting| (file.clone(), sighting)));
            match loaded {
                Ok(plugin) => drop(catalog.plugins.insert(plugin.name.clone(), Arc::new(plugin))),
                Err(error) => catalog.refused.push(RefusedPlugin { file, error: Arc::new(error) }),
            }
        }
        Ok((catalog, seen))
    }

    async fn load_file(&self, directory: &Arc<Dir>, file: String, beside: Result<Beside, FileError>) -> LoadedFile {
        let read = match beside {
            Ok(beside) => read(directory, &file, beside).await,
            Err(error) => Err(error),
        };
        match read {
            Ok(content) => {
                let loaded = self.load(&file, &content).await;
                LoadedFile { file, sighting: Some(content.sighting), loaded }
            }
            Err(error) => LoadedFile { file, sighting: None, loaded: Err(error.into()) },
        }
    }

    /// Gives the plugins of a catalog that nobody else holds yet, and that have their grants, the descriptions of their
    /// files, and refuses those whose files are wrong.
    pub(crate) fn describe_all(&self, catalog: &mut Catalog) {
        let mut refused = Vec::new();
        for plugin in catalog.plugins.values_mut().filter_map(Arc::get_mut) {
            if let Err(error) = self.describe(plugin) {
                refused.push((plugin.name.clone(), plugin.file.clone(), error));
            }
        }
        for (name, file, error) in refused {
            catalog.plugins.remove(&name);
            catalog.refused.push(RefusedPlugin { file, error: Arc::new(error) });
        }
        catalog.refused.sort_by(|one, other| one.file.cmp(&other.file));
    }

    /// Gives a plugin that has its grants the descriptions of its files.
    pub(crate) fn describe(&self, plugin: &mut Plugin) -> Result<(), LoadError> {
        description::describe(plugin, self.plugins.working())
    }

    /// Loads a plugin, without its grants and as it describes itself.
    pub(crate) async fn load(&self, file: &str, content: &PluginFile) -> Result<Plugin, LoadError> {
        let name = file::plugin_name(file)?;
        let contract = check_component(&content.bytes)?;
        let (manifest, code) = match self.cached_manifest(&name, content).await? {
            Some(manifest) => (manifest, None),
            None => {
                let Made { manifest, code } = self.make(&name, content).await?;
                (manifest, Some(code))
            }
        };
        let mut plugin = assemble(file, content, contract, manifest, code)?;
        plugin.in_use = self.store.mark_in_use(&content.sha256).map(Arc::new);
        Ok(plugin)
    }

    /// Compiles a plugin and has it describe itself, unless it is known that this fails.
    async fn make(&self, name: &PluginName, content: &PluginFile) -> Result<Made, LoadError> {
        let attempt = self.attempt(name, content).await?;
        let made = self.compile_and_describe(name, content).await;
        self.conclude(&attempt, content, &made);
        made
    }

    async fn compile_and_describe(&self, name: &PluginName, content: &PluginFile) -> Result<Made, LoadError> {
        let code = self.map(name, content).await?;
        // The semaphores are never closed.
        let slot = self.slots.descriptions.acquire().await;
        let manifest = describe(&self.engine, &code).await?;
        drop(slot);
        self.keep_manifest(content, &manifest);
        Ok(Made { manifest, code })
    }

    /// The code of a loaded plugin, mapped on first use.
    pub(crate) async fn code<'a>(&self, plugin: &'a Plugin) -> Result<&'a Code, LoadError> {
        plugin.code.get_or_try_init(|| self.map_again(plugin)).await
    }

    /// Whoever found a plugin before its file was replaced still gets its code: the cache knows it by its hash.
    async fn map_again(&self, plugin: &Plugin) -> Result<Code, LoadError> {
        if let Some(code) = self.cached_code(&plugin.name, &plugin.sha256).await? {
            return Ok(code);
        }
        let content = file::read(&self.plugins.held(), &plugin.file, Beside::default())?;
        if content.sha256 != plugin.sha256 {
            return Err(LoadError::Changed);
        }
        self.compile(&plugin.name, &content).await
    }

    /// Maps a plugin's code from the cache, or compiles it.
    async fn map(&self, name: &PluginName, content: &PluginFile) -> Result<Code, LoadError> {
        match self.cached_code(name, &content.sha256).await? {
            Some(code) => Ok(code),
            None => self.compile(name, content).await,
        }
    }

    /// Bounds the cache, on a thread that may wait for the disk.
    pub(crate) async fn make_room(&self) {
        let store = Arc::clone(&self.store);
        // A cache that stays too large costs nothing but space.
        let _ = spawn_blocking(move || store.make_room()).await;
    }

    async fn compile(&self, name: &PluginName, content: &PluginFile) -> Result<Code, LoadError> {
        let slot = self.slots.compilations.acquire().await;
        self.observer.compiling(name);
        let artefact = self.compiler.compile(&content.bytes).await;
        self.observer.compiled(name);
        drop(slot);
        let artefact = artefact?;
        let code = Code::load(&self.engine, &artefact)?;
        if let Err(error) = self.store.put_code(&content.sha256, &artefact) {
            // The cache is a convenience: without it the next start compiles again.
            self.note(name, &content.sha256, &error.to_string()).await?;
        }
        self.make_room().await;
        Ok(code)
    }
}

/// Reads a file of a plugin directory on a thread that may wait for the disk.
pub(crate) async fn read(directory: &Arc<Dir>, file: &str, beside: Beside) -> Result<PluginFile, FileError> {
    let (directory, file) = (Arc::clone(directory), file.to_owned());
    match spawn_blocking(move || file::read(&directory, &file, beside)).await {
        Ok(read) => read,
        Err(error) => Err(io::Error::other(error).into()),
    }
}

/// Makes a plugin of its description, which is checked each time: a cached one may come from an earlier build.
fn assemble(
    file: &str,
    content: &PluginFile,
    contract: Contract,
    manifest: Manifest,
    code: Option<Code>,
) -> Result<Plugin, LoadError> {
    let name = file::plugin_name(file)?;
    let checked = definition::check(&name, &manifest).map_err(LoadError::Definition)?;
    let Surface { imports, reviews, previews } = Surface::of(&content.bytes)?;
    Ok(Plugin {
        name,
        file: file.to_owned(),
        sha256: content.sha256,
        sha256_hex: Arc::from(hex(&content.sha256)),
        bytes: content.bytes.len() as u64,
        contract: Some(contract),
        imports,
        reviews,
        previews,
        version: manifest.version,
        description: manifest.description,
        tools: checked.tools.clone(),
        dependencies: checked.dependencies,
        grants: Grants::default(),
        beside: content.beside.clone(),
        own_tools: checked.tools,
        code: Arc::new(OnceCell::new_with(code)),
        in_use: None,
    })
}
