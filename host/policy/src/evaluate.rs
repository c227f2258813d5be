//! How rules are weighed: deny over ask, ask over allow, and the default where no rule speaks.
//!
//! Each permission of a tool needs a decision of its own, and the strictest of them is the decision of the call. The
//! order of the rules carries no meaning. It must not know the text of a policy.

use serde_json::{Map, Value};

use crate::decision::Decision;
use crate::name::ToolName;
use crate::permission::{Permission, Permissions};
use crate::rule::{Reach, Rule};

/// May this call run?
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The tool that is called.
    pub tool: &'a ToolName,
    /// What the tool declares, required and optional together.
    pub permissions: Permissions,
    /// The validated arguments: exactly the value that will run.
    pub arguments: &'a Map<String, Value>,
}

/// A decision and the rule that gave it; without a rule it is the default.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settled<'a> {
    pub(crate) decision: Decision,
    pub(crate) rule: Option<&'a Rule>,
}

impl<'a> Settled<'a> {
    /// The stricter of two. Between equals a rule says more than the default, and the first rule of the file is named.
    pub(crate) fn stricter(self, other: Self) -> Self {
        let rank = |settled: &Self| (settled.decision, settled.rule.map(|rule| std::cmp::Reverse(rule.id)));
        if rank(&other) > rank(&self) { other } else { self }
    }

    fn by(rule: &'a Rule) -> Self {
        Self { decision: rule.decision, rule: Some(rule) }
    }
}

/// What the rules say of one permission, before the default is asked.
#[derive(Debug, Clone, Copy, Default)]
struct Tally<'a> {
    /// The strictest of the rules that speak of the call.
    spoken: Option<Settled<'a>>,
    /// The first ask that speaks of the call only when read widely.
    wide_ask: Option<Settled<'a>>,
}

impl<'a> Tally<'a> {
    fn count(&mut self, rule: &'a Rule, reach: Reach) {
        let place = match reach {
            Reach::None => return,
            Reach::Wide => &mut self.wide_ask,
            Reach::Full => &mut self.spoken,
        };
        let new = Settled::by(rule);
        *place = Some(place.map_or(new, |old| old.stricter(new)));
    }

    /// A wide ask is weighed after the default: it can stop what would be allowed, and it cannot lift a deny.
    fn settle(self, default: Decision) -> Settled<'a> {
        let settled = self.spoken.unwrap_or(Settled { decision: default, rule: None });
        self.wide_ask.map_or(settled, |ask| settled.stricter(ask))
    }
}

/// What the rules say of every part of one call.
#[derive(Debug)]
pub(crate) struct Weighing<'a> {
    permissions: Permissions,
    default: Decision,
    /// One for each permission, by its index.
    tallies: [Tally<'a>; 4],
    /// Of rules that speak of the whole call; it decides where the tool has no permission.
    whole: Tally<'a>,
}

impl<'a> Weighing<'a> {
    fn new(permissions: Permissions, default: Decision) -> Self {
        Self { permissions, default, tallies: [Tally::default(); 4], whole: Tally::default() }
    }

    fn count(&mut self, rule: &'a Rule, reach: Reach) {
        match rule.permission {
            Some(permission) => self.tallies[permission.index()].count(rule, reach),
            None => {
                self.whole.count(rule, reach);
                for tally in &mut self.tallies {
                    tally.count(rule, reach);
                }
            }
        }
    }

    /// The decision on each permission; one decision on the whole call where there is no permission.
    pub(crate) fn parts(&self) -> impl Iterator<Item = (Option<Permission>, Settled<'a>)> {
        let whole = self.permissions.is_empty().then(|| (None, self.whole.settle(self.default)));
        let each = self.permissions.iter().map(|permission| {
            let settled = self.tallies[permission.index()].settle(self.default);
            (Some(permission), settled)
        });
        whole.into_iter().chain(each)
    }

    /// The decision on the call.
    pub(crate) fn settle(&self) -> Settled<'a> {
        let strictest = self.parts().map(|(_, settled)| settled).reduce(Settled::stricter);
        // There is always a part; were there none, nobody would have allowed the call.
        strictest.unwrap_or(Settled { decision: Decision::Deny, rule: None })
    }
}

/// Weighs the rules for a call.
pub(crate) fn weigh<'a>(rules: &'a [Rule], default: Decision, question: &Question<'_>) -> Weighing<'a> {
    let mut weighing = Weighing::new(question.permissions, default);
    for rule in rules {
        if rule.concerns(question.tool, question.permissions) {
            weighing.count(rule, rule.reach(question.arguments));
        }
    }
    weighing
}

/// Weighs the rules for one permission of a tool whatever the arguments are: rules with a `when` say nothing.
pub(crate) fn weigh_permission<'a>(
    rules: &'a [Rule],
    default: Decision,
    tool: &ToolName,
    permission: Permission,
) -> Weighing<'a> {
    let mut weighing = Weighing::new(permission.into(), default);
    for rule in rules {
        if rule.when.is_none() && rule.concerns(tool, permission.into()) {
            weighing.count(rule, Reach::Full);
        }
    }
    weighing
}
