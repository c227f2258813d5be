//! Why a decision is what it is, and what would change it: for people, never on the way of a call.
//!
//! It must not decide anything: it reads what the rules said when they were weighed.

use serde::Serialize;

use crate::decision::{Decision, RuleId, Verdict};
use crate::evaluate::{Question, Weighing};
use crate::permission::Permission;
use crate::rule::{Reach, Rule};

/// A decision with all that led to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// The answer itself, the same that the call would get.
    pub verdict: Verdict,
    /// Every rule that speaks of the call, in the order of the file.
    pub matched: Vec<MatchedRule>,
    /// What would change the decision, one sentence each, some with a rule to add.
    pub changes: Vec<String>,
}

/// A rule that speaks of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MatchedRule {
    /// Which rule of the file it is.
    pub rule: RuleId,
    /// What it says.
    pub decision: Decision,
    /// The tools it speaks of, as the policy spells them.
    pub tool: String,
    /// The one permission it speaks of, if it names one.
    pub permission: Option<Permission>,
    /// The arguments it speaks of, as the policy spells them, if it names any.
    pub when: Option<String>,
    /// Why, in the words of whoever wrote the policy.
    pub reason: Option<String>,
    /// Whether the decision of the call is this rule's.
    pub decisive: bool,
}

/// Explains a verdict that came out of `weighing`.
pub(crate) fn explain(
    rules: &[Rule],
    question: &Question<'_>,
    weighing: &Weighing<'_>,
    verdict: Verdict,
) -> Explanation {
    let mut matched = Vec::new();
    let mut near = Vec::new();
    for rule in rules.iter().filter(|rule| rule.concerns(question.tool, question.permissions)) {
        match rule.reach(question.arguments) {
            Reach::None => near.push(rule),
            Reach::Wide => {
                near.push(rule);
                matched.push(describe(rule, weighing));
            }
            Reach::Full => matched.push(describe(rule, weighing)),
        }
    }
    let changes = changes(question, weighing, &matched, &near);
    Explanation { verdict, matched, changes }
}

fn describe(rule: &Rule, weighing: &Weighing<'_>) -> MatchedRule {
    let call = weighing.settle();
    // A part of the call that this rule decides, or decides together with other rules, as strictly as the call.
    let decisive = weighing.parts().any(|(part, settled)| {
        let speaks = rule.permission.is_none() || rule.permission == part;
        speaks && settled.rule.is_some() && settled.decision == call.decision && rule.decision == call.decision
    });
    MatchedRule {
        rule: rule.id,
        decision: rule.decision,
        tool: rule.tool.to_string(),
        permission: rule.permission,
        when: rule.when.as_ref().map(ToString::to_string),
        reason: rule.reason.as_deref().map(str::to_owned),
        decisive,
    }
}

fn changes(question: &Question<'_>, weighing: &Weighing<'_>, matched: &[MatchedRule], near: &[&Rule]) -> Vec<String> {
    let decision = weighing.settle().decision;
    if decision == Decision::Allow {
        return vec![format!("To stop it, add a rule:\n{}", rule_text(question, None, Decision::Deny))];
    }
    let mut changes: Vec<String> = matched.iter().filter(|rule| rule.decisive).map(overrules).collect();
    for (part, settled) in weighing.parts() {
        if settled.decision == decision && settled.rule.is_none() {
            let speaks =
                |rule: &&&Rule| rule.decision < decision && (rule.permission.is_none() || rule.permission == part);
            changes.extend(near.iter().filter(speaks).map(|rule| nearly(rule)));
            changes.push(addition(question, part));
        }
    }
    changes.dedup();
    changes
}

/// For a rule that decided: nothing milder gets past it.
fn overrules(rule: &MatchedRule) -> String {
    let milder = match rule.decision {
        Decision::Deny => "no other rule overrules a deny",
        Decision::Ask => "an allow does not overrule an ask",
        Decision::Allow => "it is the mildest decision",
    };
    format!("Remove or narrow {}, which says {}: {milder}.", rule.rule, rule.decision)
}

/// For a rule that would have been milder had the arguments matched.
fn nearly(rule: &Rule) -> String {
    let when = rule.when.as_ref().map(ToString::to_string).unwrap_or_default();
    format!("Call it with arguments for which {} says {}: {when}, spelt exactly.", rule.id, rule.decision)
}

/// For a part of the call of which no rule speaks.
fn addition(question: &Question<'_>, part: Option<Permission>) -> String {
    let missing = match part {
        Some(permission) => format!("No rule speaks of `{}` with permission `{permission}`", question.tool),
        None => format!("No rule speaks of `{}`", question.tool),
    };
    format!("{missing}. To allow it, add a rule:\n{}", rule_text(question, part, Decision::Allow))
}

fn rule_text(question: &Question<'_>, part: Option<Permission>, decision: Decision) -> String {
    let permission = part.map(|permission| format!("permission = \"{permission}\"\n")).unwrap_or_default();
    format!("[[rule]]\ntool = \"{}\"\n{permission}decision = \"{decision}\"", question.tool)
}
