//! Why a decision is what it is, and what would change it: for people, never on the way of a call.
//!
//! It must not decide anything: it reads what the rules said when they were weighed.

use serde::Serialize;

use crate::caller::Member;
use crate::decision::{Decision, RuleId, Verdict};
use crate::evaluate::{Matter, Weighing};
use crate::layer::Trust;
use crate::matcher::Reading;
use crate::permission::Permission;
use crate::policy::Policy;
use crate::question::Question;
use crate::rule::{Asked, Reach, Rule};

/// A decision with all that led to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// The answer itself, the same that the call would get.
    pub verdict: Verdict,
    /// Every rule that speaks of the call, layer by layer in the order of each text.
    pub matched: Vec<MatchedRule>,
    /// What would change the decision, one sentence each, some with a rule to add.
    pub changes: Vec<String>,
}

/// A rule that speaks of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MatchedRule {
    /// Which rule of which text it is.
    pub rule: RuleId,
    /// What it says.
    pub decision: Decision,
    /// The tools it speaks of, as the policy spells them.
    pub tool: String,
    /// The one permission it speaks of, if it names one.
    pub permission: Option<Permission>,
    /// The claim of the tool's author on which it rests, if it names one.
    pub hint: Option<String>,
    /// The sessions it speaks of, as the policy spells them, if it names any.
    pub session: Option<String>,
    /// The principals it speaks of, as the policy spells them, if it names any.
    pub principal: Option<String>,
    /// The origins it speaks of, if it names any.
    pub origin: Option<String>,
    /// The arguments it speaks of, as the policy spells them, if it names any.
    pub when: Option<String>,
    /// Why, in the words of whoever wrote the policy.
    pub reason: Option<String>,
    /// Whether the decision of the call is this rule's.
    pub decisive: bool,
}

/// What the rules that speak of the tool say of one of those on whose behalf the call is made.
struct Findings<'r> {
    matched: Vec<MatchedRule>,
    /// Rules that would speak of another call of the tool.
    near: Vec<&'r Rule>,
    /// Rules that would say more if their project were trusted.
    waiting: Vec<&'r Rule>,
}

impl Policy {
    /// Decides on a call and says what led to it and what would change it. The verdict is that of [`Policy::decide`].
    pub fn explain(&self, question: &Question<'_>) -> Explanation {
        let verdict = self.decide(question);
        explain(self, question, verdict)
    }
}

/// Explains a verdict.
fn explain(policy: &Policy, question: &Question<'_>, verdict: Verdict) -> Explanation {
    let matter = Matter::from(question);
    let Some((member, weighing)) = matter.strictest(&policy.rules, policy.default) else {
        return Explanation { verdict, matched: Vec::new(), changes: Vec::new() };
    };
    let asked = matter.asked(member);
    let findings = look(matter.concerned(&policy.rules), &asked, &weighing);
    let changes = changes(question, &asked.member, &weighing, &findings);
    Explanation { verdict, matched: findings.matched, changes }
}

fn look<'r>(rules: impl Iterator<Item = &'r Rule>, asked: &Asked<'_>, weighing: &Weighing<'_>) -> Findings<'r> {
    let mut findings = Findings { matched: Vec::new(), near: Vec::new(), waiting: Vec::new() };
    for rule in rules {
        let reach = rule.reach(asked);
        if rule.trust == Trust::Untrusted && reach != rule.reach_if_trusted(asked) {
            findings.waiting.push(rule);
        } else if rule.trust == Trust::Trusted && reach != Reach::Full {
            findings.near.push(rule);
        }
        if reach != Reach::None {
            findings.matched.push(describe(rule, weighing));
        }
    }
    findings
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
        hint: rule.hint.map(|hint| hint.to_string()),
        session: rule.subject.session_text(),
        principal: rule.subject.principal_text(),
        origin: rule.subject.origin_text(),
        when: rule.when.as_ref().map(ToString::to_string),
        reason: rule.reason.as_deref().map(str::to_owned),
        decisive,
    }
}

fn changes(
    question: &Question<'_>,
    member: &Member<'_>,
    weighing: &Weighing<'_>,
    findings: &Findings<'_>,
) -> Vec<String> {
    let decision = weighing.settle().decision;
    if decision == Decision::Allow {
        return vec![format!("To stop it, add a rule:\n{}", rule_text(question, None, Decision::Deny))];
    }
    let mut changes: Vec<String> = findings.matched.iter().filter(|rule| rule.decisive).map(overrules).collect();
    for (part, settled) in weighing.parts() {
        if settled.decision == decision && settled.rule.is_none() {
            let speaks =
                |rule: &&&Rule| rule.decision < decision && (rule.permission.is_none() || rule.permission == part);
            changes.extend(findings.waiting.iter().filter(speaks).map(|rule| waits(rule)));
            changes.extend(findings.near.iter().filter(speaks).map(|rule| nearly(rule, member)));
            changes.push(addition(question, part));
        }
    }
    if member.principal != question.caller.principal.as_str() {
        changes.push(format!("This is what `{}` may: a sub-agent never has more than its parent.", member.principal));
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

/// For a rule that an untrusted project brought.
fn waits(rule: &Rule) -> String {
    let says = format!("{} says {}, and what it allows", rule.id, rule.decision);
    format!("Nobody trusts the project yet: {says} waits for `portcullis trust FILE`.")
}

/// For a rule that would have been milder had the call been another.
fn nearly(rule: &Rule, member: &Member<'_>) -> String {
    if !rule.subject.matches(member, Reading::Exact) {
        return format!("{} says {}, but only of {}.", rule.id, rule.decision, rule.subject);
    }
    match &rule.when {
        _when if rule.hint.is_some() => {
            format!("{} rests on what the plugin claims of itself: it can stop a call and lift nothing.", rule.id)
        }
        None => format!("{} says {}.", rule.id, rule.decision),
        Some(when) => {
            format!("Call it with arguments for which {} says {}: {when}, spelt exactly.", rule.id, rule.decision)
        }
    }
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
