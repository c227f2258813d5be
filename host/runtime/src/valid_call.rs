//! A call of a known tool with valid arguments.

use crate::catalog::{Plugin, Tool};
use crate::policy_in_force::PolicyInForce;
use portcullis_policy::{TargetKeeping, Targets};
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

impl ValidCall {
    /// Returns the places that the arguments name, without secrets. There are none if the policy drops them.
    pub(crate) fn recorded_targets(&self) -> Targets {
        match self.policy.policy.record().targets {
            TargetKeeping::Drop => Targets::default(),
            TargetKeeping::Keep => self.targets(),
        }
    }

    /// Returns the places that the arguments name, without secrets.
    pub(crate) fn targets(&self) -> Targets {
        let bindings = self.policy.policy.bindings(&self.plugin.name);
        let redact = |text| self.policy.network.redact(text);
        Targets::of(&self.arguments, self.tool.schema().document(), bindings, redact)
    }
}
