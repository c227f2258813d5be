//! The handles of a call, as a plugin uses them: clients, stores, services, settings, the log, and reviews.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use std::io::{Read, Write};
use std::time::Duration;

use portcullis_sdk::http::{Body, Method, Request, Response, Url};
use portcullis_sdk::prelude::*;
use portcullis_sdk::serde_json::Value;
use portcullis_sdk::testing::{self, Execution, Reply, call, review};
use portcullis_sdk::{Chunk, DependencyKind, Output};

/// What to fetch.
#[arguments]
struct Fetch {
    /// Where it is.
    url: String,
}

/// Fetches JSON.
#[tool(requires(network), open_world)]
fn fetch(arguments: Fetch, context: &Context) -> Result<Value, Failure> {
    context.log(Level::Info, format!("fetches {}", arguments.url));
    let client = context.client("pages")?;
    let request = Request::get(arguments.url).header("accept", "application/json").timeout(Duration::from_secs(5));
    client.send(request)?.json(100)
}

/// Counts its calls.
#[tool(requires(write))]
fn count(context: &Context) -> Result<String, Failure> {
    let store = context.store("counts")?;
    let count = store.get_json::<u32>("calls")?.unwrap_or(0) + 1;
    store.set_json("calls", &count)?;
    Ok(format!("{count} {}", context.setting("unit").unwrap_or_else(|| "calls".to_owned())))
}

/// Asks the index.
#[tool(requires(read))]
fn ask(context: &Context) -> Result<Value, Failure> {
    context.service("index")?.call("query", &json!({ "text": "here" }))
}

/// Counts the lines of a text.
#[tool(requires(execute))]
fn lines(context: &Context) -> Result<String, Failure> {
    let launch = Launch::new(["-l"]).input("one\ntwo\n").environment("LC_ALL", "C").directory("/cache/a");
    let output = context.program("wc")?.output(&launch, 8)?;
    Ok(format!("{:?} {} {}", output.report.exit, output.text(), output.errors()))
}

/// Opens what only other permissions reach.
#[tool]
fn stray(context: &Context) -> Result<String, Failure> {
    let failures = [context.client("pages").err(), context.directory("cache").err(), context.program("wc").err()];
    let texts = failures.into_iter().map(|failure| failure.map_or("opened".to_owned(), |failure| failure.to_string()));
    Ok(texts.collect::<Vec<_>>().join("; "))
}

/// Changes the store, and declares that it reads.
#[tool(requires(read))]
fn peek(context: &Context) -> Result<Value, Failure> {
    let store = context.store("counts")?;
    store.get_json::<u32>("calls")?;
    store.set_json("calls", &7)?;
    Ok(json!("changed"))
}

fn opinion(call: &Review) -> Verdict {
    match (call.tool(), call.parse::<Fetch>()) {
        ("fetch", Ok(Fetch { url })) => match call.names_host("pages", &url) {
            Ok(true) => Verdict::Clear,
            Ok(false) => Verdict::ask(format!("{url} is on a host that the policy does not name")),
            Err(failure) => Verdict::refuse(failure.text()),
        },
        ("fetch", Err(failure)) => Verdict::refuse(failure.text()),
        _ => Verdict::Clear,
    }
}

plugin! {
    name: "handles",
    description: "Uses every kind of handle.",
    tools: [fetch, count, ask, lines, stray, peek],
    dependencies: [
        http "pages": "the pages to fetch",
        store "counts": "how often it was called",
        optional service "index": "what the application knows",
        optional directory "cache": "what was fetched",
        optional process "wc": "counts lines",
        optional tools "others": "reads files",
    ],
    reviewer: opinion,
}

fn fetched(reply: Reply) -> Result<Value, Failure> {
    let context = testing::Context::new().plays_server("pages", move |_| Ok(reply.clone()));
    let success = call(&PLUGIN, "fetch", json!({ "url": "https://docs.example/a" }), &context)?;
    let Output::Json(value) = success.output else { panic!("{:?}", success.output) };
    Ok(value)
}

#[test]
fn each_kind_can_be_declared() {
    let kinds: Vec<_> = PLUGIN.manifest().dependencies.iter().map(|one| (one.kind, one.optional)).collect();
    let expected = [
        (DependencyKind::Http, false),
        (DependencyKind::Store, false),
        (DependencyKind::Service, true),
        (DependencyKind::Directory, true),
        (DependencyKind::Process, true),
        (DependencyKind::Tools, true),
    ];
    assert_eq!(kinds, expected);
    assert_eq!(testing::problems(&PLUGIN), Vec::<String>::new());
}

