//! The meaning of a policy, without lines and numbers: what an edit may change, and what it may not.
//!
//! This file must not know how a policy is written.

use std::collections::BTreeMap;

use portcullis_policy::{
    Approvals, Binding, ClockResolution, Decision, DependencyKey, Hint, InstanceLifetime, Leniency, Limits, Permission,
    PluginName, Policy, RecordKeeping, Rule, ServerPolicy, ToolPattern, When,
};

/// The meaning of a policy of one layer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PolicyMeaning {
    pub(crate) rules: Vec<RuleMeaning>,
    pub(crate) bindings: BTreeMap<(PluginName, DependencyKey), Binding>,
    pub(crate) paused: Option<String>,
    default: Decision,
    limits: Limits,
    approvals: Approvals,
    record: RecordKeeping,
    name_servers: Vec<String>,
    rate_limits: Vec<String>,
    settings: BTreeMap<PluginName, PluginSettings>,
    servers: BTreeMap<PluginName, ServerPolicy>,
}

/// The meaning of a rule.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RuleMeaning {
    pub(crate) scope: RuleScope,
    pub(crate) decision: Decision,
    pub(crate) over_ask: bool,
    pub(crate) reason: Option<String>,
}

/// The calls that a rule applies to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RuleScope {
    pub(crate) tool: ToolPattern,
    pub(crate) permission: Option<Permission>,
    pub(crate) hint: Option<Hint>,
    pub(crate) subject: Option<String>,
    pub(crate) when: Option<When>,
}

#[derive(Debug, Clone, PartialEq)]
struct PluginSettings {
    config: BTreeMap<String, String>,
    clock: ClockResolution,
    instance: InstanceLifetime,
    repair: Leniency,
    unvalidated: Leniency,
    limits: Limits,
}

impl PolicyMeaning {
    /// Returns the meaning of a policy.
    pub(crate) fn of(policy: &Policy) -> Self {
        let bindings = policy.plugins().flat_map(|plugin| {
            policy.bindings(plugin).iter().map(|(key, binding)| ((plugin.clone(), key.clone()), binding.clone()))
        });
        let sections = policy.plugins().filter(|plugin| policy.has_section(plugin));
        Self {
            rules: policy.rules().iter().map(RuleMeaning::of).collect(),
            bindings: bindings.collect(),
            paused: policy.paused().map(|pause| pause.reason.to_string()),
            default: policy.default_decision(),
            limits: policy.default_limits(),
            approvals: policy.approvals(),
            record: policy.record(),
            name_servers: policy.name_servers().iter().map(ToString::to_string).collect(),
            // As texts, because a rate limit also has its line, which an edit may move.
            rate_limits: policy.rate_limits().iter().map(ToString::to_string).collect(),
            settings: sections.map(|plugin| (plugin.clone(), PluginSettings::of(policy, plugin))).collect(),
            servers: policy.servers().filter_map(|name| Some((name.clone(), policy.server(name)?.clone()))).collect(),
        }
    }

    /// Adds the section of a plugin or a server, as another policy has it. The limits that it does not set are those of
    /// this policy.
    pub(crate) fn add_section(&mut self, of: &Policy, name: &PluginName) {
        let bindings = of.bindings(name).iter().map(|(key, binding)| ((name.clone(), key.clone()), binding.clone()));
        self.bindings.extend(bindings);
        self.servers.extend(of.server(name).map(|server| (name.clone(), server.clone())));
    }

    /// Removes the section of a plugin or a server.
    pub(crate) fn remove_section(&mut self, name: &PluginName) {
        self.bindings.retain(|(plugin, _), _| plugin != name);
        self.settings.remove(name);
        self.servers.remove(name);
    }

    /// Returns what differs from the expected meaning, in a word, or none. A section for a plugin that had none may
    /// appear, if all of its settings are the defaults.
    pub(crate) fn difference(&self, expected: &Self) -> Option<&'static str> {
        let kept = |name: &PluginName, settings: &PluginSettings| expected.settings.get(name) == Some(settings);
        let lost = expected.settings.iter().any(|(name, settings)| self.settings.get(name) != Some(settings));
        let gained = self.settings.iter().any(|(name, settings)| {
            !kept(name, settings) && (expected.settings.contains_key(name) || !settings.is_default(self.limits))
        });
        let parts = [
            ("a rule", self.rules != expected.rules),
            ("a grant", self.bindings != expected.bindings),
            ("the pause", self.paused != expected.paused),
            ("the default", self.default != expected.default),
            ("a limit", self.limits != expected.limits),
            ("the settings of approvals", self.approvals != expected.approvals),
            ("the audit log", self.record != expected.record),
            ("the name servers", self.name_servers != expected.name_servers),
            ("a rate limit", self.rate_limits != expected.rate_limits),
            ("the settings of a plugin", lost || gained),
            ("a server", self.servers != expected.servers),
        ];
        parts.into_iter().find(|(_, differs)| *differs).map(|(what, _)| what)
    }
}

impl RuleMeaning {
    pub(crate) fn of(rule: &Rule) -> Self {
        Self {
            scope: RuleScope {
                tool: rule.tool.clone(),
                permission: rule.permission,
                hint: rule.hint,
                subject: rule.subject_text(),
                when: rule.when.clone(),
            },
            decision: rule.decision,
            over_ask: rule.over_ask,
            reason: rule.reason.as_deref().map(str::to_owned),
        }
    }
}

impl PluginSettings {
    fn of(policy: &Policy, plugin: &PluginName) -> Self {
        Self {
            config: policy.config(plugin).clone(),
            clock: policy.clock(plugin),
            instance: policy.instance(plugin),
            repair: policy.repair(plugin),
            unvalidated: policy.unvalidated(plugin),
            limits: policy.limits(plugin),
        }
    }

    fn is_default(&self, limits: Limits) -> bool {
        self.config.is_empty()
            && self.clock == ClockResolution::default()
            && self.instance == InstanceLifetime::default()
            && self.repair == Leniency::default()
            && self.unvalidated == Leniency::default()
            // A section without limits of its own has the limits of the policy.
            && self.limits == limits
    }
}
