//! Checks the bindings and rules of a policy against the loaded plugins.

use super::bases::Bases;
use super::error::GrantError;
use crate::catalog::{Catalog, Plugin};
use crate::inject::Injection;
use crate::known_tool::known;
use portcullis_definitions::schema;
use portcullis_policy::{Binding, DependencyKey, KnownTool, PluginName, Pointer, Policy, ProcessNetwork};
use std::collections::BTreeMap;

/// Refuses a policy that binds what a plugin does not ask for. The tools need not be known yet.
pub(crate) fn check_bindings(policy: &Policy, catalog: &Catalog) -> Result<(), GrantError> {
    let loaded = policy.plugins().filter_map(|plugin| catalog.plugins.get(plugin));
    loaded.into_iter().try_for_each(|plugin| check_kinds(policy, plugin))
}

/// Refuses a policy that names a key, tool or argument that its plugin does not have, because a misspelled rule would
/// silently have no effect. A plugin that is not installed only causes a warning, because a removed file must not stop
/// a server.
pub(crate) fn check_names(policy: &Policy, catalog: &Catalog, files: &Bases) -> Result<(), GrantError> {
    for plugin in policy.plugins() {
        if let Some(loaded) = catalog.plugins.get(plugin) {
            check_keys(policy, loaded)?;
        }
    }
    check_rules(policy, catalog.plugins(), files)
}

/// Refuses a policy with a rule that no call can match once a plugin is in a catalog.
pub(crate) fn check_rules_with(
    policy: &Policy,
    catalog: &Catalog,
    plugin: &Plugin,
    files: &Bases,
) -> Result<(), GrantError> {
    let others = catalog.plugins().filter(|other| other.name != plugin.name);
    check_rules(policy, others.chain([plugin]), files)
}

/// Refuses a policy that binds what a plugin does not ask for, or narrows it by an argument that no tool has.
pub(crate) fn check_keys(policy: &Policy, loaded: &Plugin) -> Result<(), GrantError> {
    check_kinds(policy, loaded)?;
    let bindings = policy.bindings(&loaded.name);
    let asked = bindings.iter().filter(|(key, _)| loaded.dependencies.contains_key(key));
    asked.into_iter().try_for_each(|(key, binding)| check_narrow(loaded, &loaded.name, key, binding))
}

/// Refuses a policy that binds what a plugin does not ask for.
pub(crate) fn check_kinds(policy: &Policy, loaded: &Plugin) -> Result<(), GrantError> {
    let plugin = &loaded.name;
    let bindings = policy.bindings(plugin);
    for (key, binding) in bindings {
        // What only a program of the plugin uses is no handle of the plugin.
        if !loaded.dependencies.contains_key(key) && is_for_a_program(key, bindings) {
            continue;
        }
        let asked = loaded.dependencies.get(key).map(|dependency| dependency.kind);
        if asked != Some(binding.kind()) {
            let asks: Vec<String> = loaded.dependencies.keys().map(|key| format!("`{key}`")).collect();
            let asks = if asks.is_empty() { "nothing".to_owned() } else { asks.join(", ") };
            return Err(GrantError::UnknownKey { plugin: plugin.clone(), key: key.clone(), asks });
        }
    }
    Ok(())
}

/// Returns whether a program of the same plugin names the key.
fn is_for_a_program(key: &DependencyKey, bindings: &BTreeMap<DependencyKey, Binding>) -> bool {
    bindings.values().any(|binding| match binding {
        Binding::Process(process) => {
            process.directories.contains(key) || process.network == ProcessNetwork::Http(key.clone())
        }
        Binding::Directory(_) | Binding::Http(_) | Binding::Store(_) | Binding::Service(_) | Binding::Tools(_) => false,
    })
}

/// Refuses a policy that binds a key of a loaded plugin to a service that the application does not have.
pub(crate) fn check_services(policy: &Policy, loaded: &Plugin, injection: &Injection) -> Result<(), GrantError> {
    for (key, binding) in policy.bindings(&loaded.name) {
        let Binding::Service(binding) = binding else { continue };
        if !injection.knows(&binding.name) {
            let names: Vec<String> = injection.names().map(|name| format!("`{name}`")).collect();
            let has = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            let (plugin, key, service) = (loaded.name.clone(), key.clone(), binding.name.clone());
            return Err(GrantError::UnknownService { plugin, key, service, has });
        }
    }
    Ok(())
}

/// Refuses a grant that is narrowed by an argument that no tool of the plugin has.
fn check_narrow(
    loaded: &Plugin,
    plugin: &PluginName,
    key: &DependencyKey,
    binding: &Binding,
) -> Result<(), GrantError> {
    let takes = |pointer: &Pointer| loaded.tools().any(|tool| schema::declares(tool.schema(), pointer.argument()));
    match binding.narrow().filter(|pointer| !takes(pointer)) {
        Some(pointer) => {
            let (plugin, key) = (plugin.clone(), key.clone());
            Err(GrantError::DeadNarrow { plugin, key, narrow: pointer.to_string() })
        }
        None => Ok(()),
    }
}

/// Refuses a rule or a rate limit that no call of the loaded tools can match. A deny rule that never matches would be a
/// security hole.
fn check_rules<'a>(
    policy: &Policy,
    plugins: impl Iterator<Item = &'a Plugin>,
    files: &Bases,
) -> Result<(), GrantError> {
    let known: Vec<KnownTool<'_>> = plugins.flat_map(Plugin::tools).map(known).collect();
    if let Some(dead) = policy.dead_rule(&known) {
        let path = files.file(dead.id.layer).to_owned();
        return Err(GrantError::DeadRule { path, dead: Box::new(dead) });
    }
    match policy.dead_rate_limit(&known) {
        Some(dead) => {
            let path = files.file(dead.place.layer).to_owned();
            Err(GrantError::DeadRateLimit { path, dead: Box::new(dead) })
        }
        None => Ok(()),
    }
}
