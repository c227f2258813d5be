//! The bindings and settings of a plugin, and their errors.

#![expect(clippy::unwrap_used, reason = "a helper of a test may panic as the test itself may")]

use std::collections::BTreeMap;
use std::time::Duration;

use portcullis_policy::{
    Binding, BindingError, ClockResolution, HttpBinding, Layer, LayerError, Layers, Leniency, Pointer, Policy,
    PolicyError, PolicyFault, Scheme, SecretSlot, SecretSource, StoreScope, Trust, Unnamed, is_reserved_header,
};
use serde_json::json;

/// A binding with every key that it can have.
const FULL: &str = r#"
[plugin.web]
http.fetch = { hosts = ["api.github.com", "*.wikipedia.org"], schemes = ["https"], ports = [8443], methods = ["GET", "POST"], paths = ["/api/"], headers = ["accept"], request-bytes = "128 KiB", response-bytes = "8 MiB", requests = 17, requests-per-minute = 61, time = "21 s", addresses = ["127.0.0.0/8", "::1"], roots = "ca.pem", narrow = "/url", unnamed = "ask", secret = { host = "api.github.com", header = "x-key", value = "Bearer {}", from = "env:GITHUB_TOKEN" } }
store.notes = { scope = "session", keys = 2, value-bytes = "3 KiB", bytes = "4 KiB" }
service.search = { name = "search-index", methods = ["query"], calls = 5 }
directory.workspace = { path = "my work", access = "read-write", narrow = "/path" }
config = { language = "en", "a.b" = "" }
clock = "fine"
[network]
name-servers = ["127.0.0.1:5353", "10.0.0.53", "::1", "[::1]:5353"]
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

fn binding(policy: &Policy, key: &str) -> Binding {
    policy.bindings(&"web".parse().unwrap())[&key.parse().unwrap()].clone()
}

fn client(body: &str) -> HttpBinding {
    match binding(&parse(&format!("[plugin.web]\nhttp.fetch = {{ {body} }}\n")), "fetch") {
        Binding::Http(client) => *client,
        other => panic!("not a client: {other:?}"),
    }
}

fn describe(line: &str) -> String {
    let policy = parse(&format!("[plugin.web]\n{line}\n"));
    policy.bindings(&"web".parse().unwrap()).values().next().unwrap().describe()
}

#[test]
fn every_key_of_a_binding_is_parsed() {
    let policy = parse(FULL);
    let Binding::Http(fetch) = binding(&policy, "fetch") else { panic!("not a client") };
    assert_eq!((&fetch.schemes[..], &fetch.ports[..]), (&[Scheme::Https][..], &[8443][..]));
    assert_eq!((fetch.methods.join(" "), fetch.paths.join(" ")), ("GET POST".to_owned(), "/api/".to_owned()));
    assert_eq!((fetch.headers.clone().unwrap(), fetch.roots.as_deref()), (vec!["accept".to_owned()], Some("ca.pem")));
    assert_eq!((fetch.unnamed, fetch.narrow.clone()), (Unnamed::Ask, Some(Pointer::new("/url").unwrap())));
    assert_eq!(fetch.addresses.iter().map(ToString::to_string).collect::<Vec<_>>(), ["127.0.0.0/8", "::1"]);
    let limits = fetch.limits;
    assert_eq!((limits.request_bytes, limits.response_bytes, limits.requests), (128 << 10, 8 << 20, 17));
    assert_eq!((limits.requests_per_minute, limits.time), (61, Duration::from_secs(21)));
    let secret = fetch.secret.unwrap();
    assert_eq!((secret.host.to_string(), secret.slot.header()), ("api.github.com".to_owned(), Some("x-key")));
    let Binding::Store(notes) = binding(&policy, "notes") else { panic!("not a store") };
    assert_eq!((notes.scope, notes.keys, notes.value_bytes, notes.bytes), (StoreScope::Session, 2, 3 << 10, 4 << 10));
    let Binding::Service(search) = binding(&policy, "search") else { panic!("not a service") };
    assert_eq!((search.name.as_str(), search.methods.join(" "), search.calls), ("search-index", "query".to_owned(), 5));
    let Binding::Directory(workspace) = binding(&policy, "workspace") else { panic!("not a directory") };
    assert_eq!(workspace.narrow, Some(Pointer::new("/path").unwrap()));
    let web = "web".parse().unwrap();
    let config = [("a.b", ""), ("language", "en")].map(|(key, value)| (key.to_owned(), value.to_owned()));
    assert_eq!(*policy.config(&web), BTreeMap::from(config));
    assert_eq!(policy.clock(&web), ClockResolution::Fine);
    let servers: Vec<String> = policy.name_servers().iter().map(ToString::to_string).collect();
    assert_eq!(servers, ["127.0.0.1:5353", "10.0.0.53:53", "[::1]:53", "[::1]:5353"]);
}

