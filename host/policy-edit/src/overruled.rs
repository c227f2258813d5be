//! Finds out whether a new rule decides the calls that it is for.
//!
//! Deny wins over ask, and ask over allow unless the allow rule says otherwise. So a rule can be without effect, and
//! its author would not notice. This file must not know how a rule is written.

use portcullis_policy::{Decision, KnownTool, Layer, Policy, Rule, RuleId, Source, ToolName};

use crate::changes::decide;
use crate::edit::RuleEdit;
use crate::error::{EditError, OverrulingRule};
use crate::sample;

/// What stricter rules leave of a new rule.
pub(crate) struct RuleReachNotes {
    /// Why some calls that the rule is for get another decision. One sentence each.
    pub(crate) notes: Vec<String>,
    /// The rules that decide all of its calls, if there are any.
    pub(crate) overruled: Option<Vec<RuleId>>,
}

/// Asks the policy with the new rule about a call of each tool that the rule is for.
pub(crate) fn look(policy: &Policy, edit: &RuleEdit, tools: &[KnownTool<'_>]) -> RuleReachNotes {
    let mut found = RuleReachNotes { notes: Vec::new(), overruled: None };
    // Without a sample, the effect of the rule is unknown, and a rule is not refused on a guess.
    let Some(arguments) = sample::arguments(&edit.when) else { return found };
    let Ok(pattern) = portcullis_policy::ToolPattern::new(&edit.tool) else { return found };
    let concerns = |tool: &&KnownTool<'_>| {
        pattern.matches(tool.name) && edit.permission.is_none_or(|permission| tool.permissions.contains(permission))
    };
    let (mut all, mut winners): (bool, Vec<RuleId>) = (true, Vec::new());
    let mut any = false;
    for tool in tools.iter().filter(concerns) {
        any = true;
        let verdict = decide(policy, tool, &arguments);
        if verdict.decision <= edit.decision {
            all = false;
            continue;
        }
        match verdict.source {
            Source::Rule(id) => {
                // A rule for another permission does not overrule the new one, which still decides its own permission.
                let other_part = rule(policy, id).is_some_and(|rule| {
                    rule.permission.is_some() && edit.permission.is_some() && rule.permission != edit.permission
                });
                all &= !other_part;
                found.notes.push(format!("{id} still says {} for {}", verdict.decision, tool.name));
                winners.push(id);
            }
            // The default decides another permission. The new rule still has an effect on its own.
            Source::Default | Source::Paused(_) => {
                all = false;
                found.notes.push(uncovered(tool.name, verdict.decision));
            }
        }
    }
    if !any {
        return without_tools(policy, edit);
    }
    winners.sort();
    winners.dedup();
    found.overruled = (all && !winners.is_empty()).then_some(winners);
    found
}

/// Returns the note about a tool one of whose permissions no rule decides.
fn uncovered(tool: &ToolName, decision: Decision) -> String {
    format!("{tool} also needs a permission that no rule decides, so the default still says {decision} for it")
}

/// Looks at a rule for tools that are not known. Only a rule for exactly the same tools can be compared.
fn without_tools(policy: &Policy, edit: &RuleEdit) -> RuleReachNotes {
    let wins = |rule: &&Rule| {
        rule.decision > edit.decision
            // `over` reaches only the ask rules of its own layer, which is the user's.
            && !(edit.over_ask && rule.decision == Decision::Ask && rule.id.layer == Layer::User)
            && rule.tool.to_string() == edit.tool
            && rule.permission.is_none_or(|permission| Some(permission) == edit.permission)
            && rule.hint.is_none()
            && rule.when.is_none()
            && rule.subject_text().is_none()
    };
    let winners: Vec<RuleId> = policy.rules().iter().filter(wins).map(|rule| rule.id).collect();
    RuleReachNotes { notes: Vec::new(), overruled: (!winners.is_empty()).then_some(winners) }
}

/// Returns the error for a rule without effect.
pub(crate) fn error(policy: &Policy, wanted: Decision, winners: &[RuleId]) -> EditError {
    let describe = |id: &RuleId| {
        let rule = rule(policy, *id)?;
        Some(OverrulingRule { id: *id, decision: rule.decision, tool: rule.tool.to_string() })
    };
    EditError::Overruled { wanted, rules: winners.iter().filter_map(describe).collect() }
}

/// Returns whether rules that win are ask rules of the user's policy, over which an allow rule can win. The rules have
/// the same numbers as in the policy before the edit, because a new rule is the last one.
pub(crate) fn are_asks_of_the_user(before: &Policy, winners: &[RuleId]) -> bool {
    winners.iter().all(|winner| {
        let is_ask = |rule: &&Rule| (rule.id.layer, rule.id.number) == (winner.layer, winner.number);
        winner.layer == Layer::User
            && before.rules().iter().find(is_ask).is_some_and(|rule| rule.decision == Decision::Ask)
    })
}

/// Returns the note about the ask rules that an allow rule wins over.
pub(crate) fn exception(asks: &[RuleId]) -> String {
    let names: Vec<String> = asks.iter().map(ToString::to_string).collect();
    format!("it wins over {}, which still asks about every other call", names.join(" and "))
}

/// Returns the rule with this identity.
pub(crate) fn rule(policy: &Policy, id: RuleId) -> Option<&Rule> {
    policy.rules().iter().find(|rule| rule.id == id)
}
