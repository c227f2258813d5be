//! The places that the grants of a project's policy lead to, and whether they can be trusted.

use crate::places::resolve;
use portcullis_policy::{DependencyKey, GrantPlaceKind, PluginName, Policy, below_home};
use std::path::{Path, PathBuf};

/// A place that a grant of a project's policy leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GrantPlace {
    /// The plugin.
    pub plugin: PluginName,
    /// The dependency key.
    pub key: DependencyKey,
    /// What the place is.
    pub kind: GrantPlaceKind,
    /// The path in the policy.
    pub written: String,
    /// The path without links. A part that does not exist yet stays as it is written.
    pub resolved: PathBuf,
    /// Why a policy with this grant cannot be trusted.
    pub fault: Option<GrantPlaceFault>,
}

/// Why a place cannot be trusted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GrantPlaceFault {
    /// It is written as a relative path and leads out of the project.
    #[error("it leads out of the project; write an absolute path for a place outside of it")]
    Escapes,
    /// It begins with the home directory, which is not known.
    #[error("the home directory is not known; set HOME, or write an absolute path")]
    NoHome,
    /// It cannot be resolved.
    #[error("it cannot be resolved: {0}")]
    Unresolvable(String),
}

/// Returns every place that the bindings of a policy lead to, in the order of their keys.
pub(super) fn grant_places(policy: &Policy, root: &Path, home: Option<&Path>) -> Vec<GrantPlace> {
    let mut places = Vec::new();
    for plugin in policy.plugins() {
        for (key, binding) in policy.bindings(plugin) {
            for (kind, written) in binding.places() {
                let (resolved, fault) = judge(root, home, written);
                let (plugin, key) = (plugin.clone(), key.clone());
                places.push(GrantPlace { plugin, key, kind, written: written.to_owned(), resolved, fault });
            }
        }
    }
    places
}

/// Returns the place of a written path, and why it cannot be trusted.
fn judge(root: &Path, home: Option<&Path>, written: &str) -> (PathBuf, Option<GrantPlaceFault>) {
    let in_home = match (below_home(written), home) {
        (Some(rest), Some(home)) => Some(home.join(rest)),
        (Some(_), None) => return (root.join(written), Some(GrantPlaceFault::NoHome)),
        (None, _) => None,
    };
    if let Some(place) = in_home {
        // The person who trusts the policy sees the place. It counts as absolute, so it may be outside of the project.
        return match resolve(&place) {
            Ok(resolved) => (resolved, None),
            Err(error) => (place, Some(GrantPlaceFault::Unresolvable(error.to_string()))),
        };
    }
    match resolve(&root.join(written)) {
        Ok(resolved) => {
            let escapes = Path::new(written).is_relative() && !resolved.starts_with(root);
            (resolved, escapes.then_some(GrantPlaceFault::Escapes))
        }
        Err(error) => (root.join(written), Some(GrantPlaceFault::Unresolvable(error.to_string()))),
    }
}
