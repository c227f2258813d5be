//! The inputs of a decision to ask an approver.

use super::concern::Concern;
use serde::{Deserialize, Serialize};

/// The inputs of the decision to ask an approver, apart from the call and the rules.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AskedUnder {
    /// The source of the policy. A policy from another source does not decide on the call again.
    pub(crate) policy_source: String,
    pub(crate) observed: Observed,
}

/// What is known about a call before an approver is asked. It is valid under every policy.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Observed {
    /// Why the plugin's review and the hooks ask for an approval.
    pub(crate) concerns: Vec<Concern>,
    /// How many times in a row exactly this call was made.
    pub(crate) count: u64,
    /// The repairs of the arguments, as text.
    pub(crate) repaired: Option<String>,
}
