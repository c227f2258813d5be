//! Finds handles that a tool tried to open without declaring the permission. Only the tool's author can fix that, not a
//! policy.

use super::given::{noun, permissions_reach};
use portcullis_definitions::manifest::DependencyKind;
use portcullis_policy::Permissions;
use portcullis_sandbox::RefusedKeys;

/// Describes the handles that a tool could not open because it does not declare their permission. Returns `None` if it
/// declares the permissions of everything it opened. `kind_of` gives the kind of a declared key.
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
    (!told.is_empty()).then(|| format!("the tool opened {}", told.join(", and ")))
}

/// Returns the permission that reaches handles of a kind, as an author writes it.
fn permission(kind: DependencyKind) -> &'static str {
    match kind {
        DependencyKind::Directory => "`read` or `write`",
        DependencyKind::Http => "`network`",
        DependencyKind::Store | DependencyKind::Service => "a permission",
    }
}
