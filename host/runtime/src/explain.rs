//! The explanation of a call for people and programs.

use crate::call::describe_handles;
use crate::inner::HostState;
use crate::origin::RequestOrigin;
use crate::outlook::Outlook;
use crate::rule_gaps::rule_gaps;
use crate::valid_call::ValidCall;
use portcullis_policy::{Explanation, Permissions, ToolName};
use serde::Serialize;

/// What would happen to a call, why, and the handles that it would get.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Explained {
    /// The tool.
    pub tool: ToolName,
    /// The permissions that the tool declares.
    pub permissions: Permissions,
    /// The arguments, as the tool would receive them.
    pub arguments: String,
    /// What would happen to the call. It is the result of the same steps as for a real call, up to where the call would
    /// ask an approver or run.
    pub outlook: Outlook,
    /// What the policy decides, every rule that matched, and what would change it.
    pub explanation: Explanation,
    /// The rate limits of the policy that count the call, one line each.
    pub rate_limits: Vec<String>,
    /// The handles, one line each.
    pub handles: Vec<String>,
    /// The SHA-256 of the policy that decided.
    pub policy_sha256: String,
    /// Why the policy in the files could not be used, if another one decided.
    pub policy_fault: Option<String>,
    /// The rules on a path that the tool bypasses, with the masks to use instead. Each is one sentence.
    pub rule_gaps: Vec<String>,
}

impl Explained {
    pub(crate) fn of(host: &HostState, call: &ValidCall, outlook: Outlook, origin: &RequestOrigin) -> Self {
        Self {
            tool: call.tool.name().clone(),
            permissions: call.tool.permissions(),
            arguments: call.canonical.clone(),
            outlook,
            explanation: call.policy.policy.explain(&call.question(origin)),
            rate_limits: rate_limits(call, origin),
            handles: describe_handles(&call.policy.policy, &call.plugin, &call.tool, Some(&call.arguments)),
            policy_sha256: call.policy.sha256.clone(),
            policy_fault: host.policy_status.borrow().fault.clone(),
            rule_gaps: gaps(host, call),
        }
    }
}

fn rate_limits(call: &ValidCall, origin: &RequestOrigin) -> Vec<String> {
    let limits = call.policy.policy.rate_limits_of(call.tool.name(), origin.caller());
    limits.map(ToString::to_string).collect()
}

fn gaps(host: &HostState, call: &ValidCall) -> Vec<String> {
    let gaps = rule_gaps(&call.policy.policy, &host.catalog());
    gaps.iter().filter(|gap| gap.tools.contains(call.tool.name())).map(ToString::to_string).collect()
}
