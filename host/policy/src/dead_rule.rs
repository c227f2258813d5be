//! Finds rules and rate limits that cannot match any call of the loaded plugins. Most often a name is misspelled, and a
//! deny rule then protects nothing.
//!
//! This file must not know how plugins are loaded.

use crate::decision::RuleId;
use crate::excerpt::Excerpt;
use crate::hint::Hint;
use crate::layer::Layer;
use crate::name::{PluginName, ToolName};
use crate::nearest::nearest;
use crate::permission::{Permission, Permissions};
use crate::policy::Policy;
use crate::rate_limit::RateLimitPlace;
use crate::rule::Rule;

/// A tool of a loaded plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownTool<'a> {
    /// Its full name.
    pub name: &'a ToolName,
    /// Its declared permissions, required and optional.
    pub permissions: Permissions,
    /// Its hints.
    pub hints: &'a [Hint],
    /// The arguments in its schema, or none if the schema permits any arguments.
    pub arguments: Option<Vec<&'a str>>,
}

/// A rule that cannot match any call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{id} cannot match any call: {why}")]
pub struct DeadRule {
    /// The rule.
    pub id: RuleId,
    /// The reason. It is part of this error's own message, and not its source.
    pub why: DeadReason,
}

impl DeadRule {
    /// Returns how to fix it.
    pub fn remedy(&self) -> &'static str {
        match &self.why {
            DeadReason::Tool { plugins, .. } if plugins.len() > 1 => {
                "write the name of a tool of one of the plugins; `portcullis list` shows them"
            }
            DeadReason::Tool { .. } => "write the name of a tool of the plugin; `portcullis list` shows them",
            DeadReason::Permission { .. } => "remove the permission, or name a tool that declares it",
            DeadReason::Hint { .. } => "remove the hint, or name a tool that has it",
            DeadReason::Argument { .. } => "write the name of an argument from the tool's schema",
        }
    }
}

/// Why a rule cannot match any call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeadReason {
    /// The named plugins have no such tool.
    #[error("{} no such tool{}", having(plugins), meant(similar.as_ref()))]
    Tool {
        /// The named plugins.
        plugins: Vec<PluginName>,
        /// A tool with almost the same name.
        similar: Option<ToolName>,
    },
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

/// A rate limit that cannot count any call, because the plugins that it names have no such tool.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place} cannot count any call: there is no tool {shown}")]
pub struct DeadRateLimit {
    /// Where it is written.
    pub place: RateLimitPlace,
    shown: Excerpt,
}

impl DeadRateLimit {
    /// Returns how to fix it.
    pub fn remedy(&self) -> &'static str {
        "write the name of a tool of the plugin; `portcullis list` shows them"
    }
}

impl Policy {
    /// Returns the first rule that cannot match any call of `tools`, which are all tools of the loaded plugins. It
    /// skips built-in rules and rules for plugins that are not loaded.
    pub fn dead_rule(&self, tools: &[KnownTool<'_>]) -> Option<DeadRule> {
        self.dead_rules(tools).next()
    }

    /// Returns every rule that [`Policy::dead_rule`] looks for, in the order of the policy.
    pub fn dead_rules(&self, tools: &[KnownTool<'_>]) -> impl Iterator<Item = DeadRule> {
        let written = self.rules.iter().filter(|rule| rule.id.layer != Layer::BuiltIn);
        written.filter_map(|rule| Some(DeadRule { id: rule.id, why: dead(rule, tools)? }))
    }

    /// Returns the first rate limit that cannot count any call of `tools`, which are all tools of the loaded plugins.
    /// It skips those for plugins that are not loaded.
    pub fn dead_rate_limit(&self, tools: &[KnownTool<'_>]) -> Option<DeadRateLimit> {
        let is_loaded = |plugin| tools.iter().any(|tool| tool.name.plugin == plugin);
        self.rate_limits.iter().find_map(|limit| {
            let pattern = limit.tool().filter(|pattern| pattern.names_every_plugin())?;
            let is_checkable = pattern.named_plugins().all(is_loaded);
            let is_dead = is_checkable && !tools.iter().any(|tool| pattern.matches(tool.name));
            is_dead.then(|| DeadRateLimit { place: limit.place(), shown: Excerpt::of(&pattern.to_string()) })
        })
    }
}

/// Returns the beginning of a sentence about what the plugins have. It names them if there are several.
fn having(plugins: &[PluginName]) -> String {
    let names = || plugins.iter().map(|plugin| format!("`{plugin}`")).collect::<Vec<_>>().join(", ");
    if plugins.len() > 1 { format!("the plugins {} have", names()) } else { "the plugin has".to_owned() }
}

/// Returns a suggestion at the end of a message.
fn meant(similar: Option<&ToolName>) -> String {
    similar.map(|tool| format!("; did you mean `{tool}`?")).unwrap_or_default()
}

/// Returns the tool that was probably meant by the pattern of a rule that matches none.
fn similar(rule: &Rule, tools: &[KnownTool<'_>]) -> Option<ToolName> {
    let names: Vec<String> = tools.iter().map(|tool| tool.name.to_string()).collect();
    let meant = nearest(&rule.tool.to_string(), names.iter().map(String::as_str))?;
    tools.iter().map(|tool| tool.name).find(|name| name.to_string() == meant).cloned()
}

/// Returns why a rule is dead, or none if it is not.
fn dead(rule: &Rule, known: &[KnownTool<'_>]) -> Option<DeadReason> {
    let is_loaded = |plugin| known.iter().any(|tool| tool.name.plugin == plugin);
    // A wildcard may match a plugin that is installed later, and a plugin that is not loaded may have the tool.
    if !rule.tool.names_every_plugin() || !rule.tool.named_plugins().all(is_loaded) {
        return None;
    }
    let mut tools: Vec<&KnownTool<'_>> = known.iter().filter(|tool| rule.tool.matches(tool.name)).collect();
    if tools.is_empty() {
        let plugins = rule.tool.named_plugins().collect();
        return Some(DeadReason::Tool { plugins, similar: similar(rule, known) });
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
    // One tool must have the permission, the hint and every argument, so each check goes on with what is left.
    for name in rule.when.iter().flat_map(|when| when.arguments()) {
        tools.retain(|tool| tool.arguments.as_ref().is_none_or(|arguments| arguments.contains(&name)));
        if tools.is_empty() {
            return Some(DeadReason::Argument { shown: Excerpt::of(name).to_string() });
        }
    }
    None
}
