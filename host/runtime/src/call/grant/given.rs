//! Finds the binding of a key, if the tool's permissions reach it.

use crate::catalog::{Plugin, Tool};
use crate::grants::Grant;
use portcullis_definitions::manifest::DependencyKind;
use portcullis_policy::{DependencyKey, Permission, Permissions};

/// Returns what the policy binds to a key, if the tool's permissions reach it.
pub(super) fn given<'a>(
    plugin: &'a Plugin,
    tool: &Tool,
    key: &DependencyKey,
    kind: DependencyKind,
) -> Option<&'a Grant> {
    if reaches(kind, tool) { plugin.grants.get(key) } else { None }
}

/// Returns whether a tool's permissions reach directories at all.
pub(crate) fn reaches_directories(tool: &Tool) -> bool {
    reaches(DependencyKind::Directory, tool)
}

/// Returns whether a tool's permissions reach handles of a kind at all.
pub(super) fn reaches(kind: DependencyKind, tool: &Tool) -> bool {
    permissions_reach(kind, tool.permissions())
}

/// Returns whether permissions reach handles of a kind.
pub(super) fn permissions_reach(kind: DependencyKind, permissions: Permissions) -> bool {
    match kind {
        DependencyKind::Directory => permissions.contains(Permission::Read) || permissions.contains(Permission::Write),
        DependencyKind::Http => permissions.contains(Permission::Network),
        DependencyKind::Store | DependencyKind::Service => true,
    }
}

pub(super) fn noun(kind: DependencyKind) -> &'static str {
    match kind {
        DependencyKind::Directory => "the directory",
        DependencyKind::Http => "the HTTP client",
        DependencyKind::Store => "the store",
        DependencyKind::Service => "the service",
    }
}
