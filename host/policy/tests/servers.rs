//! MCP servers of a policy: every key, its errors, the default decision, and the layers.

#![expect(clippy::unwrap_used, reason = "a helper of a test may panic as the test itself may")]

use portcullis_policy::{
    Binding, BindingError, Caller, ConfinementTier, Decision, Destination, GrantPlaceKind, HttpBinding, Layer,
    LayerError, Layers, Permission, Permissions, PluginName, Policy, PolicyError, PolicyFault, Principal,
    ProcessBinding, ProcessLimits, ProcessNetwork, Question, SecretSource, ServerAddressError, ServerLogin, Source,
    Trust,
};
use serde_json::Map;

/// A server with every key.
const FULL: &str = r#"
[server.notes]
command = ["/usr/bin/node", "/opt/notes/index.js", "--verbose"]
directory.vault = { path = "~/notes", access = "read-write" }
network = { hosts = ["api.example.com"] }
environment = { LANG = "C.UTF-8", TOKEN = "env:NOTES_TOKEN", KEY = "file:~/.config/notes-key" }
require = "namespaces"
permissions = ["read", "network"]
elicitation = "ask"
resources = true
prompts = false
tool.delete_note = ["write"]
limits = { time = "20 s" }
processes = 65
memory = "2 GiB"
open-files = 1025
file-bytes = "3 GiB"
temporary-bytes = "257 MiB"
"#;

fn name(text: &str) -> PluginName {
    text.parse().unwrap()
}

fn program(policy: &Policy) -> ProcessBinding {
    match &policy.bindings(&name("notes"))[&"server".parse().unwrap()] {
        Binding::Process(process) => (**process).clone(),
        other => panic!("not a program: {other:?}"),
    }
}

fn refused(text: &str) -> PolicyError {
    match Policy::parse(text) {
        Ok(_) => panic!("accepted:\n{text}"),
        Err(error) => error,
    }
}

fn permissions(list: &[Permission]) -> Permissions {
    list.iter().copied().collect()
}

fn decision(policy: &Policy, tool: &str) -> Decision {
    let (tool, principal, arguments) = (tool.parse().unwrap(), Principal::default(), Map::new());
    let caller = Caller { session: "default", principal: &principal, automated: false };
    let permissions = permissions(&[Permission::Network]);
    policy.decide(&Question { tool: &tool, permissions, hints: &[], arguments: &arguments, caller }).decision
}

#[test]
fn every_key_of_a_server_is_parsed() {
    let policy = Policy::parse(FULL).unwrap();
    assert_eq!(policy.servers().collect::<Vec<_>>(), [&name("notes")]);
    let server = policy.server(&name("notes")).unwrap();
    assert_eq!(server.permissions(&"list".parse().unwrap()), permissions(&[Permission::Read, Permission::Network]));
    assert_eq!(server.permissions(&"delete_note".parse().unwrap()), permissions(&[Permission::Write]));
    let program = program(&policy);
    assert_eq!(program.program, "/usr/bin/node");
    assert_eq!(program.directories, ["vault".parse().unwrap()]);
    assert_eq!(program.network, ProcessNetwork::Http("network".parse().unwrap()));
    assert_eq!(program.require, Some(ConfinementTier::Namespaces));
    assert_eq!(program.environment, [("LANG".to_owned(), "C.UTF-8".to_owned())].into());
    let started = program.server.clone().unwrap();
    assert_eq!(started.arguments, ["/opt/notes/index.js", "--verbose"]);
    let secrets = [
        ("KEY".to_owned(), SecretSource::File("~/.config/notes-key".to_owned())),
        ("TOKEN".to_owned(), SecretSource::Env("NOTES_TOKEN".to_owned())),
    ];
    assert_eq!(started.secrets, secrets.into());
    let expected = ProcessLimits {
        processes: 65,
        memory_bytes: 2 << 30,
        open_files: 1025,
        file_bytes: 3 << 30,
        temporary_bytes: 257 << 20,
        ..ProcessLimits::default()
    };
    assert_eq!(program.limits, expected);
    assert_eq!(policy.limits(&name("notes")).time.as_secs(), 20);
    let Binding::Http(client) = &policy.bindings(&name("notes"))[&"network".parse().unwrap()] else {
        panic!("no client");
    };
    assert!(client.methods.contains(&"CONNECT".to_owned()) && client.secret.is_none());
}

