//! The host, which an embedder uses to list and call tools.

use crate::approvals::{ApprovalError, Approvals, ApproverChannel};
use crate::audit::AuditWriter;
use crate::audit_reader::AuditReader;
use crate::batch::{self, Batch};
use crate::call::{self, Reach};
use crate::catalog::{Catalog, LoadError, Offer, Plugin, Tool};
use crate::concurrency::CALLS_MAX;
use crate::conformance::Loaded;
use crate::events::{EventFilter, Events};
use crate::explain::Explained;
use crate::inner::HostState;
use crate::kept_outputs::KeptOutputs;
use crate::ledger::{CallLedger, LedgerError, LedgerPeek, blocking};
use crate::offered::OfferedTools;
use crate::open::OpenError;
use crate::places::{HostDirectories, StatePlace};
use crate::policy_in_force::PolicyStatus;
use crate::policy_warning::{self, PolicyWarning};
use crate::rehearsal::Rehearsal;
use crate::reload::{self, ReloadError, Reloaded};
use crate::reply::Reply;
use crate::request::Request;
use crate::results::Results;
use crate::rule_gaps::rule_gaps;
use crate::shared_calls::SharedCalls;
use crate::shared_ledger::SharedLedger;
use portcullis_policy::{Audience, DependencyKey, Permission, PluginName, Policy, RuleGap, UnknownToolset};
use portcullis_sandbox::{Cancellation, Footprint};
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::watch;

/// A host of plugins, which runs their tools under a policy. Clones share the same host.
#[derive(Clone)]
pub struct Host(pub(crate) Arc<HostState>);

impl fmt::Debug for Host {
    /// Names the state directory and the plugins. Leaves out the key, the policy and what the embedder passed.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let catalog = self.0.catalog();
        let plugins: Vec<_> = catalog.plugins().map(|plugin| plugin.name().as_str()).collect();
        let mut host = formatter.debug_struct("Host");
        host.field("state", &self.0.state.path).field("plugins", &plugins);
        host.field("calls_under_way", &self.calls_under_way()).finish_non_exhaustive()
    }
}

impl Host {
    /// Runs one call. There is always a reply, and the call is always recorded. Dropping the future ends the call
    /// immediately and records it as cancelled.
    ///
    /// # Panics
    /// The future needs a tokio runtime with its timer and I/O enabled. Polled outside of one, it panics as soon as the
    /// call waits for a time limit, a file or a thread, and the call is recorded as cancelled. A call that is refused
    /// before that still gets its reply. Programs with another executor keep a tokio runtime, and enter it with
    /// `Runtime::enter` or spawn the call on it.
    pub async fn call(&self, request: Request) -> Reply {
        call::call(&self.0, request, None).await
    }

    /// Runs a call that was approved while no process waited for it, if it is still the call that was requested. It
    /// runs at most once, however often this is called.
    ///
    /// # Errors
    /// The request does not exist, is not approved or has already run, or the process that made it still waits.
    pub async fn resume(&self, question: &str) -> Result<Reply, ApprovalError> {
        self.resume_until(question, Cancellation::new()).await
    }

    /// Runs a call like [`Host::resume`], until it is cancelled.
    ///
    /// # Errors
    /// Those of [`Host::resume`].
    pub async fn resume_until(&self, question: &str, cancellation: Cancellation) -> Result<Reply, ApprovalError> {
        let (approvals, id) = (self.0.approvals.clone(), question.to_owned());
        let redeemed = blocking(move || approvals.redeemable(&id)).await?;
        let call = redeemed.call.clone();
        let request = Request::resuming(question, redeemed).cancellation(cancellation);
        // The call keeps the id that its approval request names.
        Ok(call::call(&self.0, request, Some(call)).await)
    }

    /// Returns the approval requests and remembered approvals.
    pub fn approvals(&self) -> &Approvals {
        &self.0.approvals
    }

    /// Returns the calls that outlive the request of their client, and that any host of the ledger can continue. `None`
    /// if the ledger is in the state directory, so that no other host can.
    pub fn shared_calls(&self) -> Option<&SharedCalls> {
        self.0.shared_calls.as_ref()
    }

    /// Returns the command that approves a request, with the options that it needs.
    pub fn approval_command(&self, request: &str) -> String {
        self.0.approval_command(request)
    }