#[test]
fn the_defaults_of_a_binding_grant_little() {
    let fetch = client("hosts = ['docs.rs']");
    assert_eq!((&fetch.schemes[..], &fetch.ports[..]), (&[Scheme::Https][..], &[443][..]));
    assert_eq!((fetch.methods.join(" "), fetch.unnamed), ("GET".to_owned(), Unnamed::Deny));
    assert!(fetch.addresses.is_empty() && fetch.secret.is_none() && fetch.narrow.is_none() && fetch.roots.is_none());
    let limits = fetch.limits;
    assert_eq!((limits.request_bytes, limits.response_bytes, limits.requests), (64 << 10, 4 << 20, 16));
    assert_eq!((limits.requests_per_minute, limits.time), (60, Duration::from_secs(20)));
    let policy = parse("[plugin.web]\nstore.notes = {}\nservice.search = { name = 'a' }\n");
    let Binding::Store(notes) = binding(&policy, "notes") else { panic!("not a store") };
    let expected = (StoreScope::Plugin, 1000, 64 << 10, 1 << 20);
    assert_eq!((notes.scope, notes.keys, notes.value_bytes, notes.bytes), expected);
    let Binding::Service(search) = binding(&policy, "search") else { panic!("not a service") };
    assert_eq!((search.methods.len(), search.calls), (0, 100));
    let web = "web".parse().unwrap();
    assert!(policy.config(&web).is_empty() && policy.name_servers().is_empty());
    assert_eq!(policy.clock(&web), ClockResolution::Coarse);
    assert_eq!(Policy::deny_all().clock(&web), ClockResolution::Coarse);
}

#[test]
fn a_client_with_approved_hosts_may_name_none_and_must_be_narrowed() {
    let fetch = client("hosts = [], unnamed = 'ask', narrow = '/url'");
    assert!(fetch.hosts.is_empty() && fetch.unnamed == Unnamed::Ask);
    let fault = |body: &str| refused(&format!("[plugin.web]\nhttp.fetch = {{ {body} }}\n")).fault;
    assert_eq!(fault("hosts = ['docs.rs'], unnamed = 'ask'"), PolicyFault::Binding(BindingError::UnnamedWide));
    assert_eq!(fault("hosts = [], narrow = '/url'"), PolicyFault::Empty);
    assert_eq!(fault("hosts = [], unnamed = 'deny', narrow = '/url'"), PolicyFault::Empty);
    assert_eq!(fault("unnamed = 'ask', narrow = '/url'"), PolicyFault::MissingKey { name: "hosts" });
}

fn expect_remedies<const ROWS: usize>(rows: [(String, &str); ROWS]) {
    for (text, remedy) in rows {
        let error = refused(&text);
        assert!(error.remedy().starts_with(remedy), "{text}{error}\n{remedy}");
        assert!(error.line >= 2 && !error.key.is_empty(), "{error}");
    }
}

