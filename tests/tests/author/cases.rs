//! Cases in the real host: what they can grant and expect, and that each expectation has an effect.

use crate::author::bench::Bench;
use portcullis_tests::{Manifest, built_guest, guest, shipped_plugin};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// The grant of the files plugin: a directory with a poem.
fn poem(access: &str) -> Value {
    let files = json!({"a/poem.txt": "roses are red\n"});
    json!({"directory": {"workspace": {"access": access, "files": files, "from": "fixtures"}}})
}

fn files() -> Bench {
    let bench = Bench::new();
    bench.component("files", &shipped_plugin("files"));
    bench.file("fixtures/deep/b.txt", "violets are blue\n");
    bench
}

fn read(path: &str) -> Value {
    json!({"path": path})
}

#[test]
fn a_case_gets_exactly_its_grants() {
    let bench = files();
    bench.cases(
        "files.json",
        &json!([
            {"name": "reads", "tool": "read", "arguments": read("a/poem.txt"), "grants": poem("read-only"),
             "expect": {"outcome": "completed", "code": "completed", "contains": ["roses"],
                        "files": {"workspace/a/poem.txt": "roses are red\n", "workspace/c.txt": null}}},
            {"name": "a copy of a folder", "tool": "read", "arguments": read("deep/b.txt"), "grants": poem("read-only"),
             "expect": {"outcome": "completed", "contains": ["violets"]}},
            {"name": "writes", "tool": "write", "arguments": {"path": "c.txt", "content": "new"},
             "grants": poem("read-write"), "expect": {"outcome": "completed", "files": {"workspace/c.txt": "new"}}},
            {"name": "the next case finds nothing of it", "tool": "read", "arguments": read("c.txt"),
             "grants": poem("read-write"), "expect": {"outcome": "failed", "files": {"workspace/c.txt": null}}},
            {"name": "is granted nothing", "tool": "read", "arguments": read("a/poem.txt"),
             "expect": {"outcome": "denied", "code": "dependency-not-granted"}},
            {"name": "may only read", "tool": "write", "arguments": {"path": "c.txt", "content": "new"},
             "grants": poem("read-only"), "expect": {"outcome": "failed", "files": {"workspace/c.txt": null}}},
            {"name": "several calls share what they have", "grants": poem("read-write"), "steps": [
                {"tool": "write", "arguments": {"path": "d.txt", "content": "one"}, "expect": {"outcome": "completed"}},
                {"tool": "read", "arguments": read("d.txt"), "expect": {"outcome": "completed", "contains": ["one"]}}]},
        ]),
    );
    let document = bench.passes("files");
    assert_eq!(document["passed"], 7, "{document:#}");
    assert_eq!(document["cases"][0]["file"], "./tests/files.json", "{document:#}");
    // Nothing of the user's was created or used.
    assert!(!bench.site.path("home/.local/share").exists() && !bench.site.path("home/.config").exists());
}

#[test]
fn the_decision_and_the_approval_are_the_hosts() {
    let bench = files();
    let case = |name: &str, extra: Value, expect: Value| {
        let mut case = json!({"name": name, "tool": "read", "arguments": read("a/poem.txt"),
            "grants": poem("read-only"), "expect": expect});
        case.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        case
    };
    bench.cases(
        "files.json",
        &json!([
            case("denied", json!({"decision": "deny"}), json!({"outcome": "denied", "code": "policy-denied"})),
            case("unattended", json!({"decision": "ask"}), json!({"outcome": "pending", "code": "approval-pending"})),
            case("yes", json!({"decision": "ask", "answer": "approve"}), json!({"outcome": "completed"})),
            case(
                "no",
                json!({"decision": "ask", "answer": "reject"}),
                json!({"outcome": "denied", "code": "approval-denied"})
            ),
            json!({"name": "no JSON", "tool": "read", "arguments_text": "{not json",
                   "expect": {"outcome": "invalid", "code": "malformed-arguments"}}),
            json!({"name": "no tool", "tool": "raed", "expect": {"outcome": "invalid", "code": "unknown-tool"}}),
        ]),
    );
    bench.passes("files");
}

#[test]
fn a_server_responds_as_the_case_says() {
    let bench = Bench::new();
    bench.component("web", &shipped_plugin("web"));
    let fetch = |path: &str| json!({"url": format!("${{http.fetch}}{path}")});
    let served = json!({"http": {"fetch": {"answers": [
        {"path": "/a?q=1", "headers": {"content-type": "text/plain"}, "body": "it is here"},
        {"path": "/json", "body": {"a": [1]}}]}}});
    bench.cases(
        "web.json",
        &json!([
            {"name": "a text", "tool": "fetch", "arguments": fetch("/a?q=1"), "grants": served,
             "expect": {"outcome": "completed", "contains": ["it is here"], "requests": ["GET /a?q=1"]}},
            {"name": "JSON", "tool": "fetch", "arguments": fetch("/json"), "grants": served,
             "expect": {"outcome": "completed", "contains": ["[1]"], "requests": ["GET /json"]}},
            {"name": "nothing", "tool": "fetch", "arguments": fetch("/b"), "grants": served,
             "expect": {"outcome": "failed", "contains": ["404"], "requests": ["GET /b"]}},
        ]),
    );
    bench.passes("web");
}

