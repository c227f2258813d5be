//! Opens a host. The steps are in the order in which they are needed.

use super::error::OpenError;
use super::first_catalog::FirstCatalog;
use crate::admission::{self, Admissions};
use crate::approvals::{ApprovalError, Approvals, ApproverChannel, Repetition};
use crate::approver::Approver;
use crate::audit::{AuditError, AuditLog};
use crate::call::redecide_left;
use crate::catalog::{LoadSlots, Loader, Observer, PluginDirectory, Silent};
use crate::concurrency::{CALLS_DEFAULT, CALLS_MAX};
use crate::hooks::Hook;
use crate::host::Host;
use crate::inject::Injection;
use crate::inner::HostState;
use crate::ledger::{CallLedger, Owner, blocking};
use crate::outputs::{OUTPUTS_BYTES_DEFAULT, Outputs};
use crate::places::{HostDirectories, PlaceError};
use crate::policy_in_force::{PolicyInForce, PolicyStatus, Reserved};
use crate::policy_source::{PolicySources, UserPolicy};
use crate::policy_text;
use crate::reload;
use crate::stores::Stores;
use crate::under_way::CallsUnderWay;
use portcullis_policy::Unattended;
use portcullis_sandbox::{CodeStore, Compiler, Engine, Network, REVIEW_SLOTS, TimeSource};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Mutex, Semaphore, watch};

/// A builder that opens a [`Host`].
pub struct HostBuilder {
    plugins: PathBuf,
    state: PathBuf,
    policy: PolicySources,
    compiler: Compiler,
    channel: Option<ApproverChannel>,
    approval_options: String,
    observer: Arc<dyn Observer>,
    hooks: Vec<Arc<dyn Hook>>,
    calls: u32,
    shares_sessions: bool,
    time: Option<Arc<dyn TimeSource>>,
    seed: Option<u64>,
    outputs_bytes: u64,
    only_for: Option<String>,
    background_after: Option<Duration>,
    pub(crate) injection: Injection,
}

impl Host {
    /// Returns a builder for a host of the plugins in one directory. The host keeps its key, cache, ledger and audit
    /// log in another, `state`. By default, the policy denies everything and there is no approver.
    pub fn builder(plugins: impl Into<PathBuf>, state: impl Into<PathBuf>, compiler: Compiler) -> HostBuilder {
        HostBuilder::new(plugins.into(), state.into(), compiler)
    }
}

impl HostBuilder {
    fn new(plugins: PathBuf, state: PathBuf, compiler: Compiler) -> Self {
        Self {
            plugins,
            state,
            policy: PolicySources::default(),
            compiler,
            channel: None,
            approval_options: String::new(),
            observer: Arc::new(Silent),
            hooks: Vec::new(),
            calls: CALLS_DEFAULT,
            shares_sessions: false,
            time: None,
            seed: None,
            outputs_bytes: OUTPUTS_BYTES_DEFAULT,
            only_for: None,
            background_after: None,
            injection: Injection::default(),
        }
    }

    /// Reads the user's policy from a file. If the file does not exist, everything is denied; if it is `required`, the
    /// host does not open.
    #[must_use]
    pub fn policy_file(mut self, path: impl Into<PathBuf>, required: bool) -> Self {
        self.policy.user = Some(UserPolicy::File { path: path.into(), required });
        self
    }

    /// Sets the user's policy from text. Relative paths in it start from `base`.
    ///
    /// # Errors
    /// The text is not a valid policy.
    pub fn policy_text(mut self, text: &str, base: impl Into<PathBuf>) -> Result<Self, OpenError> {
        policy_text::parse(text, Path::new("policy"))?;
        self.policy.user = Some(UserPolicy::Text { text: text.to_owned(), base: base.into() });
        Ok(self)
    }

    /// Sets the embedder's built-in policy, which applies below all others. No other policy can allow what it denies.
    ///
    /// # Errors
    /// The text is not a valid policy.
    pub fn built_in_policy(mut self, text: &str) -> Result<Self, OpenError> {
        policy_text::parse(text, Path::new("the built-in policy"))?;
        self.policy.built_in = Some(text.to_owned());
        Ok(self)
    }

    /// Adds a project's policy, if the project has one. It only narrows until the user trusts this file with the places
    /// of its grants ([`crate::Approvals::trust_policy`]). Until then its allow rules, grants and wider limits have no
    /// effect.
    #[must_use]
    pub fn project_policy(mut self, path: impl Into<PathBuf>) -> Self {
        self.policy.project = Some(path.into());
        self
    }

