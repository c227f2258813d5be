//! Checks of a loaded policy: which rules are dead, and which other calls would have run.

#![expect(clippy::unwrap_used, reason = "a helper of a test may panic as the test itself may")]

use portcullis_policy::{
    ALTERNATIVES_MAX, Caller, DeadReason, Hint, KnownTool, Layers, Permission, Permissions, Policy, Question, ToolName,
    Trust,
};
use serde_json::{Value, json};

fn rule(body: &str) -> String {
    format!("[[rule]]\ntool = 'files.write'\ndecision = 'deny'\n{body}\n")
}

/// The permissions, hints and arguments of a tool.
type Declared = (&'static [Permission], &'static [Hint], Option<Vec<&'static str>>);

/// Returns why the policy has a dead rule. `files` has a tool that reads and one that writes, and `web` has one that
/// accepts any arguments.
fn dead(text: &str) -> Option<String> {
    let names: Vec<ToolName> = ["files.read", "files.write", "web.get"].map(|name| name.parse().unwrap()).to_vec();
    let rows: [Declared; 3] = [
        (&[Permission::Read], &[Hint::ReadOnly], Some(vec!["path"])),
        (&[Permission::Write], &[Hint::Destructive], Some(vec!["path", "content"])),
        (&[Permission::Network], &[], None),
    ];
    let tools: Vec<KnownTool<'_>> = names
        .iter()
        .zip(rows)
        .map(|(name, (permissions, hints, arguments))| {
            let permissions: Permissions = permissions.iter().copied().collect();
            KnownTool { name, permissions, hints, arguments }
        })
        .collect();
    let policy = Policy::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    policy.dead_rule(&tools).map(|dead| {
        let remedy = match &dead.why {
            DeadReason::Tool { plugins, .. } if plugins.len() > 1 => "write the name of a tool of one of the plugins",
            DeadReason::Tool { .. } => "write the name of a tool of the plugin",
            DeadReason::Permission { .. } => "remove the permission",
            DeadReason::Hint { .. } => "remove the hint",
            DeadReason::Argument { .. } => "write the name of an argument",
        };
        assert!(dead.remedy().starts_with(remedy), "{dead}");
        dead.to_string()
    })
}

#[test]
fn a_rule_that_some_call_can_match_is_not_dead() {
    let texts = [
        "tool = 'files.write'",
        "tool = 'files.*'",
        "tool = '{files,web}.*'",
        "tool = 'files.write'\npermission = 'write'\nhint = 'destructive'\nwhen = { path = 'a', content = 'b' }",
        "tool = 'files.*'\nwhen = { content = 'b' }",
        "tool = 'files.*'\nwhen = { '/path/0' = 'b' }",
        "tool = 'web.get'\nwhen = { anything = 'b' }",
        "tool = '{files,web}.*'\nwhen = { anything = 'b' }",
        "tool = '*.*'\nwhen = { anything = 'b' }",
        "tool = '*.nothing'",
        "tool = 'w*.nothing'",
        "tool = 'other.nothing'",
        "tool = '{files,other}.nothing'",
    ];
    for text in texts {
        assert_eq!(dead(&format!("[[rule]]\ndecision = 'deny'\n{text}\n")), None, "{text}");
    }
}

#[test]
fn a_rule_that_no_call_can_match_is_reported_with_the_reason() {
    let rows = [
        ("tool = 'files.wirte'", "the plugin has no such tool; did you mean `files.write`?"),
        ("tool = '{files,web}.nothing'", "the plugins `files`, `web` have no such tool"),
        ("tool = 'files.read'\npermission = 'write'", "no such tool declares the permission `write`"),
        ("tool = 'files.*'\npermission = 'network'", "no such tool declares the permission `network`"),
        ("tool = 'files.*'\nhint = 'open-world'", "no such tool has the hint `open-world`"),
        ("tool = 'files.read'\nhint = 'destructive'", "no such tool has the hint `destructive`"),
        ("tool = 'files.write'\nwhen = { pathh = 'a' }", "no such tool has the argument \"pathh\""),
        ("tool = 'files.read'\nwhen = { path = 'a', content = 'b' }", "no such tool has the argument \"content\""),
        ("tool = 'files.*'\nwhen = { '/path/0' = 'b', '/paths/0' = 'b' }", "no such tool has the argument \"paths\""),
        (
            "tool = 'files.*'\npermission = 'read'\nwhen = { content = 'b' }",
            "no such tool has the argument \"content\"",
        ),
        ("tool = 'files.*'\npermission = 'read'\nhint = 'destructive'", "no such tool has the hint `destructive`"),
    ];
    for (body, why) in rows {
        let text = format!("{}[[rule]]\ndecision = 'deny'\n{body}\n", rule(""));
        assert_eq!(dead(&text), Some(format!("rule 2 (line 5) cannot match any call: {why}")), "{body}");
    }
}

#[test]
fn a_rule_that_is_built_in_or_of_no_loaded_plugin_is_not_judged() {
    let text = rule("when = { nothing = 'a' }");
    let policy = Policy::layered(&Layers { built_in: Some(&text), ..Layers::default() }).unwrap();
    let name: ToolName = "files.write".parse().unwrap();
    let tool =
        KnownTool { name: &name, permissions: Permissions::NONE, hints: &[], arguments: Some(vec!["path", "content"]) };
    assert_eq!(policy.dead_rule(std::slice::from_ref(&tool)), None);
    let policy = Policy::parse(&text).unwrap();
    assert_eq!(policy.dead_rule(&[]), None);
    let found = policy.dead_rule(&[tool]).unwrap();
    assert_eq!(found.why, DeadReason::Argument { shown: "\"nothing\"".to_owned() });
}

fn alternatives_for(policy: &Policy, principal: &str, permissions: Permissions, arguments: &Value) -> Vec<String> {
    let (tool, principal) = ("files.write".parse().unwrap(), principal.parse().unwrap());
    let caller = Caller { session: "s", principal: &principal, automated: false };
    let arguments = arguments.as_object().unwrap();
    policy.alternatives(&Question { tool: &tool, permissions, hints: &[Hint::Destructive], arguments, caller })
}

fn alternatives(text: &str) -> Vec<String> {
    let policy = Policy::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    alternatives_for(&policy, "alice", Permission::Write.into(), &json!({ "path": "x" }))
}

fn milder(decision: &str, body: &str) -> String {
    format!("[[rule]]\ntool = 'files.*'\ndecision = '{decision}'\n{body}\n")
}

#[test]
fn a_denied_call_is_told_which_arguments_a_milder_rule_speaks_of() {
    let allow = milder("allow", "when = { path = 'src/**' }");
    let ask = milder("ask", "when = { path = { prefix = 'docs/' } }");
    assert_eq!(
        alternatives(&(allow.clone() + &ask)),
        [r#"allowed with path = "src/**""#, r#"allowed after approval with path = { prefix = "docs/" }"#]
    );
    assert_eq!(alternatives(&(allow.clone() + &allow)).len(), 1, "a line is not said twice");
    let many: String = (0..5).map(|index| milder("allow", &format!("when = {{ path = 'd{index}/*' }}"))).collect();
    assert_eq!(alternatives(&many).len(), ALTERNATIVES_MAX);
    assert_eq!(alternatives(&milder("allow", &format!("when = {{ path = '{}' }}", "a".repeat(200)))), [""; 0]);
    let shown = "when = { n = [{ at-least = 1 }, { at-most = 2.5 }, { at-least = -3, at-most = 4 }, 5, true], b = { equals = 'c' } }";
    assert_eq!(
        alternatives(&milder("allow", shown)),
        [
            r#"allowed with b = { equals = "c" }, n = [{ at-least = 1 }, { at-most = 2.5 }, { at-least = -3, at-most = 4 }, 5, true]"#
        ]
    );
    let denied = rule("when = { path = 'x' }") + &rule("principal = 'bob'") + &allow;
    assert_eq!(alternatives(&denied).len(), 1, "other arguments may leave the deny silent");
}

#[test]
fn nothing_is_promised_where_no_other_argument_would_help() {
    let allow = milder("allow", "when = { path = 'src/**' }");
    let texts = [
        String::new(),
        rule("") + &allow,
        rule("when = { path = 'x' }") + &rule("principal = 'alice'") + &allow,
        milder("allow", ""),
        milder("ask", "") + &allow,
        milder("allow", "when = { path = 'src/**' }\npermission = 'read'"),
        milder("allow", "when = { path = 'src/**' }\nprincipal = 'bob'"),
        milder("ask", "when = { path = 'src/**' }\nhint = 'destructive'"),
        rule("when = { path = 'x' }"),
        rule("when = { path = 'x' }") + &milder("allow", "when = { path = '*' }"),
        allow.replace("files.", "web."),
    ];
    for text in texts {
        assert_eq!(alternatives(&text), [""; 0], "{text}");
    }
    let layers = Layers { project: Some((&allow, Trust::Untrusted)), ..Layers::default() };
    let untrusted = Policy::layered(&layers).unwrap();
    let write = Permission::Write.into();
    assert_eq!(alternatives_for(&untrusted, "alice", write, &json!({})), [""; 0]);
}

#[test]
fn an_alternative_lifts_every_denied_part_for_everyone_who_is_denied() {
    let text = milder("allow", "when = { path = 'src/**' }\npermission = 'write'\nprincipal = 'alice/**'")
        + &milder("allow", "when = { path = 'all/**' }\nprincipal = 'alice'");
    let policy = Policy::parse(&text).unwrap();
    let both: Permissions = [Permission::Read, Permission::Write].into_iter().collect();
    let (src, all) = (r#"allowed with path = "src/**""#, r#"allowed with path = "all/**""#);
    assert_eq!(alternatives_for(&policy, "alice", Permission::Write.into(), &json!({})), [src, all]);
    assert_eq!(alternatives_for(&policy, "alice", both, &json!({})), [all]);
    assert_eq!(alternatives_for(&policy, "alice/x", Permission::Write.into(), &json!({})), [src]);
    let partly = Policy::parse(&(text + &milder("allow", "permission = 'read'"))).unwrap();
    assert_eq!(alternatives_for(&partly, "alice", both, &json!({})), [src, all]);
}