#[test]
fn an_approver_reads_what_the_server_is_started_with_and_no_secret() {
    let binding = Binding::Process(Box::new(program(&Policy::parse(FULL).unwrap())));
    let described = binding.describe();
    for part in [
        "runs /usr/bin/node /opt/notes/index.js --verbose until the host ends with vault",
        "network through network",
        "environment LANG=C.UTF-8",
        "the secret TOKEN from the variable NOTES_TOKEN",
        "the secret KEY from the file ~/.config/notes-key",
    ] {
        assert!(described.contains(part), "{part}\n{described}");
    }
    assert!(!described.contains("time"), "{described}");
    let places = binding.places();
    assert_eq!(
        places,
        [(GrantPlaceKind::ConfinedProgram, "/usr/bin/node"), (GrantPlaceKind::Secret, "~/.config/notes-key"),]
    );
}

#[test]
fn a_server_needs_only_a_command_and_gets_nothing_else() {
    let policy = Policy::parse("[server.notes]\ncommand = ['/bin/notes']").unwrap();
    let program = program(&policy);
    assert!(program.directories.is_empty() && program.environment.is_empty());
    assert_eq!((program.network, program.limits), (ProcessNetwork::None, ProcessLimits::default()));
    let server = policy.server(&name("notes")).unwrap();
    let expected = permissions(&[Permission::Network, Permission::Execute]);
    assert_eq!(server.permissions(&"list".parse().unwrap()), expected);
    assert!(policy.server(&name("files")).is_none());
}

#[test]
fn a_server_may_be_a_package() {
    let text = "[server.notes]\npackage = 'npm:@a/notes@1.2.3'\nprogram = 'notes'\narguments = ['/data']\n";
    let program = program(&Policy::parse(text).unwrap());
    let server = program.server.clone().unwrap();
    let package = server.package.unwrap();
    assert_eq!((package.spec.as_str(), package.program.as_deref()), ("npm:@a/notes@1.2.3", Some("notes")));
    assert_eq!((program.program.as_str(), server.arguments), ("", vec!["/data".to_owned()]));
    let binding = Binding::Process(Box::new(program));
    assert!(binding.describe().starts_with("runs npm:@a/notes@1.2.3 notes /data until the host ends"));
    assert_eq!(binding.places(), []);
}

fn client(body: &str) -> HttpBinding {
    let policy = Policy::parse(&format!("[server.notes]\n{body}\n")).unwrap();
    let binding = policy.bindings(&name("notes")).values().next().cloned();
    let Some(Binding::Http(client)) = binding else { panic!("a server with a URL is a client") };
    *client
}

#[test]
fn a_server_may_be_an_address() {
    let client = client("url = 'https://mcp.example.com/v1/mcp?team=a'\nheaders = { x-team = 'a b' }\noauth = true");
    let server = client.server.clone().unwrap();
    assert_eq!(server.url.to_string(), "https://mcp.example.com/v1/mcp?team=a");
    assert_eq!(server.login, Some(ServerLogin::default()));
    let url = |text: &str| Destination::from_url(text).unwrap();
    client.covers("POST", &url("https://mcp.example.com/v1/mcp?team=a")).unwrap();
    for (method, other) in [
        ("PUT", "https://mcp.example.com/v1/mcp"),
        ("POST", "https://mcp.example.com/v1/other"),
        ("POST", "https://mcp.example.com:8443/v1/mcp"),
        ("POST", "https://example.com/v1/mcp"),
        ("POST", "http://mcp.example.com/v1/mcp"),
    ] {
        assert!(client.covers(method, &url(other)).is_err(), "{method} {other}");
    }
    let binding = Binding::Http(Box::new(client));
    let expected = "connects to https://mcp.example.com/v1/mcp?team=a, headers x-team: \"a b\", logs in with OAuth";
    assert_eq!((binding.describe().as_str(), binding.places()), (expected, Vec::new()));
}

#[test]
fn a_server_at_an_address_takes_a_secret_or_a_client_of_the_operator() {
    let secret = "secret = { header = 'authorization', value = 'Bearer {}', from = 'file:~/token' }";
    let with_secret = client(&format!("url = 'https://a.example/mcp'\n{secret}"));
    let described = Binding::Http(Box::new(with_secret.clone())).describe();
    assert!(described.contains("the secret from the file ~/token in the header authorization"), "{described}");
    assert_eq!(Binding::Http(Box::new(with_secret)).places(), [(GrantPlaceKind::Secret, "~/token")]);
    let oauth = "oauth = { client-id = 'me', client-secret = 'file:~/key', scopes = ['read', 'a:b'], port = 3118 }";
    let with_client = client(&format!("url = 'https://a.example/mcp'\n{oauth}"));
    let binding = Binding::Http(Box::new(with_client.clone()));
    let expected = "connects to https://a.example/mcp, logs in with OAuth as the client me, the client's secret from \
                    the file ~/key, scopes read a:b";
    assert_eq!((binding.describe().as_str(), binding.places()), (expected, vec![(GrantPlaceKind::Secret, "~/key")]));
    assert_eq!(with_client.server.unwrap().login.unwrap().port, Some(3118));
    assert!(client("url = 'https://a.example/mcp'\noauth = false").server.unwrap().login.is_none());
}

