//! What would happen to a call now, for people and programs.

use crate::call::{ValidCall, check_grants, describe_handles, unnamed_host};
use crate::host::Inner;
use crate::request::Origin;
use portcullis_policy::{Explanation, Permissions, ToolName};
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
    /// Why the call gets no handle although the rules may allow it: a key that is not granted, or what its arguments
    /// name lies outside of the grant.
    pub ungranted: Option<String>,
}

impl Explained {
    pub(crate) fn of(host: &Inner, call: &ValidCall, origin: &Origin) -> Self {
        Self {
            tool: call.tool.name.clone(),
            permissions: call.tool.permissions(),
            arguments: call.canonical.clone(),
            explanation: host.policy.explain(&call.question(origin)),
            handles: describe_handles(host, &call.plugin, &call.tool, Some(&call.arguments)),
            asked: unnamed_host(call).or_else(|| call.unchecked()),
            ungranted: check_grants(call).err().map(|rejection| rejection.message),
        }
    }
}
