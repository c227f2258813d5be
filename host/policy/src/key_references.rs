//! Checks the keys that bindings name, such as the directories of a program.
//!
//! A key may be bound in the same text or in an earlier layer. Earlier layers are in force whenever a later one is. A
//! key of a later layer does not count: otherwise the user's policy would become invalid when a project is no longer
//! trusted, and a running host would keep the policy with the project's grants. This file must not know how layers are
//! combined.

use crate::binding::DependencyKind;
use crate::error::PolicyFault;
use crate::file::{KeyReference, Misplaced, POLICY_ERRORS_MAX, PluginSection};
use crate::name::DependencyKey;
use crate::nearest::nearest;

/// What is known of the other layers of a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyScope {
    /// Nothing, so another layer may bind a key that the text does not bind.
    OneText,
    /// Every earlier layer.
    AllLayers,
}

/// Returns a fault for each key that a binding of `section` names and that has no binding of the right kind. `earlier`
/// are the sections of the same plugin in earlier layers.
pub(crate) fn faults(section: &PluginSection, earlier: &[&PluginSection], scope: KeyScope) -> Vec<Misplaced> {
    let sections = || [section].into_iter().chain(earlier.iter().copied());
    let kind_of = |key: &DependencyKey| sections().find_map(|section| Some(section.bindings.get(key)?.value.kind()));
    let is_faulty = |reference: &KeyReference| match kind_of(&reference.key) {
        Some(kind) => kind != reference.kind,
        None => scope == KeyScope::AllLayers,
    };
    let fault = |kind: DependencyKind, key: &DependencyKey| {
        let of_kind =
            sections().flat_map(|section| &section.bindings).filter(|(_, placed)| placed.value.kind() == kind);
        let nearest = nearest(key.as_str(), of_kind.map(|(key, _)| key.as_str()));
        PolicyFault::NotBound { kind, nearest: nearest.map(str::to_owned) }
    };
    let faulty = section.references.iter().filter(|reference| is_faulty(&reference.value));
    // Before the search for a similar key, which is the expensive part.
    let faulty = faulty.take(POLICY_ERRORS_MAX);
    faulty.map(|reference| reference.misplaced(fault(reference.value.kind, &reference.value.key))).collect()
}
