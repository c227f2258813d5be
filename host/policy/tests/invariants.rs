//! Properties of every policy and every question. Generated policies are real text and are parsed like a file.

#![expect(clippy::unwrap_used, reason = "a helper of a test may panic as the test itself may")]

use portcullis_policy::{
    Caller, Decision, Hint, Layers, Limit, Pattern, Permission, Permissions, Policy, Principal, Question,
    ResourceQuestion, Source, ToolName, Trust,
};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

/// The text of a rule: the part before the decision, and the decision.
#[derive(Debug, Clone)]
struct RuleText {
    body: String,
    decision: &'static str,
}

#[derive(Debug, Clone)]
struct Asked {
    tool: ToolName,
    permissions: Permissions,
    hints: Vec<Hint>,
    arguments: Map<String, Value>,
    session: String,
    principal: Principal,
    automated: bool,
}

impl Asked {
    fn question(&self) -> Question<'_> {
        Question {
            tool: &self.tool,
            permissions: self.permissions,
            hints: &self.hints,
            arguments: &self.arguments,
            caller: self.caller(),
        }
    }

    fn caller(&self) -> Caller<'_> {
        Caller { session: &self.session, principal: &self.principal, automated: self.automated }
    }

    /// Returns whether the tool is of the server, whose default is never allow.
    fn is_of_server(&self) -> bool {
        self.tool.plugin.as_str() == "notes"
    }

    /// Returns a question about a resource during such a call.
    fn resource<'a>(&'a self, permission: Permission, resource: &'a str) -> ResourceQuestion<'a> {
        ResourceQuestion { tool: &self.tool, permission, hints: &self.hints, resource, caller: self.caller() }
    }
}

const TOOLS: &[&str] = &["files.read", "files.write", "web.get", "a.b", "notes.get"];
const PATTERNS: &[&str] = &[
    "files.read",
    "files.write",
    "files.*",
    "*.*",
    "*.get",
    "{files,web}.*",
    "file?.[a-z]*",
    "a.b",
    "w*.{get,put}",
    "notes.*",
];
/// The section of a server, whose tools have another default. The user's policy has it.
const SERVER: &str = "[server.notes]\ncommand = ['/bin/notes']\n";
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
    r#"{ path = { prefix = "src/" } }"#,
    r#"{ path = { equals = "src/main.rs" } }"#,
    r#"{ path = ["docs/*", { prefix = "/e" }, { equals = "x" }, { equals = 3 }] }"#,
    "{ count = { at-least = 1 } }",
    "{ count = { at-least = 1.5, at-most = 3 } }",
    "{ count = [{ at-most = 0 }, 3.0] }",
];
/// Keys for the callers that a rule applies to.
const SUBJECTS: &[&str] = &[
    "session = \"s1\"\n",
    "session = \"s*\"\n",
    "principal = \"alice\"\n",
    "principal = \"alice/**\"\n",
    "principal = [\"bob\", \"*/x\"]\n",
    "origin = \"person\"\n",
    "origin = \"sub-agent\"\n",
    "origin = [\"automation\", \"person\"]\nsession = \"s2\"\n",
];
const PRINCIPALS: &[&str] = &["alice", "alice/x", "alice/x/y", "bob", "bob/x", "Alice"];
const DECISIONS: &[&str] = &["allow", "ask", "deny"];

fn any_rule() -> impl Strategy<Value = RuleText> {
    let permission = prop::option::of(select(Permission::ALL.to_vec()));
    let when = prop::option::of(select(WHENS));
    let subject = prop::option::weighted(0.3, select(SUBJECTS));
    (select(PATTERNS), permission, when, subject, select(DECISIONS)).prop_map(
        |(tool, permission, when, subject, decision)| {
            let permission = permission.map(|permission| format!("permission = \"{permission}\"\n"));
            let when = when.map(|when| format!("when = {when}\n"));
            let mut body = format!("tool = \"{tool}\"\n");
            body.extend([permission, when, subject.map(str::to_owned)].into_iter().flatten());
            RuleText { body, decision }
        },
    )
}