#[test]
fn an_unencrypted_server_is_at_a_private_address() {
    for body in [
        "url = 'http://127.0.0.1:8080/mcp'",
        "url = 'http://[::1]/mcp'",
        "url = 'http://mcp.corp/mcp'\naddresses = ['10.0.0.0/8']",
    ] {
        let client = client(body);
        assert!(!client.permits(client.server.as_ref().unwrap().url.host(), "8.8.8.8".parse().unwrap()), "{body}");
    }
    let tls = client("url = 'https://mcp.example.com/mcp'");
    let host = tls.server.as_ref().unwrap().url.host().clone();
    assert!(tls.permits(&host, "8.8.8.8".parse().unwrap()) && !tls.permits(&host, "127.0.0.1".parse().unwrap()));
}

#[test]
fn each_fault_of_an_address_is_reported_at_its_key() {
    let url = "url = 'https://a.example/mcp'\n";
    for (body, key, fault) in [
        ("url = 'a.example'", "server.notes.url", ServerAddressError::Url.into()),
        ("url = 'https://ann@a.example/mcp'", "server.notes.url", ServerAddressError::Url.into()),
        ("url = 'http://a.example/mcp'", "server.notes.url", ServerAddressError::InClear.into()),
        ("url = 'http://8.8.8.8/mcp'", "server.notes.url", ServerAddressError::InClear.into()),
        ("url = 'https://a.example/'\ncommand = ['/bin/a']", "server.notes", BindingError::ServerStart.into()),
        (&format!("{url}headers = {{ authorization = 'x' }}"), "server.notes.headers.authorization", {
            ServerAddressError::Header.into()
        }),
        (&format!("{url}headers = {{ x-a = '' }}"), "server.notes.headers.x-a", ServerAddressError::HeaderValue.into()),
        (
            &format!("{url}oauth = true\nsecret = {{ header = 'authorization', value = '{{}}', from = 'env:A' }}"),
            "server.notes.secret",
            ServerAddressError::Credentials.into(),
        ),
        (
            &format!("{url}oauth = {{ client-secret = 'env:A' }}"),
            "server.notes.oauth",
            ServerAddressError::ClientSecret.into(),
        ),
        (
            &format!("{url}oauth = {{ client-id = '' }}"),
            "server.notes.oauth.client-id",
            ServerAddressError::ClientId.into(),
        ),
        (
            &format!("{url}oauth = {{ scopes = ['a b'] }}"),
            "server.notes.oauth.scopes",
            ServerAddressError::Scope.into(),
        ),
        (&format!("{url}oauth = {{ port = 0 }}"), "server.notes.oauth.port", BindingError::Port.into()),
    ] {
        let error = refused(&format!("[server.notes]\n{body}\n"));
        assert_eq!((error.key.as_str(), error.fault), (key, fault), "{body}");
    }
    for key in ["network = { hosts = ['a.example'] }", "environment = {}", "memory = '1 MiB'", "directory.a = {}"] {
        let error = refused(&format!("[server.notes]\n{url}{key}\n"));
        assert!(matches!(error.fault, PolicyFault::UnknownKey { .. }), "{key}: {error}");
    }
}

#[test]
fn each_fault_of_a_server_is_reported_at_its_key() {
    let command = "command = ['/bin/notes']\n";
    for (body, key, fault) in [
        ("", "server.notes", BindingError::ServerStart.into()),
        ("command = ['/bin/a']\npackage = 'npm:a@1.0.0'", "server.notes", BindingError::ServerStart.into()),
        ("command = ['/bin/a']\narguments = ['x']", "server.notes.arguments", BindingError::ServerArguments.into()),
        ("package = 'npm:a'", "server.notes.package", BindingError::Package.into()),
        ("command = ['notes']", "server.notes.command", BindingError::Program.into()),
        ("command = ['./notes']", "server.notes.command", BindingError::Program.into()),
        ("command = []", "server.notes.command", PolicyFault::Empty),
        (&format!("{command}environment = {{ A = 'env:' }}"), "server.notes.environment.A", {
            BindingError::SecretSource.into()
        }),
        (&format!("{command}environment = {{ '1A' = 'x' }}"), "server.notes.environment.1A", {
            BindingError::EnvironmentName.into()
        }),
        (&format!("{command}directory.server = {{ path = '.' }}"), "server.notes", PolicyFault::BoundTwice),
        (
            &format!("{command}directory.network = {{ path = '.' }}\nnetwork = {{ hosts = ['a.example'] }}"),
            "server.notes.network",
            PolicyFault::BoundTwice,
        ),
    ] {
        let error = refused(&format!("[server.notes]\n{body}\n"));
        assert_eq!((error.key.as_str(), error.fault), (key, fault), "{body}");
    }
    for key in ["time = '1 s'", "runs = 1", "escalate = 'ask'", "config = {}", "http.a = {}"] {
        let error = refused(&format!("[server.notes]\n{command}{key}\n"));
        assert!(matches!(error.fault, PolicyFault::UnknownKey { .. }), "{key}: {error}");
    }
    let error = refused(&format!("[server.notes]\n{command}network = {{ hosts = ['a.example'], secret = {{}} }}\n"));
    assert!(matches!(error.fault, PolicyFault::UnknownKey { .. }), "{error}");
    let error = refused(&format!("[server.notes]\n{command}[plugin.notes]\nlimits = {{ time = '1 s' }}\n"));
    assert_eq!(error.fault, PolicyFault::ServerIsPlugin);
}

