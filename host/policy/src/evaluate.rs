//! Combines rules: deny wins over ask, ask over allow, and the default applies if no rule matches. An allow rule with
//! `over = "ask"` wins over the ask rules of its own layer.
//!
//! Each permission of a tool gets its own decision, and so does each principal from the root to the caller. The
//! strictest of them is the decision on the call. The order of the rules has no meaning. This file must not know the
//! text of a policy.

use serde_json::{Map, Value};

use crate::caller::{Caller, Member};
use crate::decision::Decision;
use crate::hint::Hint;
use crate::layer::Layer;
use crate::name::ToolName;
use crate::permission::{Permission, Permissions};
use crate::question::{Question, ResourceQuestion};
use crate::rule::{Rule, RuleQuestion, RuleReach};

/// A decision and the rule that made it. Without a rule, it is the default.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WeighedDecision<'a> {
    pub(crate) decision: Decision,
    pub(crate) rule: Option<&'a Rule>,
}

impl<'a> WeighedDecision<'a> {
    /// The decision if there is nothing to combine.
    pub(crate) const DENY: Self = Self { decision: Decision::Deny, rule: None };

    /// Returns the stricter of two decisions. Of two equal ones, a rule wins over the default, and the first rule wins
    /// over later ones.
    pub(crate) fn stricter(self, other: Self) -> Self {
        if other.is_stricter_than(self) { other } else { self }
    }

    fn is_stricter_than(self, other: Self) -> bool {
        // `None` is less than `Some`, and `Reverse` makes the first rule the greatest.
        let rank = |settled: Self| (settled.decision, settled.rule.map(|rule| std::cmp::Reverse(rule.id)));
        rank(self) > rank(other)
    }

    fn by(rule: &'a Rule) -> Self {
        Self { decision: rule.decision, rule: Some(rule) }
    }
}

/// The combined rules for one permission, without the default.
#[derive(Debug, Clone, Copy, Default)]
struct Tally<'a> {
    /// The first deny and the first allow rule that match the call.
    deny: Option<WeighedDecision<'a>>,
    allow: Option<WeighedDecision<'a>>,
    /// The ask rules of each layer, by its index.
    asks: [LayerAsks<'a>; Layer::ALL.len()],
}

/// The ask rules of one layer, and the rule that wins over them.
#[derive(Debug, Clone, Copy, Default)]
struct LayerAsks<'a> {
    /// The first ask rule that matches the call.
    full: Option<WeighedDecision<'a>>,
    /// The first ask rule that matches the call only widely.
    wide: Option<WeighedDecision<'a>>,
    /// The first allow rule that matches the call and wins over these.
    over: Option<WeighedDecision<'a>>,
}

impl<'a> LayerAsks<'a> {
    /// Returns the ask rules that count.
    fn unless_overruled(self) -> Self {
        if self.over.is_some() { Self::default() } else { self }
    }

    /// Returns the rule that wins over an ask rule, if there is one to win over.
    fn overruling(self) -> Option<WeighedDecision<'a>> {
        self.over.filter(|_| self.full.is_some() || self.wide.is_some())
    }
}

impl<'a> Tally<'a> {
    fn count(&mut self, rule: &'a Rule, reach: RuleReach) {
        let asks = &mut self.asks[rule.id.layer.index()];
        let new = WeighedDecision::by(rule);
        let put = |place: &mut Option<WeighedDecision<'a>>| *place = first(*place, Some(new));
        match (rule.decision, reach) {
            (_, RuleReach::None) => {}
            // `Rule::reach` calls every match of a deny full. A wide one would have to deny, too.
            (Decision::Deny, RuleReach::Full | RuleReach::Wide) => put(&mut self.deny),
            (Decision::Ask, RuleReach::Full) => put(&mut asks.full),
            (Decision::Ask, RuleReach::Wide) => put(&mut asks.wide),
            (Decision::Allow, RuleReach::Full) => {
                put(&mut self.allow);
                if rule.over_ask {
                    put(&mut asks.over);
                }
            }
            // An allow rule matches the raw value or not at all.
            (Decision::Allow, RuleReach::Wide) => {}
        }
    }

