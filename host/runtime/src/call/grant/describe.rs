//! Describes the handles of a call, for people and for the binding of an approval.

use super::given::{given, noun};
use super::narrow;
use crate::catalog::{Dependency, Plugin, Tool};
use crate::grants::{BoundDirectory, Grant};
use portcullis_definitions::manifest::DependencyKind;
use portcullis_policy::{Binding, DependencyKey, Policy};
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
            (Some(grant), Some(binding)) => granted(grant, binding, tool) + &narrowed(binding, arguments),
            (_, None) => "none: the policy binds nothing to it".to_owned(),
            (None, Some(_)) => match dependency.kind {
                DependencyKind::Directory => "none: the tool declares neither read nor write".to_owned(),
                DependencyKind::Http => "none: the tool does not declare network".to_owned(),
                DependencyKind::Store | DependencyKind::Service => "none".to_owned(),
            },
        };
        format!("{} {key}: {what}", noun(dependency.kind).trim_start_matches("the "))
    };
    plugin.dependencies.iter().map(describe).collect()
}

/// Describes a grant, limited to the tool's permissions.
fn granted(grant: &Grant, binding: &Binding, tool: &Tool) -> String {
    match (grant, binding) {
        (Grant::Directory(bound), Binding::Directory(binding)) => {
            let access = narrow::permitted(bound, tool).access().to_string();
            let parts =
                [written_and_resolved(&binding.path, &bound.place), access].into_iter().chain(binding.describe_masks());
            parts.collect::<Vec<_>>().join(", ")
        }
        _ => binding.describe(),
    }
}

/// Describes a path: as the policy spells it, and the place that it leads to.
fn written_and_resolved(written: &str, place: &str) -> String {
    if written == place { written.to_owned() } else { format!("{written} ({place})") }
}

/// Describes how the arguments narrow a grant.
fn narrowed(binding: &Binding, arguments: Option<&Map<String, Value>>) -> String {
    let Some(pointer) = binding.narrow() else { return String::new() };
    match (arguments.map(|arguments| pointer.text(arguments)), binding) {
        (Some(Some(text)), _) => format!(", narrowed to {}", narrow::shown(text)),
        (Some(None), _) => format!(", not narrowed: the call does not set {pointer}"),
        (None, Binding::Directory(_)) => format!(", narrowed to what {pointer} names"),
        // The descriptions of the other kinds already include the narrowing.
        (None, Binding::Http(_) | Binding::Store(_) | Binding::Service(_)) => String::new(),
    }
}

/// Describes the handles that a call of this tool would get, each with its resolved place. An approval is bound to
/// these lines. They do not include what the arguments narrow, because an approval is bound to the arguments as well.
pub(crate) fn bound_lines(policy: &Policy, plugin: &Plugin, tool: &Tool) -> Vec<String> {
    let line = |(key, dependency): (&DependencyKey, &Dependency)| {
        let grant = given(plugin, tool, key, dependency.kind)?;
        Some(match grant {
            Grant::Directory(bound) => {
                let masks = policy.bindings(&plugin.name).get(key).map(masks).unwrap_or_default();
                format!("{key}: {}{masks}", place(bound, tool))
            }
            Grant::Client(_) | Grant::Store(_) | Grant::Service(_) => {
                format!("{key}: {}", policy.bindings(&plugin.name).get(key)?.describe())
            }
        })
    };
    plugin.dependencies.iter().filter_map(line).collect()
}

/// Describes the masks that the policy sets and lifts. They are part of what an approval is bound to.
fn masks(binding: &Binding) -> String {
    match binding {
        Binding::Directory(binding) => binding.describe_masks().iter().map(|part| format!(", {part}")).collect(),
        Binding::Http(_) | Binding::Store(_) | Binding::Service(_) => String::new(),
    }
}

fn place(bound: &BoundDirectory, tool: &Tool) -> String {
    let narrow = bound.narrow.as_ref().map(|pointer| format!(", of it what {pointer} names")).unwrap_or_default();
    format!("{}, {}{narrow}", bound.place, narrow::permitted(bound, tool).access())
}
