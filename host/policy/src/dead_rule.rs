//! Rules that can match no call of the plugins that are loaded: most often a misspelt name, and in a deny rule a hole.
//!
//! It must not know how plugins are loaded.

use crate::decision::RuleId;
use crate::excerpt::Excerpt;
use crate::hint::Hint;
use crate::layer::Layer;
use crate::name::ToolName;
use crate::permission::{Permission, Permissions};
use crate::policy::Policy;
use crate::rule::Rule;

/// A tool of a loaded plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownTool<'a> {
    /// Its full name.
    pub name: &'a ToolName,
    /// What it declares, required and optional together.
    pub permissions: Permissions,
    /// What its author claims of it.
    pub hints: &'a [Hint],
    /// The arguments that its schema has; none where the schema lets a call have any.
    pub arguments: Option<Vec<&'a str>>,
}

/// A rule that can match no call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{id} can match no call: {why}")]
pub struct DeadRule {
    /// Which rule it is.
    pub id: RuleId,
    /// Why it cannot.
    #[source]
    pub why: DeadReason,
}

impl DeadRule {
    /// What to write instead.
    pub fn remedy(&self) -> &'static str {
        match &self.why {
            DeadReason::Tool => "write the name of a tool that the plugin has, as `portcullis list` shows them",
            DeadReason::Permission { .. } => "remove the permission, or name a tool that declares it",
            DeadReason::Hint { .. } => "remove the hint, or name a tool that has it",
            DeadReason::Argument { .. } => "write the name of an argument that the tool's schema has",
        }
    }
}

/// Why a rule can match no call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeadReason {
    /// The plugins that it names have no such tool.
    #[error("the plugin has no such tool")]
    Tool,
    /// None of the tools declares its permission.
    #[error("no such tool declares the permission `{permission}`")]
    Permission {
        /// The permission.
        permission: Permission,
    },
    /// None of the tools has its hint.
    #[error("no such tool has the hint `{hint}`")]
    Hint {
        /// The hint.
        hint: Hint,
    },
    /// None of the tools can have an argument that its `when` names.
    #[error("no such tool has the argument {shown}")]
    Argument {
        /// The argument's name, escaped.
        shown: String,
    },
}

impl Policy {
    /// The first rule that can match no call of `tools`, which are all tools of the loaded plugins. A rule that speaks
    /// of a plugin which is not among them is not judged, and neither is one that is built in.
    pub fn dead_rule(&self, tools: &[KnownTool<'_>]) -> Option<DeadRule> {
        let mut written = self.rules.iter().filter(|rule| rule.id.layer != Layer::BuiltIn);
        written.find_map(|rule| Some(DeadRule { id: rule.id, why: dead(rule, tools)? }))
    }
}

/// Why a rule is dead, if it is.
fn dead(rule: &Rule, tools: &[KnownTool<'_>]) -> Option<DeadReason> {
    let is_loaded = |plugin| tools.iter().any(|tool| tool.name.plugin == plugin);
    if !rule.tool.names_every_plugin() || !rule.tool.named_plugins().all(is_loaded) {
        return None;
    }
    let mut tools: Vec<&KnownTool<'_>> = tools.iter().filter(|tool| rule.tool.matches(tool.name)).collect();
    if tools.is_empty() {
        return Some(DeadReason::Tool);
    }
    if let Some(permission) = rule.permission {
        tools.retain(|tool| tool.permissions.contains(permission));
        if tools.is_empty() {
            return Some(DeadReason::Permission { permission });
        }
    }
    if let Some(hint) = rule.hint {
        tools.retain(|tool| tool.hints.contains(&hint));
        if tools.is_empty() {
            return Some(DeadReason::Hint { hint });
        }
    }
    for name in rule.when.iter().flat_map(|when| when.arguments()) {
        tools.retain(|tool| tool.arguments.as_ref().is_none_or(|arguments| arguments.contains(&name)));
        if tools.is_empty() {
            return Some(DeadReason::Argument { shown: Excerpt::of(name).to_string() });
        }
    }
    None
}
