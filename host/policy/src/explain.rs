//! Explains a decision and what would change it. This is for users. Calls do not need it.
//!
//! This file must not decide anything. It only reports how the rules were combined.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::caller::Member;
use crate::decision::{Decision, RuleId, Source, Verdict};
use crate::evaluate::{Matter, Weighing};
use crate::layer::{Layer, Trust};
use crate::matcher::RuleReading;
use crate::permission::Permission;
use crate::policy::Policy;
use crate::question::Question;
use crate::rule::{Rule, RuleQuestion, RuleReach};

/// A decision with everything that led to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// The verdict, the same that the call would get.
    pub verdict: Verdict,
    /// Every rule that matches the call, layer by layer in the order of each text.
    pub matched: Vec<MatchedRule>,
    /// What would change the decision. Each is one sentence, and some include a rule to add.
    pub changes: Vec<String>,
}

/// A rule that matches a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MatchedRule {
    /// The rule's number, line and layer.
    pub rule: RuleId,
    /// Its decision.
    pub decision: Decision,
    /// Whether it wins over the ask rules of its own layer.
    pub over_ask: bool,
    /// The tools that it matches, as the policy spells them.
    pub tool: String,
    /// The permission that it applies to, if it names one.
    pub permission: Option<Permission>,
    /// The hint that it requires, if it names one.
    pub hint: Option<String>,
    /// The sessions that it matches, as the policy spells them, if it names any.
    pub session: Option<String>,
    /// The principals that it matches, as the policy spells them, if it names any.
    pub principal: Option<String>,
    /// The origins that it matches, if it names any.
    pub origin: Option<String>,
    /// The arguments that it matches, as the policy spells them, if it names any.
    pub when: Option<String>,
    /// The reason that the policy gives.
    pub reason: Option<String>,
    /// Whether this rule determines the decision on the call.
    pub decisive: bool,
}

/// How the rules for a tool apply to one member of the caller's lineage.
struct Findings<'r> {
    matched: Vec<MatchedRule>,
    /// Rules that would match another call of the tool.
    near: Vec<&'r Rule>,
    /// Rules that would allow more if the project were trusted.
    waiting: Vec<&'r Rule>,
}

impl Policy {
    /// Decides on a call and explains the decision. The verdict is that of [`Policy::decide`].
    pub fn explain(&self, question: &Question<'_>) -> Explanation {
        let verdict = self.decide(question);
        if let Source::Paused(layer) = verdict.source {
            let changes = vec![end_of_pause(layer)];
            return Explanation { verdict, matched: Vec::new(), changes };
        }
        explain(self, question, verdict)
    }
}

/// Returns how to end a pause.
fn end_of_pause(layer: Layer) -> String {
    match layer {
        Layer::User => "To end the pause, run `portcullis resume`.".to_owned(),
        Layer::BuiltIn | Layer::Project => format!("To end the pause, remove `paused` from {}.", layer.phrase()),
    }
}

/// Explains a verdict.
fn explain(policy: &Policy, question: &Question<'_>, verdict: Verdict) -> Explanation {
    let matter = Matter::from(question);
    let default = policy.default_of(&question.tool.plugin);
    let Some((member, weighing)) = matter.strictest(&policy.rules, default) else {
        return Explanation { verdict, matched: Vec::new(), changes: Vec::new() };
    };
    let asked = matter.asked(member);
    let findings = look(matter.concerned(&policy.rules), &asked, &weighing);
    let changes = changes(question, &asked.member, &weighing, &findings);
    Explanation { verdict, matched: findings.matched, changes }
}