#[test]
fn a_test_context_grants_nothing_by_default() {
    let context = testing::Context::new();
    for (tool, arguments) in [
        ("fetch", json!({ "url": "https://a.example/" })),
        ("count", json!({})),
        ("ask", json!({})),
        ("lines", json!({})),
    ] {
        let failure = call(&PLUGIN, tool, arguments, &context).unwrap_err();
        assert!(matches!(&failure, Failure::Denied(text) if text.starts_with("the policy grants no")), "{failure:?}");
    }
}

/// The testing host refuses undeclared permissions, as the real host does.
#[test]
fn a_tool_gets_only_the_handles_that_its_permissions_cover() {
    let context = testing::Context::new().plays_server("pages", |_| Ok(Reply::new(200))).directory("cache", "/tmp");
    let context = context.store("counts");
    let Output::Text(told) = call(&PLUGIN, "stray", json!({}), &context).unwrap().output else { panic!("no text") };
    assert!(told.contains("the tool does not declare `network`, so it has no HTTP client `pages`"), "{told}");
    assert!(told.contains("the tool does not declare `read` or `write`, so it has no directory `cache`"), "{told}");
    assert!(told.contains("the tool does not declare `execute`, so it has no program `wc`"), "{told}");
    let failure = call(&PLUGIN, "peek", json!({}), &context).unwrap_err();
    assert!(matches!(&failure, Failure::Denied(text) if text.starts_with("the store is read-only")), "{failure:?}");
    assert!(context.stored("counts").is_empty());
    call(&PLUGIN, "count", json!({}), &context).unwrap();
}

#[test]
fn the_server_receives_the_normalized_request() {
    let context = testing::Context::new().plays_server("pages", |_| Ok(Reply::new(200).json(&json!([1]))));
    call(&PLUGIN, "fetch", json!({ "url": "HTTPS://Docs.Example:443/a b?q=ä#part" }), &context).unwrap();
    let sent = context.sent();
    let [request] = sent.as_slice() else { panic!("{sent:?}") };
    assert_eq!((request.method(), request.url()), (Method::Get, "https://docs.example/a%20b?q=%C3%A4"));
    assert_eq!(request.headers().collect::<Vec<_>>(), [("accept", "application/json")]);
    assert_eq!((request.content(), request.time_limit()), (&b""[..], Some(Duration::from_secs(5))));
    assert_eq!(context.logged(), [(Level::Info, "fetches HTTPS://Docs.Example:443/a b?q=ä#part".to_owned())]);
}

