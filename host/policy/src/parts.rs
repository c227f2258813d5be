//! All parts of a policy by name, for code that must decide about each of them, such as a comparison.
//!
//! A new part of a policy does not compile until it is named here. This file must not know what a part means.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use crate::approvals::Approvals;
use crate::binding::Binding;
use crate::client_rate::ClientRate;
use crate::clock::ClockResolution;
use crate::decision::Decision;
use crate::instance::InstanceLifetime;
use crate::leniency::Leniency;
use crate::limits::Limits;
use crate::name::{DependencyKey, PluginName};
use crate::own_confinement::OwnConfinement;
use crate::pause::Pause;
use crate::policy::{PluginPolicy, Policy};
use crate::rate_limit::RateLimit;
use crate::record_keeping::RecordKeeping;
use crate::rule::Rule;
use crate::server::ServerPolicy;
use crate::toolset::Toolsets;

/// Everything that a policy says.
#[derive(Debug, Clone)]
pub struct PolicyParts<'a> {
    /// The decision if no rule matches.
    pub default: Decision,
    /// The decision on the tools of servers if no rule matches.
    pub server_default: Decision,
    /// The rules, layer by layer in the order of each text.
    pub rules: &'a [Rule],
    /// The limits of a plugin without its own.
    pub limits: Limits,
    /// The sections of plugins and servers.
    pub plugins: BTreeMap<&'a PluginName, PluginParts<'a>>,
    /// The lifetimes of approval requests and approvals.
    pub approvals: Approvals,
    /// What the audit log keeps, and when an entry counts as written.
    pub record: RecordKeeping,
    /// How many tool calls one principal may send to a server over HTTP.
    pub client_rate: ClientRate,
    /// The program, with its arguments, that is run for a new approval request.
    pub notify: &'a [String],
    /// Whether the host's own process gives up rights.
    pub own_confinement: OwnConfinement,
    /// The name servers to use, in order.
    pub name_servers: &'a [SocketAddr],
    /// The pause, if a layer sets one.
    pub paused: Option<&'a Pause>,
    /// The toolsets, and the callers that they are offered to.
    pub toolsets: &'a Toolsets,
    /// The rate limits.
    pub rate_limits: &'a [RateLimit],
}

/// Everything that a policy says about a plugin or a server.
#[derive(Debug, Clone, Copy)]
pub struct PluginParts<'a> {
    /// The bindings of its dependency keys.
    pub bindings: &'a BTreeMap<DependencyKey, Binding>,
    /// Its settings.
    pub config: &'a BTreeMap<String, String>,
    /// The resolution of its clocks.
    pub clock: ClockResolution,
    /// How long an instance of it lives.
    pub instance: InstanceLifetime,
    /// Whether wrong arguments from a model may be repaired once.
    pub repair: Leniency,
    /// Whether its tools without a schema may be called.
    pub unvalidated: Leniency,
    /// Its limits, with the general ones where it has none.
    pub limits: Limits,
    /// What concerns only a server.
    pub server: Option<&'a ServerPolicy>,
}

impl Policy {
    /// Returns everything that the policy says.
    pub fn parts(&self) -> PolicyParts<'_> {
        let Self {
            default,
            // A text about the default.
            default_reason: _,
            server_default,
            rules,
            limits,
            plugins,
            approvals,
            record,
            client_rate,
            // The names in the sections, the rules and the rate limits.
            named: _,
            notify,
            own_confinement,
            name_servers,
            paused,
            toolsets,
            rate_limits,
        } = self;
        PolicyParts {
            default: *default,
            server_default: *server_default,
            rules,
            limits: *limits,
            plugins: plugins.iter().map(|(name, plugin)| (name, plugin.parts())).collect(),
            approvals: *approvals,
            record: *record,
            client_rate: *client_rate,
            notify,
            own_confinement: *own_confinement,
            name_servers,
            paused: paused.as_ref(),
            toolsets,
            rate_limits,
        }
    }
}

impl PluginPolicy {
    fn parts(&self) -> PluginParts<'_> {
        // The layers say where the bindings are written.
        let Self { bindings, layers: _, config, clock, instance, repair, unvalidated, limits, server } = self;
        PluginParts {
            bindings,
            config,
            clock: *clock,
            instance: *instance,
            repair: *repair,
            unvalidated: *unvalidated,
            limits: *limits,
            server: server.as_ref(),
        }
    }
}
