//! The sections `[[rule]]`.
//!
//! A rule that could never match is refused here, since a deny rule that never matches is a hole. It must not know how
//! rules are weighed.

use std::sync::Arc;

use toml::de::DeValue;

use super::Place;
use super::node::{Misplaced, Node, Table};
use crate::argument::ArgumentKey;
use crate::decision::{Decision, RuleId};
use crate::error::PolicyFault;
use crate::matcher::{Accepted, Entry, TextPattern, When};
use crate::permission::Permission;
use crate::policy::POLICY_RULES;
use crate::rule::{REASON_BYTES, Rule, ToolPattern};

/// Reads every rule.
pub(super) fn read(section: &Node<'_>, place: &Place<'_>) -> Result<Vec<Rule>, Misplaced> {
    let nodes = section.list()?;
    if nodes.len() > POLICY_RULES {
        return Err(section.fail(PolicyFault::TooManyRules));
    }
    let lines = place.lines(nodes.iter().map(Node::offset));
    let ids = (1..).zip(lines).map(|(number, line)| RuleId { number, line });
    nodes.iter().zip(ids).map(|(node, id)| read_rule(node, id)).collect()
}

fn read_rule(node: &Node<'_>, id: RuleId) -> Result<Rule, Misplaced> {
    let section = node.table(&["tool", "permission", "when", "decision", "reason"])?;
    let tool = section.require("tool")?;
    let decision = section.require("decision")?;
    let decision: Decision = decision.text()?.parse().map_err(|fault| decision.fail(fault))?;
    let reason = section.get("reason").map(read_reason).transpose()?;
    let explanation = reason.clone().unwrap_or_else(|| Arc::from(format!("{id} of the policy says {decision}")));
    Ok(Rule {
        id,
        tool: ToolPattern::new(tool.text()?).map_err(|fault| tool.fail(fault))?,
        permission: read_permission(&section)?,
        when: section.get("when").map(|when| read_when(when, decision)).transpose()?,
        decision,
        reason,
        explanation,
    })
}

fn read_permission(section: &Table<'_, '_>) -> Result<Option<Permission>, Misplaced> {
    let Some(node) = section.get("permission") else { return Ok(None) };
    node.text()?.parse().map(Some).map_err(|fault| node.fail(fault))
}

fn read_reason(node: &Node<'_>) -> Result<Arc<str>, Misplaced> {
    let text = node.text()?;
    let sound = !text.trim().is_empty() && text.len() <= REASON_BYTES && !text.chars().any(char::is_control);
    if sound { Ok(Arc::from(text)) } else { Err(node.fail(PolicyFault::Reason)) }
}

fn read_when(node: &Node<'_>, decision: Decision) -> Result<When, Misplaced> {
    let mut entries = Vec::new();
    for (key, value) in node.entries()? {
        let key = ArgumentKey::new(key).map_err(|fault| value.fail(fault))?;
        entries.push(Entry { key, accepted: read_accepted(&value)? });
    }
    if entries.is_empty() {
        return Err(node.fail(PolicyFault::Empty));
    }
    let when = When::new(entries);
    check_segments(&when, decision).map_err(|fault| node.fail(fault))?;
    Ok(when)
}

/// Refuses segments that can never match. A deny may say `.`, since the normalized form of both is the empty path.
fn check_segments(when: &When, decision: Decision) -> Result<(), PolicyFault> {
    let (current, parent) = (when.names_dot_segment("."), when.names_dot_segment(".."));
    match decision {
        Decision::Allow if current || parent => Err(PolicyFault::DotSegment),
        Decision::Ask | Decision::Deny if parent => Err(PolicyFault::ParentSegment),
        Decision::Allow | Decision::Ask | Decision::Deny => Ok(()),
    }
}

fn read_accepted(node: &Node<'_>) -> Result<Vec<Accepted>, Misplaced> {
    match node.value() {
        DeValue::Array(_) => node.list()?.iter().map(read_scalar).collect(),
        _scalar => Ok(vec![read_scalar(node)?]),
    }
}

fn read_scalar(node: &Node<'_>) -> Result<Accepted, Misplaced> {
    let number = || node.fail(PolicyFault::Number);
    match node.value() {
        DeValue::String(text) => TextPattern::new(text).map(Accepted::Text).map_err(|fault| node.fail(fault)),
        DeValue::Integer(integer) => {
            i64::from_str_radix(integer.as_str(), integer.radix()).map(Accepted::Integer).map_err(|_| number())
        }
        DeValue::Float(float) => match float.as_str().parse::<f64>() {
            Ok(float) if float.is_finite() => Ok(Accepted::Float(float)),
            Ok(_) | Err(_) => Err(number()),
        },
        DeValue::Boolean(boolean) => Ok(Accepted::Boolean(*boolean)),
        DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => {
            Err(node.fail(PolicyFault::WrongType { wanted: "a pattern, a number, a boolean, or a list of these" }))
        }
    }
}