fn look<'r>(rules: impl Iterator<Item = &'r Rule>, asked: &RuleQuestion<'_>, weighing: &Weighing<'_>) -> Findings<'r> {
    let mut findings = Findings { matched: Vec::new(), near: Vec::new(), waiting: Vec::new() };
    for rule in rules {
        let reach = rule.reach(asked);
        if rule.trust == Trust::Untrusted && reach != rule.reach_if_trusted(asked) {
            findings.waiting.push(rule);
        } else if rule.trust == Trust::Trusted && reach != RuleReach::Full {
            // Other arguments do not help with a rule of an untrusted project, which has to be trusted first.
            findings.near.push(rule);
        }
        if reach != RuleReach::None {
            findings.matched.push(describe(rule, weighing));
        }
    }
    findings
}

fn describe(rule: &Rule, weighing: &Weighing<'_>) -> MatchedRule {
    let call = weighing.settle();
    // A rule is decisive if it decides some part of the call as strictly as the whole call is decided.
    let decisive = weighing.parts().any(|(part, settled)| {
        let speaks = rule.permission.is_none() || rule.permission == part;
        speaks && settled.rule.is_some() && settled.decision == call.decision && rule.decision == call.decision
    });
    MatchedRule {
        rule: rule.id,
        decision: rule.decision,
        over_ask: rule.over_ask,
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
        // The rules that decided are listed already, and a part with a milder decision did not decide.
        if settled.decision == decision && settled.rule.is_none() {
            let speaks =
                |rule: &&&Rule| rule.decision < decision && (rule.permission.is_none() || rule.permission == part);
            changes.extend(findings.waiting.iter().filter(speaks).map(|rule| waits(rule)));
            changes.extend(findings.near.iter().filter(speaks).map(|rule| nearly(rule, member)));
            changes.push(addition(question, part));
        }
    }
    if member.principal != question.caller.principal.as_str() {
        changes.push(format!(
            "The decision for `{}` applies: a sub-agent never has more rights than its parent.",
            member.principal
        ));
    }
    // Several permissions can have the same rule near, with other sentences between.
    let mut said = BTreeSet::new();
    changes.retain(|change| said.insert(change.clone()));
    changes
}

/// Describes how to change a rule that decided.
fn overrules(rule: &MatchedRule) -> String {
    let milder = match rule.decision {
        Decision::Deny => "no other rule overrules a deny",
        Decision::Ask => "an allow rule of the same policy overrules it only with `over = \"ask\"`",
        Decision::Allow => "it is the mildest decision",
    };
    format!("Remove or narrow {}, which says {}: {milder}.", rule.rule, rule.decision)
}

/// Describes a rule of an untrusted project.
fn waits(rule: &Rule) -> String {
    let says = format!("{} says {}, but it cannot allow anything", rule.id, rule.decision);
    format!("The project is not trusted: {says} until you run `portcullis trust FILE`.")
}

/// Describes a rule that would match another call.
fn nearly(rule: &Rule, member: &Member<'_>) -> String {
    if !rule.subject.matches(member, RuleReading::Exact) {
        return format!("{} says {}, but only for {}.", rule.id, rule.decision, rule.subject);
    }
    match &rule.when {
        _when if rule.hint.is_some() => {
            format!("{} depends on a hint that the plugin sets itself, so it can only restrict a call.", rule.id)
        }
        None => format!("{} says {}.", rule.id, rule.decision),
        Some(when) => {
            format!("Use arguments for which {} says {}. They must match exactly: {when}.", rule.id, rule.decision)
        }
    }
}

/// Describes a part of the call that no rule matches.
fn addition(question: &Question<'_>, part: Option<Permission>) -> String {
    let missing = match part {
        Some(permission) => format!("No rule matches `{}` with permission `{permission}`", question.tool),
        None => format!("No rule matches `{}`", question.tool),
    };
    format!("{missing}. To allow it, add a rule:\n{}", rule_text(question, part, Decision::Allow))
}

fn rule_text(question: &Question<'_>, part: Option<Permission>, decision: Decision) -> String {
    let permission = part.map(|permission| format!("permission = \"{permission}\"\n")).unwrap_or_default();
    format!("[[rule]]\ntool = \"{}\"\n{permission}decision = \"{decision}\"", question.tool)
}