    /// Returns the decision. A wide ask is applied after the default, so it can restrict what would be allowed, but
    /// cannot lift a deny.
    fn settle(self, default: Decision) -> WeighedDecision<'a> {
        let asks = self.asks.map(LayerAsks::unless_overruled);
        let ask = asks.iter().fold(None, |found, layer| first(found, layer.full));
        let wide = asks.iter().fold(None, |found, layer| first(found, layer.wide));
        let over = self.asks.iter().fold(None, |found, layer| first(found, layer.overruling()));
        // An exception is the source rather than another allow rule, because without it an approver would be asked.
        let spoken = self.deny.or(ask).or(over).or(self.allow);
        let settled = spoken.unwrap_or(WeighedDecision { decision: default, rule: None });
        wide.map_or(settled, |ask| settled.stricter(ask))
    }
}

/// Returns the first of two rules with the same decision.
fn first<'a>(one: Option<WeighedDecision<'a>>, other: Option<WeighedDecision<'a>>) -> Option<WeighedDecision<'a>> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.stricter(other)),
        (one, other) => one.or(other),
    }
}

/// The combined rules for every part of one call.
#[derive(Debug)]
pub(crate) struct Weighing<'a> {
    permissions: Permissions,
    default: Decision,
    /// One tally for each permission, by its index.
    tallies: [Tally<'a>; 4],
    /// The rules for the whole call. They decide if the tool has no permissions.
    whole: Tally<'a>,
}

impl<'a> Weighing<'a> {
    fn new(permissions: Permissions, default: Decision) -> Self {
        Self { permissions, default, tallies: [Tally::default(); 4], whole: Tally::default() }
    }

    fn count(&mut self, rule: &'a Rule, reach: RuleReach) {
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

    /// Returns the decision on each permission, or one decision on the whole call if there are no permissions.
    pub(crate) fn parts(&self) -> impl Iterator<Item = (Option<Permission>, WeighedDecision<'a>)> {
        let whole = self.permissions.is_empty().then(|| (None, self.whole.settle(self.default)));
        let each = self.permissions.iter().map(|permission| {
            let settled = self.tallies[permission.index()].settle(self.default);
            (Some(permission), settled)
        });
        whole.into_iter().chain(each)
    }

    /// Returns the decision on the call.
    pub(crate) fn settle(&self) -> WeighedDecision<'a> {
        let strictest = self.parts().map(|(_, settled)| settled).reduce(WeighedDecision::stricter);
        // There is always at least one part. If there were none, nothing would have allowed the call.
        strictest.unwrap_or(WeighedDecision::DENY)
    }
}

/// What the rules are combined for: a call, or a permission regardless of the arguments.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Matter<'a> {
    pub(crate) tool: &'a ToolName,
    pub(crate) permissions: Permissions,
    pub(crate) hints: &'a [Hint],
    /// None if the matter is not a call. A rule with a `when` then does not match.
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
    /// Returns the matter as a rule sees it, for one member of the caller's lineage.
    pub(crate) fn asked(&self, member: Member<'a>) -> RuleQuestion<'a> {
        RuleQuestion { member, arguments: self.arguments }
    }

    /// Returns the rules that apply to the tool.
    pub(crate) fn concerned<'r>(&self, rules: &'r [Rule]) -> impl Iterator<Item = &'r Rule> {
        rules.iter().filter(|rule| rule.concerns(self.tool, self.permissions, self.hints))
    }

    /// Returns the weighing for each principal from the root to the caller.
    pub(crate) fn weighings<'r>(
        &self,
        rules: &'r [Rule],
        default: Decision,
    ) -> impl Iterator<Item = (Member<'a>, Weighing<'r>)> {
        self.caller.members().map(move |member| (member, self.weigh(rules, default, member)))
    }

    /// Returns the strictest weighing and its member. A caller always has at least one member. Without one, nothing
    /// would be allowed.
    pub(crate) fn strictest<'r>(&self, rules: &'r [Rule], default: Decision) -> Option<(Member<'a>, Weighing<'r>)> {
        self.weighings(rules, default).reduce(|old, new| {
            let (before, after) = (old.1.settle(), new.1.settle());
            if after.is_stricter_than(before) { new } else { old }
        })
    }

    fn weigh<'r>(&self, rules: &'r [Rule], default: Decision, member: Member<'_>) -> Weighing<'r> {
        let mut weighing = Weighing::new(self.permissions, default);
        let asked = RuleQuestion { member, arguments: self.arguments };
        for rule in self.concerned(rules) {
            weighing.count(rule, rule.reach(&asked));
        }
        weighing
    }
}
