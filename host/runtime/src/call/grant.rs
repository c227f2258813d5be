//! Step 4: the handles of this one call: what the plugin asks for, of that what the policy binds, of that what the
//! tool's permissions reach.

use super::Rejection;
use super::authorize::ApprovedCall;
use super::validate::ValidCall;
use crate::catalog::{Plugin, Tool};
use crate::host::Inner;
use crate::reply::Code;
use portcullis_policy::{Access, Binding, DependencyKey, Limits, Permission, PluginName};
use portcullis_sandbox::{DependencyKind, Directory, Handles};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The directories that the policy binds, opened when the host starts.
pub(crate) type Bound = BTreeMap<(PluginName, DependencyKey), BoundDirectory>;

/// A directory that the policy binds.
pub(crate) struct BoundDirectory {
    pub(crate) directory: Directory,
    /// Where it is, by its one name: what a person approved is this place.
    pub(crate) place: String,
}

/// An approved call with its handles.
pub(crate) struct GrantedCall {
    pub(super) call: Arc<ValidCall>,
    pub(super) limits: Limits,
    pub(super) handles: Handles,
}

impl ApprovedCall {
    pub(super) fn grant(self, host: &Inner) -> Result<GrantedCall, Rejection> {
        let (plugin, tool) = (&self.call.plugin, &self.call.tool);
        check(host, plugin, tool)?;
        let mut handles = Handles::none();
        for (key, dependency) in &plugin.dependencies {
            let name = Arc::from(key.as_str());
            match dependency.kind {
                DependencyKind::Directory => {
                    handles.directory_key(name, directory(&host.bound, &plugin.name, key, tool));
                }
                DependencyKind::Http => handles.client_key(name, None, None),
                DependencyKind::Store => handles.store_key(name, None),
                DependencyKind::Service => handles.service_key(name, None),
            }
        }
        Ok(GrantedCall { call: self.call, limits: self.limits, handles })
    }
}

/// The keys that a call of this tool cannot do without and will not get.
pub(crate) fn missing_keys<'a>(
    host: &'a Inner,
    plugin: &'a Plugin,
    tool: &'a Tool,
) -> impl Iterator<Item = (&'a DependencyKey, DependencyKind)> {
    plugin
        .dependencies
        .iter()
        .filter(|(_, dependency)| !dependency.optional && reaches(dependency.kind, tool))
        .filter_map(|(key, dependency)| {
            let given = match dependency.kind {
                DependencyKind::Directory => directory(&host.bound, &plugin.name, key, tool).is_some(),
                DependencyKind::Http | DependencyKind::Store | DependencyKind::Service => false,
            };
            (!given).then_some((key, dependency.kind))
        })
}

/// Refuses a call that cannot get what it needs, before anybody is asked about it.
pub(super) fn check(host: &Inner, plugin: &Plugin, tool: &Tool) -> Result<(), Rejection> {
    missing_keys(host, plugin, tool).next().map_or(Ok(()), |(key, kind)| Err(missing(plugin, key, kind)))
}

impl GrantedCall {
    pub(super) fn arguments_bytes(&self) -> u64 {
        self.call.canonical.len() as u64
    }
}

/// The directory a tool gets under a key: no more than the policy binds, and no more than the tool's permissions say.
fn directory(bound: &Bound, plugin: &PluginName, key: &DependencyKey, tool: &Tool) -> Option<Directory> {
    if !reaches(DependencyKind::Directory, tool) {
        return None;
    }
    let directory = &bound.get(&(plugin.clone(), key.clone()))?.directory;
    Some(if tool.permissions().contains(Permission::Write) { directory.clone() } else { directory.read_only() })
}

/// Whether a tool's permissions reach handles of a kind at all.
fn reaches(kind: DependencyKind, tool: &Tool) -> bool {
    let permissions = tool.permissions();
    match kind {
        DependencyKind::Directory => permissions.contains(Permission::Read) || permissions.contains(Permission::Write),
        DependencyKind::Http => permissions.contains(Permission::Network),
        DependencyKind::Store | DependencyKind::Service => true,
    }
}

fn missing(plugin: &Plugin, key: &DependencyKey, kind: DependencyKind) -> Rejection {
    let message = format!(
        "The plugin {} needs {} `{key}`, which the policy does not grant. Only the person who runs the host can grant it.",
        plugin.name,
        noun(kind),
    );
    let remedy = match kind {
        DependencyKind::Directory => format!(
            "grant it in the policy: [plugin.{}] directory.{key} = {{ path = \"...\", access = \"read-only\" }}",
            plugin.name
        ),
        DependencyKind::Http | DependencyKind::Store | DependencyKind::Service => {
            "this host cannot grant handles of this kind yet".to_owned()
        }
    };
    Rejection::new(Code::DependencyNotGranted, message).with_detail(remedy)
}

pub(crate) fn noun(kind: DependencyKind) -> &'static str {
    match kind {
        DependencyKind::Directory => "the directory",
        DependencyKind::Http => "the HTTP client",
        DependencyKind::Store => "the store",
        DependencyKind::Service => "the service",
    }
}

/// The handles a call of this tool would get, one line each, for people.
pub(crate) fn describe_handles(host: &Inner, plugin: &Plugin, tool: &Tool) -> Vec<String> {
    let bindings = host.policy.bindings(&plugin.name);
    let describe = |(key, dependency): (&DependencyKey, &crate::catalog::Dependency)| {
        let noun = noun(dependency.kind).trim_start_matches("the ");
        let what = match (dependency.kind, bindings.get(key)) {
            (DependencyKind::Directory, Some(Binding::Directory(binding))) => {
                match directory(&host.bound, &plugin.name, key, tool).map(|directory| directory.access()) {
                    Some(Access::ReadOnly) => format!("{}, read-only", binding.path),
                    Some(Access::ReadWrite) => format!("{}, read-write", binding.path),
                    None => "none: the tool declares neither read nor write".to_owned(),
                }
            }
            (DependencyKind::Http, Some(Binding::Http(_))) => "none: this host has no HTTP client yet".to_owned(),
            (_, Some(_)) => "none: the policy binds the key to something else".to_owned(),
            (_, None) => "none: the policy binds nothing to it".to_owned(),
        };
        format!("{noun} {key}: {what}")
    };
    plugin.dependencies.iter().map(describe).collect()
}

/// The handles a call of this tool would get, each with the place it leads to: what an answer is bound to.
pub(crate) fn bound_lines(host: &Inner, plugin: &Plugin, tool: &Tool) -> Vec<String> {
    let line = |key: &DependencyKey| {
        let directory = directory(&host.bound, &plugin.name, key, tool)?;
        let place = &host.bound.get(&(plugin.name.clone(), key.clone()))?.place;
        let access = match directory.access() {
            Access::ReadOnly => "read-only",
            Access::ReadWrite => "read-write",
        };
        Some(format!("{key}: {place}, {access}"))
    };
    plugin.dependencies.keys().filter_map(line).collect()
}
