//! A parsed policy and its decisions.
//!
//! This file must not know where its texts are from, or who decides which of them to trust.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::Arc;

use crate::approvals::Approvals;
use crate::binding::Binding;
use crate::caller::Caller;
use crate::client_rate::ClientRate;
use crate::clock::ClockResolution;
use crate::decision::{Decision, Source, Verdict};
use crate::evaluate::{Matter, WeighedDecision};
use crate::hint::Hint;
use crate::instance::InstanceLifetime;
use crate::layer::Layer;
use crate::leniency::Leniency;
use crate::limits::Limits;
use crate::name::{DependencyKey, PluginName, ToolName, ToolsetName};
use crate::own_confinement::OwnConfinement;
use crate::pause::Pause;
use crate::permission::{Permission, Permissions};
use crate::question::{Question, ResourceQuestion};
use crate::rate_limit::RateLimit;
use crate::record_keeping::RecordKeeping;
use crate::rule::{Rule, ToolPattern};
use crate::server::ServerPolicy;
use crate::toolset::{Audience, ToolSelection, Toolsets, UnknownToolset};

/// Maximum bytes of a resource that a tool may request. The approver has to read it.
pub const RESOURCE_BYTES: usize = 4096;

/// The bindings of a plugin without any.
static NO_BINDINGS: BTreeMap<DependencyKey, Binding> = BTreeMap::new();
/// The settings of a plugin without any.
static NO_CONFIG: BTreeMap<String, String> = BTreeMap::new();

/// A policy: whether a call may run, and with what.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    pub(crate) default: Decision,
    pub(crate) default_reason: Arc<str>,
    /// The decision on the tools of servers if no rule matches.
    pub(crate) server_default: Decision,
    pub(crate) rules: Vec<Rule>,
    pub(crate) limits: Limits,
    pub(crate) plugins: BTreeMap<PluginName, PluginPolicy>,
    pub(crate) approvals: Approvals,
    pub(crate) record: RecordKeeping,
    pub(crate) client_rate: ClientRate,
    pub(crate) named: BTreeSet<PluginName>,
    pub(crate) notify: Vec<String>,
    pub(crate) own_confinement: OwnConfinement,
    pub(crate) name_servers: Vec<SocketAddr>,
    pub(crate) paused: Option<Pause>,
    pub(crate) toolsets: Arc<Toolsets>,
    pub(crate) rate_limits: Vec<RateLimit>,
}

/// The policy for one plugin.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PluginPolicy {
    pub(crate) bindings: BTreeMap<DependencyKey, Binding>,
    /// The layer of each binding.
    pub(crate) layers: BTreeMap<DependencyKey, Layer>,
    pub(crate) config: BTreeMap<String, String>,
    pub(crate) clock: ClockResolution,
    pub(crate) instance: InstanceLifetime,
    pub(crate) repair: Leniency,
    pub(crate) unvalidated: Leniency,
    pub(crate) limits: Limits,
    /// Set if the plugin is an MCP server.
    pub(crate) server: Option<ServerPolicy>,
}

impl Policy {
    /// Returns the policy of an empty file. It denies every call, binds nothing, and every limit has its default.
    pub fn deny_all() -> Self {
        Self {
            default: Decision::Deny,
            default_reason: default_reason(Decision::Deny),
            server_default: Decision::Ask,
            rules: Vec::new(),
            limits: Limits::default(),
            plugins: BTreeMap::new(),
            approvals: Approvals::default(),
            record: RecordKeeping::default(),
            client_rate: ClientRate::default(),
            named: BTreeSet::new(),
            notify: Vec::new(),
            own_confinement: OwnConfinement::default(),
            name_servers: Vec::new(),
            paused: None,
            toolsets: Arc::default(),
            rate_limits: Vec::new(),
        }
    }

    /// Decides on a call. The decision is the strictest of those for the caller and for each of its parents.
    pub fn decide(&self, question: &Question<'_>) -> Verdict {
        self.pause_verdict().unwrap_or_else(|| self.decide_unpaused(question))
    }

