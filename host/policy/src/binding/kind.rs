//! What the file of each kind of binding states: the facts of the kind, and what one binding of it grants.

use super::access::Access;
use super::place::GrantPlaceKind;
use crate::permission::Permission;
use crate::pointer::Pointer;

/// What is true of every dependency of one kind.
pub(super) struct KindFacts {
    /// The word in manifests and policies.
    pub(super) name: &'static str,
    /// What messages call a handle of the kind, with its article.
    pub(super) noun: &'static str,
    /// The permissions that reach such handles. With `None`, every tool reaches them.
    pub(super) permissions: Option<KindPermissions>,
    /// The word that stands in an example for the value that a user must fill in.
    pub(super) blank: &'static str,
    /// Returns the TOML table that binds a key, with this text in place of the value to fill in.
    pub(super) example: fn(&str, Access) -> String,
}

/// The permissions that reach the handles of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KindPermissions {
    /// A tool that declares one of them reaches the handles.
    pub any_of: &'static [Permission],
    /// The permissions as an author writes them.
    pub written: &'static str,
    /// What a tool that reaches no such handle lacks.
    pub undeclared: &'static str,
}

/// What one binding tells about itself. No method has a default, so that each kind answers every question.
pub(super) trait BindingKind {
    /// Returns the parts of the description: everything that the binding grants, and never a secret.
    fn describe(&self) -> Vec<String>;

    /// Returns the argument that a call's handle is narrowed to.
    fn narrow(&self) -> Option<&Pointer>;

    /// Returns the paths that the binding leads to, as the policy spells them.
    fn places(&self) -> Vec<(GrantPlaceKind, &str)>;
}
