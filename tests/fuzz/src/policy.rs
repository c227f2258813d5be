//! Parses any text as a policy: it is accepted or rejected, and as an untrusted project policy it never permits more
//! than the user's policy.
#![no_main]

use libfuzzer_sys::fuzz_target;
use portcullis_policy::{
    Caller, Decision, Hint, Layers, Limit, Permission, Permissions, Policy, Principal, Question, ResourceQuestion,
    ToolName, Trust,
};
use serde_json::{Map, Value, json};

/// The user's policy allows, asks and denies, so that a project could widen each of them.
const USER: &str = r#"
[defaults]
decision = "ask"
[limits]
memory = "8 MiB"
[plugin.files]
directory.workspace = { path = "." }
limits.time = "9 s"
[approvals]
pending-time = "2 h"
[record]
payloads = "digest"
[[rate-limit]]
tool = "files.*"
rate = "3/s"
[[rule]]
tool = "files.read"
decision = "allow"
[[rule]]
tool = "files.*"
when = { path = "secret/**" }
decision = "deny"
[[rule]]
tool = "files.write"
principal = "alice"
when = { size = { at-most = 10 } }
decision = "allow"
"#;

fuzz_target!(|text: &str| {
    let refused = match Policy::parse(text) {
        Ok(policy) => {
            for (tool, arguments) in calls() {
                ask(&policy, &tool, &arguments);
            }
            None
        }
        Err(error) => Some(error),
    };
    if let Some(error) = &refused {
        assert!(!error.to_string().chars().any(char::is_control), "an error shows the text as it is");
        assert!(!error.remedy().is_empty());
    }
    narrows(text, refused.is_some());
});

/// As an untrusted project policy, the text permits nothing more.
fn narrows(text: &str, refused: bool) {
    let alone = policy(USER);
    let layers = Layers { user: Some(USER), project: Some((text, Trust::Untrusted)), built_in: None };
    let both = match Policy::layered(&layers) {
        Ok(both) => both,
        Err(_) => return assert!(refused, "a text is refused only as a project"),
    };
    assert!(!refused, "a text is refused, but not as a project");
    for (tool, arguments) in calls() {
        for (before, after) in ask(&alone, &tool, &arguments).into_iter().zip(ask(&both, &tool, &arguments)) {
            assert!(after >= before, "{tool} was {before} and became {after}");
        }
        for limit in Limit::ALL {
            assert!(both.limits(&tool.plugin).get(limit) <= alone.limits(&tool.plugin).get(limit));
        }
        assert_eq!(both.bindings(&tool.plugin), alone.bindings(&tool.plugin));
    }
    let limits = |policy: &Policy| policy.rate_limits().iter().map(ToString::to_string).collect::<Vec<_>>();
    assert!(limits(&both).starts_with(&limits(&alone)), "a rate limit is lost");
    let (before, after) = (alone.approvals(), both.approvals());
    assert!(after.unattended >= before.unattended && after.pending_time <= before.pending_time);
    assert!(after.session_time <= before.session_time && after.always_time <= before.always_time);
    assert!(both.record().payloads <= alone.record().payloads && both.record().durable >= alone.record().durable);
}

/// Calls to which rules of all kinds apply.
fn calls() -> Vec<(ToolName, Map<String, Value>)> {
    let rows = [
        ("files.read", json!({ "path": "src/main.rs" })),
        ("files.read", json!({ "path": "./Secret/key", "size": 3 })),
        ("files.write", json!({ "path": "src/a", "size": 10.5, "content": "x" })),
        ("files.write", json!({ "path": ["src/a", "b"], "size": 7 })),
        ("web.get", json!({ "options": { "path": "a\\b" }, "size": 1e300 })),
        ("a.b", json!({})),
    ];
    let row = |(tool, arguments): (&str, Value)| match (tool.parse(), arguments) {
        (Ok(tool), Value::Object(arguments)) => (tool, arguments),
        (_, arguments) => panic!("not a call: {tool} {arguments}"),
    };
    rows.into_iter().map(row).collect()
}

/// Decides for several callers, and checks that explanations and derived results agree with the decisions.
fn ask(policy: &Policy, tool: &ToolName, arguments: &Map<String, Value>) -> Vec<Decision> {
    let permissions: Permissions = [Permission::Read, Permission::Write].into_iter().collect();
    let hints = [Hint::Destructive];
    let mut decisions = Vec::new();
    let mut parent = Decision::Allow;
    for name in ["alice", "alice/x", "alice/x/y"] {
        let principal: Principal = name.parse().unwrap_or_else(|error| panic!("{error}"));
        let caller = Caller { session: "s1", principal: &principal, automated: true };
        let question = Question { tool, permissions, hints: &hints, arguments, caller };
        let verdict = policy.decide(&question);
        assert_eq!(policy.explain(&question).verdict, verdict);
        assert!(verdict.decision >= parent, "a sub-agent has more than its parent");
        let alternatives = policy.alternatives(&question);
        assert!(alternatives.is_empty() || verdict.decision == Decision::Deny);
        assert!(!alternatives.concat().chars().any(char::is_control));
        parent = verdict.decision;
        decisions.push(parent);
        for permission in Permission::ALL {
            let question = ResourceQuestion { tool, permission, hints: &hints, resource: "a", caller };
            decisions.push(policy.decide_resource(&question).decision);
        }
    }
    decisions
}

fn policy(text: &str) -> Policy {
    Policy::parse(text).unwrap_or_else(|error| panic!("{error}"))
}
