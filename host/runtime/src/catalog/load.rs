//! Loading: from a file of the plugin directory to a plugin that can be called, or a reason why not.

use super::definition::{self, DefinitionError};
use super::description::{self, Beside, DescriptionError};
use super::directory::PluginDirectory;
use super::file::{self, FileError, PluginFile, Sighting};
use super::listing::{self, Listed};
use super::plugin::Plugin;
use super::{Catalog, RefusedPlugin};
use crate::audit::{AuditError, AuditLog, Kind};
use crate::grants::Grants;
use crate::open::OpenError;
use crate::policy_in_force::PolicyInForce;
use crate::text::{OneLine, hex};
use portcullis_policy::{Limits, PluginName};
use portcullis_sandbox::{
    Ask, CallContext, CallHost, Code, CodeStore, CompileError, Compiler, Effects, Engine, Entry, Fetched, Manifest,
    OutputFull, Progress, Refusal, Stop, Surface, Traffic, check_component,
};
use serde::Serialize;
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OnceCell;

/// Wall-clock time of one description. An interpreter describes itself in a few milliseconds.
const DESCRIBE_TIME_MAX: Duration = Duration::from_secs(2);

/// Bytes of one description.
const DESCRIBE_TRANSFER_BYTES_MAX: usize = 1024 * 1024;

/// Bytes a plugin may print while it describes itself: they explain a refusal.
const DESCRIBE_LOG_BYTES_MAX: usize = 4096;

/// Handles a plugin may hold while it describes itself: the standard streams and a few pollables.
const DESCRIBE_HANDLES_MAX: usize = 64;

/// Maximum memory that the host holds for `describe`, in bytes. The guest has no handle, and so little to open.
const DESCRIBE_HOST_MEMORY_BYTES_MAX: usize = 1024 * 1024;

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
    pub(crate) store: CodeStore,
    pub(crate) plugins: PluginDirectory,
    pub(crate) audit: Arc<AuditLog>,
    pub(crate) observer: Arc<dyn Observer>,
}

impl Loader {
    /// Loads every plugin of the directory. One that is refused keeps no other from loading.
    pub(crate) async fn load_all(&self, policy: &Arc<PolicyInForce>) -> Result<(Catalog, Seen), LoadError> {
        let (mut catalog, mut seen) = (Catalog::under(policy), Seen::new());
        let directory = self.plugins.held();
        for Listed { file, beside } in listing::list(&directory).map_err(FileError::Io)? {
            let loaded = match beside.and_then(|beside| file::read(&directory, &file, beside)) {
                Ok(content) => {
                    seen.insert(file.clone(), content.sighting);
                    self.load(&file, &content).await
                }
                Err(error) => Err(error.into()),
            };
            match loaded {
                Ok(plugin) => drop(catalog.plugins.insert(plugin.name.clone(), Arc::new(plugin))),
                Err(error) => catalog.refused.push(RefusedPlugin { file, error: Arc::new(error) }),
            }
        }
        Ok((catalog, seen))
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
        let code = Arc::new(OnceCell::new());
        let manifest = match self.cached_manifest(&name, content).await? {
            Some(manifest) => manifest,
            None => {
                let mapped = self.map(&name, content).await?;
                let manifest = describe(&self.engine, &mapped).await?;
                // Checked before it is kept, so that a refused description is never a cached one.
                definition::check(&name, &manifest).map_err(LoadError::Definition)?;
                self.keep_manifest(content, &manifest);
                // It is the first to be set, so it cannot fail.
                let _ = code.set(mapped);
                manifest
            }
        };
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
            code,
        })
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

    async fn compile(&self, name: &PluginName, content: &PluginFile) -> Result<Code, LoadError> {
        self.observer.compiling(name);
        let artefact = self.compiler.compile(&content.bytes).await;
        self.observer.compiled(name);
        let artefact = artefact?;
        let code = Code::load(&self.engine, &artefact)?;
        if let Err(error) = self.store.put_code(&content.sha256, &artefact) {
            // The cache is a convenience: without it the next start compiles again.
            self.note(name, &content.sha256, &error.to_string()).await?;
        }
        Ok(code)
    }

    async fn cached_code(&self, name: &PluginName, sha256: &[u8; 32]) -> Result<Option<Code>, LoadError> {
        match self.store.fetch_code(sha256) {
            Fetched::Hit(artefact) => match Code::load(&self.engine, &artefact) {
                Ok(code) => Ok(Some(code)),
                Err(error) => {
                    self.note(name, sha256, &format!("cached code not used: {error}")).await?;
                    Ok(None)
                }
            },
            Fetched::Miss => Ok(None),
            Fetched::Rejected(reason) => {
                self.note(name, sha256, &format!("cached code not used: {reason}")).await?;
                Ok(None)
            }
        }
    }

    async fn cached_manifest(&self, name: &PluginName, content: &PluginFile) -> Result<Option<Manifest>, LoadError> {
        match self.store.fetch(Entry::Manifest, &content.sha256) {
            Fetched::Hit(bytes) => Ok(serde_json::from_slice(&bytes).ok()),
            Fetched::Miss => Ok(None),
            Fetched::Rejected(reason) => {
                let text = format!("cached description not used: {reason}");
                self.note(name, &content.sha256, &text).await?;
                Ok(None)
            }
        }
    }

    fn keep_manifest(&self, content: &PluginFile, manifest: &Manifest) {
        let Ok(bytes) = serde_json::to_vec(manifest) else { return };
        // Without it the next start describes the plugin again.
        let _ = self.store.put(Entry::Manifest, &content.sha256, &bytes);
    }

    /// Records that the cache could not be trusted or used.
    async fn note(&self, plugin: &PluginName, sha256: &[u8; 32], event: &str) -> Result<(), AuditError> {
        #[derive(Serialize)]
        struct Note<'a> {
            plugin: &'a str,
            sha256: String,
            event: &'a str,
        }
        let event = crate::text::cut(event, 2048);
        let note = Note { plugin: plugin.as_str(), sha256: hex(sha256), event };
        self.audit.write(Kind::Plugin, None::<&()>, &note).await
    }
}

