//! Finds handles that a tool tried to open without declaring the permission. Only the tool's author can fix that, not a
//! policy.

use portcullis_policy::{DependencyKind, Permissions};
use portcullis_sandbox::RefusedKeys;

/// Describes the handles that a tool could not open because it does not declare their permission. Returns `None` if it
/// declares the permissions of everything it opened. `kind_of` gives the kind of a declared key.
pub(crate) fn undeclared(
    opened: &RefusedKeys,
    permissions: Permissions,
    kind_of: impl Fn(&str) -> Option<DependencyKind>,
) -> Option<String> {
    let told = |key: &str| {
        let kind = kind_of(key).filter(|kind| !kind.is_reached_by(permissions))?;
        Some(format!("{} `{key}` without declaring {}", kind.noun(), kind.permissions()?.written))
    };
    let told: Vec<String> = opened.keys().iter().filter_map(|key| told(key)).collect();
    (!told.is_empty()).then(|| format!("the tool opened {}", told.join(", and ")))
}