    /// Sets the approver that answers approval requests, in addition to answers through [`Host::approvals`].
    #[must_use]
    pub fn approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.channel = Some(ApproverChannel::Approver(approver));
        self
    }

    /// Sets that no approver is attached. A call waits for an answer through [`Host::approvals`], from this process or
    /// another one.
    #[must_use]
    pub fn answered_elsewhere(mut self) -> Self {
        self.channel = Some(ApproverChannel::Elsewhere);
        self
    }

    /// Sets the options that `portcullis approvals approve` needs to find this host's state, plugins and policy, if
    /// they are not the defaults. Messages that name the command append them.
    #[must_use]
    pub fn approval_options<'a>(mut self, options: impl IntoIterator<Item = &'a str>) -> Self {
        self.approval_options = options.into_iter().fold(String::new(), |line, option| line + " " + option);
        self
    }

    /// Sets what happens to approval requests when no one can answer while the call waits: the call ends as pending and
    /// its request stays open, or it is denied. By default, a host without another channel follows the policy's
    /// `unattended`.
    #[must_use]
    pub fn unattended(mut self, unattended: Unattended) -> Self {
        self.channel = Some(ApproverChannel::Nobody(unattended));
        self
    }

    /// Loads only what a call of one tool needs: its plugin, and the plugins that a rule of the policy names together
    /// with it. The others are not read, so errors in them have no effect. [`Host::reload`] loads them.
    #[must_use]
    pub fn only_for(mut self, tool: impl Into<String>) -> Self {
        self.only_for = Some(tool.into());
        self
    }

    /// Opens the host without the plugins that are not ready after this time, and loads them while it runs, as many at
    /// a time as the machine has cores. A plugin is ready if its description is in the cache. Otherwise it is compiled
    /// first, which takes a minute for an interpreter. Without this, the host opens when all plugins are loaded or
    /// refused.
    ///
    /// [`Host::loading`] names the plugins that are not ready. Each enters the catalog as with a reload:
    /// [`Host::catalog_changes`] reports it, and the audit log records it. [`Host::reload`] does not wait for a plugin
    /// that has to be compiled either. If the policy has an error about such a plugin, the plugin is refused, because
    /// the host is open by then. Dropping the last clone of the host ends what is still being compiled.
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), portcullis::OpenError> {
    /// use portcullis::{Compiler, Host};
    /// use std::time::Duration;
    ///
    /// let builder = Host::builder("plugins", "state", Compiler::InProcess);
    /// let host = builder.load_in_background(Duration::from_secs(3)).open().await?;
    /// println!("{} plugins are not ready yet", host.loading().len());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn load_in_background(mut self, after: Duration) -> Self {
        self.background_after = Some(after);
        self
    }

    /// Sets the observer of slow steps while plugins load.
    #[must_use]
    pub fn observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observer = observer;
        self
    }

    /// Adds a hook. Hooks are asked in the order in which they were added.
    #[must_use]
    pub fn hook(mut self, hook: Arc<dyn Hook>) -> Self {
        self.hooks.push(hook);
        self
    }

    /// Sets the maximum number of calls that run at the same time. Other calls wait. Slots go to principals in turn,
    /// and within a principal to plugins in turn. With four slots or more, one in eight is reserved for other
    /// principals, and one in eight of the rest for other plugins.
    #[must_use]
    pub fn calls(mut self, calls: u32) -> Self {
        self.calls = calls;
        self
    }

    /// Orders the calls of a session across all processes that use the same state directory and set this too. By
    /// default, the host assumes that only it uses a session. With this, each call takes one more file lock.
    #[must_use]
    pub fn share_sessions(mut self) -> Self {
        self.shares_sessions = true;
        self
    }

    /// Sets the maximum size of all kept outputs in the state directory, in bytes. The default is
    /// [`OUTPUTS_BYTES_DEFAULT`]. One session gets at most half of it. The oldest outputs are removed to make room.
    #[must_use]
    pub fn outputs_bytes(mut self, bytes: u64) -> Self {
        self.outputs_bytes = bytes;
        self
    }

    /// Sets the time that guests see, for tests and reproducible results. Limits and the audit log still use the
    /// system's time.
    #[must_use]
    pub fn time_source(mut self, time: Arc<dyn TimeSource>) -> Self {
        self.time = Some(time);
        self
    }

    /// Sets the seed of the randomness that guests see. It is the same for every call. Use it for tests, never for a
    /// guest that creates keys.
    #[must_use]
    pub fn random_seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Opens the host: reads the policy, starts the engine, loads the plugins, and opens the handles that the policy
    /// grants.
    ///
    /// # Errors
    /// The policy or one of its grants is not usable, or a place of the host cannot be opened. A plugin that cannot be
    /// loaded is not an error; the catalog lists it as refused.
    pub async fn open(self) -> Result<Host, OpenError> {
        if self.calls == 0 || self.calls > CALLS_MAX {
            return Err(OpenError::Calls(self.calls));
        }
        let path = self.state;
        let OpenState { state, audit, ledger, approvals, owner } = blocking(move || OpenState::open(&path)).await?;
        let admissions = admissions(self.calls, &state, self.shares_sessions)?;
        let plugins = PluginDirectory::open(&self.plugins)?;
        let outputs = Outputs::open(&state, Arc::clone(&ledger), self.outputs_bytes)?;
        let stores = Stores::new(ledger).map_err(ApprovalError::from)?;
        let read = self.policy.read(&approvals)?;
        let network = Network::new(read.policy.name_servers())?;
        let in_force = Arc::new(PolicyInForce::new(read, network));
        let policy = &in_force.policy;
        audit.keep(policy.record().durable);
        let reserved = Reserved::of(policy);
        let calls = self.calls + admission::waiting_runs(self.calls);
        let engine = Engine::new(&reserved.engine(calls))?;
        let store = CodeStore::new(state.cache.try_clone().map_err(AuditError::Io)?, &state.key, engine.fingerprint());
        let (compiler, observer, store) = (self.compiler, self.observer, Arc::new(store));
        let (slots, loading_audit) = (LoadSlots::default(), Arc::clone(&audit));
        let loader = Arc::new(Loader { engine, compiler, store, plugins, audit: loading_audit, observer, slots });
        let first = FirstCatalog::load(&loader, &in_force, self.only_for.as_deref(), self.background_after).await?;
        let FirstCatalog { catalog, seen, background } = first.bound(&loader, &in_force, &state, &self.injection)?;
        let status = PolicyStatus { sha256: in_force.sha256.clone(), fault: None };
        let host = Arc::new(HostState {
            catalog: watch::Sender::new(Arc::new(catalog)),
            seen: Mutex::new(seen),
            sources: self.policy,
            policy_status: watch::Sender::new(status),
            reserved,
            state,
            stores,
            outputs,
            injection: Arc::new(self.injection),
            time: self.time,
            seed: self.seed,
            loader,
            background,
            audit,
            approvals,
            decided_left: Default::default(),
            owner,
            channel: self.channel,
            approval_options: self.approval_options,
            repetition: Repetition::default(),
            hooks: self.hooks,
            events: Arc::default(),
            under_way: CallsUnderWay::default(),
            admissions,
            reviews: Semaphore::new(REVIEW_SLOTS as usize),
            arguments_bytes_max: reserved.limits().arguments_bytes,
        });
        // If this fails, each call is still decided again before it runs.
        let _ = redecide_left(&host).await;
        admit_in_background(&host);
        Ok(Host(host))
    }
}

