//! The host: what an embedder opens, asks what there is, and calls.

use crate::approver::{Approver, DenyAll};
use crate::audit::{AuditError, AuditLog};
use crate::call::{self, Bound, Rejection};
use crate::catalog::{Catalog, LoadError, Loader, Observer, Plugin, Silent};
use crate::explain::Explained;
use crate::places::{self, PlaceError, PolicyFile, State};
use crate::reply::{Code, Reply};
use crate::request::Request;
use crate::text::hex;
use portcullis_policy::{Binding, DependencyKey, Limits, PluginName, Policy, PolicyError};
use portcullis_sandbox::{
    Code as PluginCode, CodeStore, Compiler, DependencyKind, Directory, DirectoryError, Engine, EngineConfig,
    EngineError, Footprint, Progress,
};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::Semaphore;

/// Calls that run at one time unless said otherwise. Each may take its whole memory limit, so this bounds the host's
/// memory: 16 times 64 MiB is what a small machine can give.
pub const CALLS_DEFAULT: u32 = 16;

/// The most calls at one time. The pool reserves address space for each.
pub const CALLS_MAX: u32 = 512;

/// Why a host cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// One of its own places.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// The policy file is named and not there.
    #[error("there is no policy at {}", .0.display())]
    NoPolicy(PathBuf),
    /// The policy.
    #[error("{}:{error}\n  remedy: {}", path.display(), error.remedy())]
    Policy {
        /// Where it is from.
        path: PathBuf,
        /// What is wrong.
        error: Box<PolicyError>,
    },
    /// The policy names a plugin that is not there.
    #[error(
        "the policy names the plugin `{0}`, and there is no {0}.wasm in the plugin directory: put it there, or take \
         the name out of the policy"
    )]
    UnknownPlugin(PluginName),
    /// The policy binds what the plugin does not ask for.
    #[error("the policy binds `{key}` of the plugin `{plugin}`, which asks for {asks}: correct the key")]
    UnknownKey {
        /// The plugin.
        plugin: PluginName,
        /// The key.
        key: DependencyKey,
        /// What it does ask for.
        asks: String,
    },
    /// A grant cannot be opened.
    #[error("the grant {plugin}.{key}: {error}")]
    Grant {
        /// The plugin.
        plugin: PluginName,
        /// The key.
        key: DependencyKey,
        /// Why.
        error: DirectoryError,
    },
    /// A grant would reach what decides over plugins.
    #[error(
        "the grant {plugin}.{key} ({path}) covers {what}: a plugin could change its own rights there. Grant another \
         directory, or move {what} out of it (--plugins, --policy, --state)"
    )]
    Covers {
        /// The plugin.
        plugin: PluginName,
        /// The key.
        key: DependencyKey,
        /// The path in the policy.
        path: String,
        /// What it covers.
        what: &'static str,
    },
    /// The engine.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The record.
    #[error(transparent)]
    Audit(#[from] AuditError),
    /// The plugin directory cannot be listed, or a refusal not be recorded.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// Too many or too few calls at one time.
    #[error("{0} calls at one time: choose 1 to {CALLS_MAX}")]
    Calls(u32),
}

/// Hears of the progress of calls.
pub trait ProgressListener: Send + Sync + 'static {
    /// A tool reported progress. Its texts are the tool's words.
    fn report(&self, call: &str, progress: &Progress);
}

struct NoListener;

impl ProgressListener for NoListener {
    fn report(&self, _: &str, _: &Progress) {}
}

/// Where a policy comes from.
enum PolicySource {
    File { path: PathBuf, required: bool },
    Given { policy: Box<Policy>, text_sha256: String, base: PathBuf },
}

/// Opens a host.
pub struct HostBuilder {
    plugins: PathBuf,
    state: PathBuf,
    policy: PolicySource,
    compiler: Compiler,
    approver: Arc<dyn Approver>,
    observer: Arc<dyn Observer>,
    progress: Arc<dyn ProgressListener>,
    calls: u32,
}

/// A host. Clones share it.
#[derive(Clone)]
pub struct Host(Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) catalog: Catalog,
    pub(crate) policy: Policy,
    pub(crate) policy_sha256: String,
    pub(crate) bound: Bound,
    pub(crate) loader: Loader,
    pub(crate) audit: Arc<AuditLog>,
    pub(crate) approver: Arc<dyn Approver>,
    pub(crate) progress: Arc<dyn ProgressListener>,
    pub(crate) places: Arc<Semaphore>,
}

impl Host {
    /// Begins a host for the plugins of a directory, keeping its key, cache and record in another. Its policy denies
    /// everything, nobody is there to approve, and plugins are compiled by `compiler`.
    pub fn builder(plugins: impl Into<PathBuf>, state: impl Into<PathBuf>, compiler: Compiler) -> HostBuilder {
        let policy = Box::new(Policy::deny_all());
        HostBuilder {
            plugins: plugins.into(),
            state: state.into(),
            policy: PolicySource::Given { policy, text_sha256: sha256(""), base: PathBuf::from(".") },
            compiler,
            approver: Arc::new(DenyAll),
            observer: Arc::new(Silent),
            progress: Arc::new(NoListener),
            calls: CALLS_DEFAULT,
        }
    }

