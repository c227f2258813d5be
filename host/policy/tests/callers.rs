//! Rules on sessions, principals, origins and hints.

#![expect(clippy::unwrap_used, reason = "a helper of a test may panic as the test itself may")]

use portcullis_policy::{
    Caller, Decision, Explanation, Hint, Permissions, Policy, Principal, Question, ResourceQuestion, Source,
};
use serde_json::Map;

/// A caller: a session, a principal, whether it is automated, and the tool's hints.
#[derive(Clone, Copy)]
struct Who<'a>(&'a str, &'a str, bool, &'a [Hint]);

const ALICE: Who<'static> = Who("s", "alice", false, &[]);

fn explain(policy: &str, Who(session, principal, automated, hints): Who<'_>) -> Explanation {
    let policy = Policy::parse(policy).unwrap_or_else(|error| panic!("{error}\n{policy}"));
    let principal: Principal = principal.parse().unwrap();
    let tool = "files.read".parse().unwrap();
    let (permissions, arguments) = (Permissions::NONE, Map::new());
    let caller = Caller { session, principal: &principal, automated };
    let question = Question { tool: &tool, permissions, hints, arguments: &arguments, caller };
    let explanation = policy.explain(&question);
    assert_eq!(policy.decide(&question), explanation.verdict);
    explanation
}

fn decide(policy: &str, who: Who<'_>) -> Decision {
    explain(policy, who).verdict.decision
}

fn rule(decision: &str, more: &str) -> String {
    format!("[[rule]]\ntool = \"files.read\"\ndecision = \"{decision}\"\n{more}\n")
}

/// Returns whether an allow rule with this key applies to the caller. A single ask rule must behave the same.
fn lifts(key: &str, who: Who<'_>) -> bool {
    let (allowed, asked) = (decide(&rule("allow", key), who), decide(&rule("ask", key), who));
    assert_eq!(allowed == Decision::Allow, asked == Decision::Ask, "{key}");
    allowed == Decision::Allow
}

/// Returns whether a deny rule with this key applies to the caller. An ask rule next to an allow rule must behave the
/// same.
fn stops(key: &str, who: Who<'_>) -> bool {
    let over = |decision| decide(&(rule("allow", "") + &rule(decision, key)), who);
    assert_eq!(over("deny") == Decision::Deny, over("ask") == Decision::Ask, "{key}");
    over("deny") == Decision::Deny
}

#[test]
fn a_rule_for_a_principal_applies_to_no_other() {
    let rows = [
        ("principal = 'alice'", "alice", true, true),
        ("principal = 'alice'", "bob", false, false),
        ("principal = 'alice'", "alicea", false, false),
        ("principal = 'alice'", "Alice", false, true),
        ("principal = ['bob', 'alice']", "alice", true, true),
        ("principal = 'a*'", "alice", true, true),
        ("principal = '*/x'", "alice", false, false),
        ("principal = '{alice,bob}'", "bob", true, true),
        ("principal = 'alice/**'", "alice", true, true),
        ("principal = 'alice/*'", "alice", false, false),
    ];
    for (key, principal, lifted, stopped) in rows {
        assert_eq!(lifts(key, Who("s", principal, false, &[])), lifted, "{key} for {principal}");
        assert_eq!(stops(key, Who("s", principal, false, &[])), stopped, "{key} for {principal}");
    }
}

#[test]
fn a_sub_agent_needs_a_decision_for_each_of_its_parents() {
    let agent = Who("s", "alice/x/y", false, &[]);
    assert!(lifts("principal = 'alice/**'", agent));
    assert!(lifts("principal = '**'", agent));
    for key in ["principal = 'alice'", "principal = 'alice/x/y'", "principal = 'alice/*/**'", "principal = '*'"] {
        assert!(!lifts(key, agent), "{key}");
        let rest = ["alice", "alice/x", "alice/x/y"].map(|name| rule("allow", &format!("principal = '{name}'")));
        assert_eq!(decide(&rest.concat(), agent), Decision::Allow);
    }
}

#[test]
fn a_rule_that_stops_a_parent_stops_its_sub_agents() {
    let agent = Who("s", "alice/x", false, &[]);
    for key in ["principal = 'alice'", "principal = 'alice/x'", "principal = '*/x'", "principal = 'ALICE'"] {
        assert!(stops(key, agent), "{key}");
    }
    assert!(!stops("principal = 'alice/y'", agent));
    assert!(stops("origin = 'person'", agent), "the person behind it is stopped");
    assert!(stops("origin = 'sub-agent'", agent));
    assert!(!stops("origin = 'automation'", agent));
    assert!(!lifts("origin = 'sub-agent'", agent), "the person behind it is not let through");
    assert!(lifts("origin = ['sub-agent', 'person']", agent));
}

#[test]
fn the_origin_is_that_of_the_root_principal() {
    let rows = [
        ("origin = 'person'", false, true),
        ("origin = 'person'", true, false),
        ("origin = 'automation'", true, true),
        ("origin = 'automation'", false, false),
        ("origin = ['automation', 'person']", true, true),
        ("origin = 'sub-agent'", false, false),
    ];
    for (key, automated, speaks) in rows {
        let who = Who("s", "alice", automated, &[]);
        assert_eq!((lifts(key, who), stops(key, who)), (speaks, speaks), "{key}, automated: {automated}");
    }
}