/// Lets each plugin that loads in the background enter the catalog when it is ready.
fn admit_in_background(host: &Arc<HostState>) {
    if let Some(background) = host.background() {
        let admission = tokio::spawn(reload::admit_loaded(Arc::downgrade(host), Arc::clone(background)));
        background.admitted_by(admission.abort_handle());
    }
}

/// Makes the run slots, and opens the lock files of sessions that other processes share.
fn admissions(calls: u32, state: &HostDirectories, shares_sessions: bool) -> Result<Admissions, PlaceError> {
    Admissions::new(calls, shares_sessions.then_some(&state.directory)).map_err(|source| PlaceError::Io {
        what: "the directory of the session locks in",
        path: state.path.clone(),
        source,
    })
}

/// The opened state directory and its contents.
struct OpenState {
    state: HostDirectories,
    audit: Arc<AuditLog>,
    ledger: Arc<CallLedger>,
    approvals: Approvals,
    owner: Arc<Owner>,
}

impl OpenState {
    /// Opens the state directory, and settles the calls and requests that dead processes left behind.
    fn open(path: &Path) -> Result<Self, OpenError> {
        let state = HostDirectories::open(path)?;
        let audit = Arc::new(AuditLog::open(&state.directory, &state.key, CALLS_MAX)?);
        let ledger = Arc::new(CallLedger::open(&state)?);
        let approvals = Approvals::new(Arc::clone(&ledger), Arc::clone(&audit))?;
        let owner = approvals.owner()?;
        Ok(Self { state, audit, ledger, approvals, owner })
    }
}
