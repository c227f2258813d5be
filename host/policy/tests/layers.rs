//! Layers of a policy: what each may add, and what an untrusted project may not.

#![expect(clippy::unwrap_used, reason = "a helper of a test may panic as the test itself may")]

use std::time::Duration;

use portcullis_policy::{
    Caller, Decision, Durability, Explanation, Layer, LayerError, Layers, Limit, Payloads, Permission, Permissions,
    Policy, PolicyFault, Principal, Question, ResourceQuestion, RuleId, Source, Trust, Unattended,
};
use serde_json::json;

fn layered(built_in: &str, user: &str, project: &str, trust: Trust) -> Result<Policy, LayerError> {
    Policy::layered(&Layers { built_in: Some(built_in), user: Some(user), project: Some((project, trust)) })
}

fn with_project(user: &str, project: &str, trust: Trust) -> Policy {
    layered("", user, project, trust).unwrap_or_else(|error| panic!("{error}"))
}

fn explain(policy: &Policy, path: &str) -> Explanation {
    let (tool, principal) = ("files.write".parse().unwrap(), "alice".parse().unwrap());
    let caller = Caller { session: "s", principal: &principal, automated: false };
    let arguments = json!({ "path": path });
    let arguments = arguments.as_object().unwrap();
    policy.explain(&Question { tool: &tool, permissions: Permissions::NONE, hints: &[], arguments, caller })
}

fn decide(policy: &Policy, path: &str) -> Decision {
    explain(policy, path).verdict.decision
}

fn rule(decision: &str, more: &str) -> String {
    format!("[[rule]]\ntool = \"files.*\"\ndecision = \"{decision}\"\n{more}\n")
}

fn default(decision: &str) -> String {
    format!("[defaults]\ndecision = \"{decision}\"\n")
}

#[test]
fn no_layer_at_all_is_the_empty_policy() {
    assert_eq!(Policy::layered(&Layers::default()).unwrap(), Policy::deny_all());
    assert_eq!(layered("", "", "", Trust::Trusted).unwrap(), Policy::deny_all());
    assert_eq!(layered("", "", "", Trust::Untrusted).unwrap(), Policy::deny_all());
}

#[test]
fn rules_of_all_layers_are_combined_and_each_names_its_layer() {
    let policy = layered(&rule("ask", ""), &rule("allow", ""), &rule("deny", "when = { path = 'x' }"), Trust::Trusted);
    let policy = policy.unwrap();
    let (asked, denied) = (explain(&policy, "a"), explain(&policy, "x"));
    let id = |layer| Source::Rule(RuleId { layer, number: 1, line: 1 });
    assert_eq!((asked.verdict.decision, asked.verdict.source), (Decision::Ask, id(Layer::BuiltIn)));
    assert_eq!((denied.verdict.decision, denied.verdict.source), (Decision::Deny, id(Layer::Project)));
    assert_eq!(asked.verdict.reason.as_ref(), "rule 1 (line 1) of the built-in policy says ask");
    assert_eq!(denied.verdict.reason.as_ref(), "rule 1 (line 1) of the project's policy says deny");
    assert_eq!(denied.matched.iter().map(|rule| rule.rule.layer).collect::<Vec<_>>(), Layer::ALL);
    assert_eq!(serde_json::to_value(denied.matched[0].rule).unwrap()["layer"], "built-in");
    let user = explain(&Policy::parse(&rule("deny", "")).unwrap(), "a");
    assert_eq!(user.verdict.reason.as_ref(), "rule 1 (line 1) of the policy says deny");
}