#[test]
fn a_session_matches_exactly_to_lift_and_widely_to_stop() {
    let rows = [
        ("nightly-1", true, true),
        ("Nightly-1", false, true),
        ("nightly-1/a", false, false),
        ("./nightly-1", false, true),
        ("../x", false, true),
        ("nightly", false, false),
        ("", false, false),
    ];
    for (session, lifted, stopped) in rows {
        let who = Who(session, "alice", false, &[]);
        assert_eq!(lifts("session = 'nightly-*'", who), lifted, "{session:?}");
        assert_eq!(stops("session = 'nightly-*'", who), stopped, "{session:?}");
    }
}

#[test]
fn every_key_of_a_rule_must_match() {
    let key = "principal = 'alice'\nsession = 's'\norigin = 'person'";
    assert!(lifts(key, ALICE) && stops(key, ALICE));
    for who in [Who("t", "alice", false, &[]), Who("s", "bob", false, &[]), Who("s", "alice", true, &[])] {
        assert!(!lifts(key, who) && !stops(key, who));
    }
}

#[test]
fn a_hint_stops_a_call_and_lifts_no_deny() {
    let destructive = Who("s", "alice", false, &[Hint::ReadOnly, Hint::Destructive]);
    assert!(stops("hint = 'destructive'", destructive));
    assert!(!stops("hint = 'open-world'", destructive));
    assert!(!stops("hint = 'destructive'", ALICE));
    assert_eq!(decide(&rule("ask", "hint = 'destructive'"), destructive), Decision::Deny);
    let explained = explain(&rule("ask", "hint = 'destructive'"), destructive);
    assert_eq!(
        explained.changes[0],
        "rule 1 (line 1) depends on a hint that the plugin sets itself, so it can only restrict a call."
    );
}

#[test]
fn an_explanation_shows_the_callers_of_a_rule_and_the_deciding_parent() {
    let keys = "principal = ['alice', 'b*']\nsession = 's*'\norigin = ['person', 'automation']";
    let stopped = explain(&(rule("allow", "") + &rule("deny", &format!("{keys}\nhint = 'destructive'"))), {
        Who("s", "alice/x", false, &[Hint::Destructive])
    });
    let matched = &stopped.matched[1];
    assert_eq!(matched.tool, "files.read");
    assert_eq!(matched.principal.as_deref(), Some("alice, b*"));
    assert_eq!(matched.session.as_deref(), Some("s*"));
    assert_eq!(matched.origin.as_deref(), Some("person, automation"));
    assert_eq!(matched.hint.as_deref(), Some("destructive"));
    assert_eq!(
        stopped.changes.last().unwrap(),
        "The decision for `alice` applies: a sub-agent never has more rights than its parent."
    );
    let Source::Rule(id) = stopped.verdict.source else { panic!("no rule") };
    assert_eq!(id.to_string(), "rule 2 (line 5)");

    let without_rules = explain("", Who("s", "alice/x", false, &[]));
    assert_eq!(without_rules.changes.last(), stopped.changes.last(), "if both are stopped, the parent must be named");

    let others = explain(&rule("allow", keys), Who("t", "alice", false, &[]));
    assert_eq!(
        others.changes[0],
        "rule 1 (line 1) says allow, but only for session s*, principal alice, b*, origin person, automation."
    );
    assert!(others.changes.iter().all(|change| !change.contains("sub-agent never")));
}

#[test]
fn a_rule_shows_its_callers_unless_it_applies_to_everyone() {
    let text = |more| Policy::parse(&rule("allow", more)).unwrap().rules()[0].subject_text();
    assert_eq!(text(""), None);
    assert_eq!(text("principal = \"bob\"\norigin = \"automation\"").unwrap(), "principal bob, origin automation");
}

#[test]
fn a_resource_is_decided_for_every_principal_of_the_lineage() {
    let policy = Policy::parse(&rule("allow", "principal = 'alice'")).unwrap();
    let tool = "files.read".parse().unwrap();
    let decide = |principal: &str| {
        let principal = principal.parse().unwrap();
        let caller = Caller { session: "s", principal: &principal, automated: false };
        let permission = portcullis_policy::Permission::Read;
        policy
            .decide_resource(&ResourceQuestion { tool: &tool, permission, hints: &[], resource: "a", caller })
            .decision
    };
    assert_eq!(decide("alice"), Decision::Allow);
    assert_eq!(decide("bob"), Decision::Deny);
    assert_eq!(decide("alice/x"), Decision::Deny);
}

#[test]
fn a_rule_may_apply_if_only_the_arguments_are_unknown() {
    let policy = Policy::parse(
        &(rule("deny", "principal = 'alice'\nwhen = { path = 'a' }") + &rule("deny", "hint = 'destructive'")),
    )
    .unwrap();
    let (tool, arguments) = ("files.read".parse().unwrap(), Map::new());
    let speak = |principal: &str, hints: &[Hint]| -> Vec<bool> {
        let principal = principal.parse().unwrap();
        let caller = Caller { session: "s", principal: &principal, automated: false };
        let question = Question { tool: &tool, permissions: Permissions::NONE, hints, arguments: &arguments, caller };
        policy.rules().iter().map(|rule| rule.may_speak(&question)).collect()
    };
    assert_eq!(speak("alice", &[]), [true, false]);
    assert_eq!(speak("alice/x", &[]), [true, false]);
    assert_eq!(speak("bob", &[Hint::Destructive]), [false, true]);
}
