//! The log of a server on standard error.

use crate::guard::ask::{Ask, PATIENCE};
use crate::guard::http::{POLICY, Serving, command, site};
use crate::mcp::wire::{Desk, Era, OPEN};
use portcullis_tests::{Site, eventually};
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::io::{PipeReader, PipeWriter, Read as _, Write as _, pipe};
use std::{fs, thread};
use tokio::time::timeout;

const WRONG: &str = "wrong-0123456789abcdef0123456789abcdef";

/// The lines about refusals of one reason in a minute (`LOG_LINES_MAX`).
const LINES_MAX: usize = 5;

fn token(site: &Site) -> String {
    fs::read_to_string(site.state().join("mcp-token")).unwrap().trim_end().to_owned()
}

/// Parses a log, each line of which must be one JSON object.
fn parse(said: &str) -> Vec<Value> {
    let parse = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    said.lines().map(parse).collect()
}

fn of_event<'a>(lines: &'a [Value], event: &str) -> Vec<&'a Value> {
    lines.iter().filter(|line| line["event"] == event).collect()
}

#[tokio::test]
async fn the_json_log_has_one_object_per_line_for_start_refusal_reload_policy_and_stop() {
    let site = site();
    let serving = Serving::start(&site, &["--log-format", "json"]).await;
    let (token, own) = (token(&site), serving.address.to_string());
    serving.call(WRONG).await.is(401);
    serving.call(&token).await.is(200);
    let get = |host: &str| Ask::new("GET", "/mcp").with("Host", host);
    get("evil.example").send(serving.address).await.is(403);
    get(&own).with("Origin", "http://evil.example").send(serving.address).await.is(403);
    get(&own).send(serving.address).await.is(401);

    fs::write(site.path("policy.toml"), POLICY.replace("allow", "deny")).unwrap();
    until_denied(&serving, &token).await;
    // The fault of a policy quotes its text.
    let quoted = "[[rule]]\ntool = \"a\\u202Eb\\u001B[2J\"\ndecision = \"allow\"\n";
    fs::write(site.path("policy.toml"), quoted).unwrap();
    serving.signal(Signal::HUP);
    let health = Ask::new("GET", "/healthz").with("Host", &own);
    health.send(serving.address).await.is(200);
    let url = format!("http://{own}/mcp");
    let (status, said) = until_fault(serving).await;
    assert_eq!(status, Some(0), "{said}");
    assert!(!said.contains(&token) && !said.contains(WRONG), "{said}");
    assert!(!said.contains('\u{1b}') && !said.contains('\u{202e}'), "{said}");

    let lines = parse(&said);
    for line in &lines {
        assert!(line["time"].as_str().is_some_and(|time| time.ends_with('Z')), "{line}");
        assert!(line["target"].as_str().is_some_and(|target| target.starts_with("portcullis")), "{line}");
        assert!(["info", "warn", "error"].contains(&line["level"].as_str().unwrap()), "{line}");
        assert!(line["message"].is_string(), "{line}");
    }
    let start = of_event(&lines, "start");
    assert_eq!((start.len(), start[0]["url"].as_str()), (1, Some(url.as_str())), "{said}");
    let refused = of_event(&lines, "refused");
    let reasons: Vec<_> = refused.iter().map(|line| line["reason"].as_str().unwrap()).collect();
    assert_eq!(reasons, ["token-invalid", "host", "origin", "token-missing"], "{said}");
    for line in refused {
        assert!(line["peer"].as_str().is_some_and(|peer| peer.starts_with("127.0.0.1:")), "{line}");
        assert_eq!((&line["what"], &line["level"]), (&"request".into(), &"warn".into()));
    }
    let policies = of_event(&lines, "policy");
    assert!(policies.iter().any(|line| line["detail"].is_null()), "{said}");
    assert!(
        policies.iter().any(|line| line["detail"].as_str().is_some_and(|text| text.contains("policy.toml"))),
        "{said}"
    );
    assert!(!of_event(&lines, "reload").is_empty(), "{said}");
    assert_eq!((of_event(&lines, "stop").len(), of_event(&lines, "stopped").len()), (1, 1), "{said}");
    // Nothing is printed twice.
    let mut messages: Vec<_> = lines.iter().map(|line| line["message"].to_string()).collect();
    messages.retain(|message| message.contains("serving "));
    assert_eq!(messages.len(), 1, "{said}");
}

