//! The rules that say what remembered approvals say.

use super::left_out::LeftOut;
use crate::short_id::short_id;
use portcullis::approvals::HeldAnswer;
use portcullis::policy::{Decision, Glob};
use portcullis_policy_edit::{RuleEdit, WhenValue};
use serde_json::{Map, Value};

/// The principal of calls that name none. A rule for another one would apply to everyone.
const PRINCIPAL_DEFAULT: &str = "local";

/// Returns a rule for each remembered approval that a rule can express, with the beginning of its id.
pub(super) fn rules(held: &[HeldAnswer]) -> (Vec<(RuleEdit, String)>, Vec<LeftOut>) {
    let (mut rules, mut left_out) = (Vec::new(), Vec::new());
    for answer in held {
        let id = short_id(&answer.id).to_owned();
        match rule(answer) {
            Ok(rule) => rules.push((rule, id)),
            Err(why) => {
                left_out.push(LeftOut { tool: answer.tool.clone(), why: format!("remembered approval {id}: {why}") })
            }
        }
    }
    (rules, left_out)
}

fn rule(answer: &HeldAnswer) -> Result<RuleEdit, String> {
    if answer.session.is_some() {
        return Err("it is for one session".to_owned());
    }
    if answer.principal != PRINCIPAL_DEFAULT {
        return Err(format!("it is for {}, and a rule would apply to everyone", answer.principal));
    }
    let pattern = answer.pattern.as_ref().ok_or("it covers exactly one call, and only a digest of it is known")?;
    // Without constraints, the approval is left out below.
    let document = serde_json::to_value(pattern).unwrap_or_default();
    let constraints = document.get("arguments").and_then(Value::as_object).cloned().unwrap_or_default();
    let mut rule = RuleEdit::new(Decision::Allow, answer.tool.clone());
    rule.when = when(&constraints)?;
    if rule.when.is_empty() {
        return Err("it names no argument, and a rule for all arguments would be too wide".to_owned());
    }
    Ok(rule)
}

fn when(constraints: &Map<String, Value>) -> Result<Vec<(String, Vec<WhenValue>)>, String> {
    let mut entries = Vec::new();
    for (name, constraint) in constraints {
        if let Some(value) = value(constraint).ok_or_else(|| format!("a rule cannot express `{name}`"))? {
            entries.push((name.clone(), vec![value]));
        }
    }
    Ok(entries)
}

/// Returns the value of a `when` for a constraint. The inner none is any value.
fn value(constraint: &Value) -> Option<Option<WhenValue>> {
    if constraint.as_str() == Some("any") {
        return Some(None);
    }
    let (kind, value) = constraint.as_object()?.iter().next()?;
    let value = match (kind.as_str(), value) {
        ("glob", Value::String(glob)) => WhenValue::Text(glob.clone()),
        // A text of `when` is a pattern, so characters with a meaning are escaped.
        ("exact", Value::String(text)) => WhenValue::Text(Glob::escape(text)),
        ("exact", Value::Bool(boolean)) => WhenValue::Boolean(*boolean),
        ("exact", Value::Number(number)) => WhenValue::Integer(number.as_i64()?),
        ("origin", Value::String(origin)) => WhenValue::Text(format!("{}/**", Glob::escape(without_port(origin)))),
        _other => return None,
    };
    Some(Some(value))
}

/// Returns an origin as callers write it: without the default port of its scheme.
fn without_port(origin: &str) -> &str {
    match origin.split_once("://") {
        Some(("https", _)) => origin.strip_suffix(":443").unwrap_or(origin),
        Some(("http", _)) => origin.strip_suffix(":80").unwrap_or(origin),
        Some(_) | None => origin,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn constraints_become_conditions_and_any_becomes_none() {
        let constraints = json!({
            "path": { "glob": "src/**" }, "mode": { "exact": "a*" }, "content": "any", "limit": { "exact": 3 },
            "url": { "origin": "https://docs.rs:443" },
        });
        let text = |text: &str| vec![WhenValue::Text(text.to_owned())];
        let expected = [
            ("limit", vec![WhenValue::Integer(3)]),
            ("mode", text(r"a\*")),
            ("path", text("src/**")),
            ("url", text("https://docs.rs/**")),
        ];
        let mut entries = when(constraints.as_object().unwrap()).unwrap();
        entries.sort_by(|one, other| one.0.cmp(&other.0));
        assert_eq!(entries, expected.map(|(name, value)| (name.to_owned(), value)));
        assert!(when(json!({ "a": { "exact": null } }).as_object().unwrap()).is_err());
    }
}
