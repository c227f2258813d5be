//! A key that a binding names, such as a directory of a program.
//!
//! This file must not know which layers may bind the key.

use super::super::node::TomlNode;
use super::value::PlacedValue;
use crate::binding::DependencyKind;
use crate::name::DependencyKey;

/// A key that a binding names. The same plugin must have a binding of this kind under the key.
#[derive(Debug)]
pub(crate) struct KeyReference {
    pub(crate) key: DependencyKey,
    pub(crate) kind: DependencyKind,
}

impl KeyReference {
    /// Creates a reference with the position of the value that names the key.
    pub(in crate::file) fn new(key: DependencyKey, kind: DependencyKind, node: &TomlNode<'_>) -> PlacedValue<Self> {
        PlacedValue::new(Self { key, kind }, node)
    }
}