    /// Runs one call: parse, validate, authorize, grant, instantiate, execute, shape, record. There is always a
    /// reply. Dropping the future ends the call at once, and records it as cancelled.
    pub async fn call(&self, request: Request) -> Reply {
        call::call(&self.0, request).await
    }

    /// What would happen to a call now. Runs nothing, asks nobody, records nothing.
    ///
    /// # Errors
    /// The reply that the call would get before it came to a decision.
    pub fn explain(&self, request: Request) -> Result<Explained, Box<Reply>> {
        match call::explain(&self.0, &request) {
            Ok(call) => Ok(Explained::of(&self.0, &call)),
            Err(rejection) => Err(Box::new(unrecorded(request, rejection))),
        }
    }

    /// The plugins, loaded and refused.
    pub fn catalog(&self) -> &Catalog {
        &self.0.catalog
    }

    /// The policy.
    pub fn policy(&self) -> &Policy {
        &self.0.policy
    }

    /// The handles that a call of each tool of a plugin would get, for people.
    pub fn handles(&self, plugin: &Plugin) -> Vec<(String, Vec<String>)> {
        let lines = |tool| call::describe_handles(&self.0, plugin, tool);
        plugin.tools().map(|tool| (tool.name().to_string(), lines(tool))).collect()
    }

    /// The record.
    pub fn audit(&self) -> &AuditLog {
        &self.0.audit
    }

    /// The most memory that calls can make this process hold.
    pub fn footprint(&self) -> Footprint {
        self.0.loader.engine.footprint()
    }
}

/// Opens the record of a state directory alone, to read it.
///
/// # Errors
/// The state directory or the record cannot be opened.
pub fn open_audit(state: &Path) -> Result<AuditLog, OpenError> {
    let state = State::open(state)?;
    Ok(AuditLog::open(&state.directory, &state.key)?)
}

impl HostBuilder {
    /// Takes the policy from a file. Where the file is not there, everything is denied, or, if it is required, the
    /// host does not open.
    #[must_use]
    pub fn policy_file(mut self, path: impl Into<PathBuf>, required: bool) -> Self {
        self.policy = PolicySource::File { path: path.into(), required };
        self
    }

    /// Takes the policy from text that the embedder holds; its relative paths start from `base`.
    ///
    /// # Errors
    /// The text is no policy.
    pub fn policy_text(mut self, text: &str, base: impl Into<PathBuf>) -> Result<Self, OpenError> {
        let policy = parse_policy(text, Path::new("policy"))?;
        self.policy = PolicySource::Given { policy: Box::new(policy), text_sha256: sha256(text), base: base.into() };
        Ok(self)
    }

    /// Who answers when the policy says ask.
    #[must_use]
    pub fn approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.approver = approver;
        self
    }

    /// Who hears of what takes time while plugins load.
    #[must_use]
    pub fn observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observer = observer;
        self
    }

    /// Who hears of the progress of calls.
    #[must_use]
    pub fn progress(mut self, listener: Arc<dyn ProgressListener>) -> Self {
        self.progress = listener;
        self
    }

    /// How many calls run at one time; more wait.
    #[must_use]
    pub fn calls(mut self, calls: u32) -> Self {
        self.calls = calls;
        self
    }

    /// Opens the host: reads the policy, starts the engine, loads the plugins, opens what the policy grants.
    ///
    /// # Errors
    /// Anything that is not as the policy says. A plugin that cannot be loaded is no error: the catalog tells of it.
    pub async fn open(self) -> Result<Host, OpenError> {
        if self.calls == 0 || self.calls > CALLS_MAX {
            return Err(OpenError::Calls(self.calls));
        }
        let state = State::open(&self.state)?;
        let plugins = places::open_plugins(&self.plugins)?;
        let Read { policy, policy_sha256, base, file } = self.policy.read()?;
        let audit = Arc::new(AuditLog::open(&state.directory, &state.key)?);
        let engine = Engine::new(&EngineConfig { calls: self.calls, largest: largest(&policy) })?;
        let store = CodeStore::new(state.cache.try_clone().map_err(AuditError::Io)?, &state.key, engine.fingerprint());
        let loader = Loader {
            engine,
            compiler: self.compiler,
            store,
            plugins,
            audit: Arc::clone(&audit),
            observer: self.observer,
        };
        let catalog = loader.load_all().await?;
        check_names(&policy, &catalog)?;
        let own = Own { plugins: &loader.plugins, state: &state, policy: file.as_ref() };
        let bound = bind(&policy, &catalog, &base, &own)?;
        Ok(Host(Arc::new(Inner {
            catalog,
            policy,
            policy_sha256,
            bound,
            loader,
            audit,
            approver: self.approver,
            progress: self.progress,
            places: Arc::new(Semaphore::new(self.calls as usize)),
        })))
    }
}