/// Checks what a plugin sends, to the last byte. A response is used only for the request it is for.
#[test]
fn a_request_is_compared_with_the_expected_one() {
    let bench = Bench::new();
    bench.component("courier", &built_guest("net"));
    let case = |answer: Value, requests: Value| {
        let mut given = json!({"method": "POST", "path": "/p", "status": 201, "body": "taken at ${http.api}"});
        given.as_object_mut().unwrap().extend(answer.as_object().unwrap().clone());
        let headers = json!([["Content-Type", "application/json"], ["x-two", "1"], ["x-two", "2"]]);
        json!({"name": requests.to_string(), "tool": "fetch", "grants": {"http": {"api": {"answers": [given]}}},
            "arguments": {"url": "${http.api}/p", "post": r#"{"a": [1, "ü"]}"#, "headers": headers},
            "expect": {"outcome": "completed", "contains": ["201", "taken at ${http.api}"], "requests": requests}})
    };
    let sent = |extra: Value| {
        let mut request = json!({"method": "POST", "path": "/p"});
        request.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        json!([request])
    };
    let right = [
        json!({"headers": {"CONTENT-TYPE": "application/json", "x-two": "1, 2", "cookie": null, "host": "${any}"}}),
        json!({"body": r#"{"a": [1, "ü"]}"#}),
        json!({"body": {"a": [1.0, "${any}"]}}),
    ];
    let any = json!({"request_headers": {"x-TWO": "1, 2"}, "request_body": r#"{"a": [1, "ü"]}"#});
    bench.cases("a.json", &right.iter().map(|request| case(any.clone(), sent(request.clone()))).collect());
    bench.passes("courier");
    let wrong = [
        (json!({}), json!({"method": "PUT"}), "the requests: \"/0\": expected \"PUT /p\", found \"POST /p\""),
        (json!({}), json!({"headers": {"x-two": "1"}}), "\"x-two\" of request 1: the whole value: expected \"1\""),
        (json!({}), json!({"headers": {"x-two": null}}), "expected null, found \"1, 2\""),
        (json!({}), json!({"headers": {"cookie": "a"}}), "expected \"a\", found null"),
        (json!({}), json!({"body": ""}), "the body of request 1 differs at byte 0"),
        (json!({}), json!({"body": {"a": [2, "ü"]}}), "the body of request 1: \"/a/0\": expected 2, found 1"),
        (json!({"request_body": "b"}), json!({}), "404"),
        (json!({"request_headers": {"x-two": "1"}}), json!({}), "404"),
    ];
    bench.cases(
        "a.json",
        &wrong.iter().map(|(answer, request, _)| case(answer.clone(), sent(request.clone()))).collect(),
    );
    for ((_, request, says), told) in wrong.iter().zip(bench.fails("courier")) {
        assert!(told.contains(says), "{request}: {told}");
    }
}

/// A placeholder for an unknown server must be an error: otherwise its text would be sent.
#[test]
fn a_server_placeholder_is_filled_in_or_rejected() {
    let bench = Bench::new();
    bench.component("json", &guest("json-echo", &Manifest::of("json")));
    let case = |text: &str, grants: Value| {
        json!({"name": "x", "tool": "run", "arguments": {"value": text}, "grants": grants,
               "expect": {"outcome": "completed"}})
    };
    for text in ["${http.typo}/a", "${http.web", "${http.}"] {
        bench.cases("a.json", &case(text, json!({"http": {"web": {}}})));
        let told = bench.test("json", &[]).ends(2).err;
        assert!(told.contains("a.json: the case `x`: ") && told.contains("does not name a server"), "{text}: {told}");
    }
    bench.cases("a.json", &case("${HOME} ${any} $http.web", json!({})));
    bench.passes("json");
}

/// The length and the digest are those of the complete text, even if the result was cut.
#[test]
fn a_text_is_measured_before_it_is_cut() {
    let bench = Bench::new();
    let text = format!("{}\n", "x".repeat(255)).repeat(4096);
    let digest: String = Sha256::digest(&text).iter().map(|byte| format!("{byte:02x}")).collect();
    bench.component("long-text", &guest("long-text", &Manifest::of("long-text")));
    let case = |limits: Value, bytes: usize, sha256: &str| {
        json!({"name": "long", "tool": "run", "limits": limits,
               "expect": {"outcome": "completed", "text_bytes": bytes, "text_sha256": sha256}})
    };
    // Once passed on completely, and once cut.
    let limits = [json!({"output": "2 MiB"}), json!({"output": "1 KiB"})];
    bench.cases("a.json", &limits.iter().map(|limits| case(limits.clone(), text.len(), &digest)).collect());
    bench.passes("long-text");
    let none = "0".repeat(64);
    bench.cases("a.json", &limits.iter().map(|limits| case(limits.clone(), 1024, &none)).collect());
    for told in bench.fails("long-text") {
        assert!(told.contains("expected a text of 1024 bytes, found one of 1048576"), "{told}");
        assert!(told.contains(&format!("with the SHA-256 {none}, found one with {digest}")), "{told}");
    }
    bench.cases("a.json", &case(json!({}), 1, "abc"));
    assert!(bench.test("long-text", &[]).ends(2).err.contains("a SHA-256 has 64 hexadecimal digits"));
    // A result that is not text has no text length, whether cut or not.
    for name in ["json-echo", "long-json"] {
        bench.component(name, &guest(name, &Manifest::of(name)));
        bench.cases("a.json", &case(json!({}), 1, &none));
        assert!(bench.fails(name)[0].contains("expected a text, found "), "{name}");
    }
}

#[test]
fn a_call_can_be_cancelled_and_limited() {
    let bench = Bench::new();
    bench
        .component("waits-for-cancellation", &guest("waits-for-cancellation", &Manifest::of("waits-for-cancellation")));
    bench.cases(
        "a.json",
        &json!({"name": "ends when it is cancelled", "tool": "run", "cancel_after_ms": 100,
                "expect": {"outcome": "cancelled"}}),
    );
    bench.passes("waits-for-cancellation");
    bench.component("loop-in-execute", &guest("loop-in-execute", &Manifest::of("loop-in-execute")));
    bench.cases(
        "a.json",
        &json!({"name": "runs without end", "tool": "run", "limits": {"time": "300 ms"},
                "expect": {"outcome": "limit", "code": "limit-time"}}),
    );
    let document = bench.passes("loop-in-execute");
    assert!(document["cases"][0]["milliseconds"].as_u64().unwrap() >= 300, "{document:#}");
}

/// Each expectation is compared with the actual result.
#[test]
fn an_unmet_expectation_is_reported() {
    let bench = Bench::new();
    bench.component("json", &guest("json-echo", &Manifest::of("json")));
    let echo =
        |expect: Value| json!({"name": "echo", "tool": "run", "arguments": {"value": {"a": 1}}, "expect": expect});
    bench.cases("a.json", &echo(json!({"outcome": "completed", "json": {"value": {"a": 1.0}}})));
    bench.passes("json");
    let wrong = [
        (json!({"outcome": "failed"}), "expected the outcome failed, found completed"),
        (json!({"code": "trapped"}), "expected the code trapped, found completed"),
        (json!({"json": {"value": {"a": 2}}}), "the JSON: "),
        (json!({"text": "x"}), "expected a text, found the JSON"),
        (json!({"parts": []}), "expected parts, found the JSON"),
        (json!({"contains": ["nowhere"]}), "\"nowhere\" is not in the output"),
        (json!({"message": "x"}), "the message differs at byte 0"),
        (json!({"title": "x"}), "the title: the whole value: expected \"x\""),
        (json!({"metadata": {"x": 1}}), "the metadata: "),
        (json!({"log": ["x"]}), "\"x\" is not in the log"),
        (json!({"progress": [{"title": "x"}]}), "expected 1 reports of progress, found 0"),
        (json!({"files": {"workspace/x": "x"}}), "no directory `workspace` is granted"),
        (json!({"files": {"x": null}}), "x: a path must begin with the key of its directory"),
        (json!({"requests": ["GET /"]}), "the requests: "),
    ];
    let cases: Vec<Value> = wrong
        .iter()
        .map(|(changed, _)| {
            let mut expect = json!({"outcome": "completed"});
            expect.as_object_mut().unwrap().extend(changed.as_object().unwrap().clone());
            echo(expect)
        })
        .collect();
    bench.cases("a.json", &Value::from(cases));
    let told = bench.fails("json");
    for ((changed, says), told) in wrong.iter().zip(&told) {
        assert!(told.contains(says), "{changed}: {told}");
    }
}

#[test]
fn failures_are_printed_without_terminal_escapes() {
    let bench = Bench::new();
    bench.component("trap-on-demand", &guest("trap-on-demand", &Manifest::of("trap-on-demand")));
    bench.cases(
        "a.json",
        &json!([{"name": "good \u{1b}[2J", "tool": "run", "expect": {"outcome": "completed"}},
                {"name": "bad", "tool": "run", "arguments": {"a": 1}, "expect": {"outcome": "completed"}}]),
    );
    let ran = bench.test("trap-on-demand", &[]).ends(1);
    assert!(ran.out.starts_with("pass  good \\u{1b}[2J "), "{}", ran.out);
    for said in ["FAIL  bad ", "found trapped (trapped)", "the call's log:", "unreachable", "1 passed, 1 failed\n"] {
        assert!(ran.out.contains(said), "{said}: {}", ran.out);
    }
    let only = bench.test("trap-on-demand", &["--only", "good"]).ends(0);
    assert!(only.out.ends_with("1 passed, 0 failed\n"), "{}", only.out);
}
