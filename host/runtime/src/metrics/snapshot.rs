//! The metrics of a host at one moment.

use super::histogram::HistogramSnapshot;
use super::step::CallStep;
use crate::reply::Code;
use portcullis_policy::{Decision, ToolName};

/// The tool of counted calls.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CountedTool {
    /// A tool of the catalog.
    Known(ToolName),
    /// One of the tools beyond the first [`TOOLS_MAX`](super::TOOLS_MAX).
    Other,
    /// A tool that does not exist, or whose arguments could not be parsed. The name is the caller's, so it is not kept.
    Unknown,
}

/// What the policy answered to a call, before any approver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PolicyAnswer {
    /// The policy decided.
    Decided(Decision),
    /// The call ended before the policy decided.
    Undecided,
}

impl PolicyAnswer {
    /// Returns the stable name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Decided(Decision::Allow) => "allow",
            Self::Decided(Decision::Ask) => "ask",
            Self::Decided(Decision::Deny) => "deny",
            Self::Undecided => "none",
        }
    }
}

/// How many calls of one tool ended in one way.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallCount {
    /// The tool.
    pub tool: CountedTool,
    /// What the policy answered.
    pub answer: PolicyAnswer,
    /// How the calls ended.
    pub code: Code,
    /// The number of calls since the host was opened.
    pub calls: u64,
}

/// The metrics of a host at one moment. Counters begin when the host opens.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HostMetrics {
    /// The calls that have ended, sorted by tool.
    pub calls: Vec<CallCount>,
    /// The whole times of calls, from the request to the recorded outcome.
    pub durations: HistogramSnapshot,
    /// The times of each step, of the calls that took it.
    pub steps: Vec<(CallStep, HistogramSnapshot)>,
    /// Calls that have begun and have not ended.
    pub calls_under_way: u64,
    /// Run slots that calls hold.
    pub run_slots_used: u64,
    /// Run slots.
    pub run_slots: u64,
    /// Instances of plugins in the engine's pool that are in use: calls, reviews, previews, descriptions, and the
    /// instances that sessions keep.
    pub instances_used: u64,
    /// Instances that sessions keep and that wait for a call.
    pub session_instances: u64,
    /// Places in the engine's pool.
    pub instances: u64,
    /// Look-ups of compiled code that found it in the cache.
    pub code_cache_hits: u64,
    /// Look-ups of compiled code that did not find it, or found code that cannot be used.
    pub code_cache_misses: u64,
    /// Audit entries that are not written yet and that a call waits for.
    pub audit_entries_waiting: u64,
    /// Approval requests in the ledger that wait for an approver, of all processes of the state directory. `None` if
    /// the ledger cannot be read.
    pub approval_requests_open: Option<u64>,
    /// Plugins whose tools can be called.
    pub plugins_ready: u64,
    /// Plugins that are being compiled, or wait for it.
    pub plugins_loading: u64,
    /// Plugins that were refused.
    pub plugins_refused: u64,
    /// Whether the audit log is anchored in the ledger that hosts share. `None` if the ledger is not shared.
    pub is_audit_anchored: Option<bool>,
    /// Different policies of the hosts that share the ledger and run now. One if all is well. `None` if the ledger is
    /// not shared, or was not asked yet.
    pub ledger_policies: Option<u64>,
    /// Whether the policy in the files is in force. If not, it has a fault, and an earlier policy is in force.
    pub is_policy_current: bool,
}