#[test]
fn the_tools_of_a_server_ask_unless_a_rule_or_the_default_says_otherwise() {
    let server = "[server.notes]\ncommand = ['/bin/notes']\n";
    let rule = |tool: &str, decision: &str| format!("[[rule]]\ntool = '{tool}'\ndecision = '{decision}'\n");
    for (more, expected) in [
        (String::new(), Decision::Ask),
        ("[defaults]\ndecision = 'deny'\n".to_owned(), Decision::Deny),
        ("[defaults]\ndecision = 'ask'\n".to_owned(), Decision::Ask),
        ("[defaults]\ndecision = 'allow'\n".to_owned(), Decision::Ask),
        (rule("notes.list", "allow"), Decision::Allow),
        (rule("notes.*", "deny"), Decision::Deny),
    ] {
        let policy = Policy::parse(&format!("{server}{more}")).unwrap();
        assert_eq!(decision(&policy, "notes.list"), expected, "{more}");
    }
    let policy = Policy::parse(server).unwrap();
    assert_eq!(decision(&policy, "files.read"), Decision::Deny, "another plugin keeps the default");
    let permitted = permissions(&[Permission::Network]);
    assert!(policy.may_permit(&"notes.list".parse().unwrap(), permitted, &[]));
    assert!(policy.may_permit_some(&name("notes")) && !policy.may_permit_some(&name("files")));
}

#[test]
fn an_explanation_knows_the_default_of_a_server() {
    let explain = |more: &str| {
        let policy = Policy::parse(&format!("[server.notes]\ncommand = ['/bin/notes']\n{more}")).unwrap();
        let (tool, principal, arguments) = ("notes.list".parse().unwrap(), Principal::default(), Map::new());
        let caller = Caller { session: "default", principal: &principal, automated: false };
        let permissions = permissions(&[Permission::Network, Permission::Execute]);
        policy.explain(&Question { tool: &tool, permissions, hints: &[], arguments: &arguments, caller })
    };
    let allowing = explain("[defaults]\ndecision = 'allow'\n");
    assert_eq!((allowing.verdict.decision, allowing.verdict.source), (Decision::Ask, Source::Default));
    let added = |change: &String| change.contains("To allow it, add a rule");
    assert!(allowing.changes.len() == 2 && allowing.changes.iter().all(added), "{:?}", allowing.changes);
    // Without a default, it is deny for plugins and ask for servers.
    let asking = explain("[[rule]]\ntool = 'notes.*'\npermission = 'network'\ndecision = 'ask'\n");
    assert!(matches!(asking.verdict.source, Source::Rule(_)), "{:?}", asking.verdict);
    assert!(asking.matched[0].decisive, "{:?}", asking.matched);
}

#[test]
fn a_server_is_set_by_one_trusted_layer() {
    let layered = |user: &str, project: &str, trust| -> Result<Policy, LayerError> {
        Policy::layered(&Layers { user: Some(user), project: Some((project, trust)), ..Layers::default() })
    };
    let server = "[server.notes]\ncommand = ['/bin/notes']\n";
    assert!(layered("", server, Trust::Trusted).unwrap().server(&name("notes")).is_some());
    assert!(layered("", server, Trust::Untrusted).unwrap().server(&name("notes")).is_none());
    let untrusted = layered(server, "[server.notes]\ncommand = ['/bin/other']\n", Trust::Untrusted).unwrap();
    assert_eq!(program(&untrusted).program, "/bin/notes");
    assert_eq!(decision(&layered("", server, Trust::Untrusted).unwrap(), "notes.list"), Decision::Deny);
    let error = layered(server, server, Trust::Trusted).unwrap_err();
    assert_eq!((error.layer, error.error.fault), (Layer::Project, PolicyFault::SetElsewhere { layer: Layer::User }));
}
