//! The sections `[plugin.NAME]`: the bindings of a plugin's dependency keys, its settings, clocks and limits.
//!
//! This file must not know which dependencies the plugin declares.

mod config;
mod directory;
mod http;
mod secret;
mod service;
mod store;
mod value;

use std::collections::BTreeMap;

use super::limits;
use super::node::{Misplaced, TomlNode};
use crate::binding::{Binding, DependencyKind};
use crate::clock::ClockResolution;
use crate::error::PolicyFault;
use crate::leniency::Leniency;
use crate::limit::LimitSettings;
use crate::name::{DependencyKey, PluginName};
use value::PlacedValue;

/// The keys of a section besides the kinds of dependencies.
const SETTINGS: [&str; 5] = ["config", "clock", "limits", "repair", "unvalidated"];

/// The settings of one plugin in one policy text.
#[derive(Debug, Default)]
pub(crate) struct PluginSection {
    pub(crate) bindings: BTreeMap<DependencyKey, PlacedValue<Binding>>,
    pub(crate) config: BTreeMap<String, PlacedValue<String>>,
    pub(crate) clock: Option<ClockResolution>,
    pub(crate) repair: Option<Leniency>,
    pub(crate) unvalidated: Option<Leniency>,
    pub(crate) limits: LimitSettings,
}

/// Parses the section of every plugin.
pub(super) fn read(section: &TomlNode<'_>) -> Result<BTreeMap<PluginName, PluginSection>, Misplaced> {
    let mut plugins = BTreeMap::new();
    for (name, node) in section.entries()? {
        let name = PluginName::new(name).map_err(|fault| node.fail(fault))?;
        plugins.insert(name, read_plugin(&node)?);
    }
    Ok(plugins)
}

fn read_plugin(node: &TomlNode<'_>) -> Result<PluginSection, Misplaced> {
    let keys: Vec<&str> = DependencyKind::ALL.map(DependencyKind::as_str).into_iter().chain(SETTINGS).collect();
    let section = node.table(&keys)?;
    let mut plugin = PluginSection::default();
    if let Some(limits) = section.get("limits") {
        plugin.limits = limits::read(limits)?;
    }
    if let Some(config) = section.get("config") {
        plugin.config = config::read(config)?;
    }
    if let Some(clock) = section.get("clock") {
        plugin.clock = Some(clock.word(&ClockResolution::ALL, ClockResolution::as_str)?);
    }
    let lenient = |key: &str| section.get(key).map(|node| node.word(&Leniency::ALL, Leniency::as_str)).transpose();
    plugin.repair = lenient("repair")?;
    plugin.unvalidated = lenient("unvalidated")?;
    for kind in DependencyKind::ALL {
        if let Some(bindings) = section.get(kind.as_str()) {
            bind(&mut plugin, bindings, |node| read_binding(kind, node))?;
        }
    }
    Ok(plugin)
}

fn read_binding(kind: DependencyKind, node: &TomlNode<'_>) -> Result<Binding, Misplaced> {
    match kind {
        DependencyKind::Directory => directory::read(node).map(Binding::Directory),
        DependencyKind::Http => http::read(node).map(|http| Binding::Http(Box::new(http))),
        DependencyKind::Store => store::read(node).map(Binding::Store),
        DependencyKind::Service => service::read(node).map(Binding::Service),
    }
}

/// Parses all bindings of one kind. A plugin opens a dependency by its key alone, so a key can have only one kind.
fn bind(
    plugin: &mut PluginSection,
    kind: &TomlNode<'_>,
    read_binding: impl Fn(&TomlNode<'_>) -> Result<Binding, Misplaced>,
) -> Result<(), Misplaced> {
    for (key, node) in kind.entries()? {
        let key = DependencyKey::new(key).map_err(|fault| node.fail(fault))?;
        if plugin.bindings.insert(key, PlacedValue::new(read_binding(&node)?, &node)).is_some() {
            return Err(node.fail(PolicyFault::BoundTwice));
        }
    }
    Ok(())
}