#[test]
fn an_untrusted_project_can_stop_calls_but_lift_nothing() {
    let rows = [
        ("", rule("allow", ""), Decision::Deny, Decision::Allow),
        ("", rule("ask", ""), Decision::Deny, Decision::Ask),
        ("ask", rule("allow", ""), Decision::Ask, Decision::Allow),
        ("ask", rule("deny", ""), Decision::Deny, Decision::Deny),
        ("allow", rule("ask", ""), Decision::Ask, Decision::Ask),
        ("allow", rule("deny", "when = { path = 'SRC/A' }"), Decision::Deny, Decision::Deny),
        ("allow", rule("ask", "when = { path = 'b' }"), Decision::Allow, Decision::Allow),
    ];
    for (user, project, untrusted, trusted) in rows {
        let user = if user.is_empty() { String::new() } else { default(user) };
        assert_eq!(decide(&with_project(&user, &project, Trust::Untrusted), "src/a"), untrusted, "{user}{project}");
        assert_eq!(decide(&with_project(&user, &project, Trust::Trusted), "src/a"), trusted, "{user}{project}");
    }
}

#[test]
fn the_strictest_default_applies_and_an_untrusted_project_never_loosens_it() {
    let rows = [
        ("", "allow", Decision::Deny, Decision::Allow),
        ("", "ask", Decision::Deny, Decision::Ask),
        ("ask", "allow", Decision::Ask, Decision::Ask),
        ("ask", "deny", Decision::Deny, Decision::Deny),
        ("allow", "ask", Decision::Ask, Decision::Ask),
        ("allow", "", Decision::Allow, Decision::Allow),
    ];
    let text = |decision: &str| if decision.is_empty() { String::new() } else { default(decision) };
    for (user, project, untrusted, trusted) in rows {
        let of = |trust| with_project(&text(user), &text(project), trust).default_decision();
        assert_eq!((of(Trust::Untrusted), of(Trust::Trusted)), (untrusted, trusted), "{user:?} and {project:?}");
    }
    let built_in = layered(&default("ask"), &default("allow"), "", Trust::Trusted).unwrap();
    assert_eq!(built_in.default_decision(), Decision::Ask);
}

#[test]
fn limits_are_overridden_by_a_trusted_project_and_only_lowered_by_an_untrusted_one() {
    let user = "[limits]\nmemory = '10 MiB'\ntime = '10 s'\n[plugin.files.limits]\nmemory = '5 MiB'\n";
    let project = "[limits]\nmemory = '7 MiB'\ntime = '20 s'\nlog = 1\n[plugin.files.limits]\nmemory = '6 MiB'\n";
    let (files, web) = ("files".parse().unwrap(), "web".parse().unwrap());
    let of = |trust, plugin, limit| with_project(user, project, trust).limits(plugin).get(limit);
    let mib = |count: usize| count << 20;
    assert_eq!(of(Trust::Trusted, &files, Limit::Memory), mib(6));
    assert_eq!(of(Trust::Trusted, &web, Limit::Memory), mib(7));
    assert_eq!(of(Trust::Trusted, &web, Limit::Time), 20_000);
    assert_eq!(of(Trust::Untrusted, &files, Limit::Memory), mib(5));
    assert_eq!(of(Trust::Untrusted, &web, Limit::Memory), mib(7));
    assert_eq!(of(Trust::Untrusted, &web, Limit::Time), 10_000);
    assert_eq!(of(Trust::Untrusted, &files, Limit::Time), 10_000);
    assert_eq!((of(Trust::Untrusted, &files, Limit::Log), of(Trust::Untrusted, &web, Limit::Log)), (1, 1));
    let own = with_project("", "[limits]\nlog = 5\n[plugin.files.limits]\nlog = 7\n", Trust::Untrusted);
    assert_eq!((own.limits(&files).log_bytes, own.limits(&web).log_bytes), (7, 5));
    assert_eq!(own.default_limits().log_bytes, 5);
}

#[test]
fn the_limits_of_one_plugin_override_those_of_all_plugins_in_any_layer() {
    let policy = with_project("[plugin.files.limits]\nlog = 5\n", "[limits]\nlog = 9\n", Trust::Trusted);
    assert_eq!(policy.limits(&"files".parse().unwrap()).log_bytes, 5);
    let policy = layered("[limits]\nlog = 3\n", "[limits]\ntables = 4\n", "", Trust::Trusted).unwrap();
    assert_eq!((policy.default_limits().log_bytes, policy.default_limits().tables), (3, 4));
}

