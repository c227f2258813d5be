//! What would happen to a call now, for people and programs.

use crate::call::{ValidCall, check_answerable, check_grants, describe_handles, unnamed_host};
use crate::host::Inner;
use crate::request::Origin;
use crate::rule_gaps::rule_gaps;
use portcullis_policy::{Decision, Explanation, Permissions, ToolName};
use serde::Serialize;

/// The decision on a call, what led to it, and the handles it would get. Nothing ran.
#[derive(Clone, Debug, Serialize)]
pub struct Explained {
    /// The tool.
    pub tool: ToolName,
    /// The rights it declares.
    pub permissions: Permissions,
    /// The arguments, as the tool would receive them.
    pub arguments: String,
    /// The decision, every rule that matched, and what would change it.
    pub explanation: Explanation,
    /// The handles, one line each.
    pub handles: Vec<String>,
    /// Why a person is asked although the rules may allow the call: it wants to reach a host that no grant names, or
    /// its tool has no schema.
    pub asked: Option<String>,
    /// Why the call is refused although the rules allow it or ask about it: a key is not granted, its arguments name
    /// something outside the grant, or no answer could let it do what it declares.
    pub ungranted: Option<String>,
    /// The SHA-256 of the policy that decided.
    pub policy_sha256: String,
    /// Why the policy in the files could not be used, if another one decided.
    pub policy_fault: Option<String>,
    /// The rules on a path that the tool bypasses, with the masks to use instead. Each is one sentence.
    pub rule_gaps: Vec<String>,
}

impl Explained {
    pub(crate) fn of(host: &Inner, call: &ValidCall, origin: &Origin) -> Self {
        let explanation = call.policy.policy.explain(&call.question(origin));
        let asked = unnamed_host(call).or_else(|| call.unchecked());
        // Only a call that needs approval is checked for this. A denied call stops here, and an allowed one runs.
        let asks = explanation.verdict.decision == Decision::Ask || asked.is_some();
        let checked = if asks { check_answerable(call) } else { check_grants(call) };
        Self {
            tool: call.tool.name.clone(),
            permissions: call.tool.permissions(),
            arguments: call.canonical.clone(),
            explanation,
            handles: describe_handles(&call.policy.policy, &call.plugin, &call.tool, Some(&call.arguments)),
            asked,
            ungranted: checked.err().map(|rejection| rejection.message),
            policy_sha256: call.policy.sha256.clone(),
            policy_fault: host.policy_status.borrow().fault.clone(),
            rule_gaps: gaps(host, call),
        }
    }
}

fn gaps(host: &Inner, call: &ValidCall) -> Vec<String> {
    let gaps = rule_gaps(&call.policy.policy, &host.catalog());
    gaps.iter().filter(|gap| gap.tools.contains(&call.tool.name)).map(ToString::to_string).collect()
}
