//! The sections `[plugin.NAME]`: what is bound to a plugin's dependency keys, and its own limits.
//!
//! It must not know which dependencies the plugin asks for.

use std::collections::BTreeMap;
use std::time::Duration;

use super::limits;
use super::node::{Misplaced, Node};
use crate::binding::{
    self, Access, Binding, BindingError, DirectoryBinding, HttpBinding, HttpLimits, SecretBinding, SecretSlot, Unnamed,
};
use crate::destination::Scheme;
use crate::error::PolicyFault;
use crate::host_pattern::HostPattern;
use crate::limit::LimitSettings;
use crate::name::{DependencyKey, PluginName};

/// What one text says of one plugin.
#[derive(Debug, Default)]
pub(crate) struct PluginSection {
    pub(crate) bindings: BTreeMap<DependencyKey, PlacedBinding>,
    pub(crate) limits: LimitSettings,
}

/// A binding and where it is in the text.
#[derive(Debug)]
pub(crate) struct PlacedBinding {
    pub(crate) binding: Binding,
    offset: usize,
    key: String,
}

impl PlacedBinding {
    /// Says that `fault` is here.
    pub(crate) fn misplaced(&self, fault: PolicyFault) -> Misplaced {
        Misplaced { offset: self.offset, key: self.key.clone(), fault }
    }
}

/// Reads the section of every plugin.
pub(super) fn read(section: &Node<'_>) -> Result<BTreeMap<PluginName, PluginSection>, Misplaced> {
    let mut plugins = BTreeMap::new();
    for (name, node) in section.entries()? {
        let name = PluginName::new(name).map_err(|fault| node.fail(fault))?;
        plugins.insert(name, read_plugin(&node)?);
    }
    Ok(plugins)
}

fn read_plugin(node: &Node<'_>) -> Result<PluginSection, Misplaced> {
    let section = node.table(&["directory", "http", "limits"])?;
    let mut plugin = PluginSection::default();
    if let Some(limits) = section.get("limits") {
        plugin.limits = limits::read(limits)?;
    }
    if let Some(directories) = section.get("directory") {
        bind(&mut plugin, directories, |node| read_directory(node).map(Binding::Directory))?;
    }
    if let Some(clients) = section.get("http") {
        bind(&mut plugin, clients, |node| read_http(node).map(|http| Binding::Http(Box::new(http))))?;
    }
    Ok(plugin)
}

/// Binds every key of one kind. A plugin opens a dependency by its key alone, so a key has one kind.
fn bind(
    plugin: &mut PluginSection,
    kind: &Node<'_>,
    read_binding: impl Fn(&Node<'_>) -> Result<Binding, Misplaced>,
) -> Result<(), Misplaced> {
    for (key, node) in kind.entries()? {
        let key = DependencyKey::new(key).map_err(|fault| node.fail(fault))?;
        let placed = PlacedBinding { binding: read_binding(&node)?, offset: node.offset(), key: node.key().to_owned() };
        if plugin.bindings.insert(key, placed).is_some() {
            return Err(node.fail(PolicyFault::BoundTwice));
        }
    }
    Ok(())
}

fn read_directory(node: &Node<'_>) -> Result<DirectoryBinding, Misplaced> {
    let directory = node.table(&["path", "access"])?;
    let path = part(directory.require("path")?, binding::read_path)?;
    let access = match directory.get("access") {
        Some(node) => part(node, Access::read)?,
        None => Access::default(),
    };
    Ok(DirectoryBinding { path, access, narrow: None })
}

fn read_http(node: &Node<'_>) -> Result<HttpBinding, Misplaced> {
    let client = node.table(&["hosts", "methods", "secret"])?;
    let hosts = client.require("hosts")?.list()?;
    let methods = match client.get("methods") {
        Some(node) => node.list()?.iter().map(|node| part(node, binding::read_method)).collect::<Result<_, _>>()?,
        None => vec!["GET".to_owned()],
    };
    Ok(HttpBinding {
        schemes: vec![Scheme::Https],
        hosts: hosts.iter().map(read_host).collect::<Result<_, _>>()?,
        unnamed: Unnamed::default(),
        ports: vec![443],
        methods,
        paths: Vec::new(),
        headers: None,
        addresses: Vec::new(),
        roots: None,
        secret: client.get("secret").map(read_secret).transpose()?,
        narrow: None,
        limits: HttpLimits {
            request_bytes: 64 << 10,
            response_bytes: 4 << 20,
            requests: 16,
            requests_per_minute: 60,
            time: Duration::from_secs(20),
        },
    })
}

fn read_host(node: &Node<'_>) -> Result<HostPattern, Misplaced> {
    HostPattern::new(node.text()?).map_err(|fault| node.fail(fault))
}

fn read_secret(node: &Node<'_>) -> Result<SecretBinding, Misplaced> {
    let secret = node.table(&["header", "value", "from"])?;
    Ok(SecretBinding {
        host: read_host(secret.require("host")?)?,
        slot: SecretSlot::Header {
            name: part(secret.require("header")?, binding::read_header)?,
            value: part(secret.require("value")?, binding::read_template)?,
        },
        from: part(secret.require("from")?, binding::read_source)?,
    })
}

/// Reads one text of a binding.
fn part<T>(node: &Node<'_>, read: impl Fn(&str) -> Result<T, BindingError>) -> Result<T, Misplaced> {
    read(node.text()?).map_err(|fault| node.fail(fault))
}