/// A rule with a hint, which therefore does not allow anything.
fn any_hinted_rule() -> impl Strategy<Value = RuleText> {
    (any_rule(), select(Hint::ALL.to_vec()), select(vec!["ask", "deny"]))
        .prop_map(|(rule, hint, decision)| RuleText { body: format!("{}hint = \"{hint}\"\n", rule.body), decision })
}

fn any_rules() -> impl Strategy<Value = Vec<RuleText>> {
    prop::collection::vec(any_rule(), 0..8)
}

/// Rules of which some allow rules win over the ask rules.
fn any_excepted_rules() -> impl Strategy<Value = Vec<RuleText>> {
    let excepted = (any_rule(), any::<bool>()).prop_map(|(rule, over)| match over && rule.decision == "allow" {
        true => RuleText { body: format!("{}over = \"ask\"\n", rule.body), ..rule },
        false => rule,
    });
    prop::collection::vec(excepted, 0..8)
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
    let hints = prop::collection::vec(select(Hint::ALL.to_vec()), 0..3);
    let caller = (select(vec!["s1", "s2", "S1", "t"]), select(PRINCIPALS), any::<bool>());
    (select(TOOLS), permissions, hints, any_arguments(), caller).prop_map(
        |(tool, permissions, hints, arguments, (session, principal, automated))| Asked {
            tool: tool.parse().unwrap(),
            permissions: permissions.into_iter().collect(),
            hints,
            arguments,
            session: session.to_owned(),
            principal: principal.parse().unwrap(),
            automated,
        },
    )
}

/// Sections without rules.
fn any_settings() -> impl Strategy<Value = String> {
    let lines = ["[limits]\n", "[plugin.files.limits]\n", "[plugin.web.limits]\n"];
    let limits = prop::collection::vec(prop::option::of((1_u64..200, 1_u64..200)), 3);
    let approvals = prop::option::of((select(vec!["pending", "deny"]), 1..700, 1..700, 1..8000));
    let record = (select(vec!["digest", "keep"]), select(vec!["drop", "keep"]), select(vec!["process", "machine"]));
    let record = prop::option::of(record);
    let binding = prop::option::of(select(vec!["a", "b"]));
    (limits, approvals, record, binding).prop_map(move |(limits, approvals, record, binding)| {
        let mut text = String::new();
        for (line, (memory, time)) in lines.iter().zip(limits).filter_map(|(line, amounts)| Some((line, amounts?))) {
            text.push_str(&format!("{line}memory = \"{memory} MiB\"\ntime = \"{time} s\"\n"));
        }
        if let Some((unattended, pending, session, always)) = approvals {
            let times = format!("pending-time = \"{pending} h\"\nsession-time = \"{session} h\"");
            let always = format!("always-time = \"{always} h\"");
            text.push_str(&format!("[approvals]\nunattended = \"{unattended}\"\n{times}\n{always}\n"));
        }
        if let Some((payloads, targets, durable)) = record {
            let kept = format!("payloads = \"{payloads}\"\ntargets = \"{targets}\"\n");
            text.push_str(&format!("[record]\n{kept}durable = \"{durable}\"\n"));
        }
        if let Some(key) = binding {
            text.push_str(&format!("[plugin.web.directory.{key}]\npath = \"x\"\n"));
        }
        text
    })
}

/// Arguments of a tool that writes or sends content.
fn any_payload_call() -> impl Strategy<Value = Map<String, Value>> {
    let path =
        select(vec!["src/a", "src/b/c", "src/b/d", "a", "src/../x", "/src/a", "src//a", "s*c/a", "src", ".", "x/é/z"]);
    let path = prop::option::of(path.prop_map(|path| json!(path)));
    let content = prop::option::of(select(vec![json!("one"), json!("two"), json!(3), json!(["one"])]));
    let mode = prop::option::of(select(vec![json!("fast"), json!("slow"), json!(1), json!(1.0), json!(null)]));
    (path.clone(), path, content, mode).prop_map(|(path, file, content, mode)| {
        let all = [("path", path), ("file", file), ("content", content), ("mode", mode)];
        all.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
    })
}

fn text(default: Option<&str>, rules: &[RuleText]) -> String {
    let mut text = default.map(|default| format!("[defaults]\ndecision = \"{default}\"\n")).unwrap_or_default();
    for RuleText { body, decision } in rules {
        text.push_str(&format!("[[rule]]\n{body}decision = \"{decision}\"\n"));
    }
    text
}

