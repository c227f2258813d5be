//! Adds a rule, or replaces the decision of the rule for exactly the same calls.
//!
//! This file must not know which tools are installed.

use portcullis_policy::{Layer, Policy, Rule, ToolPattern};

use crate::document::{DocumentTable, PolicyDocument};
use crate::edit::RuleEdit;
use crate::error::EditError;
use crate::meaning::{PolicyMeaning, RuleMeaning};
use crate::quote;
use crate::splice::{TextSplice, insert_lines, spliced};
use crate::written::WrittenEdit;

/// Returns the lines of a rule.
pub fn lines(edit: &RuleEdit) -> String {
    let mut lines = format!("[[rule]]\ntool = {}\n", quote::quoted(&edit.tool));
    if let Some(permission) = edit.permission {
        lines.push_str(&format!("permission = \"{permission}\"\n"));
    }
    if !edit.when.is_empty() {
        lines.push_str(&format!("when = {}\n", quote::when(&edit.when)));
    }
    lines.push_str(&format!("decision = \"{}\"\n", edit.decision));
    if let Some(reason) = &edit.reason {
        lines.push_str(&format!("reason = {}\n", quote::quoted(reason)));
    }
    lines
}

/// Writes a rule into a policy. Replaces the decision of each rule for exactly the same calls. If there is none, adds
/// one after the last rule.
///
/// # Errors
/// The rule is malformed.
pub(crate) fn write(text: &str, old: &Policy, edit: &RuleEdit) -> Result<WrittenEdit, EditError> {
    let new = parsed(edit)?;
    let lines = lines(edit);
    let mut expected = PolicyMeaning::of(old);
    let same: Vec<usize> = numbers(&expected, |rule| rule.scope == new.scope);
    let document = PolicyDocument::parse(text);
    let tables = document.as_ref().map(PolicyDocument::rules).unwrap_or_default();
    if same.is_empty() {
        expected.rules.push(new);
        let splice = document.as_ref().map(|document| addition(document, edit, &lines));
        let text = spliced(text, splice.into_iter().collect());
        return Ok(WrittenEdit { text, expected, lines });
    }
    let mut splices = Vec::new();
    for number in same {
        let Some(table) = tables.get(number) else { continue };
        replace(table, edit, &mut splices);
        if let Some(rule) = expected.rules.get_mut(number) {
            rule.decision = edit.decision;
            rule.reason = edit.reason.clone().or_else(|| rule.reason.take());
        }
    }
    Ok(WrittenEdit { text: spliced(text, splices), expected, lines })
}

/// Writes the rule in place of one that says what the default says anyway, for the same tools and all arguments. The
/// other calls then get the default, and nothing else changes. Returns none if that is not so.
pub(crate) fn narrow(
    text: &str,
    old: &Policy,
    combined: &Policy,
    edit: &RuleEdit,
    overruling: &Rule,
) -> Result<Option<WrittenEdit>, EditError> {
    let new = parsed(edit)?;
    let is_plain = overruling.when.is_none() && overruling.hint.is_none() && overruling.subject_text().is_none();
    let is_same = overruling.tool == new.scope.tool && overruling.permission == new.scope.permission;
    let is_default = overruling.decision == combined.default_decision() && overruling.id.layer == Layer::User;
    let milder = |rule: &Rule| {
        rule.decision < overruling.decision && may_overlap(&rule.tool, &overruling.tool) && !is_rule(rule, &new)
    };
    if !is_plain || !is_same || !is_default || edit.when.is_empty() || combined.rules().iter().any(milder) {
        return Ok(None);
    }
    let mut expected = PolicyMeaning::of(old);
    let number = overruling.id.number.saturating_sub(1);
    let document = PolicyDocument::parse(text);
    let tables = document.as_ref().map(PolicyDocument::rules).unwrap_or_default();
    let (Some(table), Some(rule)) = (tables.get(number), expected.rules.get_mut(number)) else { return Ok(None) };
    let mut splices = Vec::new();
    replace(table, edit, &mut splices);
    splices.extend(table.add("when", &quote::when(&edit.when), "tool"));
    let reason = edit.reason.clone().or_else(|| rule.reason.take());
    *rule = RuleMeaning { reason, ..new };
    Ok(Some(WrittenEdit { text: spliced(text, splices), expected, lines: lines(edit) }))
}

fn is_rule(rule: &Rule, meaning: &RuleMeaning) -> bool {
    RuleMeaning::of(rule).scope == meaning.scope
}

fn replace(table: &DocumentTable<'_>, edit: &RuleEdit, splices: &mut Vec<TextSplice>) {
    splices.extend(table.set("decision", &quote::quoted(edit.decision.as_str()), "tool"));
    if let Some(reason) = &edit.reason {
        splices.extend(table.set("reason", &quote::quoted(reason), "decision"));
    }
}

/// Returns the insertion of a new rule.
fn addition(document: &PolicyDocument<'_>, edit: &RuleEdit, lines: &str) -> TextSplice {
    match document.end_of_rule_array() {
        Some(end) => TextSplice::insert(end, format!(", {}", inline(edit))),
        None => {
            let at = document.end_of_rules();
            let before = if at == 0 { "" } else { "\n" };
            insert_lines(document.text, at, &format!("{before}{lines}"))
        }
    }
}

/// Returns a rule as one line, for policies that write their rules as an array.
fn inline(edit: &RuleEdit) -> String {
    let lines = lines(edit);
    let keys: Vec<&str> = lines.lines().skip(1).collect();
    format!("{{ {} }}", keys.join(", "))
}

/// Returns the numbers of some rules of a policy, counted from 0.
fn numbers(meaning: &PolicyMeaning, wanted: impl Fn(&RuleMeaning) -> bool) -> Vec<usize> {
    meaning.rules.iter().enumerate().filter(|(_, rule)| wanted(rule)).map(|(number, _)| number).collect()
}

/// Parses the rule alone.
fn parsed(edit: &RuleEdit) -> Result<RuleMeaning, EditError> {
    let policy = Policy::parse(&lines(edit)).map_err(|error| EditError::Refused(Box::new(error)))?;
    match policy.rules() {
        [only] => Ok(RuleMeaning::of(only)),
        _none_or_several => Err(EditError::ChangesMore { what: "a rule", lines: lines(edit) }),
    }
}

/// Returns whether some tool may match both patterns. Two patterns with wildcards count as overlapping.
fn may_overlap(one: &ToolPattern, other: &ToolPattern) -> bool {
    let (one, other) = (one.to_string(), other.to_string());
    let parts = one.split('.').zip(other.split('.'));
    let is_pattern = |text: &str| text.contains(['*', '?', '[', '{']);
    parts.into_iter().all(|(one, other)| match (is_pattern(one), is_pattern(other)) {
        (true, true) => true,
        (false, false) => one == other,
        (true, false) => matches(one, other),
        (false, true) => matches(other, one),
    })
}

fn matches(pattern: &str, text: &str) -> bool {
    portcullis_policy::Glob::new(pattern).is_ok_and(|glob| glob.matches(text))
}
