//! Opens a host. The steps are in the order in which they are needed.

use super::error::OpenError;
use super::first_catalog::FirstCatalog;
use crate::admission::{self, Admissions};
use crate::approvals::{ApprovalError, Approvals, Channel, Repetition};
use crate::approver::Approver;
use crate::audit::{AuditError, AuditLog};
use crate::call::redecide_left;
use crate::catalog::{LoadSlots, Loader, Observer, PluginDirectory, Silent};
use crate::concurrency::{CALLS_DEFAULT, CALLS_MAX};
use crate::hooks::Hook;
use crate::host::Host;
use crate::inject::Injection;
use crate::inner::Inner;
use crate::ledger::{Ledger, Owner, blocking};
use crate::outputs::{OUTPUTS_BYTES_DEFAULT, Outputs};
use crate::places::{PlaceError, State};
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

/// Opens a host.
pub struct HostBuilder {
    plugins: PathBuf,
    state: PathBuf,
    policy: PolicySources,
    compiler: Compiler,
    channel: Option<Channel>,
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
    /// Begins a host for the plugins of a directory, keeping its key, cache and record in another. Its policy denies
    /// everything, it has no approver, and plugins are compiled by `compiler`.
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

    /// Takes the policy from a file that the person who runs the host has named. Where the file is not there,
    /// everything is denied, or, if it is required, the host does not open.
    #[must_use]
    pub fn policy_file(mut self, path: impl Into<PathBuf>, required: bool) -> Self {
        self.policy.user = Some(UserPolicy::File { path: path.into(), required });
        self
    }

    /// Takes the policy from text that the embedder holds; its relative paths start from `base`.
    ///
    /// # Errors
    /// The text is no policy.
    pub fn policy_text(mut self, text: &str, base: impl Into<PathBuf>) -> Result<Self, OpenError> {
        policy_text::parse(text, Path::new("policy"))?;
        self.policy.user = Some(UserPolicy::Text { text: text.to_owned(), base: base.into() });
        Ok(self)
    }

    /// Puts a policy of the embedder's own below every other. What it denies nobody allows.
    ///
    /// # Errors
    /// The text is no policy.
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

    /// Who answers when the policy says ask, beside whoever answers through [`Host::approvals`].
    #[must_use]
    pub fn approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.channel = Some(Channel::Approver(approver));
        self
    }

    /// Nobody answers here: a call waits for an answer through [`Host::approvals`], of this process or another.
    #[must_use]
    pub fn answered_elsewhere(mut self) -> Self {
        self.channel = Some(Channel::Elsewhere);
        self
    }

    /// Sets the options that `portcullis approvals approve` needs to find this host's state, plugins and policy, if
    /// they are not the defaults. Messages that name the command append them.
    #[must_use]
    pub fn approval_options<'a>(mut self, options: impl IntoIterator<Item = &'a str>) -> Self {
        self.approval_options = options.into_iter().fold(String::new(), |line, option| line + " " + option);
        self
    }

    /// Nobody is there while a call is made: it stays behind as pending, or is denied. Without this and without any
    /// other channel, as the policy says.
    #[must_use]
    pub fn unattended(mut self, unattended: Unattended) -> Self {
        self.channel = Some(Channel::Nobody(unattended));
        self
    }

    /// Loads only what a call of one tool needs: its plugin, and the plugins that a rule of the policy names together
    /// with it. The others cost nothing, whatever is wrong with them. [`Host::reload`] loads them.
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
    /// [`Host::catalog_changes`] tells of it, and the audit log records it. [`Host::reload`] does not wait for a plugin
    /// that has to be compiled either. What the policy says wrongly of such a plugin refuses that plugin, because the
    /// host is open by then. Dropping the last clone of the host ends what is still being compiled.
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

    /// Who hears of what takes time while plugins load.
    #[must_use]
    pub fn observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observer = observer;
        self
    }

    /// Adds a hook, which is asked after those that were added before it.
    #[must_use]
    pub fn hook(mut self, hook: Arc<dyn Hook>) -> Self {
        self.hooks.push(hook);
        self
    }

    /// Sets how many calls run at one time; more wait. Each principal has its turn, and so has each plugin of a
    /// principal. From four on, one in eight is kept free for other principals, and of the rest one in eight for other
    /// plugins.
    #[must_use]
    pub fn calls(mut self, calls: u32) -> Self {
        self.calls = calls;
        self
    }

    /// Orders the calls of a session also with those that other processes make on the same state directory, where they
    /// set this as well. Otherwise a session is taken to be of this host alone. A call then takes one more file lock.
    #[must_use]
    pub fn share_sessions(mut self) -> Self {
        self.shares_sessions = true;
        self
    }

    /// What all kept outputs of the state directory may take together, in bytes; [`OUTPUTS_BYTES_DEFAULT`] unless said.
    /// A session has half of it at the most. The oldest make room.
    #[must_use]
    pub fn outputs_bytes(mut self, bytes: u64) -> Self {
        self.outputs_bytes = bytes;
        self
    }

    /// Gives guests this time in place of the system's: for tests, and for what has to come out the same twice. Limits
    /// and the record keep the system's time.
    #[must_use]
    pub fn time_source(mut self, time: Arc<dyn TimeSource>) -> Self {
        self.time = Some(time);
        self
    }

    /// Gives guests randomness that follows from a seed, the same for every call: for tests, and never for a guest that
    /// makes keys.
    #[must_use]
    pub fn random_seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
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
        let host = Arc::new(Inner {
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
fn admit_in_background(host: &Arc<Inner>) {
    if let Some(background) = host.background() {
        let admission = tokio::spawn(reload::admit_loaded(Arc::downgrade(host), Arc::clone(background)));
        background.admitted_by(admission.abort_handle());
    }
}

/// Makes the run slots, and opens the lock files of sessions that other processes share.
fn admissions(calls: u32, state: &State, shares_sessions: bool) -> Result<Admissions, PlaceError> {
    Admissions::new(calls, shares_sessions.then_some(&state.directory)).map_err(|source| PlaceError::Io {
        what: "the directory of the session locks in",
        path: state.path.clone(),
        source,
    })
}

/// The state directory with its content.
struct OpenState {
    state: State,
    audit: Arc<AuditLog>,
    ledger: Arc<Ledger>,
    approvals: Approvals,
    owner: Arc<Owner>,
}

impl OpenState {
    /// Opens the state directory, and settles what dead processes left there.
    fn open(path: &Path) -> Result<Self, OpenError> {
        let state = State::open(path)?;
        let audit = Arc::new(AuditLog::open(&state.directory, &state.key, CALLS_MAX)?);
        let ledger = Arc::new(Ledger::open(&state)?);
        let approvals = Approvals::new(Arc::clone(&ledger), Arc::clone(&audit))?;
        let owner = approvals.owner()?;
        Ok(Self { state, audit, ledger, approvals, owner })
    }
}
