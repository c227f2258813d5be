//! Rules on a path that tools bypass, and the masks to use instead.

#![expect(clippy::unwrap_used, reason = "a helper of a test may panic as the test itself may")]

use portcullis_policy::{Binding, KnownTool, Permission, Permissions, Policy, ToolName};

/// Returns the suggested masks for a binding with these keys and one rule. The rule names these tools.
fn remedies(keys: &str, rule: &str) -> Vec<String> {
    let text = format!("[plugin.files]\ndirectory.workspace = {{ path = 'w'{keys} }}\n[[rule]]\n{rule}\n");
    let policy = Policy::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let plugin = "files".parse().unwrap();
    let (key, binding) = policy.bindings(&plugin).first_key_value().unwrap();
    let Binding::Directory(binding) = binding else { panic!("not a directory") };
    let names: [ToolName; 2] = ["files.read", "files.write"].map(|name| name.parse().unwrap());
    let (read, write) = ([Permission::Read], [Permission::Read, Permission::Write]);
    let permissions: [Permissions; 2] = [read.into_iter().collect(), write.into_iter().collect()];
    let tool = |at: usize| KnownTool { name: &names[at], permissions: permissions[at], hints: &[], arguments: None };
    let gaps = policy.rule_gaps((&plugin, key), binding, &[tool(0), tool(1)]);
    gaps.iter().map(|gap| format!("{} {}", gap.tools.len(), gap.remedy())).collect()
}

#[test]
fn a_rule_on_a_path_is_one_that_a_mask_should_be() {
    for (rule, remedy) in [
        ("tool = 'files.*'\nwhen = { path = 'secrets/**' }\ndecision = 'deny'", "2 hidden = [\"secrets/**\"]"),
        ("tool = 'files.write'\nwhen = { path = 'k' }\ndecision = 'ask'", "1 read-only = [\"k\"]"),
        ("tool = '*.*'\npermission = 'write'\nwhen = { path = './k' }\ndecision = 'deny'", "1 read-only = [\"k\"]"),
        ("tool = '*.*'\npermission = 'read'\nwhen = { file = 'k' }\ndecision = 'deny'", "2 hidden = [\"k\"]"),
        (
            "tool = 'files.read'\nwhen = { path = ['a', { prefix = 'b/' }, { prefix = '.e' }, { equals = 'c*' }] }\n\
             decision = 'deny'",
            "1 hidden = [\"a\", \"b/**\", \".e*\", \"c\\\\*\"]",
        ),
    ] {
        assert_eq!(remedies(", access = 'read-write'", rule), [remedy], "{rule}");
    }
}

#[test]
fn a_rule_that_leaves_no_gap_is_not_reported() {
    for rule in [
        "tool = 'files.*'\nwhen = { path = 'src/**' }\ndecision = 'allow'",
        "tool = 'files.*'\ndecision = 'deny'",
        "tool = 'files.*'\nwhen = { path = '**' }\ndecision = 'deny'",
        "tool = 'files.*'\nwhen = { path = '/etc/**' }\ndecision = 'deny'",
        "tool = 'files.*'\nwhen = { regex = 'secrets/**' }\ndecision = 'deny'",
        "tool = 'other.*'\nwhen = { path = 'secrets/**' }\ndecision = 'deny'",
    ] {
        assert_eq!(remedies("", rule), [""; 0], "{rule}");
    }
    let rule = "tool = 'files.*'\nwhen = { path = 'secrets/keys/**' }\ndecision = 'deny'";
    for keys in [", hidden = ['secrets']", ", hidden = ['secrets/keys/**']", ", hidden = ['/secrets/keys/']"] {
        assert_eq!(remedies(keys, rule), [""; 0], "{keys}");
    }
    assert_eq!(remedies(", read-only = ['secrets']", rule).len(), 1);
    let write = rule.replace("files.*", "files.write");
    assert_eq!(remedies(", access = 'read-write', read-only = ['secrets']", &write), [""; 0]);
}

#[test]
fn a_mask_at_the_top_covers_a_rule_on_a_name_at_the_top_only() {
    let rule = |pattern: &str| format!("tool = 'files.*'\nwhen = {{ path = '{pattern}' }}\ndecision = 'deny'");
    assert_eq!(remedies(", hidden = ['/secrets']", &rule("secrets")), [""; 0]);
    for (pattern, remedy) in [
        ("**/secrets", "2 hidden = [\"**/secrets\"]"),
        ("secret?", "2 hidden = [\"secret?\"]"),
        ("a/secrets", "2 hidden = [\"a/secrets\"]"),
    ] {
        assert_eq!(remedies(", hidden = ['/secrets']", &rule(pattern)), [remedy], "{pattern}");
    }
    assert_eq!(remedies(", hidden = ['secrets']", &rule("a/secrets")), [""; 0]);
}
