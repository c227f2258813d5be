//! The call whose tool makes a call of another tool, and what the two share: the depth, the number of calls, the time
//! and the quotas.

use crate::admission::Admission;
use crate::call_plan::CallPlan;
use crate::catalog::Catalog;
use crate::inner_quota::{InnerQuota, QuotaPool};
use crate::origin::RequestOrigin;
use crate::policy_in_force::PolicyInForce;
use crate::text::{OneLine, cut};
use crate::valid_call::ValidCall;
use portcullis_policy::recovery::RecoverMutex;
use portcullis_policy::{
    Binding, Decision, DependencyKey, Limits, Principal, TOOLS_DEPTH_CEILING, ToolName, ToolsBinding,
};
use portcullis_sandbox::Progress;
use std::fmt::{self, Write};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Maximum length of the line that announces an inner call, in bytes: about two lines of a terminal.
const ANNOUNCEMENT_BYTES_MAX: usize = 160;

/// Publishes progress of a call, as long as the call runs. The progress is made only if someone receives it.
pub(crate) type ProgressReport = Box<dyn Fn(&dyn Fn() -> Progress) + Send + Sync>;

/// A running call, as the calls that it makes through one key see it.
pub(crate) struct ParentCall {
    id: Arc<str>,
    /// The id of the call that a caller made, and that led to this one or is this one.
    first_call: Arc<str>,
    call: Arc<ValidCall>,
    admission: Arc<Admission>,
    origin: RequestOrigin,
    /// The origin of the calls that it makes. `None` if the chain of callers would be too long.
    inner_origin: Option<RequestOrigin>,
    key: DependencyKey,
    parent: Option<Arc<Self>>,
    report: ProgressReport,
    /// How many levels of calls may be below a call that it makes.
    depth_left: u32,
    calls_left: AtomicU32,
    /// What all calls that it makes may write together.
    quota: Arc<QuotaPool>,
    round: Mutex<Round>,
    /// The policy that allowed this call last. The same policy decides the same call in the same way, so it decides
    /// once for all calls that this one makes.
    allowed_under: Mutex<Option<Arc<PolicyInForce>>>,
    /// What an approver decided about calls before they are made.
    pub(crate) plan: CallPlan,
}

/// The calls that a tool makes at the same time.
#[derive(Default)]
struct Round {
    /// The time that the tool's own call had left when the round began.
    time_left: Duration,
    /// The number of calls that run now, in this round and below it.
    running: u32,
    since: Option<Instant>,
    ran: Duration,
    /// The number of calls of the round that have no quota yet.
    shares: u32,
}

/// What a call needs to make calls through one key.
pub(crate) struct CallingCall<'a> {
    pub(crate) id: &'a str,
    pub(crate) first_call: Option<&'a Arc<str>>,
    pub(crate) call: &'a Arc<ValidCall>,
    pub(crate) admission: &'a Arc<Admission>,
    pub(crate) origin: &'a RequestOrigin,
    pub(crate) parent: Option<&'a Arc<ParentCall>>,
    pub(crate) quota: &'a Arc<QuotaPool>,
    pub(crate) report: ProgressReport,
}

impl fmt::Debug for ParentCall {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ParentCall").field("id", &self.id).field("tool", self.tool()).finish_non_exhaustive()
    }
}

impl ParentCall {
    /// Makes the parent of the calls through a key. `None` if the chain of calls is already as long as it may be.
    pub(crate) fn new(calling: CallingCall<'_>, key: DependencyKey, binding: &ToolsBinding) -> Option<Self> {
        let CallingCall { id, first_call, call, admission, origin, parent, quota, report } = calling;
        let ceiling = u32::try_from(TOOLS_DEPTH_CEILING).unwrap_or(u32::MAX);
        let depth = parent.map_or(ceiling, |parent| parent.depth_left).min(binding.depth);
        Some(Self {
            id: Arc::from(id),
            first_call: first_call.map_or_else(|| Arc::from(id), Arc::clone),
            call: Arc::clone(call),
            admission: Arc::clone(admission),
            origin: origin.clone(),
            inner_origin: origin.of_tools_of(&call.plugin.name),
            key,
            parent: parent.map(Arc::clone),
            report,
            depth_left: depth.checked_sub(1)?,
            calls_left: AtomicU32::new(binding.calls),
            quota: Arc::clone(quota),
            round: Mutex::default(),
            allowed_under: Mutex::default(),
            plan: CallPlan::default(),
        })
    }

    /// Returns the id of the call.
    pub(crate) fn id(&self) -> &Arc<str> {
        &self.id
    }

    /// Returns the id of the call that a caller made, and that led to this one or is this one.
    pub(crate) fn first_call(&self) -> &Arc<str> {
        &self.first_call
    }

    /// Returns the run slot and the order of the call.
    pub(crate) fn admission(&self) -> &Arc<Admission> {
        &self.admission
    }

    /// Returns the origin of the calls that it makes. `None` if the chain of callers would be too long.
    pub(crate) fn inner_origin(&self) -> Option<&RequestOrigin> {
        self.inner_origin.as_ref()
    }

    pub(crate) fn key(&self) -> &DependencyKey {
        &self.key
    }

    pub(crate) fn tool(&self) -> &ToolName {
        self.call.tool.name()
    }

    /// Shows a call that it makes in its own progress: the tool, and the places that the arguments name.
    pub(crate) fn announce(&self, made: &ValidCall) {
        (self.report)(&|| Progress { title: Some(announcement(made)), ..Progress::default() });
    }

