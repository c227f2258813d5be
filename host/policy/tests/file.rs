//! Parsing a policy: the meaning of the sections. Nothing is ignored or repaired.

#![expect(clippy::unwrap_used, reason = "a helper of a test may panic as the test itself may")]

use std::time::Duration;

use portcullis_policy::{
    Access, Binding, Caller, Decision, Durability, Explanation, Layer, Limit, Limits, Payloads, Permission,
    Permissions, Policy, PolicyError, PolicyFault, Question, ResourceQuestion, RuleId, SecretSlot, SecretSource,
    Source, TargetKeeping, ToolName, Unattended, Verdict,
};
use serde_json::json;

/// The example of the design document.
const EXAMPLE: &str = r#"
[defaults]
decision = "ask"                          # for a tool that no rule names: allow | ask | deny
[limits]
memory = "64 MiB"
time = "30 s"
output = "256 KiB"

[plugin.files]
directory.workspace = { path = ".", access = "read-write" }
[plugin.web]
http.fetch = { hosts = ["docs.rs", "*.wikipedia.org"], methods = ["GET"] }
[plugin.github]
http.api = { hosts = ["api.github.com"], secret = { header = "authorization", value = "Bearer {}", from = "env:GITHUB_TOKEN" } }

[[rule]]
tool = "files.write"
when = { path = "src/**" }                # matches validated arguments
decision = "allow"
[[rule]]
tool = "files.*"
permission = "write"
decision = "ask"
reason = "a person looks at every other write"
"#;

/// A policy in which every section has every key.
const FULL: &str = r#"
[defaults]
decision = "deny"
[limits]
memory = "1 MiB"
table-elements = 1
core-instances = 2
tables = 3
memories = 4
time = "5 s"
transfer = "6 KiB"
handles = 7
resources = 8
random = 9
log = "10 B"
arguments = "11 KiB"
output = "12 KiB"
progress-reports = 13
directory-entries = 14
approval-time = "15 min"
[approvals]
unattended = "deny"
pending-time = "16 h"
session-time = "17 h"
always-time = "18 d"
repeats = 19
[record]
payloads = "keep"
targets = "drop"
durable = "machine"
[plugin.files]
directory.workspace = { path = ".", access = "read-only" }
limits.memory = "2 MiB"
[plugin.web.http.fetch]
hosts = ["docs.rs"]
methods = ["GET", "HEAD"]
schemes = ["https"]
ports = [8443]
paths = ["/api"]
addresses = ["10.0.0.0/8"]
narrow = "/url"
unnamed = "deny"
request-bytes = "20 KiB"
response-bytes = "21 KiB"
requests = 22
requests-per-minute = 23
time = "24 s"
[plugin.web.http.fetch.secret]
header = "x-key"
value = "{}"
from = "file:/run/key"
[plugin.web.store.notes]
scope = "session"
keys = 25
value-bytes = "26 KiB"
bytes = "27 KiB"
[plugin.web.service.search]
name = "search-index"
methods = ["query"]
calls = 28
[plugin.files.process.sh]
program = "/bin/bash"
directories = ["workspace"]
network = "none"
require = "namespaces"
escalate = "never"
time = "29 s"
cpu-time = "30 s"
processes = 31
memory = "32 MiB"
open-files = 33
file-bytes = "34 MiB"
temporary-bytes = "35 MiB"
output-bytes = "36 MiB"
runs = 37
[plugin.clock]
clock = "fine"
[network]
name-servers = ["127.0.0.1:5353"]
[[rate-limit]]
tool = "web.*"
principal = ["alice", "ci-*"]
per = ["principal", "tool"]
rate = "38/min"
burst = 39
concurrent = 40
[[rule]]
tool = "files.read"
permission = "read"
when = { path = "src/**" }
decision = "allow"
reason = "sources are public"
[[rule]]
tool = "files.write"
hint = "destructive"
session = "nightly-*"
principal = ["alice/**", "bob"]
origin = ["sub-agent", "automation"]
when = { path = [{ prefix = "src/" }, { equals = "a*b" }], size = { at-least = 1, at-most = 1.5 } }
decision = "ask"
"#;

