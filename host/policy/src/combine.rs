//! Combines the layers into one policy.
//!
//! A trusted layer adds to earlier layers or overrides them. An untrusted project can only restrict: its settings count
//! only if they are stricter, and its bindings do not count. Its rules carry their own trust. This file must not know
//! how a text is parsed.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::Arc;

use crate::approvals::Approvals;
use crate::client_rate::ClientRate;
use crate::decision::Decision;
use crate::error::{LayerError, PolicyError, PolicyFault};
use crate::file::{self, POLICY_ERRORS_MAX, PluginSection, PolicyText, Sections};
use crate::key_references::{self, KeyScope};
use crate::layer::{Layer, Layers, Trust};
use crate::limit::LimitSettings;
use crate::limits::Limits;
use crate::name::PluginName;
use crate::own_confinement::OwnConfinement;
use crate::pause::Pause;
use crate::policy::{PluginPolicy, Policy, default_reason};
use crate::policy_size::POLICY_RULES;
use crate::rate_limit::RateLimit;
use crate::record_keeping::RecordKeeping;
use crate::toolset::Toolsets;
use crate::toolset_layers;

/// One parsed layer.
struct PolicyPart<'t> {
    layer: Layer,
    trust: Trust,
    place: PolicyText<'t>,
    sections: Sections,
}

impl Policy {
    /// Parses one text without the other layers. It is accepted or refused as a whole. A binding may name a key that
    /// the text does not bind, because another layer may bind it.
    ///
    /// # Errors
    ///
    /// The first error in the text: an unknown or duplicate key, a malformed name, pattern, word or amount, or a limit
    /// that is zero or above its ceiling.
    pub fn parse(text: &str) -> Result<Self, PolicyError> {
        let layers = Layers { user: Some(text), ..Layers::default() };
        combine(&layers, KeyScope::OneText).map_err(|refused| refused.error)
    }

    /// Parses and combines the layers of a policy. Their rules are weighed together. The default is the strictest one
    /// that a trusted text sets, or deny if none does. An untrusted project can only make it stricter. A trusted
    /// project adds bindings and overrides limits.
    ///
    /// # Errors
    ///
    /// The errors of [`Policy::parse`], in any of the texts. Also: two layers bind the same key, have the same setting
    /// for a plugin, or have more than [`POLICY_RULES`] together. A binding of a trusted layer names a key that neither
    /// this layer nor an earlier one binds.
    pub fn layered(layers: &Layers<'_>) -> Result<Self, LayerError> {
        combine(layers, KeyScope::AllLayers)
    }
}

/// Parses and combines the layers.
fn combine(layers: &Layers<'_>, scope: KeyScope) -> Result<Policy, LayerError> {
    let mut parts = read(layers)?;
    let mut plugins = BTreeMap::new();
    // Also the plugins of an untrusted text, because its settings and limits can be stricter.
    for name in parts.iter().flat_map(|part| part.sections.plugins.keys()) {
        if !plugins.contains_key(name) {
            plugins.insert(name.clone(), combine_plugin(&parts, name)?);
        }
    }
    check_references(&parts, scope)?;
    let toolsets = combine_toolsets(&parts, scope)?;
    let (default, server_default) = (combine_default(&parts), combine_server_default(&parts));
    let (mut approvals, mut record) = (Approvals::default(), RecordKeeping::default());
    let mut client_rate = ClientRate::default();
    for PolicyPart { trust, sections, .. } in &parts {
        match trust {
            Trust::Trusted => {
                approvals.set(&sections.approvals);
                record.set(&sections.record);
                client_rate.set(&sections.client_rate);
            }
            Trust::Untrusted => {
                approvals.narrow(&sections.approvals);
                record.narrow(&sections.record);
                client_rate.narrow(&sections.client_rate);
            }
        }
    }
    Ok(Policy {
        default,
        default_reason: default_reason(default),
        server_default,
        limits: combine_limits(&parts, None),
        plugins,
        approvals,
        record,
        client_rate,
        named: named(&parts),
        notify: combine_notify(&parts),
        own_confinement: combine_own_confinement(&parts),
        name_servers: combine_name_servers(&parts),
        paused: combine_pause(&parts),
        toolsets: Arc::new(toolsets),
        rate_limits: combine_rate_limits(&parts),
        // Last, because this takes the rules out of the parts, and `named` reads them there.
        rules: parts.iter_mut().flat_map(|part| std::mem::take(&mut part.sections.rules)).collect(),
    })
}