    /// Returns whether the embedder has set an approver for requests that bring none of their own.
    pub fn asks_its_own(&self) -> bool {
        matches!(self.0.channel, Some(ApproverChannel::Approver(_)))
    }

    /// Runs several calls concurrently, each like [`Host::call`]. Returns the replies in the order of the requests. The
    /// order in which the calls run is unspecified. A tool that may change something, or declares that it is
    /// sequential, runs alone among the calls of its batch. Dropping the future drops its calls.
    pub async fn batch(&self, batch: Batch) -> Vec<Reply> {
        batch::run(&self.0, batch).await
    }

    /// Subscribes to the events of all calls of this host from now on.
    pub fn events(&self) -> Events {
        self.0.events.subscribe()
    }

    /// Subscribes to the events that a filter passes, from now on. They carry arguments and results if the filter asks
    /// for them.
    pub fn events_with(&self, filter: EventFilter) -> Events {
        self.0.events.subscribe_with(filter)
    }

    /// Returns why the calls of this host are not shared, although [`HostBuilder::share_live`](crate::HostBuilder) was
    /// set.
    pub fn live_fault(&self) -> Option<&io::Error> {
        self.0.live.as_ref().and_then(|live| live.as_ref().err())
    }

    /// Explains what would happen to a call now. Takes the steps of the call up to where it would ask an approver or
    /// run. Asks no approver, and records, counts and spends nothing. The plugin's reviewer runs in its sandbox, where
    /// it cannot change anything. Hooks see that the call is only explained ([`crate::HookCall::explained`]).
    ///
    /// # Errors
    /// The call would be rejected before the policy decides it, with this reply.
    pub async fn explain(&self, request: Request) -> Result<Explained, Box<Reply>> {
        match call::explain(&self.0, &request).await {
            Ok((call, outlook)) => Ok(Explained::of(&self.0, &call, outlook, &request.origin)),
            Err(rejection) => Err(Box::new(rejection.unrecorded(request.tool))),
        }
    }

    /// Returns the current catalog of loaded and refused plugins.
    pub fn catalog(&self) -> Arc<Catalog> {
        self.0.catalog()
    }

    /// Returns the tools that a caller is offered under the policy in force. The calls of the same caller can reach no
    /// others, if its requests have the same session, client, model, principal and toolset. Plugins that prepare their
    /// tools are asked what they offer the caller, each in its sandbox for at most two seconds. Their answers are kept.
    ///
    /// # Errors
    /// The policy has no toolset of the chosen name.
    pub async fn offered_tools(&self, audience: &Audience<'_>) -> Result<OfferedTools, UnknownToolset> {
        OfferedTools::of(&self.0.catalog(), &self.0.loader, audience).await
    }

    /// Returns whether a caller is offered one tool. Asks the tool's plugin, if it prepares its tools, and no other.
    pub async fn is_offered(&self, offer: &Offer, audience: &Audience<'_>) -> bool {
        let (catalog, tool) = (self.0.catalog(), (&*offer.plugin, &offer.tool));
        OfferedTools::definition(&catalog, &self.0.loader, tool, audience).await.is_some()
    }

    /// Returns tools as the plugins that prepare their tools offer them to a caller.
    pub async fn prepared_tools(&self, selected: OfferedTools, audience: &Audience<'_>) -> OfferedTools {
        selected.prepared_for(&self.0.catalog(), &self.0.loader, audience).await
    }

    /// Runs the generator of a plugin that was loaded for a check, with the grants of the policy in force. `bytes` are
    /// those that it was loaded from. The plugin enters no catalog, and its tools are not pinned.
    ///
    /// # Errors
    /// The policy does not fit the plugin, or the plugin cannot generate valid tools.
    pub async fn rehearse(&self, loaded: &Loaded, bytes: impl Into<Vec<u8>>) -> Result<Rehearsal, LoadError> {
        Rehearsal::begin(&self.0, loaded, bytes.into()).await
    }

    /// Returns the tools of one toolset, without regard to the offers and to what plugins offer to which caller. Like
    /// every selection, it has the host's own tools.
    ///
    /// # Errors
    /// The policy has no toolset of this name.
    pub fn tools_of(&self, toolset: &str) -> Result<OfferedTools, UnknownToolset> {
        OfferedTools::of_toolset(&self.policy(), toolset)
    }

