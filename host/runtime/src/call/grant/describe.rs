//! The handles of a call in words: for people, and for what an answer is bound to.

use super::given::{given, noun};
use super::narrow;
use crate::catalog::{Dependency, Tool};
use crate::grants::{BoundDirectory, Grant};
use crate::plugin::Plugin;
use portcullis_policy::{Binding, DependencyKey, Policy};
use portcullis_sandbox::DependencyKind;
use serde_json::{Map, Value};

/// The handles a call of this tool would get, one line each, for people; narrowed where the arguments are known.
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

/// What a grant is, with the tool's permissions applied.
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

/// To what the arguments narrow a grant.
fn narrowed(binding: &Binding, arguments: Option<&Map<String, Value>>) -> String {
    let Some(pointer) = binding.narrow() else { return String::new() };
    match (arguments.map(|arguments| pointer.text(arguments)), binding) {
        (Some(Some(text)), _) => format!(", and of it only {}", narrow::shown(text)),
        (Some(None), _) => format!(", all of it: the call names nothing in {pointer}"),
        (None, Binding::Directory(_)) => format!(", and of it only what {pointer} names"),
        // The other kinds say it themselves.
        (None, Binding::Http(_) | Binding::Store(_) | Binding::Service(_)) => String::new(),
    }
}

/// The handles a call of this tool would get, each with the place it leads to: what an answer is bound to. What the
/// arguments narrow is not among it, since the answer is bound to the arguments as well.
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
