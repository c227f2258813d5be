//! The sections `[plugin.NAME]`: the bindings of a plugin's dependency keys, its settings, clocks and limits.
//!
//! This file must not know which dependencies the plugin declares.

mod config;
mod directory;
mod http;
mod process;
mod reference;
mod secret;
mod service;
mod store;
mod tools;
mod value;

use std::collections::BTreeMap;

use super::faults::Misplaced;
use super::limits;
use super::node::TomlNode;
use crate::binding::{Binding, DependencyKind};
use crate::clock::ClockResolution;
use crate::error::PolicyFault;
use crate::instance::InstanceLifetime;
use crate::leniency::Leniency;
use crate::limit::LimitSettings;
use crate::name::{DependencyKey, PluginName};
use crate::server::ServerPolicy;
pub(super) use http::{read_addresses, read_for_server as read_server_client, read_port, read_roots};
pub(super) use process::{read_named, read_variables};
pub(crate) use reference::KeyReference;
pub(super) use secret::read as read_secret;
pub(crate) use value::PlacedValue;
pub(super) use value::set_amount;

/// The keys of a section besides the kinds of dependencies.
const SETTINGS: [&str; 6] = ["config", "clock", "instance", "limits", "repair", "unvalidated"];

/// The settings of one plugin in one policy text.
#[derive(Debug, Default)]
pub(crate) struct PluginSection {
    pub(crate) bindings: BTreeMap<DependencyKey, PlacedValue<Binding>>,
    /// The keys that the bindings name.
    pub(crate) references: Vec<PlacedValue<KeyReference>>,
    pub(crate) config: BTreeMap<String, PlacedValue<String>>,
    pub(crate) clock: Option<ClockResolution>,
    pub(crate) instance: Option<InstanceLifetime>,
    pub(crate) repair: Option<Leniency>,
    pub(crate) unvalidated: Option<Leniency>,
    pub(crate) limits: LimitSettings,
    /// Set if the section is that of an MCP server.
    pub(crate) server: Option<PlacedValue<ServerPolicy>>,
}

/// Parses the section of every plugin.
pub(super) fn read(section: &TomlNode<'_>) -> Result<BTreeMap<PluginName, PluginSection>, Misplaced> {
    let mut plugins = BTreeMap::new();
    for (name, node) in section.entries()? {
        // The name and the section are read apart, so that the faults of both are noted.
        let name = node.keep(PluginName::new(name).map_err(|fault| node.fail(fault)));
        let plugin = node.keep(read_plugin(&node));
        plugins.extend(name.zip(plugin));
    }
    Ok(plugins)
}

fn read_plugin(node: &TomlNode<'_>) -> Result<PluginSection, Misplaced> {
    let keys: Vec<&str> = DependencyKind::ALL.map(DependencyKind::as_str).into_iter().chain(SETTINGS).collect();
    let section = node.table(&keys)?;
    let lenient = |key: &str| section.read(key, |node| node.word(&Leniency::ALL, Leniency::as_str));
    let mut plugin = PluginSection {
        limits: section.read("limits", limits::read).unwrap_or_default(),
        config: section.read("config", config::read).unwrap_or_default(),
        clock: section.read("clock", |node| node.word(&ClockResolution::ALL, ClockResolution::as_str)),
        instance: section.read("instance", |node| node.word(&InstanceLifetime::ALL, InstanceLifetime::as_str)),
        repair: lenient("repair"),
        unvalidated: lenient("unvalidated"),
        ..PluginSection::default()
    };
    for kind in DependencyKind::ALL {
        section.read(kind.as_str(), |bindings| bind(&mut plugin, kind, bindings));
    }
    Ok(plugin)
}

/// Parses one binding, and adds the keys that it names to `references`.
fn read_binding(
    kind: DependencyKind,
    node: &TomlNode<'_>,
    references: &mut Vec<PlacedValue<KeyReference>>,
) -> Result<Binding, Misplaced> {
    match kind {
        DependencyKind::Directory => directory::read(node).map(Binding::Directory),
        DependencyKind::Http => http::read(node).map(|http| Binding::Http(Box::new(http))),
        DependencyKind::Store => store::read(node).map(Binding::Store),
        DependencyKind::Service => service::read(node).map(Binding::Service),
        DependencyKind::Process => process::read(node, references).map(|process| Binding::Process(Box::new(process))),
        DependencyKind::Tools => tools::read(node).map(Binding::Tools),
    }
}

/// Parses all bindings of one kind. A plugin opens a dependency by its key alone, so a key can have only one kind.
pub(super) fn bind(plugin: &mut PluginSection, kind: DependencyKind, bindings: &TomlNode<'_>) -> Result<(), Misplaced> {
    for (key, node) in bindings.entries()? {
        let key = node.keep(DependencyKey::new(key).map_err(|fault| node.fail(fault)));
        let binding = node.keep(read_binding(kind, &node, &mut plugin.references));
        let Some((key, binding)) = key.zip(binding) else { continue };
        if plugin.bindings.insert(key, PlacedValue::new(binding, &node)).is_some() {
            node.keep::<()>(Err(node.fail(PolicyFault::BoundTwice)));
        }
    }
    Ok(())
}
