//! Parses a command: a program and its arguments.

use super::faults::Misplaced;
use super::node::TomlNode;
use crate::binding;

/// Parses a list of strings as a program and its arguments, or as arguments alone.
pub(super) fn read_words(node: &TomlNode<'_>) -> Result<Vec<String>, Misplaced> {
    let words = node.list()?;
    let words: Vec<&str> = words.iter().map(TomlNode::text).collect::<Result<_, _>>()?;
    binding::read_words(&words).map_err(|fault| node.fail(fault))
}