    /// Decides on a permission that a tool requests for a resource during a call. Only rules without a `when` apply,
    /// because the resource is not an argument. A resource that an approver could not read is always denied: an empty
    /// one, one with a control character, and one of more than [`RESOURCE_BYTES`].
    pub fn decide_resource(&self, question: &ResourceQuestion<'_>) -> Verdict {
        self.pause_verdict().unwrap_or_else(|| self.decide_resource_unpaused(question))
    }

    /// Decides like [`Policy::decide_resource`], as if no layer paused the policy.
    pub fn decide_resource_unpaused(&self, question: &ResourceQuestion<'_>) -> Verdict {
        let resource = question.resource;
        if resource.is_empty() || resource.len() > RESOURCE_BYTES || resource.chars().any(char::is_control) {
            let reason = Arc::from("the resource is empty or too long, or contains control characters");
            return Verdict { decision: Decision::Deny, source: Source::Default, reason };
        }
        self.weigh(&Matter::from(question))
    }

    /// Returns the program, with its arguments, that is run for a new approval request. There is none if it is empty.
    /// An untrusted project cannot set it.
    pub fn notify(&self) -> &[String] {
        &self.notify
    }

    /// Returns the plugins that the user's and the project's policy name: those with a section, and those that a rule
    /// spells out.
    pub fn plugins(&self) -> impl Iterator<Item = &PluginName> {
        self.named.iter()
    }

    /// Returns whether the policy has a section for a plugin, whatever its content.
    pub fn has_section(&self, plugin: &PluginName) -> bool {
        self.plugins.contains_key(plugin)
    }

    /// Returns a plugin and the plugins that rules spell out together with it. [`Policy::dead_rule`] can check such a
    /// rule only if all of them are loaded.
    pub fn named_with(&self, plugin: &PluginName) -> BTreeSet<PluginName> {
        let mut together = BTreeSet::from([plugin.clone()]);
        // `dead_rule` does not check built-in rules, so they need no other plugin.
        for rule in self.rules.iter().filter(|rule| rule.id.layer != Layer::BuiltIn) {
            if rule.tool.named_plugins().any(|named| named == *plugin) {
                together.extend(rule.tool.named_plugins());
            }
        }
        together
    }

    /// Returns the limits for a call of `plugin`: the defaults, overridden by `[limits]`, overridden by the plugin's
    /// own.
    pub fn limits(&self, plugin: &PluginName) -> Limits {
        // The limits of a plugin already contain the general ones.
        self.plugins.get(plugin).map_or(self.limits, |plugin| plugin.limits)
    }

    /// Returns the limits for a call of a plugin without its own limits.
    pub fn default_limits(&self) -> Limits {
        self.limits
    }

    /// Returns the bindings of the plugin's dependency keys. There are none if it has no section.
    pub fn bindings(&self, plugin: &PluginName) -> &BTreeMap<DependencyKey, Binding> {
        self.plugins.get(plugin).map_or(&NO_BINDINGS, |plugin| &plugin.bindings)
    }

    /// Returns what the policy says about a server. `None` if it has no server of this name.
    pub fn server(&self, name: &PluginName) -> Option<&ServerPolicy> {
        self.plugins.get(name)?.server.as_ref()
    }

    /// Returns the names of the servers.
    pub fn servers(&self) -> impl Iterator<Item = &PluginName> {
        self.plugins.iter().filter(|(_, plugin)| plugin.server.is_some()).map(|(name, _)| name)
    }

    /// Returns the settings of `plugin`, which it reads through `wasi:config/store`.
    pub fn config(&self, plugin: &PluginName) -> &BTreeMap<String, String> {
        self.plugins.get(plugin).map_or(&NO_CONFIG, |plugin| &plugin.config)
    }