#[test]
fn every_malformed_key_is_refused_with_a_remedy_of_its_own() {
    let http = |body: &str| format!("[plugin.web]\nhttp.fetch = {{ hosts = ['docs.rs'], {body} }}\n");
    let rows = [
        (http("schemes = []"), "write at least one entry"),
        (http("schemes = ['ftp']"), "write one of `http`, `https`"),
        (http("schemes = 'https'"), "write an array: `[...]`"),
        (http("ports = []"), "write at least one entry"),
        (http("ports = [0]"), "write a whole number from 1 to 65535"),
        (http("ports = [65536]"), "write a whole number from 1 to 65535"),
        (http("ports = [-1]"), "write a whole number from 1 to 65535"),
        (http("ports = ['443']"), "write a whole number from 1 to 65535"),
        (http("ports = 443"), "write an array: `[...]`"),
        (http("paths = []"), "write at least one entry"),
        (http("paths = ['api']"), "write a path such as \"/api/\""),
        (http("paths = ['/a/../b']"), "write a path such as \"/api/\""),
        (http("headers = ['Accept']"), "write a name such as \"authorization\" in lower case"),
        (http("headers = ['host']"), "use another header"),
        (http("request-bytes = '65 MiB'"), "write \"64 MiB\" or less"),
        (http("response-bytes = '257 MiB'"), "write \"256 MiB\" or less"),
        (http("requests = 1001"), "write 1000 or less"),
        (http("requests-per-minute = 10001"), "write 10000 or less"),
        (http("time = '11 min'"), "write \"10 min\" or less"),
        (http("time = 20"), "write a duration"),
        (http("requests = 0"), "write the smallest amount that is enough"),
        (http("addresses = []"), "write at least one entry"),
        (http("addresses = ['localhost']"), "write an address such as"),
        (http("addresses = ['10.0.0.1/8']"), "write the first address of the range"),
        (http("addresses = ['0.0.0.0/0']"), "write a prefix of at least /8"),
        (http("addresses = ['::ffff:127.0.0.1']"), "write the IPv4 address"),
        (http("roots = ''"), "write the path of a directory or file"),
        (http("narrow = 'url'"), "write a slash and the name of the argument"),
        (http("narrow = '/~2'"), "write `~0` for `~`"),
        (http("unnamed = 'allow'"), "write one of `deny`, `ask`"),
        (http("unnamed = 'ask'"), "add `narrow = \"/url\"`"),
        (http("host = 'docs.rs'"), "the known keys are `hosts`, `schemes`, `ports`"),
    ];
    expect_remedies(rows);
}

#[test]
fn every_other_malformed_key_is_refused_with_a_remedy_of_its_own() {
    let line = |line: &str| format!("[plugin.web]\n{line}\n");
    let rows = [
        (line("directory.a = { path = 'x', narrow = 'path' }"), "write a slash and the name"),
        (line("store.a = { scope = 'all' }"), "write one of `plugin`, `principal`, `session`"),
        (line("store.a = { keys = 100001 }"), "write 100000 or less"),
        (line("store.a = { value-bytes = '17 MiB' }"), "write \"16 MiB\" or less"),
        (line("store.a = { bytes = '2 GiB' }"), "write \"1 GiB\" or less"),
        (line("store.a = { size = 1 }"), "the known keys are `scope`, `keys`, `value-bytes`, `bytes`"),
        (line("service.a = {}"), "add `name`"),
        (line("service.a = { name = 'a b' }"), "write 1 to 64 letters"),
        (line("service.a = { name = 'a', methods = [''] }"), "write 1 to 64 letters"),
        (line("service.a = { name = 'a', methods = [] }"), "write at least one entry"),
        (line("service.a = { name = 'a', calls = 10001 }"), "write 10000 or less"),
        (line("service.a = { name = 'a', call = 1 }"), "the known keys are `name`, `methods`, `calls`"),
        (line("store.a = {}\nservice.a = { name = 'a' }"), "give each dependency its own key"),
        (line("tools.a = {}"), "add `tools`"),
        (line("tools.a = { tools = [] }"), "write at least one entry"),
        (line(&format!("tools.a = {{ tools = [{}] }}", "'a.*', ".repeat(65))), "write patterns such as"),
        (line("tools.a = { tools = ['files'] }"), "write `plugin.tool`"),
        (line("tools.a = { tools = ['a.*'], calls = 10001 }"), "write 10000 or less"),
        (line("tools.a = { tools = ['a.*'], depth = 5 }"), "write 4 or less"),
        (line("tools.a = { tools = ['a.*'], depth = 0 }"), "write the smallest amount"),
        (line("tools.a = { tool = ['a.*'] }"), "the known keys are `tools`, `calls`, `depth`"),
        (line("config = { a = 1 }"), "write it as a string in quotes"),
        (line("config = { a = true }"), "write it as a string in quotes"),
        (line("config = { a = { b = 'c' } }"), "write it as a string in quotes"),
        (line("config = { '' = 'a' }"), "write 1 to 128 bytes"),
        (line(&format!("config = {{ {} = 'a' }}", "a".repeat(129))), "write 1 to 128 bytes"),
        (line("config = { \"a\\n\" = 'a' }"), "write 1 to 128 bytes"),
        (line(&format!("config = {{ a = '{}' }}", "a".repeat(4097))), "write at most 4096 bytes"),
        (line("config = { a = \"\\u0000\" }"), "write at most 4096 bytes"),
        (line(&(0..101).map(|n| format!("config.k{n} = ''\n")).collect::<String>()), "write at most 100"),
        (line("clock = 'exact'"), "write one of `coarse`, `fine`"),
        (
            line("clocks = 'fine'"),
            "the known keys are `directory`, `http`, `store`, `service`, `process`, `tools`, \
             `config`, `clock`",
        ),
        (line("repair = 'allow'"), "write one of `refuse`, `ask`"),
        (line("repair = true"), "write a string in quotes"),
        (line("unvalidated = 'allow'"), "write one of `refuse`, `ask`"),
        (line("unvalidated = ['ask']"), "write a string in quotes"),
        ("\nrepair = 'ask'\n".to_owned(), "the known keys are"),
        ("[network]\nname-servers = []".to_owned(), "write at least one entry"),
        ("[network]\nname-servers = ['localhost']".to_owned(), "write an address with or without a port"),
        ("[network]\nname-servers = ['127.0.0.1:0']".to_owned(), "write an address with or without a port"),
        ("[network]\nname-servers = ['[::1]']".to_owned(), "write an address with or without a port"),
        (format!("[network]\nname-servers = [{}]", "'::1', ".repeat(9)), "write at most 8"),
        ("[network]\nservers = []".to_owned(), "the known keys are `name-servers`"),
    ];
    expect_remedies(rows);
    parse(&line(&(0..100).map(|n| format!("config.k{n} = '{}'\n", "a".repeat(4096))).collect::<String>()));
}

