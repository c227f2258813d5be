//! Adds a rule, or replaces the decision of the rule for exactly the same calls.
//!
//! This file must not know which tools are installed.

use portcullis_policy::{Decision, Policy};

use crate::document::{DocumentTable, PolicyDocument};
use crate::edit::RuleEdit;
use crate::error::EditError;
use crate::meaning::{PolicyMeaning, RuleMeaning};
use crate::quote;
use crate::splice::{TextSplice, insert_lines, spliced};
use crate::written::WrittenEdit;

/// The value of `over`, as the text of a policy has it.
const OVER_ASK: &str = "\"ask\"";

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
    if edit.over_ask {
        lines.push_str(&format!("over = {OVER_ASK}\n"));
    }
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
        // If the text could not be parsed, it stays as it is. The check then misses the rule and refuses the edit.
        let splice = document.as_ref().map(|document| addition(document, edit, &lines));
        let text = spliced(text, splice.into_iter().collect());
        return Ok(WrittenEdit { text, expected, lines });
    }
    let mut splices = Vec::new();
    // Both parsers keep the order of the text, so a rule and its table have the same number.
    for number in same {
        // Without a table, the text stays as it is. The check then misses the change and refuses the edit.
        if let Some(table) = tables.get(number) {
            replace(table, edit, &mut splices);
        }
        if let Some(rule) = expected.rules.get_mut(number) {
            rule.decision = edit.decision;
            rule.over_ask = edit.decision == Decision::Allow && (edit.over_ask || rule.over_ask);
            rule.reason = edit.reason.clone().or_else(|| rule.reason.take());
        }
    }
    Ok(WrittenEdit { text: spliced(text, splices), expected, lines })
}

/// Gives a rule another decision. An allow rule keeps its `over`, and no other rule can have it.
fn replace(table: &DocumentTable<'_>, edit: &RuleEdit, splices: &mut Vec<TextSplice>) {
    splices.extend(table.set("decision", &quote::quoted(edit.decision.as_str()), "tool"));
    if edit.over_ask {
        splices.extend(table.set("over", OVER_ASK, "decision"));
    } else if edit.decision != Decision::Allow {
        splices.extend(table.remove("over"));
    }
    if let Some(reason) = &edit.reason {
        splices.extend(table.set("reason", &quote::quoted(reason), "decision"));
    }
}

/// Returns the insertion of a new rule.
fn addition(document: &PolicyDocument<'_>, edit: &RuleEdit, lines: &str) -> TextSplice {
    match document.end_of_rule_array() {
        // TOML does not allow a `[[rule]]` beside an array of this name.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_without_a_table_in_the_text_is_not_taken_for_replaced() {
        let policy = Policy::parse("[[rule]]\ntool = 'a.b'\ndecision = 'allow'\n").unwrap();
        let edit = RuleEdit::new(Decision::Deny, "a.b");
        // The parser of documents finds no rule in this text.
        let written = write("", &policy, &edit).unwrap();
        assert_eq!(written.text, "");
        assert_eq!(PolicyMeaning::of(&policy).difference(&written.expected), Some("a rule"));
    }
}