const BINDING: &str = "[plugin.files]\ndirectory.a = { path = 'x' }\n";

#[test]
fn a_trusted_project_adds_bindings_and_an_untrusted_one_none() {
    let (files, key, other) = ("files".parse().unwrap(), "a".parse().unwrap(), "b".parse().unwrap());
    let user = "[plugin.files]\ndirectory.b = { path = 'y' }\n";
    let trusted = with_project(user, BINDING, Trust::Trusted);
    assert_eq!(trusted.bindings(&files).len(), 2);
    assert_eq!(trusted.binding_layer(&files, &key), Some(Layer::Project));
    assert_eq!(trusted.binding_layer(&files, &other), Some(Layer::User));
    assert_eq!(trusted.binding_layer(&"web".parse().unwrap(), &key), None);
    let untrusted = with_project(user, BINDING, Trust::Untrusted);
    assert_eq!(untrusted.bindings(&files).len(), 1);
    assert_eq!(untrusted.binding_layer(&files, &key), None);
    assert_eq!(with_project(BINDING, BINDING, Trust::Untrusted).bindings(&files).len(), 1);
    let built_in = layered(BINDING, "", "", Trust::Trusted).unwrap();
    assert_eq!(built_in.binding_layer(&files, &key), Some(Layer::BuiltIn));
}

#[test]
fn a_key_that_two_layers_bind_is_an_error_in_the_second_layer() {
    let error = layered("", BINDING, &format!("\n{BINDING}"), Trust::Trusted).unwrap_err();
    assert_eq!(error.layer, Layer::Project);
    assert_eq!(error.error.fault, PolicyFault::BoundElsewhere { layer: Layer::User });
    assert_eq!(
        error.to_string(),
        "the project's policy: line 3, column 11: `plugin.files.directory.a`: the user's policy already binds this key \
         for this plugin; bind it in only one of the two policies, or use another key"
    );
    assert!(error.remedy().starts_with("bind it in only one"));
    let http = "[plugin.files]\nhttp.a = { hosts = ['docs.rs'] }\n";
    assert_eq!(layered(http, BINDING, "", Trust::Trusted).unwrap_err().layer, Layer::User);
}

#[test]
fn an_invalid_text_makes_the_whole_policy_invalid_whatever_its_trust() {
    for trust in [Trust::Trusted, Trust::Untrusted] {
        for (texts, layer) in [
            (["x = 1", "", ""], Layer::BuiltIn),
            (["", "[[rule]]", ""], Layer::User),
            (["", "", "[defaults"], Layer::Project),
            (["", "", "[plugin.files]\ndirectory.a = { path = '' }"], Layer::Project),
            (["", "x = 1", "y = 2"], Layer::User),
        ] {
            let [built_in, user, project] = texts;
            assert_eq!(layered(built_in, user, project, trust).unwrap_err().layer, layer, "{texts:?}");
        }
    }
}

#[test]
fn the_number_of_rules_is_bounded_over_all_layers() {
    let rules = |count: usize| "[[rule]]\ntool = 'a.b'\ndecision = 'ask'\n".repeat(count);
    assert_eq!(layered(&rules(1), &rules(9_998), &rules(1), Trust::Untrusted).unwrap().rules().len(), 10_000);
    assert_eq!(layered(&rules(200), &rules(200), "", Trust::Untrusted).unwrap().rules().len(), 400);
    let error = layered(&rules(1), &rules(9_998), &rules(2), Trust::Untrusted).unwrap_err();
    assert_eq!((error.layer, error.error.fault), (Layer::Project, PolicyFault::TooManyRules));
}

