//! The handles of a call in words: for people, and for what an answer is bound to.

use super::{given, narrow};
use crate::catalog::{Dependency, Plugin, Tool};
use crate::grants::{BoundDirectory, Grant};
use crate::host::Inner;
use crate::text::{OneLine, cut};
use portcullis_policy::{DependencyKey, Pointer};
use portcullis_sandbox::DependencyKind;
use serde_json::{Map, Value};

/// The longest argument that is shown, in bytes.
const SHOWN_BYTES_MAX: usize = 256;

pub(super) fn noun(kind: DependencyKind) -> &'static str {
    match kind {
        DependencyKind::Directory => "the directory",
        DependencyKind::Http => "the HTTP client",
        DependencyKind::Store => "the store",
        DependencyKind::Service => "the service",
    }
}

/// The handles a call of this tool would get, one line each, for people; narrowed where the arguments are known.
pub(crate) fn describe_handles(
    host: &Inner,
    plugin: &Plugin,
    tool: &Tool,
    arguments: Option<&Map<String, Value>>,
) -> Vec<String> {
    let describe = |(key, dependency): (&DependencyKey, &Dependency)| {
        let what = match given(host, plugin, tool, key, dependency.kind) {
            Some(grant) => granted(host, plugin, tool, key, grant) + &narrowed(grant, arguments),
            None if host.bound.get(&plugin.name, key).is_none() => "none: the policy binds nothing to it".to_owned(),
            None => match dependency.kind {
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
fn granted(host: &Inner, plugin: &Plugin, tool: &Tool, key: &DependencyKey, grant: &Grant) -> String {
    let binding = host.policy.bindings(&plugin.name).get(key);
    match (grant, binding) {
        (Grant::Directory(bound), Some(portcullis_policy::Binding::Directory(binding))) => {
            format!("{}, {}", binding.path, narrow::permitted(bound, tool).access())
        }
        (_, Some(binding)) => binding.describe(),
        (_, None) => "none: the policy binds nothing to it".to_owned(),
    }
}

/// To what the arguments narrow a grant.
fn narrowed(grant: &Grant, arguments: Option<&Map<String, Value>>) -> String {
    let pointer: Option<&Pointer> = match grant {
        Grant::Directory(bound) => bound.narrow.as_ref(),
        Grant::Client(bound) => bound.binding.narrow.as_ref(),
        Grant::Store(_) | Grant::Service(_) => None,
    };
    let Some(pointer) = pointer else { return String::new() };
    match arguments {
        Some(arguments) => match pointer.text(arguments) {
            Some(text) => format!(", and of it only {}", OneLine(cut(text, SHOWN_BYTES_MAX))),
            None => format!(", all of it: the call names nothing in {pointer}"),
        },
        None => match grant {
            // The other kinds say it themselves.
            Grant::Directory(_) => format!(", and of it only what {pointer} names"),
            Grant::Client(_) | Grant::Store(_) | Grant::Service(_) => String::new(),
        },
    }
}

/// The handles a call of this tool would get, each with the place it leads to: what an answer is bound to. What the
/// arguments narrow is not among it, since the answer is bound to the arguments as well.
pub(crate) fn bound_lines(host: &Inner, plugin: &Plugin, tool: &Tool) -> Vec<String> {
    let line = |(key, dependency): (&DependencyKey, &Dependency)| {
        let grant = given(host, plugin, tool, key, dependency.kind)?;
        Some(match grant {
            Grant::Directory(bound) => format!("{key}: {}", place(bound, tool)),
            Grant::Client(_) | Grant::Store(_) | Grant::Service(_) => {
                format!("{key}: {}", host.policy.bindings(&plugin.name).get(key)?.describe())
            }
        })
    };
    plugin.dependencies.iter().filter_map(line).collect()
}

fn place(bound: &BoundDirectory, tool: &Tool) -> String {
    let narrow = bound.narrow.as_ref().map(|pointer| format!(", of it what {pointer} names")).unwrap_or_default();
    format!("{}, {}{narrow}", bound.place, narrow::permitted(bound, tool).access())
}
