//! The key `when` of a rule.
//!
//! A table that could never match is an error, because a deny rule that never matches protects nothing. This file must
//! not know the other keys of a rule.

use toml::de::DeValue;

use super::faults::Misplaced;
use super::node::TomlNode;
use crate::argument::ArgumentKey;
use crate::bounds::{Bound, Bounds};
use crate::decision::Decision;
use crate::error::PolicyFault;
use crate::matcher::{Accepted, ArgumentCondition, When};
use crate::text::{LiteralError, TextPattern};

/// Parses the table.
pub(super) fn read(node: &TomlNode<'_>, decision: Decision) -> Result<When, Misplaced> {
    let mut entries = Vec::new();
    for (key, value) in node.entries()? {
        let key = value.keep(ArgumentKey::new(key).map_err(|fault| value.fail(fault)));
        let accepted = value.keep(read_accepted(&value));
        entries.extend(key.zip(accepted).map(|(key, accepted)| ArgumentCondition { key, accepted }));
    }
    // Not `entries`, which lacks the entries with a fault.
    if node.entries()?.is_empty() {
        return Err(node.fail(PolicyFault::Empty));
    }
    let when = When::new(entries);
    check_segments(&when, decision).map_err(|fault| node.fail(fault))?;
    if decision == Decision::Allow && !when.is_plain() {
        return Err(node.fail(LiteralError::NotPlain));
    }
    Ok(when)
}

/// Refuses segments that can never match. A deny rule may contain `.`, because it is removed from the normalized form
/// of both the pattern and the path.
fn check_segments(when: &When, decision: Decision) -> Result<(), PolicyFault> {
    let (current, parent) = (when.names_dot_segment("."), when.names_dot_segment(".."));
    match decision {
        Decision::Allow if current || parent => Err(PolicyFault::DotSegment),
        Decision::Ask | Decision::Deny if parent => Err(PolicyFault::ParentSegment),
        Decision::Allow | Decision::Ask | Decision::Deny => Ok(()),
    }
}

fn read_accepted(node: &TomlNode<'_>) -> Result<Vec<Accepted>, Misplaced> {
    Ok(node.each(&node.one_or_more()?, read_one))
}

fn read_one(node: &TomlNode<'_>) -> Result<Accepted, Misplaced> {
    match node.value() {
        DeValue::String(text) => TextPattern::new(text).map(Accepted::Text).map_err(|fault| node.fail(fault)),
        DeValue::Table(_) => read_test(node),
        _other_type => read_scalar(
            node,
            "a pattern, a number, a boolean, a table such as { prefix = \"src/\" }, \
                                          or a list of these",
        ),
    }
}

/// Parses a table of one of the three kinds.
fn read_test(node: &TomlNode<'_>) -> Result<Accepted, Misplaced> {
    let table = node.closed_table(&["prefix", "equals", "at-least", "at-most"])?;
    let bounds = [table.get("at-least"), table.get("at-most")];
    match (table.get("prefix"), table.get("equals"), bounds) {
        (Some(prefix), None, [None, None]) => {
            TextPattern::prefix(prefix.text()?).map(Accepted::Text).map_err(|fault| prefix.fail(fault))
        }
        (None, Some(equals), [None, None]) => read_equals(equals),
        (None, None, [None, None]) => Err(node.fail(PolicyFault::Empty)),
        (None, None, [at_least, at_most]) => {
            let bound = |node: Option<&TomlNode<'_>>| node.map(read_bound).transpose();
            let bounds = Bounds::new(bound(at_least)?, bound(at_most)?);
            bounds.map(Accepted::Range).map_err(|fault| node.fail(fault))
        }
        (_, _, _) => Err(node.fail(PolicyFault::MixedTest)),
    }
}

fn read_equals(node: &TomlNode<'_>) -> Result<Accepted, Misplaced> {
    match node.value() {
        DeValue::String(text) => TextPattern::equals(text).map(Accepted::Text).map_err(|fault| node.fail(fault)),
        _other_type => read_scalar(node, "a string, a number, or a boolean"),
    }
}

fn read_bound(node: &TomlNode<'_>) -> Result<Bound, Misplaced> {
    match read_scalar(node, "a number")? {
        Accepted::Integer(integer) => Ok(Bound::Integer(integer)),
        Accepted::Float(float) => Bound::float(float).map_err(|fault| node.fail(fault)),
        Accepted::Text(_) | Accepted::Boolean(_) | Accepted::Range(_) => {
            Err(node.fail(PolicyFault::WrongType { wanted: "a number" }))
        }
    }
}

/// Parses a number or a boolean.
fn read_scalar(node: &TomlNode<'_>, wanted: &'static str) -> Result<Accepted, Misplaced> {
    let number = || node.fail(PolicyFault::Number);
    match node.value() {
        DeValue::Integer(integer) => {
            i64::from_str_radix(integer.as_str(), integer.radix()).map(Accepted::Integer).map_err(|_| number())
        }
        // TOML has `inf` and `nan`, which no JSON number equals.
        DeValue::Float(float) => match float.as_str().parse::<f64>() {
            Ok(float) if float.is_finite() => Ok(Accepted::Float(float)),
            Ok(_) | Err(_) => Err(number()),
        },
        DeValue::Boolean(boolean) => Ok(Accepted::Boolean(*boolean)),
        DeValue::String(_) | DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => {
            Err(node.fail(PolicyFault::WrongType { wanted }))
        }
    }
}