#[test]
fn approvals_and_records_are_narrowed_by_an_untrusted_project_and_set_by_a_trusted_one() {
    let strict = "[approvals]\nunattended = 'deny'\npending-time = '1 h'\nsession-time = '2 h'\nalways-time = '3 h'\n\
                  repeats = 2\n[record]\npayloads = 'digest'\n\
                  targets = 'drop'\ndurable = 'machine'\n";
    let mild = "[approvals]\nunattended = 'pending'\npending-time = '30 h'\nsession-time = '31 h'\nalways-time = '90 d'\n\
                repeats = 4\n[record]\npayloads = 'keep'\n\
                targets = 'keep'\ndurable = 'process'\n";
    let (strictest, mildest) = (Policy::parse(strict).unwrap(), Policy::parse(mild).unwrap());
    assert_eq!((mildest.record().payloads, mildest.record().durable), (Payloads::Keep, Durability::Process));
    assert_eq!(mildest.approvals().unattended, Unattended::Pending);
    assert_eq!(strictest.approvals().session_time, Duration::from_secs(7200));
    for (user, project, trust, expected) in [
        (strict, mild, Trust::Untrusted, &strictest),
        (mild, strict, Trust::Untrusted, &strictest),
        (strict, mild, Trust::Trusted, &mildest),
        (mild, strict, Trust::Trusted, &strictest),
        (mild, "", Trust::Untrusted, &mildest),
        (strict, "[approvals]\n[record]\n", Trust::Trusted, &strictest),
    ] {
        let policy = with_project(user, project, trust);
        assert_eq!((policy.approvals(), policy.record()), (expected.approvals(), expected.record()), "{trust:?}");
    }
}

#[test]
fn the_calls_of_a_client_are_set_by_trusted_texts_and_only_lowered_by_an_untrusted_project() {
    let rate = |second: u32, burst: u32| format!("[serve]\ncalls-per-second = {second}\ncalls-burst = {burst}\n");
    let (low, high) = (rate(10, 20), rate(1000, 2000));
    for (user, project, trust, expected) in [
        ("", "", Trust::Untrusted, (200, 300)),
        (&*low, "", Trust::Untrusted, (10, 20)),
        ("[serve]\ncalls-burst = 7\n", "", Trust::Untrusted, (200, 7)),
        (&low, &*high, Trust::Untrusted, (10, 20)),
        (&high, &low, Trust::Untrusted, (10, 20)),
        ("", &low, Trust::Untrusted, (10, 20)),
        ("", &high, Trust::Untrusted, (200, 300)),
        (&low, &high, Trust::Trusted, (1000, 2000)),
        (&high, "[serve]\ncalls-per-second = 5\n", Trust::Trusted, (5, 2000)),
    ] {
        let rate = with_project(user, project, trust).client_rate();
        assert_eq!((rate.calls_per_second(200), rate.calls_burst(300)), expected, "{user} {project} {trust:?}");
    }
    for wrong in ["calls-per-second = 0", "calls-burst = 1000001", "calls-per-second = '5/s'", "rate = 1"] {
        assert!(Policy::parse(&format!("[serve]\n{wrong}\n")).is_err(), "{wrong}");
    }
}

/// A project runs no program on the user's machine before it is trusted.
#[test]
fn only_a_trusted_project_sets_the_command_for_a_new_request() {
    let (user, project) = ("[approvals]\nnotify = ['mine']\n", "[approvals]\nnotify = ['theirs']\n");
    assert_eq!(with_project(user, project, Trust::Untrusted).notify(), ["mine"]);
    assert!(with_project("", project, Trust::Untrusted).notify().is_empty());
    assert_eq!(with_project(user, project, Trust::Trusted).notify(), ["theirs"]);
    assert_eq!(with_project(user, "", Trust::Trusted).notify(), ["mine"]);
}

