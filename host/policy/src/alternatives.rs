//! The arguments with which a denied call could have run, as a few lines for the model.
//!
//! This file must not decide anything. It promises nothing, because another call gets its own decision.

use crate::decision::Decision;
use crate::evaluate::{Matter, Weighing};
use crate::matcher::RuleReading;
use crate::permission::Permission;
use crate::policy::Policy;
use crate::question::Question;
use crate::rule::{Rule, RuleQuestion, RuleReach};

/// Maximum alternatives in a refusal. Three examples show a model which calls are permitted.
pub const ALTERNATIVES_MAX: usize = 3;
/// Maximum bytes of an alternative. A longer one is omitted, because shortening would change its meaning.
pub const ALTERNATIVE_BYTES: usize = 200;

impl Policy {
    /// Returns the less strict rules for the same tool with other arguments, one line each. There are none if the call
    /// is not denied, or if a rule denies the tool for all arguments.
    pub fn alternatives(&self, question: &Question<'_>) -> Vec<String> {
        // No arguments help while the policy is paused.
        if self.paused.is_some() {
            return Vec::new();
        }
        let matter = Matter::from(question);
        let weighings: Vec<_> = matter.weighings(&self.rules, self.default_of(&matter.tool.plugin)).collect();
        let denials: Vec<Denial<'_>> =
            weighings.iter().filter_map(|(member, weighing)| Denial::of(matter.asked(*member), weighing)).collect();
        let hopeless = |rule: &Rule| rule.when.is_none() && denials.iter().any(|denial| denial.is_made_by(rule));
        let mut lines: Vec<String> = Vec::new();
        if denials.is_empty() || matter.concerned(&self.rules).any(hopeless) {
            return lines;
        }
        let helpful = |rule: &&Rule| denials.iter().all(|denial| denial.is_lifted_by(rule));
        for line in matter.concerned(&self.rules).filter(helpful).filter_map(line) {
            if line.len() <= ALTERNATIVE_BYTES && lines.len() < ALTERNATIVES_MAX && !lines.contains(&line) {
                lines.push(line);
            }
        }
        lines
    }
}

/// The denied parts of a call for one member of the caller's lineage.
struct Denial<'a> {
    asked: RuleQuestion<'a>,
    /// The denied permissions. `None` is the whole call.
    parts: Vec<Option<Permission>>,
}

impl<'a> Denial<'a> {
    fn of(asked: RuleQuestion<'a>, weighing: &Weighing<'_>) -> Option<Self> {
        let denied = weighing.parts().filter(|(_, settled)| settled.decision == Decision::Deny);
        let parts: Vec<_> = denied.map(|(part, _)| part).collect();
        if parts.is_empty() { None } else { Some(Self { asked, parts }) }
    }

    /// Returns whether the rule denies the call.
    fn is_made_by(&self, rule: &Rule) -> bool {
        rule.decision == Decision::Deny && rule.reach(&self.asked) == RuleReach::Full
    }

    /// Returns whether the rule would apply to everything that is denied if the call had other arguments.
    fn is_lifted_by(&self, rule: &Rule) -> bool {
        rule.may_lift()
            // A rule that fully reaches the call is no alternative: it matches already, and the call is denied.
            && rule.reach(&self.asked) != RuleReach::Full
            // A model can choose other arguments, but not another caller.
            && rule.subject.matches(&self.asked.member, RuleReading::Exact)
            && self.parts.iter().all(|part| rule.permission.is_none() || rule.permission == *part)
    }
}

fn line(rule: &Rule) -> Option<String> {
    let when = rule.when.as_ref()?;
    match rule.decision {
        Decision::Allow => Some(format!("allowed with {when}")),
        Decision::Ask => Some(format!("allowed after approval with {when}")),
        Decision::Deny => None,
    }
}