/// Loads one file's bytes as far as its tools, keeping nothing: would this plugin load?
///
/// # Errors
/// Why it would not.
pub async fn check(name: &str, bytes: &[u8], engine: &Engine, compiler: &Compiler) -> Result<Manifest, LoadError> {
    Ok(examine(name, bytes, engine, compiler).await?.0)
}

/// The same, with the code, for whoever looks further.
pub(crate) async fn examine(
    name: &str,
    bytes: &[u8],
    engine: &Engine,
    compiler: &Compiler,
) -> Result<(Manifest, Code), LoadError> {
    let name = file::checked_name(name)?;
    check_component(bytes)?;
    let artefact = compiler.compile(bytes).await?;
    let code = Code::load(engine, &artefact)?;
    let manifest = describe(engine, &code).await?;
    definition::check(&name, &manifest).map_err(LoadError::Definition)?;
    Ok((manifest, code))
}

async fn describe(engine: &Engine, code: &Code) -> Result<Manifest, LoadError> {
    let limits = Limits {
        time: DESCRIBE_TIME_MAX,
        transfer_bytes: DESCRIBE_TRANSFER_BYTES_MAX,
        log_bytes: DESCRIBE_LOG_BYTES_MAX,
        handles: DESCRIBE_HANDLES_MAX,
        resources: DESCRIBE_HANDLES_MAX,
        host_memory_bytes: DESCRIBE_HOST_MEMORY_BYTES_MAX,
        progress_reports: 1,
        ..Limits::default()
    };
    let ran = engine.describe(code, &limits, &nobody()).await;
    match ran.result {
        Ok(Some(manifest)) => Ok(manifest),
        Ok(None) => Err(LoadError::Unstable),
        Err(stop) => Err(LoadError::Describe(why(&stop, &ran.log.bytes))),
    }
}

fn why(stop: &Stop, log: &[u8]) -> String {
    let mut text = match stop {
        Stop::Limit(kind) => format!("the limit on {} was reached", kind.name()),
        Stop::Trapped(detail) => format!("it trapped: {}", OneLine(detail)),
        Stop::Exited(status) => format!("it exited with status {status}"),
        Stop::Cancelled => "it was cancelled".to_owned(),
        Stop::HostPanic => "the host panicked while it served it".to_owned(),
    };
    if !log.is_empty() {
        // A panic is of several lines.
        let printed = String::from_utf8_lossy(log);
        let lines = printed.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" / ");
        text.push_str("; it printed: ");
        text.push_str(&OneLine(&lines).to_string());
    }
    text
}

/// The caller of a description: nobody, who takes no report and answers no question.
fn nobody() -> CallContext {
    struct Nobody;
    impl CallHost for Nobody {
        fn report(&self, _: Progress) {}
        fn ask(&self, _: Ask) -> Pin<Box<dyn Future<Output = Result<(), String>> + Send + '_>> {
            Box::pin(std::future::ready(Err("a plugin that describes itself has nobody to ask".to_owned())))
        }
        fn write_output(&self, _: &[u8]) -> Result<(), OutputFull> {
            Err(OutputFull)
        }
        fn traffic(&self, _: Traffic) {}
        fn effects(&self, _: Effects) {}
    }
    CallContext {
        id: Arc::from(""),
        session: Arc::from(""),
        message: None,
        agent: None,
        host: Arc::new(Nobody),
        approval_time: Duration::from_millis(1),
    }
}
