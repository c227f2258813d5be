//! Describes the handles of a call, for people and for the binding of an approval.

use super::given::given;
use super::narrow;
use crate::catalog::{Dependency, Plugin, Tool};
use crate::grants::Grant;
use crate::native::NATIVE_NOTICE;
use portcullis_policy::{Binding, DependencyKey, InstanceLifetime, Policy};
use serde_json::{Map, Value};

/// Describes the handles that a call of this tool would get, one line each, for people. With arguments, the lines show
/// the narrowed handles.
pub(crate) fn describe_handles(
    policy: &Policy,
    plugin: &Plugin,
    tool: &Tool,
    arguments: Option<&Map<String, Value>>,
) -> Vec<String> {
    let bindings = policy.bindings(&plugin.name);
    let describe = |(key, dependency): (&DependencyKey, &Dependency)| {
        let what = match (given(plugin, tool, key, dependency.kind), bindings.get(key)) {
            (Some(grant), Some(binding)) => {
                grant.as_kind().describe(binding, tool) + &narrowed(grant, binding, arguments)
            }
            (_, None) => "none: the policy binds nothing to it".to_owned(),
            (None, Some(_)) => match dependency.kind.permissions() {
                Some(permissions) => format!("none: {}", permissions.undeclared),
                None => "none".to_owned(),
            },
        };
        format!("{} {key}: {what}", dependency.kind.noun().trim_start_matches("the "))
    };
    let lines = native_line(plugin).into_iter().chain(memory_line(plugin));
    lines.chain(plugin.dependencies.iter().map(describe)).collect()
}

/// Describes how the arguments narrow a grant.
fn narrowed(grant: &Grant, binding: &Binding, arguments: Option<&Map<String, Value>>) -> String {
    let Some(pointer) = binding.narrow() else { return String::new() };
    match arguments.map(|arguments| pointer.text(arguments)) {
        Some(Some(text)) => format!(", narrowed to {}", narrow::shown(text)),
        Some(None) => format!(", not narrowed: the call does not set {pointer}"),
        None => grant.as_kind().describe_narrowing(pointer),
    }
}

/// Describes the handles that a call of this tool would get, each with its resolved place. An approval is bound to
/// these lines. They do not include what the arguments narrow, because an approval is bound to the arguments as well.
pub(crate) fn bound_lines(policy: &Policy, plugin: &Plugin, tool: &Tool) -> Vec<String> {
    let bindings = policy.bindings(&plugin.name);
    let line = |(key, dependency): (&DependencyKey, &Dependency)| {
        let grant = given(plugin, tool, key, dependency.kind)?;
        Some(format!("{key}: {}", grant.as_kind().describe_bound(bindings.get(key), tool)?))
    };
    // So an approval of a held tool applies only to the difference that its approver has seen.
    let held = plugin.held_tool(&tool.name().tool).map(|difference| format!("held tool: {difference}"));
    let lines = native_line(plugin).into_iter().chain(memory_line(plugin)).chain(held);
    lines.chain(plugin.dependencies.iter().filter_map(line)).collect()
}

/// Returns the line about a plugin whose instances live longer than a call.
fn memory_line(plugin: &Plugin) -> Option<String> {
    let is_kept = plugin.grants.instance == InstanceLifetime::Session;
    is_kept.then(|| "memory: kept from the earlier calls of the session".to_owned())
}

/// Returns the line about a native tool, which needs no handles to do anything that the application can do.
fn native_line(plugin: &Plugin) -> Option<String> {
    plugin.is_native().then(|| format!("native tool: {NATIVE_NOTICE}"))
}