    /// Returns the resolution of the plugin's clocks.
    pub fn clock(&self, plugin: &PluginName) -> ClockResolution {
        self.plugins.get(plugin).map_or_else(ClockResolution::default, |plugin| plugin.clock)
    }

    /// Returns how long an instance of the plugin lives.
    pub fn instance(&self, plugin: &PluginName) -> InstanceLifetime {
        self.plugins.get(plugin).map_or_else(InstanceLifetime::default, |plugin| plugin.instance)
    }

    /// Returns whether wrong arguments from a model may be repaired once. A repaired call always needs approval.
    pub fn repair(&self, plugin: &PluginName) -> Leniency {
        self.plugins.get(plugin).map_or_else(Leniency::default, |plugin| plugin.repair)
    }

    /// Returns whether tools of `plugin` without a schema may be called.
    pub fn unvalidated(&self, plugin: &PluginName) -> Leniency {
        self.plugins.get(plugin).map_or_else(Leniency::default, |plugin| plugin.unvalidated)
    }

    /// Returns the name servers to use, in order. If it is empty, use those of the system.
    pub fn name_servers(&self) -> &[SocketAddr] {
        &self.name_servers
    }

    /// Returns the layer that binds `key` for `plugin`. A relative path in the binding is relative to that text.
    pub fn binding_layer(&self, plugin: &PluginName, key: &DependencyKey) -> Option<Layer> {
        self.plugins.get(plugin)?.layers.get(key).copied()
    }

    /// Returns the lifetimes of approval requests and approvals.
    pub fn approvals(&self) -> Approvals {
        self.approvals
    }

    /// Returns whether the host's own process gives up rights.
    pub fn own_confinement(&self) -> OwnConfinement {
        self.own_confinement
    }

    /// Returns what the audit log keeps, and when an entry counts as written.
    pub fn record(&self) -> RecordKeeping {
        self.record
    }

    /// Returns how many tool calls one principal may send to a server over HTTP.
    pub fn client_rate(&self) -> ClientRate {
        self.client_rate
    }

    /// Returns the rules, layer by layer in the order of each text.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Returns the decision if no rule matches. The tools of a server have another one, which [`Policy::default_of`]
    /// returns.
    pub fn default_decision(&self) -> Decision {
        self.default
    }

    /// Returns the decision on a tool of a plugin if no rule matches. For a server, it is ask, unless a text sets deny.
    pub fn default_of(&self, plugin: &PluginName) -> Decision {
        if self.server(plugin).is_some() { self.server_default } else { self.default }
    }

    /// Returns whether some call of a tool could get another decision than deny. If not, no arguments, session or
    /// principal make a difference.
    pub fn may_permit(&self, tool: &ToolName, permissions: Permissions, hints: &[Hint]) -> bool {
        let concerning = || self.rules.iter().filter(|rule| rule.concerns(tool, permissions, hints));
        if self.forbids(tool, permissions, hints) {
            return false;
        }
        let lifted = |part: Option<Permission>| {
            let mut lifting = concerning().filter(|rule| rule.decision != Decision::Deny && rule.may_lift());
            lifting.any(|rule| rule.permission.is_none() || rule.permission == part)
        };
        // Each permission needs a decision of its own, so one that no rule lifts denies the call.
        self.default_of(&tool.plugin) != Decision::Deny
            || match permissions.is_empty() {
                true => lifted(None),
                false => permissions.iter().all(|permission| lifted(Some(permission))),
            }
    }

    /// Returns whether [`Policy::may_permit`] could be true for a tool of a plugin whose tools are unknown. It may
    /// return true even if the plugin turns out to have no such tool.
    pub fn may_permit_some(&self, plugin: &PluginName) -> bool {
        let concerning = || self.rules.iter().filter(|rule| rule.tool.matches_some_of(plugin));
        if concerning().any(|rule| rule.denies_everything() && rule.concerns_all_of(plugin)) {
            return false;
        }
        self.default_of(plugin) != Decision::Deny
            || concerning().any(|rule| rule.decision != Decision::Deny && rule.may_lift())
    }

