//! A call of a known tool with valid arguments.

use crate::catalog::{Plugin, Tool};
use crate::policy_in_force::PolicyInForce;
use serde_json::{Map, Value};
use std::sync::Arc;

/// A call of a known tool with arguments that match its schema. It is shared and never copied, so what is decided on is
/// what runs.
pub(crate) struct ValidCall {
    /// The policy that decides the call, taken together with the plugin.
    pub(crate) policy: Arc<PolicyInForce>,
    pub(crate) plugin: Arc<Plugin>,
    pub(crate) tool: Arc<Tool>,
    pub(crate) arguments: Map<String, Value>,
    pub(crate) canonical: String,
}
