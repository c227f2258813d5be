//! The steps of opening a host, in the required order.

use super::builder::HostBuilder;
use super::error::OpenError;
use crate::admission::{self, Admissions};
use crate::approvals::{ApprovalError, Approvals, Repetition};
use crate::audit::{AuditError, AuditWriter};
use crate::call::{redecide_left, together_boxed};
use crate::catalog::{
    BackgroundLoading, BackgroundLoads, Catalog, EndedLoad, Loader, NamedPluginDirectory, PluginDirectories, Seen,
};
use crate::concurrency::CALLS_MAX;
use crate::events::Publisher;
use crate::grants;
use crate::host::Host;
use crate::inject::Injection;
use crate::inner::HostState;
use crate::kept_instances::KeptInstances;
use crate::ledger::{CallLedger, LedgerUsers, Owner, blocking};
use crate::ledger_rounds;
use crate::live::{KnownCalls, LiveServer, LiveSocket};
use crate::metrics::CallMetrics;
use crate::outputs::OutputKeeper;
use crate::places::{HostDirectories, PlaceError, StatePlace};
use crate::policy_in_force::{PolicyInForce, PolicyStatus, Reserved};
use crate::policy_source::PolicySources;
use crate::rate_sharing;
use crate::reload;
use crate::results::ResultHistory;
use crate::shared_calls::SharedCalls;
use crate::standard;
use crate::stores::Stores;
use crate::under_way::CallsUnderWay;
use portcullis_ledger::logins::ServerLogins;
use portcullis_ledger::pins::GeneratedPins;
use portcullis_sandbox::{CodeStore, Engine, Network, REVIEW_SLOTS};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{Mutex, Semaphore, watch};

impl HostBuilder {
    /// Opens the host: reads the policy, starts the engine, loads the plugins, and opens the handles that the policy
    /// grants.
    ///
    /// # Errors
    /// A setting is wrong, or the policy does not fit what is there. A plugin that cannot be loaded is not an error:
    /// the catalog lists it as refused.
    pub async fn open(self) -> Result<Host, OpenError> {
        self.check()?;
        let (state, plugins, sources) = (self.state, self.plugins, self.policy);
        let admission = (self.calls, self.shares_sessions);
        let (outputs_bytes, shares_live) = (self.outputs_bytes, self.shares_live);
        let places = HostPlaces { state, plugins, sources, admission, outputs_bytes, shares_live };
        let opened = blocking(move || OpenState::open(places)).await?;
        let OpenState { state, audit, approvals, owner, admissions, plugins, outputs, .. } = opened;
        let (stores, sources, in_force, live) = (opened.stores, opened.sources, opened.in_force, opened.live);
        audit.keep(in_force.policy.record().durable);
        let (reserved, events) = (Reserved::of(&in_force.policy), Arc::default());
        let engine = Engine::new(&reserved.engine(admission::runs_max(self.calls)))?;
        let code = code_caches(&state, &engine).map_err(AuditError::Io)?;
        let kept = (Arc::clone(&audit), Arc::new(GeneratedPins::open(&state)?), Arc::new(ServerLogins::open(&state)?));
        let loader = Arc::new(Loader::new((engine, self.compiler), code, plugins, kept, self.observer));
        let first = FirstCatalog::load(&loader, &in_force, self.only_for.as_deref(), self.background_after).await?;
        let (first, state, injection) = first.bound(&loader, &in_force, state, self.injection).await?;
        let FirstCatalog { catalog, seen, background } = first;
        let (live_calls, live) = live.map(|socket| serve_live(socket, &owner, &events)).unzip();
        let results = self.results_budget.map(|budget| Arc::new(ResultHistory::new(budget, outputs.clone())));
        let host = Arc::new(HostState {
            catalog: watch::Sender::new(Arc::new(catalog)),
            seen: Mutex::new(seen),
            sources,
            policy_status: watch::Sender::new(PolicyStatus { sha256: in_force.sha256.clone(), fault: None }),
            reserved,
            state,
            stores,
            outputs,
            results,
            injection: Arc::new(injection),
            time: self.time,
            seed: self.seed,
            loader,
            background,
            audit,
            storage: Arc::default(),
            metrics: Arc::new(CallMetrics::new(self.call_observer)),
            approvals,
            shared_calls: opened.shared_calls,
            decided_left: Default::default(),
            owner,
            channel: self.channel,
            approval_options: self.approval_options,
            repetition: Repetition::default(),
            hooks: self.hooks,
            events,
            live_calls,
            live,
            under_way: CallsUnderWay::default(),
            admissions,
            instances: KeptInstances::new(admission::runs_max(self.calls)),
            reviews: Semaphore::new(REVIEW_SLOTS as usize),
            makes_together: together_boxed,
            arguments_bytes_max: reserved.limits().arguments_bytes,
        });
        // If this fails, each call is still decided again before it runs.
        let _ = redecide_left(&host).await;
        begin_background_work(&host);
        Ok(Host(host))
    }

