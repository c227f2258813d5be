//! The sections `[[rule]]`.
//!
//! A rule that could never match is an error, because a deny rule that never matches protects nothing. This file must
//! not know how rules are combined.

use std::sync::Arc;

use super::faults::Misplaced;
use super::node::TomlNode;
use super::place::PolicyText;
use super::{subject, when};
use crate::decision::{Decision, RuleId};
use crate::error::PolicyFault;
use crate::hint::Hint;
use crate::layer::{Layer, Trust};
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
    Ok(nodes.iter().zip(ids).filter_map(|(node, id)| read_rule(node, id, trust)).collect())
}

/// The keys of a rule.
const KEYS: &[&str] =
    &["tool", "permission", "hint", "session", "principal", "origin", "when", "decision", "over", "reason"];

/// The only value of `over`.
const OVER_ASK: &str = "ask";

/// Parses a rule. Notes every fault of it. Returns none if there is no rule without the faulty keys.
fn read_rule(node: &TomlNode<'_>, id: RuleId, trust: Trust) -> Option<Rule> {
    let section = node.keep(node.table(KEYS))?;
    let tool = section.need("tool", |node| ToolPattern::new(node.text()?).map_err(|fault| node.fail(fault)));
    let decision: Option<Decision> =
        section.need("decision", |node| node.text()?.parse().map_err(|fault| node.fail(fault)));
    // The other keys are checked even if the decision is misspelt. Deny has the fewest demands on them.
    let assumed = decision.unwrap_or(Decision::Deny);
    let permission = section.read("permission", |node| node.text()?.parse().map_err(|fault| node.fail(fault)));
    let hint = section.read("hint", |node| read_hint(node, assumed));
    let subject = subject::read(&section);
    let when = section.read("when", |node| when::read(node, assumed));
    let over_ask = section.read("over", |node| read_over(node, decision)).is_some();
    let reason = section.read("reason", read_reason);
    // Return only here, so that the faults of all keys are noted.
    let (tool, decision) = (tool?, decision?);
    let explanation = reason.clone().unwrap_or_else(|| Arc::from(sentence(id, decision)));
    Some(Rule { id, tool, permission, hint, subject, when, decision, over_ask, reason, explanation, trust })
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

/// Parses `over`, with which an allow rule wins over the ask rules of its text.
fn read_over(node: &TomlNode<'_>, decision: Option<Decision>) -> Result<(), Misplaced> {
    match (node.text()?, decision) {
        (OVER_ASK, Some(Decision::Allow) | None) => Ok(()),
        (OVER_ASK, Some(Decision::Ask | Decision::Deny)) => Err(node.fail(PolicyFault::OverWithoutAllow)),
        (_other, _) => Err(node.fail(PolicyFault::Word { known: vec![OVER_ASK] })),
    }
}

/// Parses a reason, which is one line.
pub(super) fn read_reason(node: &TomlNode<'_>) -> Result<Arc<str>, Misplaced> {
    let text = node.text()?;
    let sound = !text.trim().is_empty() && text.len() <= REASON_BYTES && !text.chars().any(char::is_control);
    if sound { Ok(Arc::from(text)) } else { Err(node.fail(PolicyFault::Reason)) }
}