    /// Returns the calls from this one up to the one that no tool made.
    fn lineage(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |call| call.parent.as_deref())
    }

    /// Returns the tools from the one that no tool called down to this one.
    pub(crate) fn chain(&self) -> Vec<String> {
        let mut tools: Vec<String> = self.lineage().map(|call| call.tool().to_string()).collect();
        tools.reverse();
        tools
    }

    /// Returns the principal of the call that no tool made. Its session has one order for all calls below it.
    pub(crate) fn outermost(&self) -> &Principal {
        self.lineage().last().map_or(&self.origin.principal, |call| &call.origin.principal)
    }

    /// Returns why the policy of a catalog does not let the call make a call of this tool. The policy may have changed
    /// since the call began.
    pub(crate) fn refusal(&self, catalog: &Catalog, tool: &ToolName) -> Option<String> {
        let policy = &catalog.policy.policy;
        let mut called = tool;
        for calling in self.lineage() {
            let (name, plugin) = (calling.tool(), &calling.call.plugin.name);
            if !calling.is_allowed_under(&catalog.policy) {
                return Some(format!("the policy now denies {name}, which makes this call"));
            }
            let binding = policy.bindings(plugin).get(&calling.key);
            if !matches!(binding, Some(Binding::Tools(tools)) if tools.covers(called)) {
                return Some(format!("the policy does not let {name} call {called}"));
            }
            called = name;
        }
        None
    }

    /// Returns whether a policy does not deny this call.
    fn is_allowed_under(&self, policy: &Arc<PolicyInForce>) -> bool {
        // Held while the policy decides, so that calls at the same time decide once.
        let mut allowed_under = self.allowed_under.lock_recovered();
        if allowed_under.as_ref().is_some_and(|known| Arc::ptr_eq(known, policy)) {
            return true;
        }
        // A pause denies no request that is already open, and refuses a new call by itself.
        let decided = policy.policy.decide_unpaused(&self.call.question(&self.origin)).decision;
        let is_allowed = decided != Decision::Deny;
        *allowed_under = is_allowed.then(|| Arc::clone(policy));
        is_allowed
    }

    /// Counts a call. Returns false if this call, or one above it, has none left.
    pub(crate) fn count_call(&self) -> bool {
        self.lineage().all(|calling| {
            // If a call further up has none left, those below have counted one too many. That only makes them stricter.
            let left = calling.calls_left.fetch_update(Ordering::AcqRel, Ordering::Acquire, |left| left.checked_sub(1));
            left.is_ok()
        })
    }

    /// Begins a round of calls. The call itself has this time left.
    pub(crate) fn begin_round(&self, time_left: Duration, calls: usize) {
        let shares = u32::try_from(calls).unwrap_or(u32::MAX);
        *self.round.lock_recovered() = Round { time_left, shares, ..Round::default() };
    }

    /// Returns the time in which at least one call of the round ran.
    pub(crate) fn spent(&self) -> Duration {
        self.round.lock_recovered().ran()
    }

    /// Takes what a call may use from what this call has left: its time, and its share of the quotas. What it does not
    /// use of the quotas is returned when the quota is dropped or settled.
    pub(crate) fn limited(&self, mut limits: Limits) -> (Limits, InnerQuota) {
        for calling in self.lineage() {
            let round = calling.round.lock_recovered();
            limits.time = limits.time.min(round.time_left.saturating_sub(round.ran()));
        }
        let quota = self.quota.take(&mut limits, self.round.lock_recovered().next_share());
        (limits, quota)
    }

    fn enter(&self) {
        for calling in self.lineage() {
            let mut round = calling.round.lock_recovered();
            round.running += 1;
            round.since.get_or_insert_with(Instant::now);
        }
    }

    fn leave(&self) {
        for calling in self.lineage() {
            let mut round = calling.round.lock_recovered();
            round.running = round.running.saturating_sub(1);
            if round.running == 0 {
                round.ran = round.ran();
                round.since = None;
            }
        }
    }
}

/// Returns the line that announces a call: the tool, and the places that the arguments name.
fn announcement(made: &ValidCall) -> String {
    let mut line = format!("Calls {}", made.tool.name());
    let (targets, mut mark) = (made.recorded_targets(), " ");
    for (_, target) in targets.iter() {
        // Writing to a string cannot fail. Escape before the line is cut, because escapes are longer.
        let _ = write!(line, "{mark}{}", OneLine(target));
        mark = ", ";
    }
    let shown = cut(&line, ANNOUNCEMENT_BYTES_MAX);
    let more = if shown.len() < line.len() { "…" } else { "" };
    format!("{shown}{more}")
}

impl Round {
    /// Returns how many calls of the round share the quotas that are left, with the one that takes its share now.
    fn next_share(&mut self) -> u64 {
        let shares = u64::from(self.shares.max(1));
        self.shares = self.shares.saturating_sub(1);
        shares
    }

    fn ran(&self) -> Duration {
        self.ran + self.since.map(|since| since.elapsed()).unwrap_or_default()
    }
}

/// A run of a call that a tool made. Its time counts for the calls above it, except while it waits.
pub(crate) struct InnerRun {
    parent: Arc<ParentCall>,
    runs: AtomicBool,
}

impl InnerRun {
    pub(crate) fn begin(parent: &Arc<ParentCall>) -> Self {
        parent.enter();
        Self { parent: Arc::clone(parent), runs: AtomicBool::new(true) }
    }

    /// Stops counting while the call waits for an approver, or for calls that it makes itself.
    pub(crate) fn pause(&self) {
        // A paused run is also dropped, and must leave only once.
        if self.runs.swap(false, Ordering::AcqRel) {
            self.parent.leave();
        }
    }

    /// Counts again.
    pub(crate) fn resume(&self) {
        if !self.runs.swap(true, Ordering::AcqRel) {
            self.parent.enter();
        }
    }
}

impl Drop for InnerRun {
    fn drop(&mut self) {
        self.pause();
    }
}