#[test]
fn an_explanation_names_the_rules_that_need_a_trusted_project() {
    let policy = with_project("", &(rule("allow", "when = { path = 'src/**' }") + &rule("ask", "")), Trust::Untrusted);
    let waiting = explain(&policy, "src/a");
    assert_eq!(
        waiting.changes[..2],
        [
            "The project is not trusted: rule 1 (line 1) of the project's policy says allow, but it cannot allow \
             anything until you run `portcullis trust FILE`.",
            "The project is not trusted: rule 2 (line 5) of the project's policy says ask, but it cannot allow \
             anything until you run `portcullis trust FILE`."
        ]
    );
    let ids: Vec<_> = waiting.matched.iter().map(|rule| rule.rule.number).collect();
    assert_eq!(ids, [2], "an allow that waits says nothing, an ask can stop");
    let elsewhere = explain(&policy, "x");
    assert!(elsewhere.changes.iter().all(|change| !change.contains("Use arguments")), "{:?}", elsewhere.changes);
}

#[test]
fn only_the_user_and_the_project_name_plugins() {
    let text = |plugin: &str| format!("[[rule]]\ntool = \"{plugin}.*\"\ndecision = \"deny\"\n[plugin.{plugin}-two]\n");
    let policy = layered(&text("a"), &text("b"), &text("c"), Trust::Untrusted).unwrap();
    let named: Vec<_> = policy.plugins().map(|plugin| plugin.as_str()).collect();
    assert_eq!(named, ["b", "b-two", "c", "c-two"]);
}

#[test]
fn every_layer_has_its_own_word() {
    assert_eq!(Layer::ALL.map(Layer::as_str), ["built-in", "user", "project"]);
    assert_eq!(Layer::ALL.map(|layer| layer.to_string()), ["built-in", "user", "project"]);
    for (texts, phrase) in [
        (["x = 1", "", ""], "the built-in policy: line 1, column 1: `x`"),
        (["", "x = 1", ""], "the user's policy: line 1, column 1: `x`"),
        (["", "", "x = 1"], "the project's policy: line 1, column 1: `x`"),
    ] {
        let [built_in, user, project] = texts;
        let error = layered(built_in, user, project, Trust::Trusted).unwrap_err();
        assert!(error.to_string().starts_with(phrase), "{error}");
    }
}

#[test]
fn a_pause_of_any_layer_denies_every_call_and_only_its_end_lifts_it() {
    let allow = "[[rule]]\ntool = '*.*'\ndecision = 'allow'\n";
    let paused = format!("paused = 'wait'\n{allow}");
    let rows = [
        (Layers { user: Some(&paused), ..Layers::default() }, Layer::User),
        (Layers { user: Some(allow), project: Some((&paused, Trust::Untrusted)), ..Layers::default() }, Layer::Project),
        (Layers { user: Some(&paused), project: Some((&paused, Trust::Trusted)), ..Layers::default() }, Layer::User),
    ];
    for (layers, layer) in rows {
        let policy = Policy::layered(&layers).unwrap();
        let (tool, arguments, principal) = ("a.b".parse().unwrap(), serde_json::Map::new(), Principal::default());
        let caller = Caller { session: "s", principal: &principal, automated: false };
        let question =
            Question { tool: &tool, permissions: Permissions::default(), hints: &[], arguments: &arguments, caller };
        let verdict = policy.decide(&question);
        assert_eq!(
            (verdict.decision, verdict.source, &*verdict.reason),
            (Decision::Deny, Source::Paused(layer), "wait")
        );
        assert_eq!(policy.decide_unpaused(&question).decision, Decision::Allow);
        assert!(policy.alternatives(&question).is_empty());
        let resource =
            ResourceQuestion { tool: &tool, permission: Permission::Read, hints: &[], resource: "x", caller };
        assert_eq!(policy.decide_resource(&resource).decision, Decision::Deny);
        assert_eq!(policy.decide_resource_unpaused(&resource).decision, Decision::Allow);
    }
    for text in ["paused = ''", "paused = true", "paused = \"a\\u0007\"", "paused = \"a\\nb\""] {
        assert!(Policy::parse(text).is_err(), "{text}");
    }
}
