//! From the texts of the layers to one policy.
//!
//! What a trusted layer says is added or overrides what an earlier one said. What an untrusted project says can only
//! narrow: of its settings only those count that are stricter, and of its bindings none. Its rules know themselves that
//! they must not widen. It must not know how a text is read.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use crate::approvals::Approvals;
use crate::decision::Decision;
use crate::error::{LayerError, PolicyError, PolicyFault};
use crate::file::{self, Place, PluginSection, Sections};
use crate::layer::{Layer, Layers, Trust};
use crate::limit::LimitSettings;
use crate::limits::Limits;
use crate::name::PluginName;
use crate::policy::{PluginPolicy, Policy, default_reason};
use crate::policy_size::POLICY_RULES;
use crate::record_keeping::RecordKeeping;

/// One layer, read.
struct Part<'t> {
    layer: Layer,
    trust: Trust,
    place: Place<'t>,
    sections: Sections,
}

impl Policy {
    /// Reads the user's policy, where it is the only one. It is accepted as a whole or refused as a whole.
    ///
    /// # Errors
    ///
    /// The first thing in the text that is not exactly as it should be: a key that is not known, a key that is written
    /// twice, a name, pattern, word or amount that is malformed, a limit that is off or above its ceiling.
    pub fn parse(text: &str) -> Result<Self, PolicyError> {
        Self::layered(&Layers { user: Some(text), ..Layers::default() }).map_err(|refused| refused.error)
    }

    /// Parses and combines the layers of a policy. Their rules are weighed together. The default is the strictest one
    /// that a trusted text sets, or deny if none does. An untrusted project can only make it stricter. A trusted
    /// project adds bindings and overrides limits.
    ///
    /// # Errors
    ///
    /// The errors of [`Policy::parse`], in any of the texts. Also: two layers bind the same key, have the same setting
    /// for a plugin, or have more than [`POLICY_RULES`] together.
    pub fn layered(layers: &Layers<'_>) -> Result<Self, LayerError> {
        combine(layers)
    }
}

/// Reads and combines the layers.
fn combine(layers: &Layers<'_>) -> Result<Policy, LayerError> {
    let mut parts = read(layers)?;
    let mut plugins = BTreeMap::new();
    for name in parts.iter().flat_map(|part| part.sections.plugins.keys()) {
        if !plugins.contains_key(name) {
            plugins.insert(name.clone(), combine_plugin(&parts, name)?);
        }
    }
    let default = combine_default(&parts);
    let (mut approvals, mut record) = (Approvals::default(), RecordKeeping::default());
    for Part { trust, sections, .. } in &parts {
        match trust {
            Trust::Trusted => {
                approvals.set(&sections.approvals);
                record.set(&sections.record);
            }
            Trust::Untrusted => {
                approvals.narrow(&sections.approvals);
                record.narrow(&sections.record);
            }
        }
    }
    Ok(Policy {
        default,
        default_reason: default_reason(default),
        limits: combine_limits(&parts, None),
        plugins,
        approvals,
        record,
        named: named(&parts),
        name_servers: combine_name_servers(&parts),
        rules: parts.iter_mut().flat_map(|part| std::mem::take(&mut part.sections.rules)).collect(),
    })
}

/// Reads every text that is there. [`POLICY_RULES`] bounds all of them together.
fn read<'t>(layers: &Layers<'t>) -> Result<Vec<Part<'t>>, LayerError> {
    let texts = [
        (Layer::BuiltIn, layers.built_in.map(|text| (text, Trust::Trusted))),
        (Layer::User, layers.user.map(|text| (text, Trust::Trusted))),
        (Layer::Project, layers.project),
    ];
    let mut parts: Vec<Part<'t>> = Vec::new();
    for (layer, (text, trust)) in texts.into_iter().filter_map(|(layer, text)| Some((layer, text?))) {
        let place = Place { text };
        let sections = file::read(&place, layer, trust).map_err(|error| LayerError { layer, error })?;
        let rules: usize = parts.iter().map(|part| part.sections.rules.len()).sum();
        if rules + sections.rules.len() > POLICY_RULES {
            return Err(LayerError { layer, error: place.error_at_top(PolicyFault::TooManyRules) });
        }
        parts.push(Part { layer, trust, place, sections });
    }
    Ok(parts)
}

/// The strictest default that a trusted layer wrote, or a deny; an untrusted one can only tighten it.
fn combine_default(parts: &[Part<'_>]) -> Decision {
    let written = |wanted: Trust| {
        let parts = parts.iter().filter(move |part| part.trust == wanted);
        parts.filter_map(|part| part.sections.default).max()
    };
    let trusted = written(Trust::Trusted).unwrap_or(Decision::Deny);
    written(Trust::Untrusted).map_or(trusted, |untrusted| untrusted.max(trusted))
}

/// The limits of one plugin, or of all that have none of their own. What is said of one plugin overrides what is said
/// of all of them, whichever layer says it.
fn combine_limits(parts: &[Part<'_>], plugin: Option<&PluginName>) -> Limits {
    let mut limits = Limits::default();
    let none = LimitSettings::default();
    let own = |part: &'_ Part<'_>| {
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
    for part in untrusted {
        limits.lower(&part.sections.limits.overridden(&own(part)));
    }
    limits
}

/// The bindings and settings of all trusted layers. Two layers that bind the same key contradict each other, as do two
/// that have the same setting.
fn combine_plugin(parts: &[Part<'_>], name: &PluginName) -> Result<PluginPolicy, LayerError> {
    let mut plugin = PluginPolicy {
        bindings: BTreeMap::new(),
        layers: BTreeMap::new(),
        config: BTreeMap::new(),
        clock: combine_word(parts, name, |section| section.clock),
        repair: combine_word(parts, name, |section| section.repair),
        unvalidated: combine_word(parts, name, |section| section.unvalidated),
        limits: combine_limits(parts, Some(name)),
    };
    let mut set_by = BTreeMap::new();
    for part in parts.iter().filter(|part| part.trust == Trust::Trusted) {
        let Some(PluginSection { bindings, config, .. }) = part.sections.plugins.get(name) else { continue };
        let contradiction = |misplaced| LayerError { layer: part.layer, error: part.place.error(misplaced) };
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

/// What a word of a plugin's section comes to, of which a greater one gives more: what the last trusted layer says, or
/// less if an untrusted one does.
fn combine_word<T: Copy + Default + Ord>(
    parts: &[Part<'_>],
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

/// The name servers of the last trusted layer that has any.
fn combine_name_servers(parts: &[Part<'_>]) -> Vec<SocketAddr> {
    let trusted = parts.iter().filter(|part| part.trust == Trust::Trusted);
    trusted.filter_map(|part| part.sections.name_servers.clone()).next_back().unwrap_or_default()
}

/// The plugins that a person named; what is built in speaks of plugins that need not be there.
fn named(parts: &[Part<'_>]) -> BTreeSet<PluginName> {
    let written = parts.iter().filter(|part| part.layer != Layer::BuiltIn).map(|part| &part.sections);
    written
        .flat_map(|sections| {
            let spelt_out = sections.rules.iter().flat_map(|rule| rule.tool.named_plugins());
            sections.plugins.keys().cloned().chain(spelt_out)
        })
        .collect()
}
