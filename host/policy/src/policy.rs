//! A policy that was read and found sound, and the questions it answers.
//!
//! It must not know where its texts came from, nor who decided which of them to trust.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::Arc;

use crate::approvals::Approvals;
use crate::binding::Binding;
use crate::clock::ClockResolution;
use crate::decision::{Decision, Source, Verdict};
use crate::evaluate::{Matter, Settled};
use crate::hint::Hint;
use crate::layer::Layer;
use crate::leniency::Leniency;
use crate::limits::Limits;
use crate::name::{DependencyKey, PluginName, ToolName};
use crate::permission::{Permission, Permissions};
use crate::question::{Question, ResourceQuestion};
use crate::record_keeping::RecordKeeping;
use crate::rule::Rule;

/// The longest resource that a tool may ask about, in bytes: a person has to read it.
pub const RESOURCE_BYTES: usize = 4096;

/// What a plugin without bindings has.
static NO_BINDINGS: BTreeMap<DependencyKey, Binding> = BTreeMap::new();
/// What a plugin without settings has.
static NO_CONFIG: BTreeMap<String, String> = BTreeMap::new();

/// May a call run, and with what?
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    pub(crate) default: Decision,
    pub(crate) default_reason: Arc<str>,
    pub(crate) rules: Vec<Rule>,
    pub(crate) limits: Limits,
    pub(crate) plugins: BTreeMap<PluginName, PluginPolicy>,
    pub(crate) approvals: Approvals,
    pub(crate) record: RecordKeeping,
    pub(crate) named: BTreeSet<PluginName>,
    pub(crate) name_servers: Vec<SocketAddr>,
}

