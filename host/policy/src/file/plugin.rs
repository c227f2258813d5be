//! The sections `[plugin.NAME]`: the bindings of a plugin's dependency keys, its settings, clocks and limits.
//!
//! This file must not know which dependencies the plugin declares.

mod config;
mod directory;
mod http;
mod secret;
mod service;
mod store;

use std::collections::BTreeMap;

use toml::de::DeValue;

use super::limits;
use super::node::{Misplaced, Node};
use crate::amount::{AmountError, Unit};
use crate::binding::{Binding, BindingError};
use crate::clock::ClockResolution;
use crate::error::PolicyFault;
use crate::leniency::Leniency;
use crate::limit::LimitSettings;
use crate::name::{DependencyKey, PluginName};
use crate::pointer::Pointer;

/// The keys of a section.
const SECTION: &[&str] =
    &["directory", "http", "store", "service", "config", "clock", "limits", "repair", "unvalidated"];

/// The settings of one plugin in one policy text.
#[derive(Debug, Default)]
pub(crate) struct PluginSection {
    pub(crate) bindings: BTreeMap<DependencyKey, Placed<Binding>>,
    pub(crate) config: BTreeMap<String, Placed<String>>,
    pub(crate) clock: Option<ClockResolution>,
    pub(crate) repair: Option<Leniency>,
    pub(crate) unvalidated: Option<Leniency>,
    pub(crate) limits: LimitSettings,
}

/// A value and its position in the text.
#[derive(Debug)]
pub(crate) struct Placed<T> {
    pub(crate) value: T,
    offset: usize,
    key: String,
}

impl<T> Placed<T> {
    fn new(value: T, node: &Node<'_>) -> Self {
        Self { value, offset: node.offset(), key: node.key().to_owned() }
    }

    /// Returns `fault` with this position.
    pub(crate) fn misplaced(&self, fault: PolicyFault) -> Misplaced {
        Misplaced { offset: self.offset, key: self.key.clone(), fault }
    }
}

/// Parses the section of every plugin.
pub(super) fn read(section: &Node<'_>) -> Result<BTreeMap<PluginName, PluginSection>, Misplaced> {
    let mut plugins = BTreeMap::new();
    for (name, node) in section.entries()? {
        let name = PluginName::new(name).map_err(|fault| node.fail(fault))?;
        plugins.insert(name, read_plugin(&node)?);
    }
    Ok(plugins)
}

fn read_plugin(node: &Node<'_>) -> Result<PluginSection, Misplaced> {
    let section = node.table(SECTION)?;
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
    if let Some(directories) = section.get("directory") {
        bind(&mut plugin, directories, |node| directory::read(node).map(Binding::Directory))?;
    }
    if let Some(clients) = section.get("http") {
        bind(&mut plugin, clients, |node| http::read(node).map(|http| Binding::Http(Box::new(http))))?;
    }
    if let Some(stores) = section.get("store") {
        bind(&mut plugin, stores, |node| store::read(node).map(Binding::Store))?;
    }
    if let Some(services) = section.get("service") {
        bind(&mut plugin, services, |node| service::read(node).map(Binding::Service))?;
    }
    Ok(plugin)
}

/// Parses all bindings of one kind. A plugin opens a dependency by its key alone, so a key can have only one kind.
fn bind(
    plugin: &mut PluginSection,
    kind: &Node<'_>,
    read_binding: impl Fn(&Node<'_>) -> Result<Binding, Misplaced>,
) -> Result<(), Misplaced> {
    for (key, node) in kind.entries()? {
        let key = DependencyKey::new(key).map_err(|fault| node.fail(fault))?;
        if plugin.bindings.insert(key, Placed::new(read_binding(&node)?, &node)).is_some() {
            return Err(node.fail(PolicyFault::BoundTwice));
        }
    }
    Ok(())
}

/// Parses one string of a binding.
fn part<T>(node: &Node<'_>, read: impl Fn(&str) -> Result<T, BindingError>) -> Result<T, Misplaced> {
    read(node.text()?).map_err(|fault| node.fail(fault))
}

/// Parses a non-empty list of strings of a binding.
fn parts<T>(node: &Node<'_>, read: impl Fn(&str) -> Result<T, BindingError>) -> Result<Vec<T>, Misplaced> {
    node.list()?.iter().map(|node| part(node, &read)).collect()
}

/// Parses the argument that a binding is narrowed to.
fn read_narrow(node: &Node<'_>) -> Result<Pointer, Misplaced> {
    Pointer::new(node.text()?).map_err(|fault| node.fail(fault))
}

/// Parses an amount and sets it.
fn set_amount(node: &Node<'_>, unit: Unit, set: impl FnOnce(u64) -> Result<(), AmountError>) -> Result<(), Misplaced> {
    set(limits::read_amount(node, unit)?).map_err(|fault| node.fail(fault))
}

/// Returns whether the value is an empty list.
fn is_empty_list(node: &Node<'_>) -> bool {
    matches!(node.value(), DeValue::Array(elements) if elements.is_empty())
}
