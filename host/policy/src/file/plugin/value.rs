//! Parses the kinds of values that several tables of a plugin share.

use std::ops::Range;

use toml::de::DeValue;

use super::super::faults::Misplaced;
use super::super::limits;
use super::super::node::TomlNode;
use crate::amount::{AmountError, Unit};
use crate::binding::BindingError;
use crate::error::PolicyFault;
use crate::pointer::Pointer;

/// A value and its position in the text.
#[derive(Debug)]
pub(crate) struct PlacedValue<T> {
    pub(crate) value: T,
    offset: usize,
    span: Range<usize>,
    key: String,
}

impl<T> PlacedValue<T> {
    pub(in crate::file) fn new(value: T, node: &TomlNode<'_>) -> Self {
        Self { value, offset: node.offset(), span: node.span(), key: node.key().to_owned() }
    }

    /// Returns `fault` with the position of this value.
    pub(crate) fn misplaced(&self, fault: PolicyFault) -> Misplaced {
        Misplaced { offset: self.offset, span: self.span.clone(), key: self.key.clone(), fault }
    }
}

/// Parses one string of a binding.
pub(super) fn part<T>(node: &TomlNode<'_>, read: impl Fn(&str) -> Result<T, BindingError>) -> Result<T, Misplaced> {
    read(node.text()?).map_err(|fault| node.fail(fault))
}

/// Parses a non-empty list of strings of a binding.
pub(super) fn parts<T>(
    node: &TomlNode<'_>,
    read: impl Fn(&str) -> Result<T, BindingError>,
) -> Result<Vec<T>, Misplaced> {
    Ok(node.each(&node.list()?, |element| part(element, &read)))
}

/// Parses the argument that a binding is narrowed to.
pub(super) fn read_narrow(node: &TomlNode<'_>) -> Result<Pointer, Misplaced> {
    Pointer::new(node.text()?).map_err(|fault| node.fail(fault))
}

/// Parses an amount and sets it.
pub(in crate::file) fn set_amount(
    node: &TomlNode<'_>,
    unit: Unit,
    set: impl FnOnce(u64) -> Result<(), AmountError>,
) -> Result<(), Misplaced> {
    set(limits::read_amount(node, unit)?).map_err(|fault| node.fail(fault))
}

/// Returns whether the value is an empty list.
pub(super) fn is_empty_list(node: &TomlNode<'_>) -> bool {
    matches!(node.value(), DeValue::Array(elements) if elements.is_empty())
}