/// What a policy says of one plugin.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PluginPolicy {
    pub(crate) bindings: BTreeMap<DependencyKey, Binding>,
    /// Whose each binding is.
    pub(crate) layers: BTreeMap<DependencyKey, Layer>,
    pub(crate) config: BTreeMap<String, String>,
    pub(crate) clock: ClockResolution,
    pub(crate) repair: Leniency,
    pub(crate) unvalidated: Leniency,
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
            approvals: Approvals::default(),
            record: RecordKeeping::default(),
            named: BTreeSet::new(),
            name_servers: Vec::new(),
        }
    }

    /// Decides on a call. It gets the strictest of what the rules say of the caller and of each principal whose
    /// sub-agent the caller is.
    pub fn decide(&self, question: &Question<'_>) -> Verdict {
        self.verdict_on(&Matter::from(question))
    }

    /// Decides on what a tool asks for in the middle of a call. Only rules without a `when` speak of it, since the
    /// resource is no argument. A resource that a person could not read is denied whatever the rules say: an empty one,
    /// one with a control character, and one of more than [`RESOURCE_BYTES`].
    pub fn decide_resource(&self, question: &ResourceQuestion<'_>) -> Verdict {
        let resource = question.resource;
        if resource.is_empty() || resource.len() > RESOURCE_BYTES || resource.chars().any(char::is_control) {
            let reason = Arc::from("the resource is empty, too long, or holds control characters");
            return Verdict { decision: Decision::Deny, source: Source::Default, reason };
        }
        self.verdict_on(&Matter::from(question))
    }

    /// The plugins that the user's and the project's policy name: those with a section, and those that a rule spells
    /// out.
    pub fn plugins(&self) -> impl Iterator<Item = &PluginName> {
        self.named.iter()
    }

    /// Returns whether a section of the policy is about a plugin, whatever it says. TOML permits one in each text.
    pub fn has_section(&self, plugin: &PluginName) -> bool {
        self.plugins.contains_key(plugin)
    }

    /// A plugin, with the plugins that a rule spells out together with it. Only where all of them are loaded can
    /// [`Policy::dead_rule`] judge such a rule.
    pub fn named_with(&self, plugin: &PluginName) -> BTreeSet<PluginName> {
        let mut together = BTreeSet::from([plugin.clone()]);
        for rule in self.rules.iter().filter(|rule| rule.id.layer != Layer::BuiltIn) {
            if rule.tool.named_plugins().any(|named| named == *plugin) {
                together.extend(rule.tool.named_plugins());
            }
        }
        together
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

    /// The settings of `plugin`, as `wasi:config/store` gives them to it.
    pub fn config(&self, plugin: &PluginName) -> &BTreeMap<String, String> {
        self.plugins.get(plugin).map_or(&NO_CONFIG, |plugin| &plugin.config)
    }

    /// How fine the clocks of `plugin` are.
    pub fn clock(&self, plugin: &PluginName) -> ClockResolution {
        self.plugins.get(plugin).map_or_else(ClockResolution::default, |plugin| plugin.clock)
    }

    /// Whether arguments of `plugin` that a model got wrong may be mended, once, before a person is asked about them.
    pub fn repair(&self, plugin: &PluginName) -> Leniency {
        self.plugins.get(plugin).map_or_else(Leniency::default, |plugin| plugin.repair)
    }

    /// Whether tools of `plugin` that have no schema may be called.
    pub fn unvalidated(&self, plugin: &PluginName) -> Leniency {
        self.plugins.get(plugin).map_or_else(Leniency::default, |plugin| plugin.unvalidated)
    }

    /// Who is asked for the addresses of a name, in this order; empty for the name servers of the system.
    pub fn name_servers(&self) -> &[SocketAddr] {
        &self.name_servers
    }

    /// Whose text binds `key` for `plugin`. A relative path in the binding is relative to that text.
    pub fn binding_layer(&self, plugin: &PluginName, key: &DependencyKey) -> Option<Layer> {
        self.plugins.get(plugin)?.layers.get(key).copied()
    }

    /// What becomes of a question to a person.
    pub fn approvals(&self) -> Approvals {
        self.approvals
    }

    /// What a record keeps, and when it counts as written.
    pub fn record(&self) -> RecordKeeping {
        self.record
    }

    /// The rules, layer by layer in the order of each text.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// What is decided where no rule speaks.
    pub fn default_decision(&self) -> Decision {
        self.default
    }

    /// Whether some caller could get another decision than deny on some call of a tool. If not, no arguments, session
    /// or principal make a difference.
    pub fn may_permit(&self, tool: &ToolName, permissions: Permissions, hints: &[Hint]) -> bool {
        let concerning = || self.rules.iter().filter(|rule| rule.concerns(tool, permissions, hints));
        if self.forbids(tool, permissions, hints) {
            return false;
        }
        let lifted = |part: Option<Permission>| {
            let mut lifting = concerning().filter(|rule| rule.decision != Decision::Deny && rule.may_lift());
            lifting.any(|rule| rule.permission.is_none() || rule.permission == part)
        };
        self.default != Decision::Deny
            || match permissions.is_empty() {
                true => lifted(None),
                false => permissions.iter().all(|permission| lifted(Some(permission))),
            }
    }

    /// Whether [`Policy::may_permit`] could hold for a tool of a plugin whose tools are not known. It may say yes where
    /// the plugin then has no such tool.
    pub fn may_permit_some(&self, plugin: &PluginName) -> bool {
        let concerning = || self.rules.iter().filter(|rule| rule.tool.matches_some_of(plugin));
        if concerning().any(|rule| rule.denies_everything() && rule.concerns_all_of(plugin)) {
            return false;
        }
        self.default != Decision::Deny || concerning().any(|rule| rule.decision != Decision::Deny && rule.may_lift())
    }

    /// Whether a rule denies every call of a tool. Another rule cannot lift that.
    pub fn forbids(&self, tool: &ToolName, permissions: Permissions, hints: &[Hint]) -> bool {
        self.rules.iter().any(|rule| rule.denies_everything() && rule.concerns(tool, permissions, hints))
    }

    fn verdict_on(&self, matter: &Matter<'_>) -> Verdict {
        let weighings = matter.weighings(&self.rules, self.default);
        let settled = weighings.map(|(_, weighing)| weighing.settle()).reduce(Settled::stricter);
        let settled = settled.unwrap_or(Settled::DENY);
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
