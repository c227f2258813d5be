//! Finds what the policy binds, as far as a tool's permissions reach it.

use super::reach::Reach;
use crate::catalog::{Plugin, Tool};
use crate::grants::Grant;
use portcullis_policy::{DependencyKey, DependencyKind};

/// Returns what the policy binds to a key, if the tool's permissions reach it.
pub(super) fn given<'a>(
    plugin: &'a Plugin,
    tool: &Tool,
    key: &DependencyKey,
    kind: DependencyKind,
) -> Option<&'a Grant> {
    if kind.is_reached_by(tool.permissions()) { plugin.grants.get(key) } else { None }
}

/// Returns what a tool of a plugin can reach.
pub(crate) fn reach(plugin: &Plugin, tool: &Tool) -> Reach {
    let granted = plugin.dependencies.iter().filter_map(|(key, asked)| given(plugin, tool, key, asked.kind));
    granted.map(|grant| grant.as_kind().reach(tool)).fold(Reach::default(), Reach::union)
}

/// Returns whether a tool's permissions reach directories at all.
pub(crate) fn reaches_directories(tool: &Tool) -> bool {
    DependencyKind::Directory.is_reached_by(tool.permissions())
}