#[test]
fn every_misplaced_secret_is_refused_with_a_remedy_of_its_own() {
    use BindingError as E;
    let slot = "header = 'authorization', value = 'Bearer {}'";
    let rows = [
        ("hosts = ['a.example', 'b.example']", slot, E::SecretHostMissing),
        ("hosts = ['*.a.example']", slot, E::SecretHostMissing),
        ("hosts = [], unnamed = 'ask', narrow = '/url'", slot, E::SecretHostMissing),
        ("hosts = ['a.example', 'b.example']", "host = 'c.example', query = 'key'", E::SecretHost),
        ("hosts = ['*.a.example']", "host = '*.a.example', query = 'key'", E::SecretHost),
        ("hosts = ['*.a.example']", "host = 'b.a.example', query = 'key'", E::SecretHost),
        ("hosts = ['a.example']", "", E::SecretSlot),
        ("hosts = ['a.example']", "header = 'authorization'", E::SecretSlot),
        ("hosts = ['a.example']", "value = '{}'", E::SecretSlot),
        ("hosts = ['a.example']", "header = 'a', value = '{}', basic = 'u'", E::SecretSlot),
        ("hosts = ['a.example']", "basic = 'u', query = 'key'", E::SecretSlot),
        ("hosts = ['a.example']", "basic = 'u', value = '{}'", E::SecretSlot),
        ("hosts = ['a.example']", "basic = 'u:p'", E::User),
        ("hosts = ['a.example']", "query = 'a=b'", E::QueryName),
        ("hosts = ['a.example']", "query = '{}'", E::QueryName),
        ("hosts = ['a.example']", "header = 'x-{}', value = '{}'", E::Header),
        ("hosts = ['a.example']", "header = 'host', value = '{}'", E::ReservedHeader),
        ("hosts = ['a.example']", "header = 'a', value = 'Bearer'", E::Template),
        ("hosts = ['a.example']", "header = 'a', value = \"{}\\r\\nb: c\"", E::Template),
        ("hosts = ['a.example'], schemes = ['https', 'http']", slot, E::SecretOrigins),
        ("hosts = ['a.example'], ports = [443, 444]", slot, E::SecretOrigins),
        ("hosts = ['a.example'], headers = ['authorization']", slot, E::SecretHeaderGranted),
        ("hosts = ['a.example'], headers = ['authorization']", "basic = 'u'", E::SecretHeaderGranted),
        ("hosts = ['a.example'], schemes = ['http']", slot, E::SecretInClear),
        ("hosts = ['8.8.8.8'], schemes = ['http'], addresses = ['127.0.0.1']", slot, E::SecretInClear),
        ("hosts = ['a.example'], schemes = ['http'], addresses = ['8.8.8.8']", slot, E::SecretInClear),
        ("hosts = ['a.example'], schemes = ['http'], addresses = ['::1', '12.0.0.0/8']", slot, E::SecretInClear),
        ("hosts = ['a.example'], schemes = ['http'], addresses = ['192.0.0.0/16']", slot, E::SecretInClear),
        ("hosts = ['a.example'], schemes = ['http'], addresses = ['2001::/16']", slot, E::SecretInClear),
    ];
    for (body, slot, expected) in rows {
        let comma = if slot.is_empty() { "" } else { ", " };
        let secret = format!("secret = {{ {slot}{comma}from = 'env:A' }}");
        let error = refused(&format!("[plugin.web]\nhttp.fetch = {{ {body}, {secret} }}\n"));
        assert_eq!(error.fault, PolicyFault::Binding(expected), "{body} {slot}");
        assert!(error.key.starts_with("plugin.web.http.fetch.secret"), "{error}");
    }
    let from = |from: &str| {
        let secret = format!("secret = {{ basic = 'u', from = {from} }}");
        refused(&format!("[plugin.web]\nhttp.fetch = {{ hosts = ['a.example'], {secret} }}\n"))
    };
    for text in ["'A'", "'env:'", "'command:gh'", "'https://a'"] {
        assert_eq!(from(text).fault, PolicyFault::Binding(E::SecretSource), "{text}");
    }
    let many = format!("{{ command = [{}] }}", "'a', ".repeat(33));
    for text in ["{ command = [''] }", "{ command = [\"a\\u0000\"] }", &many] {
        assert_eq!(from(text).fault, PolicyFault::Binding(E::Command), "{text}");
    }
    assert_eq!(from("{ command = [] }").fault, PolicyFault::Empty);
    assert_eq!(from("{}").fault, PolicyFault::MissingKey { name: "command" });
    for text in ["{ command = 'gh' }", "{ command = [1] }", "1", "['env:A']", "{ env = 'A' }"] {
        from(text);
    }
    refused("[plugin.web]\nhttp.fetch = { hosts = ['a.example'], secret = { basic = 'u' } }");
}