fn parse(text: &str) -> Policy {
    Policy::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn refused(text: &str) -> PolicyError {
    match Policy::parse(text) {
        Ok(_) => panic!("accepted:\n{text}"),
        Err(error) => error,
    }
}

fn name(text: &str) -> ToolName {
    text.parse().unwrap()
}

fn ask(policy: &Policy, tool: &str, permissions: &[Permission], arguments: &serde_json::Value) -> Explanation {
    let permissions = permissions.iter().copied().collect::<Permissions>();
    let arguments = arguments.as_object().unwrap();
    let principal = "alice".parse().unwrap();
    let caller = Caller { session: "s", principal: &principal, automated: false };
    policy.explain(&Question { tool: &name(tool), permissions, hints: &[], arguments, caller })
}

#[test]
fn the_example_of_the_design_decides_as_the_design_says() {
    let policy = parse(EXAMPLE);
    let verdict = |tool, permission, path| ask(&policy, tool, &[permission], &json!({ "path": path })).verdict;
    let write = verdict("files.write", Permission::Write, "src/a");
    assert_eq!(write.decision, Decision::Ask, "an ask is stricter than an allow");
    assert_eq!(write.source, Source::Rule(RuleId { layer: Layer::User, number: 2, line: 20 }));
    assert_eq!(write.reason.as_ref(), "a person looks at every other write");
    let other = verdict("files.read", Permission::Read, "src/a");
    assert_eq!((other.decision, other.source), (Decision::Ask, Source::Default));
    assert_eq!(policy.plugins().map(|plugin| plugin.as_str()).collect::<Vec<_>>(), ["files", "github", "web"]);
}

#[test]
fn the_bindings_of_the_example_are_parsed() {
    let policy = parse(EXAMPLE);
    let binding = |tool: &str, key: &str| policy.bindings(&name(tool).plugin)[&key.parse().unwrap()].clone();
    let Binding::Directory(workspace) = binding("files.read", "workspace") else { panic!("not a directory") };
    assert_eq!((workspace.path.as_str(), workspace.access), (".", Access::ReadWrite));
    let Binding::Http(fetch) = binding("web.get", "fetch") else { panic!("not a client") };
    assert!(fetch.hosts.iter().any(|host| host.matches("en.wikipedia.org")));
    assert!(!fetch.hosts.iter().any(|host| host.matches("wikipedia.org")));
    let Binding::Http(api) = binding("github.get", "api") else { panic!("not a client") };
    assert_eq!(api.methods, ["GET"]);
    let secret = api.secret.unwrap();
    assert_eq!(secret.from, SecretSource::Env("GITHUB_TOKEN".to_owned()));
    let SecretSlot::Header { name: header, value } = &secret.slot else { panic!("not a header") };
    assert_eq!((header.as_str(), SecretSlot::fill(value, "x").as_str()), ("authorization", "Bearer x"));
    assert_eq!(secret.host.to_string(), "api.github.com");
    assert!(policy.bindings(&name("other.get").plugin).is_empty());
}

#[test]
fn a_directory_is_read_only_unless_the_policy_says_otherwise() {
    let policy = parse("[plugin.files]\ndirectory.a = { path = \"/srv\" }");
    let Binding::Directory(directory) = &policy.bindings(&name("files.a").plugin)[&"a".parse().unwrap()] else {
        panic!("not a directory")
    };
    assert_eq!((directory.access, directory.access.to_string().as_str()), (Access::ReadOnly, "read-only"));
}

#[test]
fn limits_of_a_plugin_override_the_global_ones_key_by_key() {
    let policy = parse("plugin.a.limits.memory = '1 MiB'\n[limits]\nmemory = '2 MiB'\ntime = '5 s'\nlog = 100");
    let (own, global) = (policy.limits(&name("a.x").plugin), policy.limits(&name("b.x").plugin));
    assert_eq!((own.memory_bytes, own.time, own.log_bytes), (1 << 20, Duration::from_secs(5), 100));
    assert_eq!((global.memory_bytes, global.time), (2 << 20, Duration::from_secs(5)));
    assert_eq!(Policy::deny_all().limits(&name("a.x").plugin), portcullis_policy::Limits::default());
}

#[test]
fn every_permission_of_a_tool_needs_its_own_decision() {
    let policy = parse(
        "[[rule]]\ntool = 'a.*'\npermission = 'read'\ndecision = 'allow'\n\
         [[rule]]\ntool = 'a.send'\npermission = 'network'\ndecision = 'ask'\n\
         [[rule]]\ntool = 'a.pure'\ndecision = 'allow'\n",
    );
    let rows: [(&str, &[Permission], Decision); 8] = [
        ("a.get", &[Permission::Read], Decision::Allow),
        ("a.get", &[Permission::Read, Permission::Write], Decision::Deny),
        ("a.get", &[], Decision::Deny),
        ("a.send", &[Permission::Read, Permission::Network], Decision::Ask),
        ("a.send", &[Permission::Read, Permission::Network, Permission::Execute], Decision::Deny),
        ("a.pure", &[], Decision::Allow),
        ("a.pure", &Permission::ALL, Decision::Allow),
        ("b.get", &[Permission::Read], Decision::Deny),
    ];
    for (tool, permissions, expected) in rows {
        assert_eq!(ask(&policy, tool, permissions, &json!({})).verdict.decision, expected, "{tool} {permissions:?}");
    }
}

#[test]
fn only_rules_without_arguments_apply_to_a_resource() {
    let policy = parse(
        "[[rule]]\ntool = 'a.b'\nwhen = { path = '**' }\ndecision = 'allow'\n\
         [[rule]]\ntool = 'a.c'\npermission = 'read'\ndecision = 'allow'\n\
         [[rule]]\ntool = 'a.c'\nwhen = { path = '**' }\ndecision = 'deny'\n",
    );
    let decide = |tool: &str, permission, resource: &str| -> Verdict {
        let (tool, principal) = (name(tool), "alice".parse().unwrap());
        let caller = Caller { session: "s", principal: &principal, automated: false };
        policy.decide_resource(&ResourceQuestion { tool: &tool, permission, hints: &[], resource, caller })
    };
    assert_eq!(decide("a.b", Permission::Read, "x").decision, Decision::Deny);
    assert_eq!(decide("a.c", Permission::Read, "x").decision, Decision::Allow);
    assert_eq!(decide("a.c", Permission::Write, "x").decision, Decision::Deny);
    assert_eq!(decide("a.c", Permission::Read, &"a".repeat(4096)).decision, Decision::Allow);
    for resource in ["", "a\nb", "a\u{1b}[2J", &"a".repeat(4097)] {
        assert_eq!(decide("a.c", Permission::Read, resource).decision, Decision::Deny, "{resource:?}");
    }
}

#[test]
fn an_explanation_says_what_would_change_the_decision() {
    let policy = parse("[[rule]]\ntool = 'files.write'\nwhen = { path = 'src/**' }\ndecision = 'allow'\n");
    let denied = ask(&policy, "files.write", &[Permission::Write], &json!({ "path": "a" }));
    assert_eq!(denied.verdict.reason.as_ref(), "no rule matches, and the default is deny");
    assert!(denied.matched.is_empty());
    assert_eq!(
        denied.changes[0],
        r#"Use arguments for which rule 1 (line 1) says allow. They must match exactly: path = "src/**"."#
    );
    let (_, rule) = denied.changes[1].split_once('\n').unwrap();
    let changed = parse(rule);
    let allowed = ask(&changed, "files.write", &[Permission::Write], &json!({ "path": "a" }));
    assert_eq!(allowed.verdict.decision, Decision::Allow);
    assert!(allowed.matched[0].decisive);
    let (_, stop) = allowed.changes[0].split_once('\n').unwrap();
    let stopped = ask(&parse(stop), "files.write", &[Permission::Write], &json!({}));
    assert_eq!(stopped.changes, ["Remove or narrow rule 1 (line 1), which says deny: no other rule overrules a deny."]);
    let shown = serde_json::to_value(&stopped).unwrap();
    assert_eq!(shown["verdict"]["decision"], "deny");
    assert_eq!(shown["verdict"]["source"]["rule"]["number"], 1);
}

/// Every table of [`FULL`], by a text after which a key of that table may follow.
const TABLES: &[&str] = &[
    "[defaults]\n",
    "[limits]\n",
    "[approvals]\n",
    "[record]\n",
    "{ at-least = 1, ",
    "[plugin.files]\n",
    "{ path = \".\", ",
    "[plugin.web.http.fetch]\n",
    "[plugin.web.http.fetch.secret]\n",
    "[plugin.web.store.notes]\n",
    "[plugin.web.service.search]\n",
    "[plugin.files.process.sh]\n",
    "[plugin.clock]\n",
    "[network]\n",
    "[[rule]]\n",
];

#[test]
fn an_unknown_key_at_any_level_is_refused() {
    parse(FULL);
    for unknown in ["deney", "Decision", "\"\"", "\"decision \"", "rules", "plugins", "\"a\\u001bb\"", "x.y.z"] {
        for table in TABLES {
            let separator = if table.ends_with('\n') { "\n" } else { ", " };
            let text = FULL.replacen(table, &format!("{table}{unknown} = 1{separator}"), 1);
            assert_ne!(text, FULL, "{table}");
            assert!(matches!(refused(&text).fault, PolicyFault::UnknownKey { .. }), "{table}{unknown}");
        }
        let text = format!("{unknown} = 1\n{FULL}");
        assert!(matches!(refused(&text).fault, PolicyFault::UnknownKey { .. }), "{unknown}");
    }
    for header in ["[mistake]", "[[mistake]]", "[plugin.files.mistake]", "[plugin.files.limits.memory.x]", "[rules]"] {
        refused(&format!("{FULL}\n{header}\n"));
    }
}

#[test]
fn a_known_key_with_any_letter_changed_is_refused() {
    let lines = FULL.lines().filter(|line| !line.is_empty());
    for (line, key) in lines.filter_map(|line| Some((line, line.split_once(" = ")?.0))) {
        let (table, key) = key.rsplit_once('.').map_or(("", key), |(table, key)| (table, key));
        if table == "directory" {
            continue; // The policy chooses this key itself.
        }
        for at in 0..key.len() {
            let mut misspelt = key.to_owned();
            misspelt.replace_range(at..=at, if key[at..].starts_with('q') { "z" } else { "q" });
            let table = if table.is_empty() { String::new() } else { format!("{table}.") };
            let (_, value) = line.split_once(" = ").unwrap();
            let text = FULL.replacen(&format!("\n{line}\n"), &format!("\n{table}{misspelt} = {value}\n"), 1);
            assert_ne!(text, FULL, "{line}");
            let error = refused(&text);
            let told = matches!(error.fault, PolicyFault::UnknownKey { .. } | PolicyFault::MissingKey { .. });
            assert!(told, "{misspelt}: {error}");
        }
    }
}

#[test]
fn a_value_of_another_type_is_refused_everywhere() {
    for (line, key) in FULL.lines().filter_map(|line| Some((line, line.split_once(" = ")?.0))) {
        for value in ["1979-05-27", "nan", "true", "-1", "1.5", "[]", "[[]]", "{}", "''", "\"\\u0000\"", "\"\u{202e}\""]
        {
            // These values have the right type for these keys.
            let free_text = matches!(key, "reason" | "session");
            if (free_text && value.contains('\u{202e}')) || (key.ends_with("path") && value.len() > 6) {
                continue;
            }
            let text = FULL.replacen(&format!("\n{line}\n"), &format!("\n{key} = {value}\n"), 1);
            assert_ne!(text, FULL, "{line}");
            refused(&text);
        }
    }
}

#[test]
fn every_malformed_part_of_a_rule_is_a_load_error() {
    let rule = |body: &str| format!("[[rule]]\ntool = 'a.b'\ndecision = 'deny'\n{body}\n");
    let texts = [
        rule("when = { path = '' }"),
        rule("when = { path = '[' }"),
        rule("when = { path = '{a' }"),
        rule("when = { path = 'a**' }"),
        rule("when = { path = '../a' }"),
        rule("when = { path = ['a', ''] }"),
        rule("when = { path = [] }"),
        rule("when = { path = [['a']] }"),
        rule("when = { path = { a = 'b' } }"),
        rule("when = { path = nan }"),
        rule("when = { path = inf }"),
        rule("when = { path = 9223372036854775808 }"),
        rule("when = { path = 1e999 }"),
        rule("when = { path = 1979-05-27 }"),
        rule("when = { '' = 'a' }"),
        rule("when = { '/~2' = 'a' }"),
        rule("when = {}"),
        rule("when = 'path'"),
        rule("when = []"),
        rule("permission = 'Write'"),
        rule("permission = 'writes'"),
        rule("permission = ''"),
        rule("permission = ['write']"),
        rule("reason = ''"),
        rule("reason = '  '"),
        rule("reason = \"a\\nb\""),
        rule("reason = 1"),
        rule(&format!("reason = '{}'", "a".repeat(1001))),
        rule("decision = 'deny'"),
    ];
    for text in texts {
        refused(&text);
    }
}

#[test]
fn every_malformed_table_in_a_when_is_a_load_error() {
    let rule = |body: &str| format!("[[rule]]\ntool = 'a.b'\ndecision = 'deny'\n{body}\n");
    let texts = [
        rule("when = { path = { prefix = '' } }"),
        rule("when = { path = { prefix = 1 } }"),
        rule("when = { path = { prefix = '../a' } }"),
        rule("when = { path = { prefix = 'a/../' } }"),
        rule("when = { path = { prefix = \"a\\nb\" } }"),
        rule("when = { path = { prefix = ['a', 'b'] } }"),
        rule(&format!("when = {{ path = {{ prefix = '{}' }} }}", "a".repeat(1024))),
        rule("when = { path = { equals = '' } }"),
        rule("when = { path = { equals = '..' } }"),
        rule("when = { path = { equals = ['a'] } }"),
        rule("when = { path = { equals = { equals = 'a' } } }"),
        rule("when = { path = { equals = nan } }"),
        rule("when = { path = {} }"),
        rule("when = { path = [{}] }"),
        rule("when = { path = { prefix = 'a', equals = 'a' } }"),
        rule("when = { path = { prefix = 'a', at-least = 1 } }"),
        rule("when = { path = { equals = 1, at-most = 1 } }"),
        rule("when = { path = { glob = 'a' } }"),
        rule("when = { n = { at-least = 2, at-most = 1 } }"),
        rule("when = { n = { at-least = 1.5, at-most = 1 } }"),
        rule("when = { n = { at-least = 9007199254740993, at-most = 9007199254740992 } }"),
        rule("when = { n = { at-least = nan } }"),
        rule("when = { n = { at-most = inf } }"),
        rule("when = { n = { at-most = 1e300 } }"),
        rule("when = { n = { at-least = 9007199254740992.0 } }"),
        rule("when = { n = { at-least = '1' } }"),
        rule("when = { n = { at-least = true } }"),
    ];
    for text in texts {
        refused(&text);
    }
}

#[test]
fn every_malformed_subject_of_a_rule_is_a_load_error() {
    let rule = |body: &str| format!("[[rule]]\ntool = 'a.b'\ndecision = 'deny'\n{body}\n");
    let texts = [
        rule("hint = 'dangerous'"),
        rule("hint = ['destructive']"),
        rule("session = ''"),
        rule("session = 'a]'"),
        rule("session = '../a'"),
        rule("session = ['a']"),
        rule("principal = ''"),
        rule("principal = []"),
        rule("principal = 1"),
        rule("principal = 'a b'"),
        rule("principal = '/a'"),
        rule("principal = 'a/'"),
        rule("principal = 'a//*'"),
        rule("principal = '/**'"),
        rule("principal = 'a/**/'"),
        rule("principal = 'a/../*'"),
        rule("principal = 'a/./*'"),
        rule("principal = 'a b*'"),
        rule("principal = 'a\\*'"),
        rule("principal = 'a**'"),
        rule("principal = ['alice', '']"),
        rule("origin = 'Person'"),
        rule("origin = []"),
        rule("origin = ['person', 'cron']"),
    ];
    for text in texts {
        refused(&text);
    }
}

#[test]
fn every_malformed_rule_default_or_limit_is_a_load_error() {
    let texts = [
        "[[rule]]\ntool = 'a.b'",
        "[[rule]]\ndecision = 'deny'",
        "[[rule]]\ntool = 'a.b'\ndecision = 'no'",
        "[[rule]]\ntool = 'a.b'\ndecision = false",
        "[[rule]]\ntool = 'a'\ndecision = 'deny'",
        "[[rule]]\ntool = 'A.b'\ndecision = 'deny'",
        "[[rule]]\ntool = ['a.b']\ndecision = 'deny'",
        "[[rule]]\ntool = 'a.b'\ndecision = 'allow'\nwhen = { path = './a' }",
        "[rule]\ntool = 'a.b'\ndecision = 'deny'",
        "rule = []",
        "rule = [1]",
        "[defaults]",
        "[defaults]\ndecision = 'Allow'",
        "defaults = 'deny'",
        "[limits]\nmemory = 0",
        "[limits]\nmemory = '0 MiB'",
        "[limits]\nmemory = '2 GiB'",
        "[limits]\nmemory = 99999999999999999999",
        "[limits]\nmemory = '64 MB'",
        "[limits]\nmemory = 'unlimited'",
        "[limits]\nmemory = 1.5",
        "[limits]\nmemory = -1",
        "[limits]\ntime = 30",
        "[limits]\ntime = '0 s'",
        "[limits]\ntime = '2 h'",
        "[limits]\nhandles = '5'",
        "[limits]\nhandles = 100_001",
        "[plugin.a.limits]\ntables = 129",
        "[[rule]]\ntool = 'a.b'\ndecision = 'allow'\nwhen = { path = { prefix = './a' } }",
        "[[rule]]\ntool = 'a.b'\ndecision = 'allow'\nwhen = { path = { equals = 'a\\b' } }",
        "[[rule]]\ntool = 'a.b'\ndecision = 'allow'\nwhen = { path = [{ prefix = 'a\\b' }] }",
        "[[rule]]\ntool = 'a.b'\ndecision = 'allow'\nhint = 'read-only'",
        "[[rule]]\ntool = 'a.b'\ndecision = 'ask'\nover = 'ask'",
        "[[rule]]\ntool = 'a.b'\ndecision = 'deny'\nover = 'ask'",
        "[[rule]]\ntool = 'a.b'\ndecision = 'allow'\nover = 'deny'",
        "[[rule]]\ntool = 'a.b'\ndecision = 'allow'\nover = true",
        "[approvals]\nunattended = 'allow'",
        "[approvals]\nunattended = true",
        "[approvals]\npending-time = '0 s'",
        "[approvals]\npending-time = 24",
        "[approvals]\npending-time = '31 d'",
        "[approvals]\nsession-time = '721 h'",
        "[approvals]\nalways-time = '366 d'",
        "[approvals]\nalways-time = 'never'",
        "[approvals]\nrepeats = 0",
        "[approvals]\nrepeats = 1000001",
        "[approvals]\nrepeats = '3'",
        "[record]\npayloads = 'all'",
        "[record]\ndurable = 'disk'",
    ];
    for text in texts {
        refused(text);
    }
}

#[test]
fn every_malformed_binding_is_a_load_error() {
    let http = |body: &str| format!("[plugin.a]\nhttp.b = {{ {body} }}\n");
    let texts = [
        "[plugin.A]".to_owned(),
        "[plugin.'a.b']".to_owned(),
        "plugin = 1".to_owned(),
        "[plugin.a]\ndirectory = 'x'".to_owned(),
        "[plugin.a]\ndirectory.b = 'x'".to_owned(),
        "[plugin.a]\ndirectory.b = {}".to_owned(),
        "[plugin.a]\ndirectory.b = { path = '' }".to_owned(),
        "[plugin.a]\ndirectory.b = { path = 'x', access = 'rw' }".to_owned(),
        "[plugin.a]\ndirectory.B = { path = 'x' }".to_owned(),
        "[plugin.a]\ndirectory.b = { path = 'x' }\nhttp.b = { hosts = ['docs.rs'] }".to_owned(),
        http(""),
        http("hosts = []"),
        http("hosts = 'docs.rs'"),
        http("hosts = ['*']"),
        http("hosts = ['*.com']"),
        http("hosts = ['docs.rs:443']"),
        http("hosts = ['10.0.0.0/8']"),
        http("hosts = ['docs.rs', 1]"),
        http("hosts = ['docs.rs'], methods = []"),
        http("hosts = ['docs.rs'], methods = ['get']"),
        http("hosts = ['docs.rs'], methods = ['*']"),
        http("hosts = ['docs.rs'], secret = {}"),
        http("hosts = ['docs.rs'], secret = { header = 'host', value = '{}', from = 'env:A' }"),
        http("hosts = ['docs.rs'], secret = { header = 'a', value = 'x', from = 'env:A' }"),
        http("hosts = ['docs.rs'], secret = { header = 'a', value = '{}', from = 'A' }"),
        "[plugin.a]\nprocess.b = '/bin/sh'".to_owned(),
        "[plugin.a]\nprocess.b = {}".to_owned(),
        "[plugin.a]\nprocess.B = { program = '/bin/sh' }".to_owned(),
        "[plugin.a]\nprocess.b = { program = 'sh' }".to_owned(),
    ];
    for text in texts {
        refused(&text);
    }
}

#[test]
fn duplicates_are_refused() {
    let texts = [
        "[limits]\nmemory = 1\nmemory = 2",
        "[limits]\n[limits]",
        "[plugin.a]\n[plugin.a]",
        "plugin.a.limits.memory = 1\n[plugin.a.limits]\nmemory = 1",
        "[plugin.a]\ndirectory.b = { path = 'x' }\ndirectory.b = { path = 'y' }",
        "[plugin.a]\ndirectory.b = { path = 'x' }\ndirectory.b.access = 'read-write'",
        "[[rule]]\ntool = 'a.b'\ntool = 'a.c'\ndecision = 'deny'",
        "[[rule]]\ntool = 'a.b'\ndecision = 'deny'\nwhen = { a = 1, a = 2 }",
        "rule = []\n[[rule]]\ntool = 'a.b'\ndecision = 'deny'",
    ];
    for text in texts {
        refused(text);
    }
}

#[test]
fn an_error_names_the_place_the_key_and_the_remedy() {
    let rows = [
        (
            "[limits]\n  memry = 1\n",
            "line 2, column 3: `limits.memry`: unknown key (did you mean `memory`?); the known keys are `memory`",
        ),
        (
            "[limits]\nmemory = '2 GiB'",
            "line 2, column 1: `limits.memory`: the amount is above the ceiling of \"1 GiB\"; write \"1 GiB\" or less",
        ),
        ("\n[[rule]]\ntool = 'a.b'\n", "line 2, column 1: `rule`: the key `decision` is missing; add `decision`"),
        (
            "[[rule]]\ntool = 'a.b'\ndecision = 'deny'\nwhen = { 'ä' = 1, x = ['a', 'b]'] }",
            "line 4, column 29: `rule.when.x`: a `}` or `]` has no opening bracket; write a backslash",
        ),
        (
            "[plugin.\"\\u001b[2J\"]",
            "line 1, column 9: `plugin.\"\\u{1b}[2J\"`: \"\\u{1b}[2J\" is not a plugin's name; a name starts with",
        ),
        ("[limits", "line 1, column 8: invalid TOML: "),
        (
            "[[rule]]\ntool = 'a.b'\ndecision = 'allow'\nhint = 'read-only'\n",
            "line 4, column 1: `rule.hint`: an allow rule cannot use `hint`, because plugins set their own hints; name",
        ),
        (
            "[[rule]]\ntool = 'a.b'\ndecision = 'deny'\nover = 'ask'\n",
            "line 4, column 1: `rule.over`: only an allow rule can use `over`; remove `over`, or write",
        ),
        (
            "[[rule]]\ntool = 'a.b'\ndecision = 'deny'\nwhen = { n = { at-least = 2, at-most = 1 } }",
            "line 4, column 10: `rule.when.n`: `at-least` is greater than `at-most`; write the smaller number",
        ),
        (
            "[[rule]]\ntool = 'a.b'\ndecision = 'deny'\nwhen = { n = { above = 2 } }",
            "line 4, column 16: `rule.when.n.above`: unknown key; the known keys are `prefix`, `equals`, \
             `at-least`, `at-most`",
        ),
        (
            "[approvals]\nunattended = 'allow'",
            "line 2, column 1: `approvals.unattended`: unknown value; write one of `pending`, `deny`",
        ),
        (
            "[plugin.a]\nhttp.b = { hosts = ['docs.rs:443'] }",
            "line 2, column 21: `plugin.a.http.b.hosts`: this is a host name with a port; write the host without it",
        ),
    ];
    for (text, expected) in rows {
        let error = refused(text).to_string();
        assert!(error.starts_with(expected), "{error}\n{expected}");
    }
}

fn expect_remedies<const ROWS: usize>(rows: [(String, &str); ROWS]) {
    for (text, remedy) in rows {
        let error = refused(&text);
        assert!(error.remedy().starts_with(remedy), "{error}\n{remedy}");
        assert!(error.to_string().ends_with(&error.remedy()), "{error}");
    }
}

#[test]
fn every_refusal_of_a_rule_has_its_own_remedy() {
    let rule = |body: &str| format!("[[rule]]\ntool = 'a.b'\ndecision = 'deny'\n{body}\n");
    let rows = [
        (rule("x = 1"), "the known keys are `tool`, `permission`, `hint`, `session`, `principal`, `origin`, `when`"),
        (
            "[approvals]\nx = 1".to_owned(),
            "the known keys are `unattended`, `pending-time`, `session-time`, `always-time`, `repeats`, `notify`",
        ),
        ("[record]\nx = 1".to_owned(), "the known keys are `payloads`, `targets`, `durable`"),
        ("[serve]\nx = 1".to_owned(), "the known keys are `calls-per-second`, `calls-burst`"),
        (rule("when = 1"), "write a table"),
        (rule("reason = 1"), "write a string in quotes"),
        (rule("when = {}"), "write at least one entry"),
        ("[plugin.a]\ndirectory.b.path = 'x'\nhttp.b.hosts = ['docs.rs']".to_owned(), "give each dependency its own"),
        (rule("when = { n = nan }"), "write a finite number"),
        (rule("decision2 = 1"), "the known keys are"),
        (rule("").replace("deny", "allow") + "when = { p = './a' }", "remove the segment"),
        (rule("when = { p = '../a' }"), "remove it: a path that climbs above its root matches every deny"),
        (rule("reason = ''"), "write one short sentence"),
        (rule("").replace("deny", "no"), "write one of `allow`, `ask`, `deny`"),
        (rule("permission = 'x'"), "write one of `read`, `write`, `execute`, `network`"),
        (rule("hint = 'x'"), "write one of `read-only`, `destructive`, `idempotent`, `open-world`, `sequential`"),
        (rule("").replace("deny", "allow") + "hint = 'read-only'", "name the tools instead"),
        (rule("origin = 'x'"), "write one of `person`, `sub-agent`, `automation`"),
        (rule("principal = 'a b'"), "write one to eight names with `/` between them"),
        (rule("principal = '/*'"), "write a name, or a pattern such as \"alice/**\""),
        (rule("principal = 'a/../*'"), "remove the segment"),
        (rule("when = { p = { prefix = '' } }"), "write at least one character"),
        (rule("when = { p = { prefix = \"\\n\" } }"), "write a pattern with `?` in its place"),
        (rule(&format!("when = {{ p = {{ equals = '{}' }} }}", "a".repeat(1025))), "write a shorter prefix"),
        (rule("").replace("deny", "allow") + "when = { p = { equals = 'a\\b' } }", "remove it"),
        (rule("when = { p = { prefix = 'a', at-most = 1 } }"), "write one of `prefix`, `equals`, or bounds"),
        (rule("when = { n = { at-most = 1e99 } }"), "write a whole number without a dot, or a smaller one"),
        (rule("when = { n = { at-least = 2, at-most = 1 } }"), "write the smaller number after `at-least`"),
        (rule("when = { '' = 1 }"), "write the name of an argument, or a JSON pointer"),
        (rule("when = { '/~' = 1 }"), "write `~0` for `~`"),
        (rule("when = { p = '' }"), "write `**` to match everything"),
        (rule("").replace("a.b", "a"), "write `plugin.tool`; `*.*` matches every tool"),
        (rule("").replace("a.b", "a.B"), "use lower-case letters, digits"),
        (rule("").replace("a.b", "a.**"), "write `*`"),
        (rule("").replace("a.b", "a.9"), "a name starts with a lower-case letter"),
        (rule("").replace("a.b", "a.["), "close it with `]`"),
    ];
    expect_remedies(rows);
}

#[test]
fn every_other_refusal_has_its_own_remedy() {
    let http = |body: &str| format!("[plugin.a]\nhttp.b = {{ hosts = ['docs.rs'], {body} }}\n");
    let rows = [
        ("#".repeat(1024 * 1024 + 1), "write patterns that cover several tools"),
        ("[plugin.A]".to_owned(), "a name starts with a lower-case letter"),
        ("[limits]\nmemory = 0".to_owned(), "write the smallest amount that is enough"),
        ("[limits]\nmemory = 'x'".to_owned(), "write a size such as \"64 MiB\""),
        ("[limits]\ntables = 'x'".to_owned(), "write a whole number without quotes"),
        ("[approvals]\npending-time = 1".to_owned(), "write a duration such as \"30 s\" (units: ms, s, min, h, d)"),
        ("[approvals]\npending-time = '31 d'".to_owned(), "write \"30 d\" or less"),
        ("[record]\ndurable = 'x'".to_owned(), "write one of `process`, `machine`"),
        (http("methods = ['get']"), "write a method such as \"GET\" in upper case"),
        (http("secret = { header = 'A', value = '{}', from = 'env:A' }"), "write a name such as \"authorization\""),
        (http("secret = { header = 'host', value = '{}', from = 'env:A' }"), "use another header"),
        (http("secret = { header = 'a', value = '', from = 'env:A' }"), "write a value such as \"Bearer {}\""),
        (http("secret = { header = 'a', value = '{}', from = 'A' }"), "write \"env:NAME\", \"file:PATH\" or"),
        (http("").replace("docs.rs", "*.com"), "name the domain of one owner"),
        (http("").replace("docs.rs", "a..b"), "write a name such as \"docs.rs\""),
        (http("").replace("docs.rs", "http://a"), "write only the host"),
        (http("").replace("docs.rs", "a.b:1"), "write the host without it; ports go in `ports`"),
        (http("").replace("docs.rs", "A.b"), "write it in lower case"),
        (http("").replace("docs.rs", "é.b"), "write it in punycode"),
        (http("").replace("docs.rs", "a*.b"), "write each host, or one `*.` at the beginning"),
        (http("").replace("docs.rs", "127.1"), "write four decimal numbers"),
        ("[plugin.a]\ndirectory.b = { path = '' }".to_owned(), "write the path of a directory or file"),
        ("[plugin.a]\ndirectory.b = { path = 'x', access = 'x' }".to_owned(), "write `read-only` or `read-write`"),
    ];
    expect_remedies(rows);
}

#[test]
fn no_error_repeats_a_value_that_may_be_a_secret() {
    let canary = "ghp_canary";
    let secret = |header: &str, value: &str, from: &str| {
        format!(
            "plugin.a.http.b = {{ hosts = ['docs.rs'], secret = {{ header = {header}, value = {value}, from = {from} }} }}"
        )
    };
    let texts = [
        secret("'Bearer ghp_canary'", "'{}'", "'env:A'"),
        secret("'a'", "'Bearer ghp_canary'", "'env:A'"),
        secret("'a'", "'{}'", "'ghp_canary'"),
        secret("'a'", "'{}'", "'env:ghp canary ghp_canary'"),
        secret("'a'", "'ghp_canary", "'env:A'"),
        secret("'a'", "ghp_canary", "'env:A'"),
        secret("'a'", "'ghp_canary' x", "'env:A'"),
    ];
    for text in texts {
        let error = refused(&text);
        assert!(!format!("{error} {error:?}").contains(canary), "{error}");
    }
}

#[test]
fn a_rule_has_its_number_and_line_in_any_toml_form() {
    let inline =
        parse("# one\nrule = [\n  { tool = 'a.b', decision = 'ask' },\n  { tool = 'a.c', decision = 'ask' },\n]\n");
    let tables =
        parse("\r\n[[rule]]\r\ntool = 'a.b'\r\ndecision = 'ask'\r\n\r\n[[rule]]\r\ntool = 'a.c'\r\ndecision = 'ask'");
    let ids = |policy: &Policy| policy.rules().iter().map(|rule| (rule.id.number, rule.id.line)).collect::<Vec<_>>();
    assert_eq!(ids(&inline), [(1, 3), (2, 4)]);
    assert_eq!(ids(&tables), [(1, 2), (2, 6)]);
}

#[test]
fn the_size_and_the_rules_of_a_policy_are_limited() {
    let rule = "[[rule]]\ntool = 'a.b'\ndecision = 'ask'\n";
    assert_eq!(parse(&rule.repeat(10_000)).rules().len(), 10_000);
    assert_eq!(refused(&rule.repeat(10_001)).fault, PolicyFault::TooManyRules);
    assert_eq!(refused(&"#".repeat(1024 * 1024 + 1)).fault, PolicyFault::TooLong);
    parse(&"#".repeat(1024 * 1024));
    refused(&format!("rule = {}{}", "[".repeat(100_000), "]".repeat(100_000)));
    refused(&format!("a{} = 1", ".a".repeat(100_000)));
    refused(&format!("[a{}]", ".a".repeat(100_000)));
}

#[test]
fn missing_sections_have_their_defaults() {
    let (approvals, record) = (Policy::deny_all().approvals(), Policy::deny_all().record());
    assert_eq!(approvals.unattended, Unattended::Pending);
    let hours = |hours: u64| Duration::from_secs(hours * 3600);
    assert_eq!((approvals.pending_time, approvals.session_time), (hours(24), hours(24)));
    assert_eq!((approvals.always_time, approvals.repeats), (hours(2160), 3));
    assert_eq!((record.payloads, record.durable), (Payloads::Digest, Durability::Process));
    assert_eq!(record.targets, TargetKeeping::Keep);
    assert_eq!(parse("[approvals]\n[record]\n").approvals(), approvals);
}

#[test]
fn approvals_and_record_can_be_set_up_to_the_ceilings() {
    let policy = parse(FULL);
    let (approvals, record) = (policy.approvals(), policy.record());
    assert_eq!(approvals.unattended, Unattended::Deny);
    let hours = |hours: u64| Duration::from_secs(hours * 3600);
    assert_eq!((approvals.pending_time, approvals.session_time), (hours(16), hours(17)));
    assert_eq!((approvals.always_time, approvals.repeats), (hours(18 * 24), 19));
    assert_eq!((record.payloads, record.durable), (Payloads::Keep, Durability::Machine));
    assert_eq!(record.targets, TargetKeeping::Drop);
    let highest =
        parse("[approvals]\npending-time = '720 h'\nsession-time = '30 d'\nalways-time = '8760 h'").approvals();
    assert_eq!((highest.pending_time, highest.session_time), (hours(720), hours(720)));
    assert_eq!(highest.always_time, hours(8760));
    assert_eq!(parse("[approvals]\nrepeats = 1000000").approvals().repeats, 1_000_000);
}

#[test]
fn the_command_for_a_new_request_is_a_program_with_arguments() {
    let policy = parse("[approvals]\nnotify = ['notify-send', 'Portcullis']");
    assert_eq!(policy.notify(), ["notify-send", "Portcullis"]);
    assert!(Policy::deny_all().notify().is_empty());
    for wrong in ["'notify-send'", "[]", "['']", "[1]", "{ command = ['a'] }"] {
        refused(&format!("[approvals]\nnotify = {wrong}"));
    }
}

#[test]
fn a_limit_is_exactly_as_high_as_it_is_documented() {
    let (kib, mib, hour) = (1 << 10, 1 << 20, 3_600_000);
    let rows = [
        (Limit::Memory, 64 * mib, 1024 * mib),
        (Limit::Time, 30_000, hour),
        (Limit::Transfer, 8 * mib, 128 * mib),
        (Limit::Random, 64 * kib, mib),
        (Limit::Log, 64 * kib, 16 * mib),
        (Limit::Arguments, mib, 16 * mib),
        (Limit::Output, 256 * kib, 64 * mib),
        (Limit::Written, 64 * mib, 64 * 1024 * mib),
        (Limit::ApprovalTime, 300_000, 24 * hour),
        (Limit::IdleTime, 300_000, hour),
    ];
    for (limit, default, ceiling) in rows {
        let mut limits = Policy::deny_all().default_limits();
        assert_eq!(limits.get(limit), default, "{}", limit.key());
        limits.set(limit, u64::try_from(ceiling).unwrap()).unwrap();
        assert!(limits.set(limit, u64::try_from(ceiling).unwrap() + 1).is_err(), "{}", limit.key());
    }
}

#[test]
fn the_larger_of_two_limits_is_taken_key_by_key() {
    for limit in Limit::ALL {
        let (mut low, mut high) = (Limits::default(), Limits::default());
        low.set(limit, 1).unwrap();
        high.set(limit, 2).unwrap();
        assert_eq!((low.max(&high).get(limit), high.max(&low).get(limit)), (2, 2), "{}", limit.key());
    }
}

#[test]
fn an_explanation_distinguishes_the_parts_of_a_call() {
    let policy = parse(
        "[[rule]]\ntool = 'a.b'\npermission = 'read'\ndecision = 'allow'\n\
         [[rule]]\ntool = 'a.b'\npermission = 'write'\ndecision = 'deny'\n\
         [[rule]]\ntool = 'a.b'\npermission = 'network'\ndecision = 'deny'\nwhen = { path = 'x' }\n\
         [[rule]]\ntool = 'a.b'\npermission = 'execute'\ndecision = 'allow'\nwhen = { path = 'y' }\n",
    );
    let decisive = |permissions: &[Permission]| -> Vec<(usize, bool)> {
        let explained = ask(&policy, "a.b", permissions, &json!({ "path": "z" }));
        explained.matched.iter().map(|rule| (rule.rule.number, rule.decisive)).collect()
    };
    assert_eq!(decisive(&[Permission::Read, Permission::Write]), [(1, false), (2, true)]);
    assert_eq!(decisive(&[Permission::Read]), [(1, true)]);
    assert_eq!(decisive(&[Permission::Read, Permission::Network]), [(1, false)]);
    let changes = |permissions: &[Permission]| ask(&policy, "a.b", permissions, &json!({ "path": "z" })).changes;
    let network = changes(&[Permission::Network, Permission::Read]);
    assert_eq!(network.len(), 1, "neither a deny nor a rule for another permission would help: {network:?}");
    let execute = changes(&[Permission::Network, Permission::Execute]);
    assert_eq!(execute.iter().filter(|change| change.starts_with("Use arguments")).count(), 1, "{execute:?}");
    assert_eq!(execute.len(), 3, "{execute:?}");
    let execute = changes(&[Permission::Read, Permission::Execute]);
    assert_eq!(execute.iter().filter(|change| change.starts_with("Use arguments")).count(), 1, "{execute:?}");
}

#[test]
fn an_explanation_says_what_concerns_two_permissions_once() {
    let policy = parse("[[rule]]\ntool = 'a.b'\ndecision = 'allow'\nwhen = { path = 'y' }\n");
    let explained = ask(&policy, "a.b", &[Permission::Read, Permission::Write], &json!({ "path": "z" }));
    let of = |beginning: &str| explained.changes.iter().filter(|change| change.starts_with(beginning)).count();
    assert_eq!((of("Use arguments"), of("No rule matches")), (1, 2), "{:?}", explained.changes);
}