    /// Finds mistakes of the embedder, before anything is created.
    fn check(&self) -> Result<(), OpenError> {
        if self.calls == 0 || self.calls > CALLS_MAX {
            return Err(OpenError::Calls(self.calls));
        }
        self.compiler.check()?;
        Ok(self.policy.check_text()?)
    }
}

/// The plugins that a host opens with, and the loads that continue while it runs.
struct FirstCatalog {
    catalog: Catalog,
    seen: Seen,
    background: Option<BackgroundLoading>,
}

/// A first catalog whose plugins are not bound to grants yet, and whose ready plugins the observer does not know yet.
struct UntoldCatalog {
    first: FirstCatalog,
    arrived: Vec<Arc<EndedLoad>>,
}

impl FirstCatalog {
    /// Loads the plugins. With `background_after`, plugins that are not ready after that time keep loading in the
    /// background.
    async fn load(
        loader: &Arc<Loader>,
        policy: &Arc<PolicyInForce>,
        only_for: Option<&str>,
        background_after: Option<Duration>,
    ) -> Result<UntoldCatalog, OpenError> {
        let began = Instant::now();
        // If a later step fails, dropping this stops the background loads.
        let background = background_after.map(|after| (after, BackgroundLoading(BackgroundLoads::new(loader))));
        let loads = background.as_ref().map(|(_, BackgroundLoading(loads))| loads);
        let (mut catalog, mut seen) = loader.load_all(policy, standard::plugins(), only_for, loads).await?;
        let mut arrived = Vec::new();
        if let Some((after, BackgroundLoading(loads))) = &background {
            loads.tell_begun(|_, _| false);
            loads.settled(after.saturating_sub(began.elapsed())).await;
            arrived = loads.enter(&mut catalog, &mut seen);
        }
        // A host for one call leaves this to others, and a server does it when it verifies its files. Both do it when
        // they compile.
        if only_for.is_none() && background.is_none() {
            loader.make_room().await;
        }
        let background = background.map(|(_, background)| background);
        Ok(UntoldCatalog { first: Self { catalog, seen, background }, arrived })
    }
}

impl UntoldCatalog {
    /// Checks the plugins against the policy, binds them to its grants, and reports to the observer which are ready.
    async fn bound(
        self,
        loader: &Arc<Loader>,
        policy: &Arc<PolicyInForce>,
        state: HostDirectories,
        injection: Injection,
    ) -> Result<(FirstCatalog, HostDirectories, Injection), OpenError> {
        let Self { mut first, arrived } = self;
        let (held, bound_policy) = (loader.plugins.held(), Arc::clone(policy));
        // This blocks, because it opens directories and certificates.
        let bind = move || -> Result<_, OpenError> {
            let catalog = &mut first.catalog;
            grants::check_bindings(&bound_policy.policy, catalog)?;
            catalog
                .plugins()
                .try_for_each(|plugin| grants::check_services(&bound_policy.policy, plugin, &injection))?;
            bound_policy.opening(&state, &held).bind_all(catalog)?;
            Ok((first, state, injection))
        };
        let (mut first, state, injection) = blocking(bind).await?;
        let catalog = &mut first.catalog;
        loader.generate_all(catalog).await;
        loader.list_servers(catalog).await;
        // Only now are all tools known that a rule can name.
        grants::check_names(&policy.policy, catalog, &policy.bases)?;
        // This comes last: a file can describe a generated tool, and its placeholders stand for granted directories.
        loader.describe_all(catalog);
        if let Some(BackgroundLoading(loads)) = &first.background {
            loads.tell_ended(&arrived, catalog);
        }
        Ok((first, state, injection))
    }
}

/// Lets each plugin that loads in the background enter the catalog when it is ready. Settles what other hosts leave.
fn begin_background_work(host: &Arc<HostState>) {
    if let Some(background) = host.background() {
        let admission = tokio::spawn(reload::admit_loaded(Arc::downgrade(host), Arc::clone(background)));
        background.admitted_by(admission.abort_handle());
    }
    tokio::spawn(reload::verify(Arc::downgrade(host)));
    host.approvals.settle_regularly();
    ledger_rounds::follow(host);
    rate_sharing::follow(host);
}

