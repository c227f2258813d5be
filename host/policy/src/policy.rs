//! A policy that was read and found sound, and the questions it answers.
//!
//! It must not know where its text came from, nor whether anybody trusts it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::binding::Binding;
use crate::decision::{Decision, Source, Verdict};
use crate::error::PolicyError;
use crate::evaluate::{Question, Settled, weigh, weigh_permission};
use crate::explain::{Explanation, explain};
use crate::file;
use crate::limits::Limits;
use crate::name::{DependencyKey, PluginName, ToolName};
use crate::permission::Permission;
use crate::rule::Rule;

/// The longest text of a policy, in bytes. People write and review policies; nobody reviews a megabyte.
pub const POLICY_BYTES: usize = 1024 * 1024;
/// The most rules in a policy. Each call looks at all of them, and this many take about a millisecond.
pub const POLICY_RULES: usize = 10_000;
/// The longest resource that a tool may ask about, in bytes: a person has to read it.
pub const RESOURCE_BYTES: usize = 4096;

/// What a plugin without bindings has.
static NO_BINDINGS: BTreeMap<DependencyKey, Binding> = BTreeMap::new();

/// May a call run, and with what?
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    pub(crate) default: Decision,
    pub(crate) default_reason: Arc<str>,
    pub(crate) rules: Vec<Rule>,
    pub(crate) limits: Limits,
    pub(crate) plugins: BTreeMap<PluginName, PluginPolicy>,
    pub(crate) named: BTreeSet<PluginName>,
}

/// What a policy says of one plugin.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PluginPolicy {
    pub(crate) bindings: BTreeMap<DependencyKey, Binding>,
    pub(crate) limits: Limits,
}

impl Policy {
    /// The policy of an empty file. Every call is denied, no plugin has a binding, and every limit has its default.
    pub fn deny_all() -> Self {
        Self {
            default: Decision::Deny,
            default_reason: default_reason(Decision::Deny),
            rules: Vec::new(),
            limits: Limits::default(),
            plugins: BTreeMap::new(),
            named: BTreeSet::new(),
        }
    }

    /// Reads a policy. It is accepted as a whole or refused as a whole.
    ///
    /// # Errors
    ///
    /// The first thing in the text that is not exactly as it should be: a key that is not known, a key that is written
    /// twice, a name, pattern, word or amount that is malformed, a limit that is off or above its ceiling.
    pub fn parse(text: &str) -> Result<Self, PolicyError> {
        file::read(text)
    }

    /// Decides on a call.
    pub fn decide(&self, question: &Question<'_>) -> Verdict {
        self.verdict(weigh(&self.rules, self.default, question).settle())
    }

    /// Decides on what a tool asks for in the middle of a call. Only rules without a `when` speak of it, since the
    /// resource is no argument. A resource that a person could not read is denied whatever the rules say: an empty one,
    /// one with a control character, and one of more than [`RESOURCE_BYTES`].
    pub fn decide_resource(&self, tool: &ToolName, permission: Permission, resource: &str) -> Verdict {
        if resource.is_empty() || resource.len() > RESOURCE_BYTES || resource.chars().any(char::is_control) {
            let reason = Arc::from("the resource is empty, too long, or holds control characters");
            return Verdict { decision: Decision::Deny, source: Source::Default, reason };
        }
        self.verdict(weigh_permission(&self.rules, self.default, tool, permission).settle())
    }

    /// Decides on a call and says what led to it and what would change it. The verdict is that of [`Policy::decide`].
    pub fn explain(&self, question: &Question<'_>) -> Explanation {
        let weighing = weigh(&self.rules, self.default, question);
        let verdict = self.verdict(weighing.settle());
        explain(&self.rules, question, &weighing, verdict)
    }

    /// The plugins that the policy names: those with a section, and those that a rule spells out.
    pub fn plugins(&self) -> impl Iterator<Item = &PluginName> {
        self.named.iter()
    }

    /// The limits for a call of `plugin`: the default, overridden by `[limits]`, overridden by the plugin's own.
    pub fn limits(&self, plugin: &PluginName) -> Limits {
        self.plugins.get(plugin).map_or(self.limits, |plugin| plugin.limits)
    }

    /// The limits for a call of a plugin that has none of its own.
    pub fn default_limits(&self) -> Limits {
        self.limits
    }

    /// What the policy binds to the dependency keys of `plugin`; nothing if it has no section.
    pub fn bindings(&self, plugin: &PluginName) -> &BTreeMap<DependencyKey, Binding> {
        self.plugins.get(plugin).map_or(&NO_BINDINGS, |plugin| &plugin.bindings)
    }

    /// The rules, in the order of the file.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// What is decided where no rule speaks.
    pub fn default_decision(&self) -> Decision {
        self.default
    }

    fn verdict(&self, settled: Settled<'_>) -> Verdict {
        let (source, reason) = match settled.rule {
            Some(rule) => (Source::Rule(rule.id), &rule.explanation),
            None => (Source::Default, &self.default_reason),
        };
        Verdict { decision: settled.decision, source, reason: Arc::clone(reason) }
    }
}

impl Default for Policy {
    /// [`Policy::deny_all`].
    fn default() -> Self {
        Self::deny_all()
    }
}

/// What a verdict says where no rule decided.
pub(crate) fn default_reason(default: Decision) -> Arc<str> {
    Arc::from(format!("no rule of the policy speaks of this, and the default is {default}"))
}