#[test]
fn a_secret_is_bound_to_one_host_one_origin_and_one_slot() {
    let secret = |body: &str| client(body).secret.unwrap();
    let one = secret("hosts = ['a.example'], secret = { basic = 'u', from = 'file:/run/key' }");
    assert_eq!((one.host.to_string().as_str(), one.slot.header()), ("a.example", Some("authorization")));
    assert_eq!(one.from, SecretSource::File("/run/key".to_owned()));
    let command = "{ command = ['gh', 'auth', 'token'] }";
    let two = secret(&format!(
        "hosts = ['*.a.example', 'a.example'], secret = {{ host = 'a.example', query = 'k', from = {command} }}"
    ));
    assert_eq!(two.slot, SecretSlot::Query { name: "k".to_owned() });
    assert_eq!((two.slot.header(), two.host.to_string()), (None, "a.example".to_owned()));
    assert_eq!(two.from, SecretSource::Command(["gh", "auth", "token"].map(str::to_owned).to_vec()));
    let private = [
        "hosts = ['127.0.0.1'], schemes = ['http'], ports = [8080]",
        "hosts = ['[::1]'], schemes = ['http']",
        "hosts = ['a.example'], schemes = ['http'], addresses = ['127.0.0.0/8', 'fd00::/16']",
        "hosts = ['8.8.8.8'], schemes = ['https']",
    ];
    for body in private {
        secret(&format!("{body}, secret = {{ header = 'cookie', value = 's={{}}', from = 'env:A' }}"));
    }
    let url = |text: &str| portcullis_policy::Destination::from_url(text).unwrap();
    assert!(one.is_for(&url("https://A.example./x")));
    assert!(!one.is_for(&url("https://b.a.example/x")) && !one.is_for(&url("https://a.example.evil/")));
}