    /// Returns whether a rule denies every call of a tool. Other rules cannot lift that.
    pub fn forbids(&self, tool: &ToolName, permissions: Permissions, hints: &[Hint]) -> bool {
        self.rules.iter().any(|rule| rule.denies_everything() && rule.concerns(tool, permissions, hints))
    }

    /// Returns the tools that a caller is offered. Each layer narrows what the others offer, whatever its trust. The
    /// selection grants nothing: [`Policy::decide`] decides on every call.
    ///
    /// # Errors
    ///
    /// There is no toolset of the chosen name.
    pub fn offered(&self, audience: &Audience<'_>) -> Result<ToolSelection, UnknownToolset> {
        self.toolsets.select(audience)
    }

    /// Returns the tools of one toolset, without regard to the offers.
    ///
    /// # Errors
    ///
    /// There is no toolset of this name.
    pub fn toolset(&self, name: &str) -> Result<ToolSelection, UnknownToolset> {
        self.toolsets.one(name)
    }

    /// Returns the names of the toolsets that a text defines.
    pub fn defined_toolsets(&self) -> impl Iterator<Item = &ToolsetName> {
        self.toolsets.defined()
    }

    /// Returns the patterns of the toolsets: the tools that they name and the tools that they leave out.
    pub fn toolset_patterns(&self) -> impl Iterator<Item = &ToolPattern> {
        self.toolsets.patterns()
    }

    /// Returns the rate limits of all layers. No two of them have the same text.
    pub fn rate_limits(&self) -> &[RateLimit] {
        &self.rate_limits
    }

    /// Returns the rate limits that count a call.
    pub fn rate_limits_of<'a>(&'a self, tool: &'a ToolName, caller: Caller<'a>) -> impl Iterator<Item = &'a RateLimit> {
        self.rate_limits.iter().filter(move |limit| limit.counts(tool, &caller))
    }

    /// Returns the pause, if a layer sets one. [`Policy::decide`] then denies every call.
    pub fn paused(&self) -> Option<&Pause> {
        self.paused.as_ref()
    }

    /// Decides on a call as if no layer paused the policy. A call that waits for an approver waits on while the policy
    /// is paused, and this says whether it still needs approval.
    pub fn decide_unpaused(&self, question: &Question<'_>) -> Verdict {
        self.weigh(&Matter::from(question))
    }

    /// Returns the verdict on everything while a layer pauses the policy.
    fn pause_verdict(&self) -> Option<Verdict> {
        let Pause { layer, reason } = self.paused.as_ref()?;
        Some(Verdict { decision: Decision::Deny, source: Source::Paused(*layer), reason: Arc::clone(reason) })
    }

    fn weigh(&self, matter: &Matter<'_>) -> Verdict {
        let default = self.default_of(&matter.tool.plugin);
        let weighings = matter.weighings(&self.rules, default);
        let settled = weighings.map(|(_, weighing)| weighing.settle()).reduce(WeighedDecision::stricter);
        // The root is always a member. Without any, nothing would have allowed the call.
        let settled = settled.unwrap_or(WeighedDecision::DENY);
        let (source, reason) = match settled.rule {
            Some(rule) => (Source::Rule(rule.id), &rule.explanation),
            // Only the tools of a server can have another default. The text of the usual one is ready.
            None if default == self.default => (Source::Default, &self.default_reason),
            None => (Source::Default, &default_reason(default)),
        };
        Verdict { decision: settled.decision, source, reason: Arc::clone(reason) }
    }
}

impl Default for Policy {
    /// Returns [`Policy::deny_all`].
    fn default() -> Self {
        Self::deny_all()
    }
}

/// Returns the reason of a verdict if no rule decided.
pub(crate) fn default_reason(default: Decision) -> Arc<str> {
    Arc::from(format!("no rule matches, and the default is {default}"))
}