impl Inner {
    /// The code of a plugin, mapped on first use.
    pub(crate) async fn code<'a>(&self, plugin: &'a Plugin) -> Result<&'a PluginCode, Rejection> {
        self.loader.code(plugin).await.map_err(|error| {
            let message = format!("The plugin {} cannot be used any more.", plugin.name);
            Rejection::new(Code::PluginRefused, message).with_detail(error.to_string())
        })
    }

    /// The largest arguments any plugin may take: what is looked at before the tool is known.
    pub(crate) fn arguments_bytes_max(&self) -> usize {
        largest(&self.policy).arguments_bytes
    }
}

/// A policy, read.
struct Read {
    policy: Policy,
    policy_sha256: String,
    base: PathBuf,
    file: Option<PolicyFile>,
}

impl PolicySource {
    fn read(self) -> Result<Read, OpenError> {
        let (path, required) = match self {
            Self::Given { policy, text_sha256, base } => {
                return Ok(Read { policy: *policy, policy_sha256: text_sha256, base, file: None });
            }
            Self::File { path, required } => (path, required),
        };
        match PolicyFile::read(&path)? {
            Some(file) => Ok(Read {
                policy: parse_policy(&file.text, &path)?,
                policy_sha256: sha256(&file.text),
                base: file.directory.clone(),
                file: Some(file),
            }),
            None if required => Err(OpenError::NoPolicy(path)),
            None => {
                let base = PathBuf::from(".");
                Ok(Read { policy: Policy::deny_all(), policy_sha256: sha256(""), base, file: None })
            }
        }
    }
}

fn parse_policy(text: &str, path: &Path) -> Result<Policy, OpenError> {
    Policy::parse(text).map_err(|error| OpenError::Policy { path: path.to_owned(), error: Box::new(error) })
}

fn sha256(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes()))
}

/// For each limit the largest that any call can have: what the pool has to hold.
fn largest(policy: &Policy) -> Limits {
    let mut largest = policy.default_limits();
    for limits in policy.plugins().map(|plugin| policy.limits(plugin)) {
        largest = largest.max(&limits);
    }
    largest
}

fn check_names(policy: &Policy, catalog: &Catalog) -> Result<(), OpenError> {
    for plugin in policy.plugins() {
        let Some(loaded) = catalog.plugins.get(plugin) else {
            // A plugin that is there and was refused is known; its grants wait for it.
            if catalog.refusal(plugin.as_str()).is_some() {
                continue;
            }
            return Err(OpenError::UnknownPlugin(plugin.clone()));
        };
        for (key, binding) in policy.bindings(plugin) {
            let asked = loaded.dependencies.get(key).map(|dependency| dependency.kind);
            let fits = match (binding, asked) {
                (Binding::Directory(_), Some(DependencyKind::Directory)) => true,
                (Binding::Http(_), Some(DependencyKind::Http)) => true,
                (Binding::Directory(_) | Binding::Http(_), _) => false,
            };
            if !fits {
                let asks: Vec<String> = loaded.dependencies.keys().map(|key| format!("`{key}`")).collect();
                let asks = if asks.is_empty() { "nothing".to_owned() } else { asks.join(", ") };
                return Err(OpenError::UnknownKey { plugin: plugin.clone(), key: key.clone(), asks });
            }
        }
    }
    Ok(())
}

/// What no grant may cover.
struct Own<'a> {
    plugins: &'a cap_std::fs::Dir,
    state: &'a State,
    policy: Option<&'a PolicyFile>,
}

impl Own<'_> {
    fn covered_by(&self, directory: &Directory) -> std::io::Result<Option<&'static str>> {
        if directory.overlaps(&self.state.directory)? {
            return Ok(Some("the state directory"));
        }
        if directory.overlaps(&self.state.cache)? {
            return Ok(Some("the cache directory"));
        }
        if directory.overlaps(self.plugins)? {
            return Ok(Some("the plugin directory"));
        }
        match self.policy {
            // The policy is one file: beside it a directory may lie, around it none.
            Some(policy) if directory.contains(&policy.handle)? => Ok(Some("the policy")),
            Some(_) | None => Ok(None),
        }
    }
}

fn bind(policy: &Policy, catalog: &Catalog, base: &Path, own: &Own<'_>) -> Result<Bound, OpenError> {
    let mut bound = Bound::new();
    for plugin in catalog.plugins.keys() {
        for (key, binding) in policy.bindings(plugin) {
            let Binding::Directory(binding) = binding else { continue };
            let failed = |error| OpenError::Grant { plugin: plugin.clone(), key: key.clone(), error };
            let directory = Directory::open(&base.join(&binding.path), binding.access).map_err(failed)?;
            if let Some(what) = own.covered_by(&directory).map_err(AuditError::Io)? {
                let (plugin, key, path) = (plugin.clone(), key.clone(), binding.path.clone());
                return Err(OpenError::Covers { plugin, key, path, what });
            }
            bound.insert((plugin.clone(), key.clone()), directory);
        }
    }
    Ok(bound)
}

/// The reply of a call that was only thought through.
fn unrecorded(request: Request, rejection: Rejection) -> Reply {
    Reply {
        id: String::new(),
        tool: request.tool,
        code: rejection.code,
        output: None,
        title: None,
        metadata: None,
        message: rejection.message,
        usage: crate::reply::CallUsage::default(),
    }
}