/// Returns the host's own cache of code, and the directory of the cache that other commands of the user fill.
fn code_caches(state: &HostDirectories, engine: &Engine) -> io::Result<(Arc<CodeStore>, Option<PathBuf>)> {
    let store = CodeStore::new(state.cache.try_clone()?, &state.key, engine.fingerprint());
    Ok((Arc::new(store), state.examined_code.clone()))
}

/// Begins to serve the live feed. Returns the calls that it tells new readers about.
fn serve_live(
    socket: io::Result<LiveSocket>,
    owner: &Owner,
    events: &Arc<Publisher>,
) -> (Arc<KnownCalls>, io::Result<LiveServer>) {
    let calls = Arc::default();
    let server = socket.and_then(|socket| LiveServer::begin(socket, owner.id(), events, &calls));
    (calls, server)
}

/// Creates the run slots, and opens the lock files of sessions that other processes share.
fn admissions(calls: u32, state: &HostDirectories, shares_sessions: bool) -> Result<Admissions, PlaceError> {
    Admissions::new(calls, shares_sessions.then_some(&state.directory)).map_err(|source| PlaceError::Io {
        what: "the directory of the session locks in",
        path: state.path.clone(),
        source,
    })
}

/// The settings that name or bound what a host opens on the disk.
struct HostPlaces {
    state: StatePlace,
    plugins: Vec<NamedPluginDirectory>,
    sources: PolicySources,
    /// The run slots, and whether sessions are shared with other processes.
    admission: (u32, bool),
    outputs_bytes: u64,
    /// Whether the host serves the live feed.
    shares_live: bool,
}

/// What a host opens on the disk before it loads plugins.
struct OpenState {
    state: HostDirectories,
    audit: Arc<AuditWriter>,
    approvals: Approvals,
    owner: Arc<Owner>,
    admissions: Admissions,
    plugins: PluginDirectories,
    outputs: OutputKeeper,
    stores: Stores,
    sources: PolicySources,
    in_force: Arc<PolicyInForce>,
    /// The socket of the live feed, if the host shares its calls.
    live: Option<io::Result<LiveSocket>>,
    shared_calls: Option<SharedCalls>,
}

impl OpenState {
    /// Opens the state directory, settles the calls and requests that dead processes left behind, and reads the policy.
    /// It blocks.
    fn open(places: HostPlaces) -> Result<Self, OpenError> {
        let HostPlaces { state, plugins, sources, admission: (calls, shares_sessions), outputs_bytes, shares_live } =
            places;
        let state = HostDirectories::open(&state)?;
        // The audit log comes before the ledger, because settling what dead processes left writes entries.
        let audit = Arc::new(AuditWriter::open(&state.directory, &state.key, CALLS_MAX)?);
        let ledger = Arc::new(CallLedger::open(&state)?);
        let approvals = Approvals::new(Arc::clone(&ledger), Arc::clone(&audit))?;
        let owner = approvals.owner()?;
        let shared_calls = SharedCalls::of(&ledger, &owner, &state);
        let admissions = admissions(calls, &state, shares_sessions)?;
        if ledger.users() == LedgerUsers::ManyDirectories {
            // Otherwise the first calls would be counted against the whole rates, as if no other host used them.
            let hosts = ledger.look(|change| change.live_hosts())?;
            admissions.rate_counts.share_among(hosts, Instant::now());
        }
        let plugins = PluginDirectories::open(&plugins)?;
        let outputs = OutputKeeper::open(&state, &ledger, outputs_bytes)?;
        let alive = |id: &str| ledger.is_alive(id);
        // An error is kept and not returned, because the host opens without the feed.
        let live = shares_live.then(|| LiveSocket::listen(&state.directory, owner.id(), alive));
        let stores = Stores::new(ledger).map_err(ApprovalError::from)?;
        // The approvals come before the policy, because they know whether the user trusts the project's layer.
        let read = sources.read(&approvals)?;
        let network = Network::new(read.policy.name_servers());
        let in_force = Arc::new(PolicyInForce::new(read, network));
        Ok(Self {
            state,
            audit,
            approvals,
            owner,
            admissions,
            plugins,
            outputs,
            stores,
            sources,
            in_force,
            live,
            shared_calls,
        })
    }
}