#[test]
fn a_guest_can_set_granted_headers_but_never_the_header_of_the_secret() {
    let any = client("hosts = ['a.example']");
    assert!(any.allows_header("cookie") && any.allows_header("x-a") && any.allows_header("x-originality"));
    let listed = client("hosts = ['a.example'], headers = ['accept']");
    assert!(listed.allows_header("accept") && !listed.allows_header("cookie"));
    assert!(!client("hosts = ['a.example'], headers = []").allows_header("accept"));
    let basic = client("hosts = ['a.example'], secret = { basic = 'u', from = 'env:A' }");
    assert!(!basic.allows_header("authorization") && basic.allows_header("cookie"));
    let slot = client("hosts = ['a.example'], secret = { header = 'cookie', value = '{}', from = 'env:A' }");
    assert!(!slot.allows_header("cookie") && slot.allows_header("accept"));
    for name in ["host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "proxy-authorization"] {
        assert!(is_reserved_header(name) && !any.allows_header(name), "{name}");
    }
}

#[test]
fn spellings_that_servers_read_as_one_header_are_equal() {
    let key = client("hosts = ['a.example'], secret = { header = 'x-api-key', value = '{}', from = 'env:A' }");
    for name in ["x-api-key", "X-API-Key", "x_api_key", "x.api.key", "x-api_key", "x~api~key"] {
        assert!(!key.allows_header(name), "{name}");
    }
    assert!(key.allows_header("x-api-keys") && key.allows_header("xapi-key"));
    let any = client("hosts = ['a.example']");
    for name in ["transfer_encoding", "content_length", "content.length", "Transfer-Encoding", "proxy_authorization"] {
        assert!(is_reserved_header(name) && !any.allows_header(name), "{name}");
    }
}

#[test]
fn credentials_and_routing_headers_must_be_listed() {
    let any = client("hosts = ['a.example']");
    let names = [
        "authorization",
        "forwarded",
        "x-host",
        "x-real-ip",
        "x-original-url",
        "x-rewrite-url",
        "x-forwarded-host",
        "x-forwarded-for",
        "x-envoy-original-path",
        "x-override-url",
    ];
    for name in names {
        for spelling in [name.to_owned(), name.replace('-', "_"), name.to_ascii_uppercase()] {
            assert!(!any.allows_header(&spelling), "{spelling}");
        }
        let listed = client(&format!("hosts = ['a.example'], headers = ['{name}']"));
        assert!(listed.allows_header(name), "{name}");
        let underscored = name.replace('-', "_");
        assert!(name == underscored || !listed.allows_header(&underscored), "{underscored}");
    }
}

fn layered(built_in: &str, user: &str, project: &str, trust: Trust) -> Result<Policy, LayerError> {
    Policy::layered(&Layers { built_in: Some(built_in), user: Some(user), project: Some((project, trust)) })
}

#[test]
fn an_untrusted_project_sets_nothing_and_only_coarsens_a_clock() {
    let web = "web".parse().unwrap();
    let project = FULL.to_owned();
    let untrusted = layered("", "", &project, Trust::Untrusted).unwrap();
    assert!(untrusted.config(&web).is_empty() && untrusted.bindings(&web).is_empty());
    assert!(untrusted.name_servers().is_empty());
    assert_eq!(untrusted.clock(&web), ClockResolution::Coarse);
    let trusted = layered("", "", &project, Trust::Trusted).unwrap();
    assert_eq!((trusted.config(&web).len(), trusted.name_servers().len()), (2, 4));
    let clock = |user: &str, project: &str, trust| {
        let text = |clock: &str| if clock.is_empty() { String::new() } else { format!("plugin.web.clock = '{clock}'") };
        layered("", &text(user), &text(project), trust).unwrap().clock(&web)
    };
    let (coarse, fine) = (ClockResolution::Coarse, ClockResolution::Fine);
    let rows = [
        ("", "", coarse, coarse),
        ("fine", "", fine, fine),
        ("", "fine", coarse, fine),
        ("fine", "coarse", coarse, coarse),
        ("coarse", "fine", coarse, fine),
    ];
    for (user, project, untrusted, trusted) in rows {
        let clocks = (clock(user, project, Trust::Untrusted), clock(user, project, Trust::Trusted));
        assert_eq!(clocks, (untrusted, trusted), "{user:?} and {project:?}");
    }
}

