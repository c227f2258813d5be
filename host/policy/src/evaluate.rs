//! How rules are weighed: deny over ask, ask over allow, and the default where no rule speaks.
//!
//! Each permission of a tool needs a decision of its own, and so does each principal from the root to the caller; the
//! strictest of them is the decision of the call. The order of the rules carries no meaning. It must not know the text
//! of a policy.

use serde_json::{Map, Value};

use crate::caller::{Caller, Member};
use crate::decision::Decision;
use crate::hint::Hint;
use crate::name::ToolName;
use crate::permission::{Permission, Permissions};
use crate::question::{Question, ResourceQuestion};
use crate::rule::{Asked, Reach, Rule};

/// A decision and the rule that gave it; without a rule it is the default.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settled<'a> {
    pub(crate) decision: Decision,
    pub(crate) rule: Option<&'a Rule>,
}

impl<'a> Settled<'a> {
    /// What holds where nothing was weighed.
    pub(crate) const DENY: Self = Self { decision: Decision::Deny, rule: None };

    /// The stricter of two. Between equals a rule says more than the default, and the first rule is named.
    pub(crate) fn stricter(self, other: Self) -> Self {
        if other.is_stricter_than(self) { other } else { self }
    }

    fn is_stricter_than(self, other: Self) -> bool {
        let rank = |settled: Self| (settled.decision, settled.rule.map(|rule| std::cmp::Reverse(rule.id)));
        rank(self) > rank(other)
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
        strictest.unwrap_or(Settled::DENY)
    }
}

/// What the rules are weighed for: a call, or a permission whatever the arguments are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Matter<'a> {
    pub(crate) tool: &'a ToolName,
    pub(crate) permissions: Permissions,
    pub(crate) hints: &'a [Hint],
    /// None where the matter is no call: a rule with a `when` says nothing then.
    pub(crate) arguments: Option<&'a Map<String, Value>>,
    pub(crate) caller: Caller<'a>,
}

impl<'a> From<&Question<'a>> for Matter<'a> {
    fn from(question: &Question<'a>) -> Self {
        let Question { tool, permissions, hints, arguments, caller } = *question;
        Self { tool, permissions, hints, arguments: Some(arguments), caller }
    }
}

impl<'a> From<&ResourceQuestion<'a>> for Matter<'a> {
    fn from(question: &ResourceQuestion<'a>) -> Self {
        let ResourceQuestion { tool, permission, hints, resource: _, caller } = *question;
        Self { tool, permissions: permission.into(), hints, arguments: None, caller }
    }
}

impl<'a> Matter<'a> {
    /// The matter as a rule sees it, for one of those on whose behalf the call is made.
    pub(crate) fn asked(&self, member: Member<'a>) -> Asked<'a> {
        Asked { member, arguments: self.arguments }
    }

    /// The rules that speak of the tool.
    pub(crate) fn concerned<'r>(&self, rules: &'r [Rule]) -> impl Iterator<Item = &'r Rule> {
        rules.iter().filter(|rule| rule.concerns(self.tool, self.permissions, self.hints))
    }

    /// The weighing for each of those on whose behalf the call is made, from the root to the caller.
    pub(crate) fn weighings<'r>(
        &self,
        rules: &'r [Rule],
        default: Decision,
    ) -> impl Iterator<Item = (Member<'a>, Weighing<'r>)> {
        self.caller.members().map(move |member| (member, self.weigh(rules, default, member)))
    }

    /// The strictest of the weighings, and whose it is. A caller is never nobody; were it, nothing would be allowed.
    pub(crate) fn strictest<'r>(&self, rules: &'r [Rule], default: Decision) -> Option<(Member<'a>, Weighing<'r>)> {
        self.weighings(rules, default).reduce(|old, new| {
            let (before, after) = (old.1.settle(), new.1.settle());
            if after.is_stricter_than(before) { new } else { old }
        })
    }

    fn weigh<'r>(&self, rules: &'r [Rule], default: Decision, member: Member<'_>) -> Weighing<'r> {
        let mut weighing = Weighing::new(self.permissions, default);
        let asked = Asked { member, arguments: self.arguments };
        for rule in self.concerned(rules) {
            weighing.count(rule, rule.reach(&asked));
        }
        weighing
    }
}