/// Parses every text. [`POLICY_RULES`] is the limit for all of them together.
fn read<'t>(layers: &Layers<'t>) -> Result<Vec<PolicyPart<'t>>, LayerError> {
    let texts = [
        (Layer::BuiltIn, layers.built_in.map(|text| (text, Trust::Trusted))),
        (Layer::User, layers.user.map(|text| (text, Trust::Trusted))),
        (Layer::Project, layers.project),
    ];
    let mut parts: Vec<PolicyPart<'t>> = Vec::new();
    for (layer, (text, trust)) in texts.into_iter().filter_map(|(layer, text)| Some((layer, text?))) {
        let place = PolicyText { text };
        let sections = file::read(&place, layer, trust).map_err(|error| LayerError { layer, error })?;
        // The maximum is for all layers together, because each decision checks all rules.
        let rules: usize = parts.iter().map(|part| part.sections.rules.len()).sum();
        if rules + sections.rules.len() > POLICY_RULES {
            return Err(LayerError { layer, error: place.error_at_top(PolicyFault::TooManyRules) });
        }
        parts.push(PolicyPart { layer, trust, place, sections });
    }
    Ok(parts)
}

/// Returns the command of the last trusted layer that sets one.
fn combine_notify(parts: &[PolicyPart<'_>]) -> Vec<String> {
    let trusted = parts.iter().filter(|part| part.trust == Trust::Trusted);
    trusted.filter_map(|part| part.sections.notify.clone()).next_back().unwrap_or_default()
}

/// Returns the setting of the last trusted layer that has one. An untrusted layer can only make it stricter.
fn combine_own_confinement(parts: &[PolicyPart<'_>]) -> OwnConfinement {
    let mut combined = OwnConfinement::default();
    for (trust, setting) in parts.iter().filter_map(|part| Some((part.trust, part.sections.own_confinement?))) {
        combined = match trust {
            Trust::Trusted => setting,
            Trust::Untrusted => combined.max(setting),
        };
    }
    combined
}

/// Returns the strictest default of the trusted layers, or deny if none sets one. An untrusted layer can only make it
/// stricter.
fn combine_default(parts: &[PolicyPart<'_>]) -> Decision {
    let written = |wanted: Trust| {
        let parts = parts.iter().filter(move |part| part.trust == wanted);
        parts.filter_map(|part| part.sections.default).max()
    };
    let trusted = written(Trust::Trusted).unwrap_or(Decision::Deny);
    written(Trust::Untrusted).map_or(trusted, |untrusted| untrusted.max(trusted))
}

/// Returns the limits of one plugin, or of all plugins without their own limits. A plugin's own limits override the
/// general ones, whichever layer sets them.
fn combine_limits(parts: &[PolicyPart<'_>], plugin: Option<&PluginName>) -> Limits {
    let mut limits = Limits::default();
    let none = LimitSettings::default();
    let own = |part: &'_ PolicyPart<'_>| {
        let section = plugin.and_then(|plugin| part.sections.plugins.get(plugin));
        section.map_or(none.clone(), |section| section.limits.clone())
    };
    let (trusted, untrusted): (Vec<_>, Vec<_>) = parts.iter().partition(|part| part.trust == Trust::Trusted);
    for part in &trusted {
        limits.apply(&part.sections.limits);
    }
    for part in trusted {
        limits.apply(&own(part));
    }
    // Within the text, a plugin's own limit replaces the general one. Otherwise the lower of both would count.
    for part in untrusted {
        limits.lower(&part.sections.limits.overridden(&own(part)));
    }
    limits
}

/// Returns the bindings and settings of all trusted layers. It is an error if two layers bind the same key or have the
/// same setting.
fn combine_plugin(parts: &[PolicyPart<'_>], name: &PluginName) -> Result<PluginPolicy, LayerError> {
    let mut plugin = PluginPolicy {
        bindings: BTreeMap::new(),
        layers: BTreeMap::new(),
        config: BTreeMap::new(),
        clock: combine_word(parts, name, |section| section.clock),
        instance: combine_word(parts, name, |section| section.instance),
        repair: combine_word(parts, name, |section| section.repair),
        unvalidated: combine_word(parts, name, |section| section.unvalidated),
        limits: combine_limits(parts, Some(name)),
        server: None,
    };
    let (mut set_by, mut set_by_server) = (BTreeMap::new(), None);
    // The bindings and settings of an untrusted text were parsed for their faults, but they do not count.
    for part in parts.iter().filter(|part| part.trust == Trust::Trusted) {
        let Some(PluginSection { bindings, config, server, .. }) = part.sections.plugins.get(name) else { continue };
        let contradiction = |misplaced| LayerError { layer: part.layer, error: part.place.error(misplaced) };
        if let Some(placed) = server {
            if let Some(layer) = set_by_server.replace(part.layer) {
                return Err(contradiction(placed.misplaced(PolicyFault::SetElsewhere { layer })));
            }
            plugin.server = Some(placed.value.clone());
        }
        for (key, placed) in bindings {
            if let Some(layer) = plugin.layers.insert(key.clone(), part.layer) {
                return Err(contradiction(placed.misplaced(PolicyFault::BoundElsewhere { layer })));
            }
            plugin.bindings.insert(key.clone(), placed.value.clone());
        }
        for (key, placed) in config {
            if let Some(layer) = set_by.insert(key, part.layer) {
                return Err(contradiction(placed.misplaced(PolicyFault::SetElsewhere { layer })));
            }
            plugin.config.insert(key.clone(), placed.value.clone());
        }
    }
    Ok(plugin)
}

/// Checks the keys that bindings name, in every layer. The bindings of an untrusted layer have no effect, so a key that
/// such a layer does not bind is no error.
fn check_references(parts: &[PolicyPart<'_>], scope: KeyScope) -> Result<(), LayerError> {
    for (index, part) in parts.iter().enumerate() {
        let (earlier, scope) = match part.trust {
            Trust::Trusted => (parts.get(..index).unwrap_or_default(), scope),
            Trust::Untrusted => (&[][..], KeyScope::OneText),
        };
        let faults = part.sections.plugins.iter().flat_map(|(name, section)| {
            let earlier = earlier.iter().filter(|part| part.trust == Trust::Trusted);
            let earlier: Vec<_> = earlier.filter_map(|part| part.sections.plugins.get(name)).collect();
            key_references::faults(section, &earlier, scope)
        });
        let mut faults: Vec<_> = faults.take(POLICY_ERRORS_MAX).collect();
        faults.sort_by_key(|fault| fault.offset);
        if let Some(error) = part.place.errors(faults) {
            return Err(LayerError { layer: part.layer, error });
        }
    }
    Ok(())
}

/// Returns the toolsets and offers of all layers. A layer only narrows, so its trust does not matter.
fn combine_toolsets(parts: &[PolicyPart<'_>], scope: KeyScope) -> Result<Toolsets, LayerError> {
    let mut toolsets = Toolsets::default();
    for part in parts {
        let mut faults = toolset_layers::add(&mut toolsets, part.layer, &part.sections, scope);
        faults.sort_by_key(|fault| fault.offset);
        faults.truncate(POLICY_ERRORS_MAX);
        if let Some(error) = part.place.errors(faults) {
            return Err(LayerError { layer: part.layer, error });
        }
    }
    Ok(toolsets)
}

/// Returns the default for the tools of servers: ask, unless a text sets deny.
fn combine_server_default(parts: &[PolicyPart<'_>]) -> Decision {
    // Trust does not matter here, because no text makes this milder than ask.
    let written = parts.iter().filter_map(|part| part.sections.default).max();
    written.map_or(Decision::Ask, |default| default.max(Decision::Ask))
}

/// Returns the value of a word in a plugin's section: the one of the last trusted layer, or a smaller one of an
/// untrusted layer. A greater value permits more.
fn combine_word<T: Copy + Default + Ord>(
    parts: &[PolicyPart<'_>],
    name: &PluginName,
    of: impl Fn(&PluginSection) -> Option<T>,
) -> T {
    let written = |wanted: Trust| {
        let parts = parts.iter().filter(move |part| part.trust == wanted);
        parts.filter_map(|part| of(part.sections.plugins.get(name)?)).collect::<Vec<T>>()
    };
    let trusted = written(Trust::Trusted).last().copied().unwrap_or_default();
    written(Trust::Untrusted).into_iter().fold(trusted, T::min)
}

/// Returns the name servers of the last trusted layer that has any.
fn combine_name_servers(parts: &[PolicyPart<'_>]) -> Vec<SocketAddr> {
    let trusted = parts.iter().filter(|part| part.trust == Trust::Trusted);
    trusted.filter_map(|part| part.sections.name_servers.clone()).next_back().unwrap_or_default()
}

/// Returns the pause of the first layer that has one. A pause only restricts, so the layer's trust does not matter.
fn combine_pause(parts: &[PolicyPart<'_>]) -> Option<Pause> {
    let pause = |part: &PolicyPart<'_>| Some(Pause { layer: part.layer, reason: part.sections.paused.clone()? });
    parts.iter().find_map(pause)
}

/// Returns the rate limits of all layers, each once. A limit only refuses, so the layer's trust does not matter.
fn combine_rate_limits(parts: &[PolicyPart<'_>]) -> Vec<RateLimit> {
    let mut limits: Vec<RateLimit> = Vec::new();
    for limit in parts.iter().flat_map(|part| &part.sections.rate_limits) {
        // A call would count twice under the same limit, because both have the same count.
        if !limits.iter().any(|other| other.text() == limit.text()) {
            limits.push(limit.clone());
        }
    }
    limits
}

/// Returns the plugins that the user or the project names. The built-in policy may name plugins that are not installed.
fn named(parts: &[PolicyPart<'_>]) -> BTreeSet<PluginName> {
    let written = parts.iter().filter(|part| part.layer != Layer::BuiltIn).map(|part| &part.sections);
    written
        .flat_map(|sections| {
            let spelt_out = sections.rules.iter().flat_map(|rule| rule.tool.named_plugins());
            let limited = sections.rate_limits.iter().flat_map(RateLimit::named_plugins);
            sections.plugins.keys().cloned().chain(spelt_out).chain(limited)
        })
        .collect()
}
