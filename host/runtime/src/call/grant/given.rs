//! Finds what the policy binds, as far as a tool's permissions reach it.

use super::reach::Reach;
use crate::catalog::{Plugin, Tool};
use crate::grants::Grant;
use crate::reserved;
use portcullis_definitions::schema;
use portcullis_policy::{DependencyKey, DependencyKind};

/// Returns what the policy binds to a key, if the tool's permissions reach it.
pub(super) fn given<'a>(
    plugin: &'a Plugin,
    tool: &Tool,
    key: &DependencyKey,
    kind: DependencyKind,
) -> Option<&'a Grant> {
    // The program of a server runs for all of its tools.
    if !plugin.is_server() && !kind.is_reached_by(tool.permissions()) {
        return None;
    }
    plugin.grants.get(key).filter(|grant| names_its_place(plugin, tool, key, grant))
}

/// Returns whether a tool can name what a narrowed grant is narrowed to. One that has no such argument gets no optional
/// handle. It could only be refused, although it works without the handle.
fn names_its_place(plugin: &Plugin, tool: &Tool, key: &DependencyKey, grant: &Grant) -> bool {
    let is_optional = plugin.dependencies.get(key).is_some_and(|asked| asked.optional);
    let pointer = match grant {
        Grant::Directory(bound) => bound.narrow.as_ref(),
        Grant::Client(client) => client.binding().narrow.as_ref(),
        Grant::Store(_) | Grant::Service(_) | Grant::Program(_) | Grant::Tools(_) | Grant::Address(_) => None,
    };
    !is_optional || pointer.is_none_or(|pointer| schema::declares(tool.schema(), pointer.argument()))
}

/// Returns what a tool of a plugin can reach.
pub(crate) fn reach(plugin: &Plugin, tool: &Tool) -> Reach {
    if plugin.is_native() {
        // No sandbox keeps the function from anything, whatever its definition says.
        return Reach { writes: true, leaves: true };
    }
    if reserved::batches(tool.name()) {
        // It calls any tool.
        return Reach { writes: true, leaves: true };
    }
    let granted = plugin.dependencies.iter().filter_map(|(key, asked)| given(plugin, tool, key, asked.kind));
    granted.map(|grant| grant.as_kind().reach(tool)).fold(Reach::default(), Reach::union)
}

/// Returns whether a tool's permissions reach directories at all.
pub(crate) fn reaches_directories(tool: &Tool) -> bool {
    DependencyKind::Directory.is_reached_by(tool.permissions())
}
