//! Handles that a tool opened without declaring the permission that reaches them: a mistake of its author, which no
//! policy can mend.

use super::describe::noun;
use portcullis_policy::{Permission, Permissions};
use portcullis_sandbox::{DependencyKind, RefusedKeys};

/// Returns whether permissions reach handles of a kind.
pub(super) fn reaches(kind: DependencyKind, permissions: Permissions) -> bool {
    match kind {
        DependencyKind::Directory => permissions.contains(Permission::Read) || permissions.contains(Permission::Write),
        DependencyKind::Http => permissions.contains(Permission::Network),
        DependencyKind::Store | DependencyKind::Service => true,
    }
}

/// Returns what a tool opened in vain because it does not declare the permission, and the permission: nothing if it
/// declares what it opens. `kind_of` gives the kind of a declared key.
pub(crate) fn undeclared(
    opened: &RefusedKeys,
    permissions: Permissions,
    kind_of: impl Fn(&str) -> Option<DependencyKind>,
) -> Option<String> {
    let opened = opened.keys();
    let kinds = opened.iter().filter_map(|key| Some((key, kind_of(key)?)));
    let undeclared = kinds.filter(|(_, kind)| !reaches(*kind, permissions));
    let told = undeclared.map(|(key, kind)| format!("{} `{key}` without declaring {}", noun(kind), permission(kind)));
    let told: Vec<String> = told.collect();
    (!told.is_empty()).then(|| format!("it opened {}", told.join(", and ")))
}

/// The permission that reaches handles of a kind, as an author writes it.
fn permission(kind: DependencyKind) -> &'static str {
    match kind {
        DependencyKind::Directory => "`read` or `write`",
        DependencyKind::Http => "`network`",
        DependencyKind::Store | DependencyKind::Service => "a permission",
    }
}
