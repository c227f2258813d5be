//! What holds for every policy and every question: generated policies are real text, read as a file would be.

#![expect(clippy::unwrap_used, reason = "a helper of a test may panic as the test itself may")]

use portcullis_policy::{Decision, Permission, Permissions, Policy, Question, Source, ToolName};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

/// A rule as its text: what stands before the decision, and the decision.
#[derive(Debug, Clone)]
struct RuleText {
    body: String,
    decision: &'static str,
}

#[derive(Debug, Clone)]
struct Asked {
    tool: ToolName,
    permissions: Permissions,
    arguments: Map<String, Value>,
}

impl Asked {
    fn question(&self) -> Question<'_> {
        Question { tool: &self.tool, permissions: self.permissions, arguments: &self.arguments }
    }
}

const TOOLS: &[&str] = &["files.read", "files.write", "web.get", "a.b"];
const PATTERNS: &[&str] =
    &["files.read", "files.write", "files.*", "*.*", "*.get", "{files,web}.*", "file?.[a-z]*", "a.b", "w*.{get,put}"];
const WHENS: &[&str] = &[
    r#"{ path = "src/**" }"#,
    r#"{ path = "**" }"#,
    r#"{ path = ["src/*", "docs/*"] }"#,
    r#"{ path = "src/main.rs", mode = "f*" }"#,
    r#"{ path = "/etc/**" }"#,
    r#"{ path = "SECRET" }"#,
    r#"{ count = 3 }"#,
    r#"{ count = [3, 1.5], force = true }"#,
    r#"{ "/options/path" = "s*" }"#,
    r#"{ "/path/0" = "src/*" }"#,
];
const DECISIONS: &[&str] = &["allow", "ask", "deny"];

fn any_rule() -> impl Strategy<Value = RuleText> {
    let permission = prop::option::of(select(Permission::ALL.to_vec()));
    (select(PATTERNS), permission, prop::option::of(select(WHENS)), select(DECISIONS)).prop_map(
        |(tool, permission, when, decision)| {
            let permission = permission.map(|permission| format!("permission = \"{permission}\"\n"));
            let when = when.map(|when| format!("when = {when}\n"));
            let body = format!("tool = \"{tool}\"\n{}{}", permission.unwrap_or_default(), when.unwrap_or_default());
            RuleText { body, decision }
        },
    )
}

fn any_rules() -> impl Strategy<Value = Vec<RuleText>> {
    prop::collection::vec(any_rule(), 0..8)
}

fn any_default() -> impl Strategy<Value = Option<&'static str>> {
    prop::option::of(select(DECISIONS))
}

fn any_path() -> impl Strategy<Value = Value> {
    let texts = [
        "src/main.rs",
        "src/a/b",
        "docs/a",
        "./src/main.rs",
        "src/../etc/x",
        "../src/a",
        "/etc/passwd",
        "SRC/a",
        "secret",
        "src\\a",
        "src//a",
        "",
        ".",
        "a\0",
        "x",
    ];
    let text = select(texts.to_vec()).prop_map(|text| json!(text));
    let other = select(vec![json!(null), json!({}), json!(3), json!(true), json!([]), json!([["src/a"]])]);
    let list = prop::collection::vec(text.clone(), 0..4).prop_map(Value::Array);
    prop_oneof![6 => text, 2 => list, 1 => other]
}

fn any_arguments() -> impl Strategy<Value = Map<String, Value>> {
    let scalar = select(vec![json!(3), json!(3.0), json!(1.5), json!("3"), json!(true), json!("fast"), json!(null)]);
    let paths = (prop::option::of(any_path()), prop::option::of(any_path()));
    (paths, prop::collection::vec(prop::option::of(scalar), 3)).prop_map(|((path, option), scalars)| {
        let named = ["count", "force", "mode"].into_iter().zip(scalars);
        let options = option.map(|option| json!({ "path": option }));
        let all = named.chain([("path", path), ("options", options)]);
        all.filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
    })
}

fn any_question() -> impl Strategy<Value = Asked> {
    let permissions = prop::collection::vec(select(Permission::ALL.to_vec()), 0..4);
    (select(TOOLS), permissions, any_arguments()).prop_map(|(tool, permissions, arguments)| Asked {
        tool: tool.parse().unwrap(),
        permissions: permissions.into_iter().collect(),
        arguments,
    })
}

