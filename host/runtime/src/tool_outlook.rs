//! Predicts what happens to a call of a tool whose arguments are not known yet.

use crate::catalog::{Plugin, Tool};
use crate::host::Host;
use portcullis_policy::{Caller, Decision, Permission, Policy, Principal, Question, Source};
use serde_json::Map;

/// The session of a call that names none.
const SESSION_DEFAULT: &str = "default";

/// What the policy and the grants mean for a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolOutlook {
    /// The decision on a call without arguments.
    pub decision: Decision,
    /// Whether other arguments may get another decision.
    pub depends_on_arguments: bool,
    /// The keys of required handles that are not granted. A call that the rules permit is denied because of them.
    pub not_granted: Vec<String>,
    /// The directory whose read-only grant keeps the tool from a write that it needs. A call that needs approval is
    /// denied because of it.
    pub read_only: Option<String>,
}

impl ToolOutlook {
    /// Returns the outlook of a tool.
    pub fn of(host: &Host, plugin: &Plugin, tool: &Tool) -> Self {
        let arguments = Map::new();
        let principal = Principal::default();
        let question = Question {
            tool: tool.name(),
            permissions: tool.permissions(),
            hints: tool.hints(),
            arguments: &arguments,
            caller: Caller { session: SESSION_DEFAULT, principal: &principal, automated: false },
        };
        let (mut decision, depends_on_arguments) = decide(&host.policy(), &question);
        if tool.schema().is_absent() {
            // Without a schema the arguments cannot be checked, so a call needs approval at least.
            decision = decision.max(if host.is_callable(tool) { Decision::Ask } else { Decision::Deny });
        }
        if plugin.held_tool(&tool.name().tool).is_some() {
            // The server describes it differently than was accepted.
            decision = decision.max(Decision::Ask);
        }
        let read_only = host.read_only_grant(plugin, tool).filter(|_| decision == Decision::Ask);
        Self { decision, depends_on_arguments, not_granted: host.missing_grants(plugin, tool), read_only }
    }
}

fn decide(policy: &Policy, question: &Question<'_>) -> (Decision, bool) {
    let verdict = policy.decide(question);
    let decision = verdict.decision;
    let mut of_arguments = policy.rules().iter().filter(|rule| rule.when.is_some() && rule.may_speak(question));
    let firm = match verdict.source {
        // The rule matches every call, so only a stricter rule can overrule it.
        Source::Rule(id) if policy.rules().iter().any(|rule| rule.id == id && rule.when.is_none()) => {
            of_arguments.all(|rule| rule.decision <= decision && !(rule.over_ask && decision == Decision::Ask))
                && default_at_most(policy, question, decision)
        }
        // This rule may not match other arguments.
        Source::Rule(_) => false,
        Source::Paused(_) => true,
        Source::Default => of_arguments.all(|rule| rule.decision == decision),
    };
    (decision, !firm)
}

/// Returns whether the default is no stricter than a decision, or never applies. It never applies if each part of the
/// call has a rule that matches whatever the arguments are. The parts are its permissions, or the call itself.
fn default_at_most(policy: &Policy, question: &Question<'_>, decision: Decision) -> bool {
    let mut always = policy.rules().iter().filter(|rule| rule.when.is_none() && rule.may_speak(question));
    let spoken_of = |part: Permission| {
        let mut always = always.clone();
        always.any(|rule| rule.permission.is_none_or(|permission| permission == part))
    };
    policy.default_of(&question.tool.plugin) <= decision
        || match question.permissions.is_empty() {
            true => always.any(|rule| rule.permission.is_none()),
            false => question.permissions.iter().all(spoken_of),
        }
}

#[cfg(test)]
mod tests {
    use super::*;
    use portcullis_policy::Permissions;

    fn of(policy: &str) -> (Decision, bool) {
        let policy = Policy::parse(policy).unwrap();
        let tool = "files.write".parse().unwrap();
        let permissions: Permissions = [Permission::Read, Permission::Write].into_iter().collect();
        let (arguments, principal) = (Map::new(), Principal::default());
        let caller = Caller { session: SESSION_DEFAULT, principal: &principal, automated: false };
        decide(&policy, &Question { tool: &tool, permissions, hints: &[], arguments: &arguments, caller })
    }

    /// The default of servers is ask, and that of plugins deny.
    #[test]
    fn a_default_of_servers_that_decides_the_same_leaves_nothing_open() {
        let ask = rule("ask", "permission = \"write\"");
        assert_eq!(of(&format!("{ask}[server.files]\ncommand = [\"/bin/a\"]\n")), (Decision::Ask, false));
        assert_eq!(of(&(ask + &rule("ask", "permission = \"read\""))), (Decision::Ask, false));
    }

    fn rule(decision: &str, more: &str) -> String {
        format!("[[rule]]\ntool = \"files.*\"\ndecision = \"{decision}\"\n{more}\n")
    }

    #[test]
    fn a_decision_is_firm_if_no_argument_can_change_it() {
        let when = "when = { path = \"src/**\" }";
        let rows = [
            (String::new(), (Decision::Deny, false)),
            (rule("allow", ""), (Decision::Allow, false)),
            (rule("deny", "") + &rule("allow", when), (Decision::Deny, false)),
            (rule("ask", "") + &rule("allow", when), (Decision::Ask, false)),
            (rule("deny", when), (Decision::Deny, false)),
            (rule("allow", when) + "[[rule]]\ntool = \"web.*\"\ndecision = \"allow\"\n", (Decision::Deny, true)),
            (
                rule("allow", "") + &rule("ask", "permission = \"network\"\nwhen = { path = \"a\" }"),
                (Decision::Allow, false),
            ),
        ];
        for (policy, expected) in rows {
            assert_eq!(of(&policy), expected, "{policy}");
        }
    }

    #[test]
    fn a_part_that_only_a_rule_on_arguments_matches_is_open() {
        let when = "when = { path = \"src/**\" }";
        let read = rule("allow", "permission = \"read\"");
        assert_eq!(of(&read), (Decision::Deny, false));
        assert_eq!(of(&(read + &rule("allow", &format!("permission = \"write\"\n{when}")))), (Decision::Deny, true));
        assert_eq!(of(&(rule("allow", "") + &rule("allow", when))), (Decision::Allow, false));
    }

    #[test]
    fn a_stricter_rule_on_arguments_leaves_it_open() {
        let when = "when = { path = \"src/**\" }";
        assert!(of(&(rule("allow", "") + &rule("deny", when))).1);
        assert!(of(&(rule("ask", "") + &rule("deny", when))).1);
    }
}
