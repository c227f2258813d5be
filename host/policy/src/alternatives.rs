//! With which arguments a denied call might have run: a few lines for whoever was refused.
//!
//! It must not decide anything, and it promises nothing: another call is decided anew.

use crate::decision::Decision;
use crate::evaluate::{Matter, Weighing};
use crate::matcher::Reading;
use crate::permission::Permission;
use crate::policy::Policy;
use crate::question::Question;
use crate::rule::{Asked, Reach, Rule};

/// The most alternatives that a refusal names: a model that reads three knows what kind of call is welcome.
pub const ALTERNATIVES_MAX: usize = 3;
/// The longest alternative, in bytes: a longer one is left out, since one that is cut means something else.
pub const ALTERNATIVE_BYTES: usize = 200;

impl Policy {
    /// The milder rules for the same tool with other arguments, one line each; none where the call is not denied, or
    /// where a rule denies the tool whatever the arguments are.
    pub fn alternatives(&self, question: &Question<'_>) -> Vec<String> {
        let matter = Matter::from(question);
        let weighings: Vec<_> = matter.weighings(&self.rules, self.default).collect();
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

/// What stands in the way of one of those on whose behalf the call is made.
struct Denial<'a> {
    asked: Asked<'a>,
    /// The permissions that are denied; the whole call where there is none.
    parts: Vec<Option<Permission>>,
}

impl<'a> Denial<'a> {
    fn of(asked: Asked<'a>, weighing: &Weighing<'_>) -> Option<Self> {
        let denied = weighing.parts().filter(|(_, settled)| settled.decision == Decision::Deny);
        let parts: Vec<_> = denied.map(|(part, _)| part).collect();
        if parts.is_empty() { None } else { Some(Self { asked, parts }) }
    }

    /// Whether the rule is one of those that deny the call.
    fn is_made_by(&self, rule: &Rule) -> bool {
        rule.decision == Decision::Deny && rule.reach(&self.asked) == Reach::Full
    }

    /// Whether the rule would speak of everything that is denied, had the call other arguments.
    fn is_lifted_by(&self, rule: &Rule) -> bool {
        rule.may_lift()
            && rule.reach(&self.asked) != Reach::Full
            && rule.subject.matches(&self.asked.member, Reading::Exact)
            && self.parts.iter().all(|part| rule.permission.is_none() || rule.permission == *part)
    }
}

fn line(rule: &Rule) -> Option<String> {
    let when = rule.when.as_ref()?;
    match rule.decision {
        Decision::Allow => Some(format!("allowed with {when}")),
        Decision::Ask => Some(format!("a person can be asked with {when}")),
        Decision::Deny => None,
    }
}