fn policy(default: Option<&str>, rules: &[RuleText]) -> Policy {
    let mut text = default.map(|default| format!("[defaults]\ndecision = \"{default}\"\n")).unwrap_or_default();
    for RuleText { body, decision } in rules {
        text.push_str(&format!("[[rule]]\n{body}decision = \"{decision}\"\n"));
    }
    Policy::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn decide(default: Option<&str>, rules: &[RuleText], asked: &Asked) -> Decision {
    policy(default, rules).decide(&asked.question()).decision
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2048, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_empty_policy_denies_every_question(asked in any_question(), resource in ".{0,20}") {
        let empty = Policy::parse("").unwrap();
        prop_assert_eq!(&empty, &Policy::deny_all());
        prop_assert_eq!(empty.decide(&asked.question()).decision, Decision::Deny);
        for permission in Permission::ALL {
            let verdict = empty.decide_resource(&asked.tool, permission, &resource);
            prop_assert_eq!(verdict.decision, Decision::Deny);
        }
        prop_assert!(empty.bindings(&asked.tool.plugin).is_empty());
    }

    #[test]
    fn removing_an_allow_never_makes_a_decision_milder(
        default in any_default(), rules in any_rules(), removed in any_rule(), asked in any_question(),
    ) {
        let with = [rules.clone(), vec![RuleText { decision: "allow", ..removed }]].concat();
        prop_assert!(decide(default, &rules, &asked) >= decide(default, &with, &asked));
    }

    #[test]
    fn adding_a_deny_never_makes_a_decision_milder(
        default in any_default(), rules in any_rules(), added in any_rule(), asked in any_question(),
    ) {
        let without = decide(default, &rules, &asked);
        let more = [rules, vec![RuleText { decision: "deny", ..added }]].concat();
        prop_assert!(decide(default, &more, &asked) >= without);
    }

    #[test]
    fn adding_an_ask_never_allows_what_was_not_allowed(
        default in any_default(), rules in any_rules(), added in any_rule(), asked in any_question(),
    ) {
        let without = decide(default, &rules, &asked);
        let more = [rules, vec![RuleText { decision: "ask", ..added }]].concat();
        let with = decide(default, &more, &asked);
        prop_assert!(without == Decision::Allow || with > Decision::Allow);
    }

    #[test]
    fn turning_an_ask_into_a_deny_never_makes_a_decision_milder(
        default in any_default(), rules in any_rules(), asked in any_question(),
    ) {
        let before = decide(default, &rules, &asked);
        for at in 0..rules.len() {
            let mut stricter = rules.clone();
            stricter[at].decision = if rules[at].decision == "allow" { "ask" } else { "deny" };
            let after = decide(default, &stricter, &asked);
            prop_assert!(after >= before, "rule {}: {} became {}", at + 1, before, after);
        }
    }

    #[test]
    fn an_ask_lifts_a_deny_only_where_an_allow_would_lift_it(
        rules in any_rules(), asked in any_question(),
    ) {
        let mild = |rule: &RuleText| RuleText { decision: "allow", ..rule.clone() };
        let asks: Vec<RuleText> = rules.iter().map(|rule| RuleText { decision: "ask", ..rule.clone() }).collect();
        let allows: Vec<RuleText> = rules.iter().map(mild).collect();
        let lifted = decide(None, &asks, &asked) < Decision::Deny;
        prop_assert_eq!(lifted, decide(None, &allows, &asked) < Decision::Deny);
    }

    #[test]
    fn a_stricter_default_never_makes_a_decision_milder(rules in any_rules(), asked in any_question()) {
        let decisions: Vec<Decision> =
            DECISIONS.iter().map(|default| decide(Some(default), &rules, &asked)).collect();
        prop_assert!(decisions.is_sorted(), "{:?}", decisions);
    }

    #[test]
    fn the_order_of_the_rules_never_matters(
        default in any_default(),
        (rules, shuffled) in any_rules().prop_flat_map(|rules| (Just(rules.clone()), Just(rules).prop_shuffle())),
        asked in any_question(),
    ) {
        prop_assert_eq!(decide(default, &rules, &asked), decide(default, &shuffled, &asked));
    }

    #[test]
    fn one_more_permission_never_makes_a_decision_milder(
        default in any_default(), rules in any_rules(), asked in any_question(),
    ) {
        prop_assume!(!asked.permissions.is_empty());
        let before = decide(default, &rules, &asked);
        for permission in Permission::ALL {
            let more = Asked { permissions: asked.permissions.union(permission.into()), ..asked.clone() };
            prop_assert!(decide(default, &rules, &more) >= before);
        }
    }

    #[test]
    fn an_explanation_has_the_verdict_of_the_call_and_the_rules_that_gave_it(
        default in any_default(), rules in any_rules(), asked in any_question(),
    ) {
        let policy = policy(default, &rules);
        let explanation = policy.explain(&asked.question());
        prop_assert_eq!(&explanation.verdict, &policy.decide(&asked.question()));
        prop_assert!(!explanation.changes.is_empty());
        let decisive: Vec<_> = explanation.matched.iter().filter(|rule| rule.decisive).collect();
        match explanation.verdict.source {
            Source::Rule(id) => prop_assert!(decisive.iter().any(|rule| rule.rule == id)),
            Source::Default => prop_assert!(decisive.is_empty()),
        }
    }

    #[test]
    fn what_a_resource_may_is_what_a_call_without_matching_arguments_may(
        default in any_default(), rules in any_rules(), asked in any_question(),
    ) {
        let unconditional: Vec<RuleText> = rules.iter().filter(|rule| !rule.body.contains("when")).cloned().collect();
        for permission in Permission::ALL {
            let call = Asked { permissions: permission.into(), ..asked.clone() };
            let verdict = policy(default, &rules).decide_resource(&asked.tool, permission, "workspace/a");
            prop_assert_eq!(verdict.decision, decide(default, &unconditional, &call));
        }
    }

    #[test]
    fn no_text_makes_reading_a_policy_panic(text in "\\PC{0,60}") {
        let _ = Policy::parse(&text);
    }
}
