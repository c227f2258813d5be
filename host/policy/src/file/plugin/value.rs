//! Reads the values that several tables of a plugin have in common.

use toml::de::DeValue;

use super::super::limits;
use super::super::node::{Misplaced, Node};
use crate::amount::{AmountError, Unit};
use crate::binding::BindingError;
use crate::error::PolicyFault;
use crate::pointer::Pointer;

/// A value and its position in the text.
#[derive(Debug)]
pub(crate) struct Placed<T> {
    pub(crate) value: T,
    offset: usize,
    key: String,
}

impl<T> Placed<T> {
    pub(super) fn new(value: T, node: &Node<'_>) -> Self {
        Self { value, offset: node.offset(), key: node.key().to_owned() }
    }

    /// Returns `fault` with the position of this value.
    pub(crate) fn misplaced(&self, fault: PolicyFault) -> Misplaced {
        Misplaced { offset: self.offset, key: self.key.clone(), fault }
    }
}

/// Parses one string of a binding.
pub(super) fn part<T>(node: &Node<'_>, read: impl Fn(&str) -> Result<T, BindingError>) -> Result<T, Misplaced> {
    read(node.text()?).map_err(|fault| node.fail(fault))
}

/// Parses a non-empty list of strings of a binding.
pub(super) fn parts<T>(node: &Node<'_>, read: impl Fn(&str) -> Result<T, BindingError>) -> Result<Vec<T>, Misplaced> {
    node.list()?.iter().map(|node| part(node, &read)).collect()
}

/// Parses the argument that a binding is narrowed to.
pub(super) fn read_narrow(node: &Node<'_>) -> Result<Pointer, Misplaced> {
    Pointer::new(node.text()?).map_err(|fault| node.fail(fault))
}

/// Parses an amount and sets it.
pub(super) fn set_amount(
    node: &Node<'_>,
    unit: Unit,
    set: impl FnOnce(u64) -> Result<(), AmountError>,
) -> Result<(), Misplaced> {
    set(limits::read_amount(node, unit)?).map_err(|fault| node.fail(fault))
}

/// Returns whether the value is an empty list.
pub(super) fn is_empty_list(node: &Node<'_>) -> bool {
    matches!(node.value(), DeValue::Array(elements) if elements.is_empty())
}