/// Calls until the new policy is in force.
async fn until_denied(serving: &Serving, token: &str) {
    let denied = async {
        while serving.call(token).await.last()["result"]["isError"] != true {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    timeout(PATIENCE, denied).await.unwrap();
}

/// Reads the log until the policy is refused, and interrupts the server. Returns its code and the whole log.
async fn until_fault(mut serving: Serving) -> (Option<i32>, String) {
    let mut said = String::new();
    loop {
        let line = serving.says("").await;
        said += &line;
        said.push('\n');
        if line.contains("cannot be used") {
            break;
        }
    }
    let (status, rest) = serving.interrupt().await;
    (status.code(), said + &rest)
}

#[tokio::test]
async fn a_flood_of_refusals_has_few_lines_and_one_that_counts_the_others() {
    let site = site();
    let serving = Serving::start(&site, &[]).await;
    for _ in 0..4 * LINES_MAX {
        serving.call(WRONG).await.is(401);
    }
    // Another reason has lines of its own.
    Ask::new("GET", "/mcp").with("Host", "evil.example").send(serving.address).await.is(403);
    let (_, said) = serving.interrupt().await;
    let about = |words: &str| said.lines().filter(|line| line.contains(words)).count();
    assert_eq!(about("refused a request of 127.0.0.1:"), LINES_MAX + 1, "{said}");
    assert_eq!(about("the token is unknown or not valid"), LINES_MAX + 1, "{said}");
    let left_out = format!("refused {} more requests", 3 * LINES_MAX);
    assert_eq!(about(&left_out), 1, "{said}");
    assert_eq!(about("the Host header is missing or does not name this server"), 1, "{said}");
}

#[tokio::test]
async fn rust_log_selects_lines_and_never_shows_those_of_dependencies() {
    let site = site();
    let serving = Serving::start_with(&site, &[], &[("RUST_LOG", "error")]).await;
    serving.call(WRONG).await.is(401);
    let (_, said) = serving.interrupt().await;
    assert!(!said.contains("refused a request") && !said.contains("serving "), "{said}");

    let arguments = ["--log-format", "json"];
    let serving = Serving::start_with(&site, &arguments, &[("RUST_LOG", "trace")]).await;
    let token = token(&site);
    serving.call(&token).await.is(200);
    let (_, said) = serving.interrupt().await;
    assert!(!said.contains(&token), "{said}");
    for line in parse(&said) {
        assert!(line["target"].as_str().unwrap().starts_with("portcullis"), "{line}");
    }
}

#[tokio::test]
async fn a_filter_that_is_none_keeps_the_server_from_starting() {
    let site = site();
    for (format, is_json) in [("text", false), ("json", true)] {
        let mut command = command(&site, &["--http", "127.0.0.1:0", "--log-format", format]);
        let output = command.env("RUST_LOG", "portcullis=loud").output().await.unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("RUST_LOG is not a list of levels"), "{said}");
        if is_json {
            assert_eq!(parse(&said)[0]["level"], "error", "{said}");
        }
        assert!(output.stdout.is_empty());
    }
}

/// Returns a pipe into which nothing fits any more.
fn full_pipe() -> (PipeReader, PipeWriter) {
    let (reader, mut writer) = pipe().unwrap();
    fcntl_setfl(&writer, OFlags::NONBLOCK).unwrap();
    while writer.write(&[b'.'; 4096]).is_ok() {}
    fcntl_setfl(&writer, OFlags::empty()).unwrap();
    (reader, writer)
}

/// Some agents never read what their server says. A full pipe must stop neither it nor the change of its policy.
#[test]
fn a_server_whose_messages_are_not_read_follows_its_policy() {
    let desk = Desk::new(OPEN);
    let (mut reader, writer) = full_pipe();
    let mut wire = desk.told(Era::Legacy, &[], writer.into());
    wire.shake_hands("2025-11-25");
    let mut is_denied = || wire.call("clerk__count", json!({ "to": 1 }))["isError"] == true;
    assert!(!is_denied());
    fs::write(desk.site.path("portcullis.toml"), OPEN.replace("allow", "deny")).unwrap();
    eventually("the call is denied", || is_denied().then_some(()));

    // Who begins to read gets everything.
    let read = thread::spawn(move || {
        let mut said = String::new();
        reader.read_to_string(&mut said).unwrap();
        said
    });
    wire.close();
    let said = read.join().unwrap();
    assert!(said.trim_start_matches('.').starts_with("serving") && said.contains("is in force"), "{said:?}");
}
