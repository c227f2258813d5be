//! The state that all clones of a host share.

use crate::admission::Admissions;
use crate::approvals::{Approvals, ApproverChannel, Repetition};
use crate::audit::AuditWriter;
use crate::call::DecidedRequests;
use crate::catalog::{BackgroundLoading, BackgroundLoads, Catalog, Loader, Seen};
use crate::events::Publisher;
use crate::hooks::Hook;
use crate::inject::Injection;
use crate::kept_instances::KeptInstances;
use crate::ledger::Owner;
use crate::live::{KnownCalls, LiveServer};
use crate::metrics::CallMetrics;
use crate::outputs::OutputKeeper;
use crate::places::HostDirectories;
use crate::policy_in_force::{PolicyInForce, PolicyStatus, Reserved};
use crate::policy_source::PolicySources;
use crate::reply::Reply;
use crate::request::Request;
use crate::results::ResultHistory;
use crate::shared_calls::SharedCalls;
use crate::steering::Steering;
use crate::storage_health::StorageHealth;
use crate::stores::Stores;
use crate::under_way::CallsUnderWay;
use portcullis_policy::{PluginName, Policy};
use portcullis_sandbox::{Cancellation, TimeSource};
use std::future::Future;
use std::pin::Pin;
use std::sync::{self, Arc};
use tokio::sync::{Mutex, Semaphore, watch};

/// Runs the calls of a batch, at most a number of them at the same time, until a cancellation. Passes on each reply
/// with the index of its request.
pub(crate) type MakesTogether = for<'a> fn(
    &'a Arc<HostState>,
    Vec<Request>,
    usize,
    (&'a Cancellation, &'a Steering),
    Box<dyn FnMut(usize, Reply) + Send + 'a>,
) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

pub(crate) struct HostState {
    /// The current catalog. A call keeps the catalog that it started with.
    pub(crate) catalog: watch::Sender<Arc<Catalog>>,
    /// The files that the catalog was loaded from. A reload holds this lock.
    pub(crate) seen: Mutex<Seen>,
    /// The files of the policy, for reading it again.
    pub(crate) sources: PolicySources,
    /// The policy in force, which is the one in the catalog.
    pub(crate) policy_status: watch::Sender<PolicyStatus>,
    /// The limits that memory was reserved for when the host opened.
    pub(crate) reserved: Reserved,
    pub(crate) state: HostDirectories,
    pub(crate) stores: Stores,
    pub(crate) outputs: OutputKeeper,
    /// The results of each conversation, if the host has a budget for them.
    pub(crate) results: Option<Arc<ResultHistory>>,
    pub(crate) injection: Arc<Injection>,
    /// The time that guests see, if it is not the system's.
    pub(crate) time: Option<Arc<dyn TimeSource>>,
    /// The seed of the guests' randomness, if it is not the system's.
    pub(crate) seed: Option<u64>,
    pub(crate) loader: Arc<Loader>,
    /// The background loads, if the host does not wait for plugins.
    pub(crate) background: Option<BackgroundLoading>,
    pub(crate) audit: Arc<AuditWriter>,
    /// What the host knows of its audit log between two checks.
    pub(crate) storage: Arc<StorageHealth>,
    /// Counts and measures the calls of this host.
    pub(crate) metrics: Arc<CallMetrics>,
    pub(crate) approvals: Approvals,
    /// The calls that other hosts can continue, if the ledger is shared with other hosts.
    pub(crate) shared_calls: Option<SharedCalls>,
    /// The requests without a waiting call that the catalog in force has decided on.
    pub(crate) decided_left: sync::Mutex<DecidedRequests>,
    /// This process, as the audit log and the ledger name it.
    pub(crate) owner: Arc<Owner>,
    /// Who answers approval requests. If `None`, the policy decides.
    pub(crate) channel: Option<ApproverChannel>,
    /// Command-line options that lead a person to this host's state. They follow the id of an approval request.
    pub(crate) approval_options: String,
    pub(crate) repetition: Repetition,
    pub(crate) hooks: Vec<Arc<dyn Hook>>,
    pub(crate) events: Arc<Publisher>,
    /// The calls that readers of the live feed are told about, if the host shares them.
    pub(crate) live_calls: Option<Arc<KnownCalls>>,
    /// The live feed of this host, or why it cannot be served. `None` if the host does not share its calls.
    pub(crate) live: Option<Result<LiveServer, std::io::Error>>,
    /// Counts the calls of this host.
    pub(crate) under_way: CallsUnderWay,
    pub(crate) admissions: Admissions,
    /// The instances of plugins that sessions keep between their calls.
    pub(crate) instances: KeptInstances,
    /// The slots for reviews and previews, which do not use run slots.
    pub(crate) reviews: Semaphore,
    /// All steps of several calls. A batch is a step of a call, so it reaches the steps only through this.
    pub(crate) makes_together: MakesTogether,
    /// The maximum size of arguments for any plugin, which is checked before the tool is known.
    pub(crate) arguments_bytes_max: usize,
}

impl HostState {
    /// Returns who answers the approval requests of calls that do not choose a channel themselves.
    fn channel(&self, policy: &Policy) -> ApproverChannel {
        self.channel.clone().unwrap_or(ApproverChannel::NoApprover(policy.approvals().unattended))
    }

    /// Returns who answers the approval requests of a call.
    pub(crate) fn channel_of(&self, request: &Request, policy: &Policy) -> ApproverChannel {
        request.channel.clone().unwrap_or_else(|| self.channel(policy))
    }

    /// Returns the policy that decides a call that begins now.
    pub(crate) fn policy(&self) -> Arc<PolicyInForce> {
        Arc::clone(&self.catalog.borrow().policy)
    }

    pub(crate) fn catalog(&self) -> Arc<Catalog> {
        Arc::clone(&self.catalog.borrow())
    }

    /// Puts a new catalog in force, and ends the instances of plugins that it does not have.
    pub(crate) fn replace_catalog(&self, catalog: Catalog) {
        // The new catalog comes first: a call that ends in between then compares its instance with it, and drops it.
        self.catalog.send_replace(Arc::new(catalog));
        self.instances.keep_only(&self.catalog());
    }

    pub(crate) fn background(&self) -> Option<&Arc<BackgroundLoads>> {
        self.background.as_ref().map(|background| &background.0)
    }

    /// Returns whether a plugin that is not in a catalog is being compiled, or has become ready since.
    pub(crate) fn is_loading(&self, plugin: &str, catalog: &Catalog) -> bool {
        let is_named = |name: &PluginName| name.as_str() == plugin;
        catalog.plugin(plugin).is_none()
            && self.background().is_some_and(|background| {
                background.plugins().iter().any(is_named) || self.catalog().plugin(plugin).is_some()
            })
    }

    pub(crate) fn approval_command(&self, request: &str) -> String {
        format!("portcullis approvals approve {request}{}", self.approval_options)
    }
}