    /// Returns whether a tool can be called at all. A tool without a schema cannot, unless the policy allows that for
    /// its plugin.
    pub fn is_callable(&self, tool: &Tool) -> bool {
        call::is_callable(&self.policy(), tool)
    }

    /// Returns whether some call of a tool could run under the policy: it is not denied for every caller, it is
    /// callable, and it has the grants that it requires.
    pub fn may_run(&self, plugin: &Plugin, tool: &Tool) -> bool {
        call::may_run(&self.policy(), plugin, tool)
    }

    /// Returns the plugins that are being compiled, or wait for it, by name
    /// ([`crate::HostBuilder::load_in_background`]). A call of one is refused with [`crate::Code::PluginLoading`],
    /// unless an earlier version of its file is loaded.
    pub fn loading(&self) -> Vec<PluginName> {
        self.0.background().map(|background| background.plugins()).unwrap_or_default()
    }

    /// Stops all background loads, and starts no more. Call this before the process ends, so that no compile worker
    /// outlives it. Dropping the last clone of the host may happen too late.
    pub fn stop_loading(&self) {
        if let Some(background) = self.0.background() {
            background.close();
        }
    }

    /// Returns whether the policy could let some call of some tool of a plugin run, for a plugin whose tools are not
    /// known.
    pub fn may_run_some(&self, plugin: &PluginName) -> bool {
        self.policy().may_permit_some(plugin)
    }

    /// Subscribes to the catalog. The receiver gets each new one.
    pub fn catalog_changes(&self) -> watch::Receiver<Arc<Catalog>> {
        self.0.catalog.subscribe()
    }

    /// Reads the plugin directory and the policy again. New, changed and removed files change the catalog, all at once.
    /// A file that cannot be loaded is in [`Catalog::refused`], and its old plugin stays. A policy that cannot be used
    /// leaves the one in force ([`Host::policy_status`]). Running calls keep what they have. Calls that wait for an
    /// approver are decided again. Dropping the future changes nothing.
    ///
    /// # Errors
    /// The directory cannot be read, or the audit log cannot be written. The catalog is then unchanged.
    pub async fn reload(&self) -> Result<Reloaded, ReloadError> {
        reload::reload(&self.0).await
    }

    /// Returns the kept outputs, which were too large for a reply.
    pub fn outputs(&self) -> KeptOutputs {
        KeptOutputs::new(self.0.outputs.clone())
    }

    /// Returns which results of a conversation are to be replaced, if the host has a budget for them
    /// ([`HostBuilder::results_budget`](crate::HostBuilder)).
    pub fn results(&self) -> Results {
        Results::new(self.0.results.clone())
    }

    /// Returns the policy in force now.
    pub fn policy(&self) -> Arc<Policy> {
        Arc::clone(&self.0.policy().policy)
    }

    /// Returns which policy is in force, and why the one in its files is not. The receiver gets each change.
    pub fn policy_status(&self) -> watch::Receiver<PolicyStatus> {
        self.0.policy_status.subscribe()
    }

    /// Returns warnings about the policy, given the plugins that are installed now. A warning stops no call.
    pub fn policy_warnings(&self) -> Vec<PolicyWarning> {
        // Read the loads first, so that a plugin that becomes ready in between is in one of the two.
        let loading = self.loading();
        let catalog = self.0.catalog();
        policy_warning::warnings(&catalog.policy.policy, &catalog, loading)
    }

    /// Returns the path of the project's policy, if there is one that the user does not trust. Such a policy only
    /// narrows.
    pub fn untrusted_policy(&self) -> Option<PathBuf> {
        self.0.policy().untrusted.clone()
    }

    /// Describes the handles that a call of each tool of a plugin would get, for people.
    pub fn handles(&self, plugin: &Plugin) -> Vec<(String, Vec<String>)> {
        let policy = self.policy();
        let lines = |tool| call::describe_handles(&policy, plugin, tool, None);
        plugin.tools().map(|tool| (tool.name().to_string(), lines(tool))).collect()
    }

