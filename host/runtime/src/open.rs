//! Opening a host: what it needs, in the order in which it is needed, and everything that can be wrong with it.

use crate::approver::{Approver, DenyAll};
use crate::audit::{AuditError, AuditLog};
use crate::catalog::{LoadError, Loader, Observer, Silent};
use crate::grants::{self, Own};
use crate::host::{Host, Inner, ProgressListener};
use crate::places::{self, PlaceError, PolicyFile, State};
use crate::text::hex;
use portcullis_policy::{DependencyKey, Limits, PluginName, Policy, PolicyError};
use portcullis_sandbox::{
    CodeStore, Compiler, DirectoryError, EXTRA_SLOTS, Engine, EngineConfig, EngineError, Progress,
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
    #[error("{}: {error}", path.display())]
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

impl HostBuilder {
    pub(crate) fn new(plugins: PathBuf, state: PathBuf, compiler: Compiler) -> Self {
        let policy = Box::new(Policy::deny_all());
        Self {
            plugins,
            state,
            policy: PolicySource::Given { policy, text_sha256: sha256(""), base: PathBuf::from(".") },
            compiler,
            approver: Arc::new(DenyAll),
            observer: Arc::new(Silent),
            progress: Arc::new(NoListener),
            calls: CALLS_DEFAULT,
        }
    }

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
        let largest = largest(&policy);
        let engine = Engine::new(&EngineConfig { calls: self.calls, largest })?;
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
        grants::check_names(&policy, &catalog)?;
        let own = Own { plugins: &loader.plugins, state: &state, policy: file.as_ref() };
        let bound = grants::bind(&policy, &catalog, &base, &own)?;
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
            reviews: Semaphore::new(EXTRA_SLOTS as usize),
            arguments_bytes_max: largest.arguments_bytes,
        })))
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