#[test]
fn parameters_and_bodies_are_encoded() {
    let request = Request::post("https://a.example/x#part").query("q", "a b&c=ä").query("n", "1");
    assert_eq!(request.url(), "https://a.example/x?q=a%20b%26c%3D%C3%A4&n=1#part");
    let request = request.json(&json!({ "a": 1 })).unwrap();
    assert_eq!((request.method().name(), request.content()), ("POST", &br#"{"a":1}"#[..]));
    assert_eq!(request.headers().collect::<Vec<_>>(), [("content-type", "application/json")]);
}

#[test]
fn a_body_over_the_readers_limit_is_refused() {
    assert_eq!(fetched(Reply::new(200).body("[1]")), Ok(json!([1])));
    let large = fetched(Reply::new(200).body(vec![b' '; 101])).unwrap_err();
    assert_eq!(large, Failure::failed("the response of https://docs.example/a is larger than 100 bytes"));
    let wrong = fetched(Reply::new(200).body("<html>")).unwrap_err();
    assert!(wrong.text().starts_with("the response of https://docs.example/a is not the JSON"), "{wrong:?}");
    let broken = fetched(Reply::new(200).body("[1").breaks(Failure::unavailable("the connection broke")));
    assert_eq!(broken, Err(Failure::unavailable("the connection broke")));
}

fn response(reply: Reply) -> Response {
    let context = testing::Context::new().plays_server("pages", move |_| Ok(reply.clone()));
    context.client("pages").unwrap().send(Request::get("https://a.example/x/y?z")).unwrap()
}

#[test]
fn a_large_body_can_be_truncated() {
    let body = vec![b'x'; 5000];
    let read = |max| response(Reply::new(200).body(body.clone())).read(max).unwrap();
    assert_eq!(read(5000), Body::Whole(body.clone()));
    assert_eq!(read(4999), Body::Cut(body[..4999].to_vec()));
    assert_eq!(read(0), Body::Cut(Vec::new()));
    assert_eq!(response(Reply::new(200).body(*b"a\xffb")).text(10).unwrap(), "a\u{fffd}b");
}

#[test]
fn a_response_exposes_its_head() {
    let response = response(Reply::new(404).header("X-One", "1").header("x-one", "2"));
    assert_eq!((response.status(), response.is_success()), (404, false));
    assert_eq!((response.header("x-ONE"), response.header("other")), (Some("1"), None));
    assert_eq!(response.headers().count(), 2);
    assert_eq!(response.url().to_string(), "https://a.example/x/y?z");
}

#[test]
fn a_redirect_is_returned_and_not_followed() {
    let to = |status, location| response(Reply::new(status).header("Location", location)).redirect();
    assert_eq!(to(302, "../b"), Some("https://a.example/b".to_owned()));
    assert_eq!(to(307, "https://B.example"), Some("https://b.example/".to_owned()));
    assert_eq!(to(301, "file:///etc/passwd"), Some("file:///etc/passwd".to_owned()));
    assert_eq!(to(200, "/b"), None);
    assert_eq!(response(Reply::new(302)).redirect(), None);
}

#[test]
fn a_refusal_reaches_the_model() {
    let refusal = "the policy does not name the host b.example";
    let context = testing::Context::new().plays_server("pages", move |_| Err(Failure::denied(refusal))).secret("pages");
    let client = context.client("pages").unwrap();
    assert_eq!((client.refusal(), client.has_secret()), (None, true));
    assert_eq!(client.send(Request::get("https://b.example")).unwrap_err(), Failure::denied(refusal));
    assert_eq!(client.refusal().as_deref(), Some(refusal));
}

#[test]
fn urls_are_normalized() {
    let forms = [
        ("https://a.example", "https://a.example/"),
        ("HTTP://A.Example.:80/x", "http://a.example/x"),
        ("https://a.example:8443?q", "https://a.example:8443/?q"),
        ("https://a.example:/", "https://a.example/"),
        ("https://a.example/a/./b/../c/..", "https://a.example/a/"),
        ("https://a.example/../../a", "https://a.example/a"),
        ("https://a.example/a/%2E%2e/b//c", "https://a.example/b//c"),
        ("https://a.example/%2f'{`}?a=%20'\"{", "https://a.example/%2f'%7B%60%7D?a=%20%27%22{"),
        ("  https://[::1]:8080/<x>  ", "https://[::1]:8080/%3Cx%3E"),
    ];
    for (text, form) in forms {
        assert_eq!(Url::parse(text).unwrap().to_string(), form, "{text}");
        assert_eq!(Url::parse(form).unwrap().to_string(), form, "{form}");
    }
}

#[test]
fn an_invalid_url_is_an_invalid_argument() {
    let texts = [
        "",
        "a.example/x",
        "ftp://a.example/",
        "https:///x",
        "https://",
        "https://user@a.example/",
        "https://a.example@b.example/",
        "https://a.example:70000/",
        "https://a.example:x/",
        "https://a.example:80:80/",
        "https://a example/",
        "https://a%2eexample/",
        "https://bücher.example/",
        "https://a.example\\@b.example/",
        "https://a.example/\n",
    ];
    for text in texts {
        assert!(matches!(Url::parse(text), Err(Failure::InvalidArguments(_))), "{text:?}: {:?}", Url::parse(text));
    }
}

#[test]
fn relative_references_are_resolved() {
    let base = Url::parse("http://a.example:81/b/c/d?q").unwrap();
    let cases = [
        ("g", "http://a.example:81/b/c/g"),
        ("./g/.", "http://a.example:81/b/c/g/"),
        ("../../../g", "http://a.example:81/g"),
        ("/g?y#s", "http://a.example:81/g?y"),
        ("//g.example", "http://g.example/"),
        ("?y", "http://a.example:81/b/c/d?y"),
        ("#s", "http://a.example:81/b/c/d?q"),
        ("", "http://a.example:81/b/c/d?q"),
        ("https://g.example/x", "https://g.example/x"),
        ("g:h", "g:h"),
        ("g/a:h", "http://a.example:81/b/c/g/a:h"),
    ];
    for (reference, resolved) in cases {
        assert_eq!(base.join(reference), resolved, "{reference}");
    }
    assert_eq!((base.host(), base.origin().as_str(), base.path()), ("a.example", "http://a.example:81", "/b/c/d"));
}

#[test]
fn a_store_keeps_its_values() {
    let context = testing::Context::new().store("counts").setting("unit", "times");
    for expected in ["1 times", "2 times"] {
        let success = call(&PLUGIN, "count", json!({}), &context).unwrap();
        assert_eq!(success.output, Output::Text(expected.to_owned()));
    }
    assert_eq!(context.stored("counts")["calls"], b"2");

    let store = (*context).store("counts").unwrap();
    for number in 0..25 {
        store.set(&format!("key-{number:02}"), [number]).unwrap();
    }
    let keys = store.keys().unwrap();
    assert_eq!((keys.len(), keys[0].as_str(), keys[25].as_str()), (26, "calls", "key-24"));
    assert_eq!((store.get("key-07").unwrap(), store.exists("key-07").unwrap()), (Some(vec![7]), true));
    store.delete("key-07").unwrap();
    store.delete("key-07").unwrap();
    assert_eq!((store.get("key-07").unwrap(), store.exists("key-07").unwrap()), (None, false));
    assert!(store.get_json::<Vec<u8>>("calls").unwrap_err().text().contains("`calls`"));
}

#[test]
fn a_full_store_refuses_a_new_value_and_keeps_the_others() {
    let context = testing::Context::new().store_of("counts", 10);
    let store = (*context).store("counts").unwrap();
    store.set("a", "123456789").unwrap();
    assert_eq!(store.set("b", ""), Err(Failure::failed("the store is full: it may have 10 bytes in all")));
    store.set("a", "12345678").unwrap();
    store.set("b", "").unwrap();
    assert_eq!(context.stored("counts").len(), 2);
}

#[test]
fn a_service_call_takes_and_returns_json() {
    let context = testing::Context::new().plays_service("index", |method, input| match method {
        "query" => Ok(json!({ "found": input["text"] })),
        method => Err(format!("there is no {method}")),
    });
    let success = call(&PLUGIN, "ask", json!({}), &context).unwrap();
    assert_eq!(success.output, Output::Json(json!({ "found": "here" })));

    let service = context.service("index").unwrap();
    assert_eq!(service.call::<_, Value>("drop", &()), Err(Failure::failed("there is no drop")));
    let wrong = service.call::<_, u8>("query", &json!({ "text": 1 })).unwrap_err();
    assert!(wrong.text().starts_with("the answer of `query` is not what was expected"), "{wrong:?}");
}

fn plays(execution: Execution) -> testing::Context {
    testing::Context::new().plays_program("wc", move |_| Ok(execution.clone()))
}

#[test]
fn a_program_gets_its_launch_and_its_input() {
    let context = plays(Execution::new(2).stdout("2").stderr("warning: 1 of 2"));
    let success = call(&PLUGIN, "lines", json!({}), &context).unwrap();
    assert_eq!(success.output, Output::Text("Code(2) 2 warning:".to_owned()));
    let launch = Launch::new(["-l"]).input("one\ntwo\n").environment("LC_ALL", "C").directory("/cache/a");
    let started = testing::Started { key: "wc".to_owned(), launch, stdin: b"one\ntwo\n".to_vec(), is_killed: false };
    assert_eq!(context.started(), [started]);
}

#[test]
fn a_program_that_does_not_start_fails_with_the_reason() {
    let context = testing::Context::new().plays_program("wc", |_| Err("/usr/bin/wc has changed".to_owned()));
    let failure = call(&PLUGIN, "lines", json!({}), &context).unwrap_err();
    assert_eq!(failure, Failure::failed("/usr/bin/wc has changed"));
}

#[test]
fn both_streams_are_read_together_or_one_by_one() {
    let large = vec![b'x'; 5000];
    let execution =
        Execution::new(0).stdout(large.clone()).stderr("e").left_processes(2).refused("GET http://a.example/");
    let context = plays(execution);
    let program = context.program("wc").unwrap();

    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let mut running = program.start(&Launch::default()).unwrap();
    let report = running.read(|chunk| {
        match chunk {
            Chunk::Stdout(bytes) => stdout.extend_from_slice(bytes),
            Chunk::Stderr(bytes) => stderr.extend_from_slice(bytes),
        }
        Ok(())
    });
    assert_eq!((&stdout, stderr.as_slice()), (&large, &b"e"[..]));
    let report = report.unwrap();
    assert!(report.is_success() && running.exit() == Some(report.clone()));
    assert_eq!((report.left_processes, report.refused), (2, vec!["GET http://a.example/".to_owned()]));

    let mut running = program.start(&Launch::default()).unwrap();
    running.stdin().unwrap().write_all(b"in").unwrap();
    let (mut out, mut errors) = (String::new(), String::new());
    running.stdout().unwrap().read_to_string(&mut out).unwrap();
    running.stderr().unwrap().read_to_string(&mut errors).unwrap();
    assert_eq!((out.len(), errors.as_str(), running.wait().exit), (5000, "e", Exit::Code(0)));
    assert!(running.stdin().is_none() && running.stdout().is_none() && running.stderr().is_none());
    assert_eq!(context.started()[1].stdin, b"in");
}

#[test]
fn merged_streams_are_one() {
    let context = plays(Execution::new(0).stdout("a").stderr("b"));
    let output = context.program("wc").unwrap().output(&Launch::default().merged(), 10).unwrap();
    assert_eq!((output.text().as_str(), output.stderr.as_slice(), output.is_cut), ("ab", &b""[..], false));
}

#[test]
fn a_program_ends_when_the_call_is_cancelled_or_reading_fails() {
    let context = plays(Execution::endless().stdout("begun")).cancelled_after(2);
    let mut running = context.program("wc").unwrap().start(&Launch::default()).unwrap();
    assert_eq!(running.read_until_cancelled(&context, |_| Ok(())), Err(Failure::Cancelled));
    assert_eq!(running.exit().unwrap().exit, Exit::Signal(9));
    assert!(context.started()[0].is_killed);

    let mut running = context.program("wc").unwrap().start(&Launch::default()).unwrap();
    assert_eq!(running.read(|_| Err(Failure::failed("enough"))), Err(Failure::failed("enough")));
    drop(running);
    assert!(context.started()[1].is_killed);
}

#[test]
fn a_reviewer_can_check_whether_the_policy_names_a_host() {
    let context = testing::Context::new().names_host("pages", "docs.example");
    let judged = |url: &str, context: &testing::Context| review(&PLUGIN, "fetch", json!({ "url": url }), context);
    assert_eq!(judged("https://Docs.example/x", &context), Verdict::Clear);
    let asked = Verdict::ask("https://b.example is on a host that the policy does not name");
    assert_eq!(judged("https://b.example", &context), asked);
    let refused = Verdict::refuse("the policy grants no HTTP client `pages` to this tool");
    assert_eq!(judged("https://docs.example/x", &testing::Context::new()), refused);
    assert_eq!(review(&PLUGIN, "fetch", json!({}), &context), Verdict::refuse("missing field `url`"));
    assert_eq!(review(&PLUGIN, "count", json!({}), &context), Verdict::Clear);
}

#[test]
fn a_body_over_the_policys_limit_is_truncated_by_read_and_refused_by_json() {
    let limited = || Reply::new(200).body("[1").breaks(Failure::failed("the response's body is longer than 2 bytes"));
    assert_eq!(response(limited()).read(100).unwrap(), Body::Cut(b"[1".to_vec()));
    assert_eq!(fetched(limited()), Err(Failure::failed("the response's body is longer than 2 bytes")));
    let broken = Reply::new(200).body("[1").breaks(Failure::unavailable("the connection broke"));
    assert_eq!(response(broken).read(100), Err(Failure::unavailable("the connection broke")));
}

#[test]
fn a_host_with_an_empty_label_is_invalid() {
    for url in ["http://a.example../", "http://a..example/", "http://.a.example/", "http://../", "http://./"] {
        assert!(matches!(Url::parse(url), Err(Failure::InvalidArguments(_))), "{url}");
    }
    assert_eq!(Url::parse("http://a.example./").unwrap().to_string(), "http://a.example/");
}