    /// Returns the directories that a plugin is granted, each with the place that it leads to, for display.
    pub fn places(&self, plugin: &Plugin) -> Vec<(DependencyKey, String)> {
        let place = |key: &DependencyKey| Some((key.clone(), plugin.grants.directory(key)?.place.clone()));
        plugin.dependencies.keys().filter_map(place).collect()
    }

    /// Returns the keys that a tool requires and that the policy does not grant. Its calls are denied.
    pub fn missing_grants(&self, plugin: &Plugin, tool: &Tool) -> Vec<String> {
        call::missing_keys(plugin, tool).map(|(key, _)| key.to_string()).collect()
    }

    /// Returns the key of a directory whose read-only grant keeps a tool from a write that it needs. The host asks no
    /// approver about such a call, because no answer would help.
    pub fn read_only_grant(&self, plugin: &Plugin, tool: &Tool) -> Option<String> {
        let writes = tool.required().contains(Permission::Write);
        call::read_only_key(plugin, tool).filter(|_| writes).map(ToString::to_string)
    }

    /// Returns the rules on a path that tools bypass, for the current policy and plugins, each with the masks to use
    /// instead. Such a rule stops only the calls that name the path.
    pub fn rule_gaps(&self) -> Vec<RuleGap> {
        let catalog = self.0.catalog();
        rule_gaps(&catalog.policy.policy, &catalog)
    }

    /// Returns an upper bound for what calls of a tool can do under the policy.
    pub fn reach(&self, plugin: &Plugin, tool: &Tool) -> Reach {
        call::reach(plugin, tool)
    }

    /// Makes an address unreachable for all plugins, whatever the policy grants. Use it for servers of the application,
    /// such as one that receives approvals.
    pub fn keep_unreachable(&self, address: SocketAddr) {
        // Later policies share the list of forbidden addresses.
        self.0.policy().network.forbid(address);
    }

    /// Returns the number of calls that have not ended, including those that wait. A call is recorded before it stops
    /// counting. Use it for a shutdown that waits for all calls.
    pub fn calls_under_way(&self) -> usize {
        self.0.under_way.count()
    }

    /// Returns the audit log.
    pub fn audit(&self) -> AuditReader {
        AuditReader::new(Arc::clone(&self.0.audit))
    }

    /// Returns the maximum memory that calls can make this process hold.
    pub fn footprint(&self) -> Footprint {
        self.0.loader.engine.footprint()
    }
}

/// Opens only the approvals of a state directory, to answer requests and revoke approvals. They cannot run calls.
///
/// # Errors
/// The state directory, the audit log or the ledger cannot be opened.
pub async fn open_approvals(state: impl Into<StatePlace>) -> Result<Approvals, OpenError> {
    let place = state.into();
    blocking(move || {
        let state = HostDirectories::open(&place)?;
        let audit = Arc::new(AuditWriter::open(&state.directory, &state.key, CALLS_MAX)?);
        let ledger = Arc::new(CallLedger::open(&state)?);
        Ok(Approvals::new(ledger, audit)?)
    })
    .await
}

/// Opens only the audit log of a state directory, to read it and to compare it with the ledger there.
///
/// # Errors
/// The state directory or the audit log cannot be opened.
pub async fn open_audit(state: impl Into<StatePlace>) -> Result<AuditReader, OpenError> {
    let place = state.into();
    blocking(move || {
        let state = HostDirectories::open(&place)?;
        // A peek creates no ledger, so that `verify` can report one that was removed.
        let ledger = LedgerPeek::of(&state).map_err(LedgerError::from)?;
        let audit = AuditWriter::open(&state.directory, &state.key, CALLS_MAX)?;
        let audit = audit.beside(Box::new(move || ledger.generation().map_err(io::Error::other)));
        Ok(AuditReader::new(Arc::new(audit)))
    })
    .await
}

/// Opens only what the hosts of a shared ledger write into it about themselves. It changes nothing.
///
/// # Errors
/// The state directory cannot be opened.
pub async fn open_shared_ledger(state: impl Into<StatePlace>) -> Result<SharedLedger, OpenError> {
    let place = state.into();
    blocking(move || {
        let state = HostDirectories::open(&place)?;
        Ok(SharedLedger::new(LedgerPeek::of(&state).map_err(LedgerError::from)?))
    })
    .await
}