fn policy(default: Option<&str>, rules: &[RuleText]) -> Policy {
    of_user(&text(default, rules))
}

/// Parses a user's policy.
fn of_user(text: &str) -> Policy {
    Policy::parse(&format!("{SERVER}{text}")).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn layered(user: &str, project: &str, trust: Trust) -> Policy {
    let user = format!("{SERVER}{user}");
    let layers = Layers { user: Some(&user), project: Some((project, trust)), built_in: None };
    Policy::layered(&layers).unwrap_or_else(|error| panic!("{error}\n{user}\n{project}"))
}

fn decide(default: Option<&str>, rules: &[RuleText], asked: &Asked) -> Decision {
    policy(default, rules).decide(&asked.question()).decision
}

proptest! {
    // Runs 768 cases of each property. `PROPTEST_CASES` sets a third of this number.
    #![proptest_config(ProptestConfig {
        cases: 3 * ProptestConfig::default().cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn an_empty_policy_denies_every_question(asked in any_question(), resource in ".{0,20}") {
        let empty = Policy::parse("").unwrap();
        prop_assert_eq!(&empty, &Policy::deny_all());
        prop_assert_eq!(empty.decide(&asked.question()).decision, Decision::Deny);
        for permission in Permission::ALL {
            let verdict = empty.decide_resource(&asked.resource(permission, &resource));
            prop_assert_eq!(verdict.decision, Decision::Deny);
        }
        prop_assert!(empty.bindings(&asked.tool.plugin).is_empty());
    }

    #[test]
    fn a_tool_that_no_call_can_run_is_denied_to_every_caller(
        default in any_default(), rules in any_rules(), hinted in any_hinted_rule(), asked in any_question(),
    ) {
        let policy = policy(default, &[rules, vec![hinted]].concat());
        let (tool, permissions, hints) = (&asked.tool, asked.permissions, &asked.hints[..]);
        let may_permit = policy.may_permit(tool, permissions, hints);
        prop_assert!(may_permit || policy.decide(&asked.question()).decision == Decision::Deny);
        prop_assert!(!(may_permit && policy.forbids(tool, permissions, hints)));
        prop_assert!(!may_permit || policy.may_permit_some(&tool.plugin));
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
    fn an_exception_allows_only_what_is_asked_about_and_only_what_it_allows_alone(
        default in any_default(), rules in any_rules(), exception in any_rule(), asked in any_question(),
    ) {
        let plain = RuleText { decision: "allow", ..exception };
        let over = RuleText { body: format!("{}over = \"ask\"\n", plain.body), ..plain.clone() };
        let with = |rule: &RuleText| decide(default, &[rules.clone(), vec![rule.clone()]].concat(), &asked);
        let (before, with_plain, with_over) = (decide(default, &rules, &asked), with(&plain), with(&over));
        prop_assert!(with_over <= with_plain && with_plain <= before);
        if with_over < with_plain {
            // Only an ask gives way, and only where the rule says allow by itself.
            prop_assert_eq!((with_plain, with_over), (Decision::Ask, Decision::Allow));
            let asks_aside: Vec<RuleText> = rules.iter().filter(|rule| rule.decision != "ask").cloned().collect();
            let alone = [asks_aside, vec![plain.clone()]].concat();
            prop_assert_eq!(decide(default, &alone, &asked), Decision::Allow);
            // A deny still wins.
            let denied = RuleText { decision: "deny", ..plain };
            prop_assert_eq!(decide(default, &[rules.clone(), vec![over, denied]].concat(), &asked), Decision::Deny);
        }
    }

    #[test]
    fn an_exception_never_reaches_the_ask_rules_of_another_layer(
        rules in any_rules(), brought in any_rules(), asked in any_question(),
    ) {
        prop_assume!(!asked.is_of_server());
        let asks: Vec<RuleText> = rules.iter().map(|rule| RuleText { decision: "ask", ..rule.clone() }).collect();
        let allow = |rule: &RuleText| {
            RuleText { body: format!("{}over = \"ask\"\n", rule.body), decision: "allow" }
        };
        let exceptions: Vec<RuleText> = brought.iter().map(allow).collect();
        let user = text(Some("allow"), &asks);
        let alone = of_user(&user).decide(&asked.question()).decision;
        for trust in [Trust::Trusted, Trust::Untrusted] {
            let both = layered(&user, &text(None, &exceptions), trust).decide(&asked.question()).decision;
            prop_assert!(both >= alone, "{both} {alone}");
        }
    }

    #[test]
    fn the_order_of_exceptions_never_matters(
        default in any_default(),
        (rules, shuffled) in any_excepted_rules()
            .prop_flat_map(|rules| (Just(rules.clone()), Just(rules).prop_shuffle())),
        asked in any_question(),
    ) {
        prop_assert_eq!(decide(default, &rules, &asked), decide(default, &shuffled, &asked));
        let explanation = policy(default, &rules).explain(&asked.question());
        let decisive: Vec<_> = explanation.matched.iter().filter(|rule| rule.decisive).collect();
        match explanation.verdict.source {
            Source::Rule(id) => prop_assert!(decisive.iter().any(|rule| rule.rule == id)),
            Source::Default | Source::Paused(_) => prop_assert!(decisive.is_empty()),
        }
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
        let changes = &explanation.changes;
        let is_said_again = |at: usize| changes[..at].contains(&changes[at]);
        prop_assert!(!changes.is_empty() && !(0..changes.len()).any(is_said_again), "{:?}", changes);
        let decisive: Vec<_> = explanation.matched.iter().filter(|rule| rule.decisive).collect();
        match explanation.verdict.source {
            Source::Rule(id) => prop_assert!(decisive.iter().any(|rule| rule.rule == id)),
            Source::Default | Source::Paused(_) => prop_assert!(decisive.is_empty()),
        }
    }

    #[test]
    fn a_resource_is_decided_like_a_call_without_matching_arguments(
        default in any_default(), rules in any_rules(), asked in any_question(),
    ) {
        let unconditional: Vec<RuleText> = rules.iter().filter(|rule| !rule.body.contains("when =")).cloned().collect();
        for permission in Permission::ALL {
            let call = Asked { permissions: permission.into(), ..asked.clone() };
            let verdict = policy(default, &rules).decide_resource(&asked.resource(permission, "workspace/a"));
            prop_assert_eq!(verdict.decision, decide(default, &unconditional, &call));
        }
    }

    #[test]
    fn adding_a_rule_on_a_hint_never_makes_a_decision_milder(
        default in any_default(), rules in any_rules(), added in any_hinted_rule(), asked in any_question(),
    ) {
        let without = decide(default, &rules, &asked);
        prop_assert!(decide(default, &[rules, vec![added]].concat(), &asked) >= without);
    }

    #[test]
    fn a_sub_agent_never_has_more_rights_than_its_parent(
        default in any_default(), rules in any_rules(), hinted in any_hinted_rule(), asked in any_question(),
        name in select(vec!["x", "y", "alice", "bob"]),
    ) {
        let policy = policy(default, &[rules, vec![hinted]].concat());
        let before = policy.decide(&asked.question()).decision;
        let sub_agent = Asked { principal: asked.principal.attenuated(name).unwrap(), ..asked.clone() };
        prop_assert!(policy.decide(&sub_agent.question()).decision >= before);
        for permission in Permission::ALL {
            let parent = policy.decide_resource(&asked.resource(permission, "a")).decision;
            prop_assert!(policy.decide_resource(&sub_agent.resource(permission, "a")).decision >= parent);
        }
    }

    #[test]
    fn an_untrusted_project_never_widens_a_decision(
        (default, rules) in (any_default(), any_rules()),
        (brought_default, brought, hinted) in (any_default(), any_rules(), any_hinted_rule()),
        asked in any_question(),
    ) {
        let user = text(default, &rules);
        let project = text(brought_default, &[brought, vec![hinted]].concat());
        let alone = of_user(&user);
        let both = layered(&user, &project, Trust::Untrusted);
        prop_assert!(both.decide(&asked.question()).decision >= alone.decide(&asked.question()).decision);
        prop_assert!(both.default_decision() >= alone.default_decision());
        for permission in Permission::ALL {
            let question = asked.resource(permission, "a");
            prop_assert!(both.decide_resource(&question).decision >= alone.decide_resource(&question).decision);
        }
    }

    #[test]
    fn an_untrusted_project_stops_the_same_calls_as_a_trusted_one(
        rules in any_rules(), brought in any_rules(), asked in any_question(),
    ) {
        prop_assume!(!asked.is_of_server());
        let (user, project) = (text(Some("allow"), &rules), text(None, &brought));
        let untrusted = layered(&user, &project, Trust::Untrusted).decide(&asked.question());
        let trusted = layered(&user, &project, Trust::Trusted).decide(&asked.question());
        prop_assert_eq!(untrusted.decision, trusted.decision);
    }

    #[test]
    fn a_trusted_project_decides_as_if_its_rules_were_the_users(
        default in any_default(), rules in any_rules(), brought in any_rules(), asked in any_question(),
    ) {
        let both = layered(&text(default, &rules), &text(None, &brought), Trust::Trusted);
        let one = policy(default, &[rules, brought].concat());
        prop_assert_eq!(both.decide(&asked.question()).decision, one.decide(&asked.question()).decision);
    }

    #[test]
    fn an_untrusted_project_never_raises_a_limit_or_binds_anything(
        user in any_settings(), project in any_settings(),
    ) {
        let alone = of_user(&user);
        let both = layered(&user, &project, Trust::Untrusted);
        for tool in TOOLS {
            let plugin = tool.parse::<ToolName>().unwrap().plugin;
            for limit in Limit::ALL {
                prop_assert!(both.limits(&plugin).get(limit) <= alone.limits(&plugin).get(limit), "{}", limit.key());
                prop_assert!(both.default_limits().get(limit) <= alone.default_limits().get(limit));
            }
            prop_assert_eq!(both.bindings(&plugin), alone.bindings(&plugin));
        }
        let (before, after) = (alone.approvals(), both.approvals());
        prop_assert!(after.unattended >= before.unattended);
        prop_assert!(after.pending_time <= before.pending_time && after.session_time <= before.session_time);
        prop_assert!(after.always_time <= before.always_time && after.repeats <= before.repeats);
        let (before, after) = (alone.record(), both.record());
        prop_assert!(after.targets <= before.targets);
        prop_assert!(after.payloads <= before.payloads && after.durable >= before.durable);
    }

    #[test]
    fn an_offered_pattern_covers_its_own_call(arguments in any_payload_call()) {
        for offer in Pattern::offers(&arguments, &json!({})) {
            prop_assert!(offer.covers(&arguments), "{}", offer);
            let stored = serde_json::to_string(&offer).unwrap();
            prop_assert_eq!(serde_json::from_str::<Pattern>(&stored).unwrap(), offer);
        }
    }

    #[test]
    fn a_pattern_never_covers_a_call_that_differs_in_more_than_payload_and_path(
        seen in any_payload_call(), other in any_payload_call(),
    ) {
        for offer in Pattern::offers(&seen, &json!({})).into_iter().filter(|offer| offer.covers(&other)) {
            prop_assert!(seen.keys().eq(other.keys()), "{} covers {:?}", offer, other);
            for (name, value) in seen.iter().filter(|(name, _)| !matches!(name.as_str(), "content" | "path" | "file")) {
                prop_assert_eq!(value, &other[name], "{}", offer);
            }
            let moved = ["path", "file"].iter().filter(|name| seen.get(**name) != other.get(**name)).count();
            prop_assert!(moved <= 1, "{} covers {:?}", offer, other);
            for name in ["path", "file"].iter().filter(|name| seen.get(**name) != other.get(**name)) {
                let (from, to) = (seen[*name].as_str().unwrap(), other[*name].as_str().unwrap());
                let top = |path: &str| path.split('/').next().unwrap().to_owned();
                prop_assert_eq!(top(from), top(to));
                prop_assert!(!to.split('/').any(|segment| segment == ".."));
            }
        }
    }

    #[test]
    fn no_text_makes_the_policy_parser_panic(text in "\\PC{0,60}") {
        let _ = Policy::parse(&text);
    }
}