/// Arguments that do not match a tool's schema are refused, unless a trusted layer permits them with approval. No
/// setting permits them without approval.
#[test]
fn only_a_trusted_layer_permits_repaired_and_unvalidated_arguments_with_approval() {
    let (web, other) = ("web".parse().unwrap(), "other".parse().unwrap());
    let (refuse, ask) = (Leniency::Refuse, Leniency::Ask);
    for key in ["repair", "unvalidated"] {
        let of = |user: &str, project: &str, trust| {
            let text =
                |word: &str| if word.is_empty() { String::new() } else { format!("plugin.web.{key} = '{word}'") };
            let policy = layered("", &text(user), &text(project), trust).unwrap();
            let both = (policy.repair(&web), policy.unvalidated(&web));
            assert_eq!((policy.repair(&other), policy.unvalidated(&other)), (refuse, refuse));
            let (own, beside) = if key == "repair" { both } else { (both.1, both.0) };
            assert_eq!(beside, refuse, "neither says anything about the other");
            own
        };
        let rows = [
            ("", "", refuse, refuse),
            ("ask", "", ask, ask),
            ("", "ask", refuse, ask),
            ("ask", "refuse", refuse, refuse),
            ("refuse", "ask", refuse, ask),
            ("ask", "ask", ask, ask),
        ];
        for (user, project, untrusted, trusted) in rows {
            let words = (of(user, project, Trust::Untrusted), of(user, project, Trust::Trusted));
            assert_eq!(words, (untrusted, trusted), "{key}: {user:?} and {project:?}");
        }
    }
    let none = Policy::deny_all();
    assert_eq!((none.repair(&web), none.unvalidated(&web)), (refuse, refuse));
    assert_eq!((ask.as_str(), refuse.as_str()), ("ask", "refuse"));
}

#[test]
fn trusted_layers_add_settings_and_must_not_share_one() {
    let web = "web".parse().unwrap();
    let (user, project) = ("plugin.web.config.a = '1'", "plugin.web.config.b = '2'");
    let both = layered("", user, project, Trust::Trusted).unwrap();
    assert_eq!(both.config(&web).iter().map(|(key, value)| format!("{key}{value}")).collect::<Vec<_>>(), ["a1", "b2"]);
    let error = layered("", user, "\n[plugin.web]\nconfig.a = '1'", Trust::Trusted).unwrap_err();
    assert_eq!(error.error.fault, PolicyFault::SetElsewhere { layer: Layer::User });
    let told = "the project's policy: line 3, column 8: `plugin.web.config.a`: the user's policy already has this \
                setting for this plugin; keep it in only one of the two policies";
    assert_eq!(error.to_string(), told);
    let servers = |server: &str| format!("network.name-servers = ['{server}']");
    let later = layered(&servers("10.0.0.1"), &servers("10.0.0.2"), "", Trust::Trusted).unwrap();
    assert_eq!(later.name_servers(), ["10.0.0.2:53".parse().unwrap()]);
}

#[test]
fn a_description_names_everything_that_a_binding_grants() {
    let rows = [
        ("http.a = { hosts = ['docs.rs', '*.wikipedia.org'] }", "GET to docs.rs *.wikipedia.org"),
        (
            "http.a = { hosts = ['a.example'], methods = ['GET', 'POST'], secret = { header = 'authorization', \
             value = 'canary {}', from = 'env:TOKEN' } }",
            "GET POST to a.example, with the secret from the variable TOKEN in the header authorization for a.example",
        ),
        (
            "http.a = { hosts = ['a.example'], secret = { basic = 'me', from = 'file:my key' } }",
            "GET to a.example, with the secret from the file \"my key\" as the password of the user me for a.example",
        ),
        (
            "http.a = { hosts = ['a.example'], secret = { query = 'key', from = { command = ['gh', 'a b'] } } }",
            "GET to a.example, with the secret from the command gh \"a b\" in the parameter key for a.example",
        ),
        (
            "http.a = { hosts = [], unnamed = 'ask', narrow = '/url' }",
            "GET to any host that a person approves for a call, narrowed to the argument /url of each call",
        ),
        (
            "http.a = { hosts = ['a.example'], schemes = ['http', 'https'], ports = [80, 443], headers = [] }",
            "GET to a.example, over http https, ports 80 443, headers none",
        ),
        ("store.a = {}", "a store of the plugin"),
        ("store.a = { scope = 'session', keys = 5 }", "a store for each session, keys 5"),
        ("service.a = { name = 'b' }", "the service b"),
        ("service.a = { name = 'b', methods = ['c', 'd'], calls = 3 }", "the service b, methods c d, calls 3"),
        ("directory.a = { path = '.' }", "the directory ., read-only"),
        (
            "directory.a = { path = \"a\\u202eb\", access = 'read-write', narrow = '/path' }",
            "the directory \"a\\u{202e}b\", read-write, narrowed to the argument /path of each call",
        ),
        (
            "directory.a = { path = 'b', access = 'read-write', hidden = ['.env*', 's/**'], read-only = ['k'], \
             writable = ['.git/hooks'] }",
            "the directory b, read-write, hiding .env* s/**, protecting k, not protecting .git/hooks",
        ),
    ];
    for (line, expected) in rows {
        assert_eq!(describe(line), expected, "{line}");
    }
    let full = binding(&parse(FULL), "fetch").describe();
    let expected = "GET POST to api.github.com *.wikipedia.org, to any other that a person approves for a call, \
                    ports 8443, paths /api/, headers accept, also at the addresses 127.0.0.0/8 ::1, \
                    trusting only the certificates in ca.pem, narrowed to the argument /url of each call, \
                    request-bytes 128 KiB, response-bytes 8 MiB, requests 17, requests-per-minute 61, time 21 s, \
                    with the secret from the variable GITHUB_TOKEN in the header x-key for api.github.com";
    assert_eq!(full, expected);
}

