//! The sections `[[rule]]`.
//!
//! A rule that could never match is an error, because a deny rule that never matches protects nothing. This file must
//! not know how rules are combined.

use std::sync::Arc;

use super::node::{Misplaced, TomlNode, TomlTable};
use super::place::PolicyText;
use super::{subject, when};
use crate::decision::{Decision, RuleId};
use crate::error::PolicyFault;
use crate::hint::Hint;
use crate::layer::{Layer, Trust};
use crate::permission::Permission;
use crate::policy_size::POLICY_RULES;
use crate::rule::{REASON_BYTES, Rule, ToolPattern};

/// Parses all rules.
pub(super) fn read(
    section: &TomlNode<'_>,
    place: &PolicyText<'_>,
    layer: Layer,
    trust: Trust,
) -> Result<Vec<Rule>, Misplaced> {
    let nodes = section.list()?;
    if nodes.len() > POLICY_RULES {
        return Err(section.fail(PolicyFault::TooManyRules));
    }
    let lines = place.lines(nodes.iter().map(TomlNode::offset));
    let ids = (1..).zip(lines).map(|(number, line)| RuleId { layer, number, line });
    nodes.iter().zip(ids).map(|(node, id)| read_rule(node, id, trust)).collect()
}

/// The keys of a rule.
const KEYS: &[&str] = &["tool", "permission", "hint", "session", "principal", "origin", "when", "decision", "reason"];

fn read_rule(node: &TomlNode<'_>, id: RuleId, trust: Trust) -> Result<Rule, Misplaced> {
    let section = node.table(KEYS)?;
    let tool = section.require("tool")?;
    let decision = section.require("decision")?;
    let decision: Decision = decision.text()?.parse().map_err(|fault| decision.fail(fault))?;
    let reason = section.get("reason").map(read_reason).transpose()?;
    let explanation = reason.clone().unwrap_or_else(|| Arc::from(sentence(id, decision)));
    Ok(Rule {
        id,
        tool: ToolPattern::new(tool.text()?).map_err(|fault| tool.fail(fault))?,
        permission: read_permission(&section)?,
        hint: section.get("hint").map(|hint| read_hint(hint, decision)).transpose()?,
        subject: subject::read(&section)?,
        when: section.get("when").map(|node| when::read(node, decision)).transpose()?,
        decision,
        reason,
        explanation,
        trust,
    })
}

/// Returns the reason of a verdict if the rule gives none.
fn sentence(id: RuleId, decision: Decision) -> String {
    match id.layer {
        Layer::User => format!("{id} of the policy says {decision}"),
        Layer::BuiltIn | Layer::Project => format!("{id} says {decision}"),
    }
}

/// Parses the hint of a rule. An allow rule cannot have one, because plugins set their own hints.
fn read_hint(node: &TomlNode<'_>, decision: Decision) -> Result<Hint, Misplaced> {
    let hint = node.text()?.parse().map_err(|fault| node.fail(fault))?;
    match decision {
        Decision::Allow => Err(node.fail(PolicyFault::AllowByHint)),
        Decision::Ask | Decision::Deny => Ok(hint),
    }
}

fn read_permission(section: &TomlTable<'_, '_>) -> Result<Option<Permission>, Misplaced> {
    let Some(node) = section.get("permission") else { return Ok(None) };
    node.text()?.parse().map(Some).map_err(|fault| node.fail(fault))
}

fn read_reason(node: &TomlNode<'_>) -> Result<Arc<str>, Misplaced> {
    let text = node.text()?;
    let sound = !text.trim().is_empty() && text.len() <= REASON_BYTES && !text.chars().any(char::is_control);
    if sound { Ok(Arc::from(text)) } else { Err(node.fail(PolicyFault::Reason)) }
}
