//! The meaning of a policy, without lines and numbers: what an edit may change, and what it may not.
//!
//! This file must not know how a policy is written.

use core::net::SocketAddr;
use std::collections::BTreeMap;

use portcullis_policy::{
    Approvals, Binding, ClientRate, ClockResolution, Decision, DependencyKey, Hint, InstanceLifetime, Leniency, Limits,
    OwnConfinement, Permission, PluginName, PluginParts, Policy, PolicyParts, RecordKeeping, Rule, ServerPolicy,
    ToolPattern, Toolsets, When,
};

/// The meaning of a policy of one layer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PolicyMeaning {
    pub(crate) rules: Vec<RuleMeaning>,
    pub(crate) bindings: BTreeMap<(PluginName, DependencyKey), Binding>,
    pub(crate) paused: Option<String>,
    default: Decision,
    server_default: Decision,
    limits: Limits,
    approvals: Approvals,
    notify: Vec<String>,
    record: RecordKeeping,
    client_rate: ClientRate,
    own_confinement: OwnConfinement,
    name_servers: Vec<SocketAddr>,
    toolsets: Toolsets,
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
        // Without `..`, here and in `difference`, so that a new part of a policy does not compile until it is compared.
        let PolicyParts {
            default,
            server_default,
            rules,
            limits,
            plugins,
            approvals,
            record,
            client_rate,
            notify,
            own_confinement,
            name_servers,
            paused,
            toolsets,
            rate_limits,
        } = policy.parts();
        let bindings = plugins.iter().flat_map(|(plugin, parts)| {
            parts.bindings.iter().map(|(key, binding)| (((*plugin).clone(), key.clone()), binding.clone()))
        });
        let server = |(name, parts): (&&PluginName, &PluginParts<'_>)| Some(((*name).clone(), parts.server?.clone()));
        Self {
            rules: rules.iter().map(RuleMeaning::of).collect(),
            bindings: bindings.collect(),
            paused: paused.map(|pause| pause.reason.to_string()),
            default,
            server_default,
            limits,
            approvals,
            notify: notify.to_vec(),
            record,
            client_rate,
            own_confinement,
            name_servers: name_servers.to_vec(),
            toolsets: toolsets.clone(),
            // As texts, because a rate limit also has its line, which an edit may move.
            rate_limits: rate_limits.iter().map(ToString::to_string).collect(),
            servers: plugins.iter().filter_map(server).collect(),
            settings: plugins.into_iter().map(|(name, parts)| (name.clone(), PluginSettings::of(parts))).collect(),
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
        let Self {
            rules,
            bindings,
            paused,
            default,
            server_default,
            limits,
            approvals,
            notify,
            record,
            client_rate,
            own_confinement,
            name_servers,
            toolsets,
            rate_limits,
            settings,
            servers,
        } = self;
        let lost = expected.settings.iter().any(|(name, kept)| settings.get(name) != Some(kept));
        let gained =
            settings.iter().any(|(name, new)| !expected.settings.contains_key(name) && !new.is_default(*limits));
        let parts = [
            ("a rule", *rules != expected.rules),
            ("a grant", *bindings != expected.bindings),
            ("the pause", *paused != expected.paused),
            ("the default", *default != expected.default || *server_default != expected.server_default),
            ("a limit", *limits != expected.limits),
            ("the settings of approvals", *approvals != expected.approvals || *notify != expected.notify),
            ("the audit log", *record != expected.record),
            ("how often clients may call", *client_rate != expected.client_rate),
            ("the confinement of the host", *own_confinement != expected.own_confinement),
            ("the name servers", *name_servers != expected.name_servers),
            ("a toolset or an offer", *toolsets != expected.toolsets),
            ("a rate limit", *rate_limits != expected.rate_limits),
            ("the settings of a plugin", lost || gained),
            ("a server", *servers != expected.servers),
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
    fn of(parts: PluginParts<'_>) -> Self {
        // The bindings and the server are parts of the meaning of their own.
        let PluginParts { bindings: _, config, clock, instance, repair, unvalidated, limits, server: _ } = parts;
        Self { config: config.clone(), clock, instance, repair, unvalidated, limits }
    }

    /// Returns whether these are the settings of an empty section. Its limits are those of the policy.
    fn is_default(&self, limits: Limits) -> bool {
        let (config, clock, instance) = (BTreeMap::new(), ClockResolution::default(), InstanceLifetime::default());
        let (repair, unvalidated) = (Leniency::default(), Leniency::default());
        *self == Self { config, clock, instance, repair, unvalidated, limits }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_any_part_is_a_difference() {
        let texts = [
            ("[[rule]]\ntool = 'a.b'\ndecision = 'deny'", "a rule"),
            ("[plugin.a]\nhttp.b = { hosts = ['a.example'] }", "a grant"),
            ("paused = 'now'", "the pause"),
            ("[defaults]\ndecision = 'ask'", "the default"),
            // The default of servers alone.
            ("[defaults]\ndecision = 'deny'", "the default"),
            ("[limits]\ntime = '5 s'", "a limit"),
            ("[approvals]\nrepeats = 7", "the settings of approvals"),
            ("[approvals]\nnotify = ['/bin/a']", "the settings of approvals"),
            ("[record]\ndurable = 'machine'", "the audit log"),
            ("[serve]\ncalls-burst = 3", "how often clients may call"),
            ("[host]\nconfine = 'require'", "the confinement of the host"),
            ("[network]\nname-servers = ['10.0.0.1']", "the name servers"),
            ("[toolset.a]\ntools = ['a.b']", "a toolset or an offer"),
            ("[[offer]]\nclient = 'a'\ntoolset = 'read-only'", "a toolset or an offer"),
            ("[[rate-limit]]\ntool = 'a.b'\nrate = '5/s'", "a rate limit"),
            ("[plugin.a]\nclock = 'fine'", "the settings of a plugin"),
            ("[server.a]\nurl = 'https://a.example/mcp'\nelicitation = 'ask'", "a grant"),
        ];
        let empty = PolicyMeaning::of(&Policy::deny_all());
        for (text, what) in texts {
            let policy = Policy::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            let meaning = PolicyMeaning::of(&policy);
            assert_eq!(meaning.difference(&empty), Some(what), "{text}");
            assert_eq!(empty.difference(&meaning), Some(what), "{text}");
            assert_eq!(meaning.difference(&meaning), None, "{text}");
        }
        let server = |more: &str| {
            let text = format!("[server.a]\nurl = 'https://a.example/mcp'\n{more}");
            PolicyMeaning::of(&Policy::parse(&text).unwrap())
        };
        assert_eq!(server("elicitation = 'ask'").difference(&server("")), Some("a server"));
    }
}