#[test]
fn a_pointer_returns_its_text_and_its_argument() {
    let arguments = json!({ "url": "u", "a/b": { "c": ["d"] }, "n": 1, "": "e" });
    let arguments = arguments.as_object().unwrap();
    let rows = [
        ("/url", Some("u"), "url"),
        ("/a~1b/c/0", Some("d"), "a/b"),
        ("/", Some("e"), ""),
        ("/n", None, "n"),
        ("/a~1b", None, "a/b"),
        ("/missing/x", None, "missing"),
    ];
    for (text, expected, argument) in rows {
        let pointer = Pointer::new(text).unwrap();
        assert_eq!((pointer.text(arguments), pointer.argument()), (expected, argument), "{text}");
        assert_eq!(pointer.to_string(), text);
    }
    for text in ["", "url", "#/url", "/~", "/~2", "/a\n", &format!("/{}", "a".repeat(256))] {
        assert!(Pointer::new(text).is_err(), "{text:?}");
    }
}

#[test]
fn masks_of_a_directory_are_those_of_the_policy_and_the_defaults_it_does_not_lift() {
    let masks =
        |keys: &str| match binding(&parse(&format!("[plugin.web]\ndirectory.a = {{ path = '.', {keys} }}\n")), "a") {
            Binding::Directory(directory) => directory.masks(),
            other => panic!("not a directory: {other:?}"),
        };
    let all = masks("access = 'read-write', hidden = ['secrets/**'], read-only = []");
    assert!(all.walk("secrets/k").is_hidden());
    for path in
        [".git/hooks", "a/.git/config", ".github/x", "portcullis.toml", "a/.env", ".vscode", ".mcp.json", ".ssh"]
    {
        assert!(all.walk(path).is_read_only(), "{path}");
    }
    let lifted = masks("access = 'read-write', writable = ['.git/hooks', 'editors']");
    assert!(!lifted.walk(".git/hooks").is_read_only() && !lifted.walk(".vscode").is_read_only());
    assert!(lifted.walk(".git/config").is_read_only());
    assert!(masks("access = 'read-only'").is_empty());
}

#[test]
fn invalid_masks_are_refused() {
    for (keys, remedy) in [
        ("hidden = ['**']", "name a place in the directory"),
        ("read-only = ['../x']", "from the directory on"),
        ("hidden = ['a**']", "between slashes"),
        ("writable = ['.git/hooks']", "remove `writable`"),
        ("access = 'read-write', writable = ['hooks']", ".git/hooks"),
        ("hidden = 'secrets'", "write an array"),
    ] {
        let error = refused(&format!("[plugin.web]\ndirectory.a = {{ path = '.', {keys} }}\n"));
        assert!(error.to_string().contains(remedy), "{keys}: {error}");
    }
    let many = vec!["'a'"; portcullis_policy::MASKS_MAX + 1].join(", ");
    refused(&format!("[plugin.web]\ndirectory.a = {{ path = '.', hidden = [{many}] }}\n"));
}
