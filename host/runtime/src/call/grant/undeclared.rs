//! Handles that a tool opened without declaring the permission that reaches them: a mistake of its author, which no
//! policy can mend.

use super::given::{noun, permissions_reach};
use portcullis_policy::Permissions;
use portcullis_sandbox::{DependencyKind, RefusedKeys};

/// Returns what a tool opened in vain because it does not declare the permission, and the permission: nothing if it
/// declares what it opens. `kind_of` gives the kind of a declared key.
pub(crate) fn undeclared(
    opened: &RefusedKeys,
    permissions: Permissions,
    kind_of: impl Fn(&str) -> Option<DependencyKind>,
) -> Option<String> {
    let opened = opened.keys();
    let kinds = opened.iter().filter_map(|key| Some((key, kind_of(key)?)));
    let undeclared = kinds.filter(|(_, kind)| !permissions_reach(*kind, permissions));
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
