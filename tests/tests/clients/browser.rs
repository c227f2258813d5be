//! Pages in a browser: requests from a page of another origin fail, and so does DNS rebinding. Each attempt is shown to
//! succeed against a server without checks.

#[path = "browser/page.rs"]
mod page;

#[path = "browser/target.rs"]
mod target;

use crate::office::{ASKING, Listening, Office};
use page::{Page, Stage};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use target::Gullible;

/// A host name that the browser resolves to this machine.
const EVIL: &str = "evil.example";

/// The ways in which a page can read the response of a server without checks. The other ways only send.
const READING: [&str; 8] = ["events", "get", "image", "json", "json with the token", "opaque", "plain", "script"];

/// Number of ways that a page tries.
const WAYS: usize = 15;

/// Requests that arrive at a server without checks: the method, and the browser's fetch metadata.
const ARRIVING: [&str; 9] = [
    "OPTIONS empty cors",
    "POST empty cors",
    "POST empty no-cors",
    "GET empty cors",
    "GET empty no-cors",
    "POST iframe navigate",
    "GET image no-cors",
    "GET script no-cors",
    "GET websocket",
];

fn attack(origin: &str, target: &str, token: &str) -> Map<String, Value> {
    let told = json!({ "target": target, "token": token });
    let stage = Stage::new(include_str!("../../clients/browser/attack.html"), &told);
    Page::open(origin, &stage).report()
}

/// Asserts that nothing ran, and that no approval request is open.
fn assert_untouched(office: &Office) {
    assert_eq!(office.calls(), []);
    let listing: Value = serde_json::from_str(&office.portcullis(&["approvals", "list"])).unwrap();
    assert_eq!(listing["questions"], json!([]));
    assert_eq!(office.notes(), "");
}

fn assert_reads_nothing(origin: &str, options: &[&str]) {
    let office = Office::new(ASKING);
    let server = office.listen(options);
    let read = attack(origin, &server.url, &server.token);
    for (way, read) in &read {
        assert_eq!(*read, Value::Null, "a page of {origin} reads by {way:?}");
    }
    assert_eq!(read.len(), WAYS, "every way must be tried: {read:?}");
    assert_untouched(&office);
}

#[test]
fn a_page_of_another_origin_reads_nothing_and_starts_nothing() {
    assert_reads_nothing(EVIL, &[]);
}

/// Another server on this machine may call as a program, but its pages still cannot read anything.
#[test]
fn a_page_of_another_server_of_this_machine_reads_nothing_and_starts_nothing() {
    assert_reads_nothing("127.0.0.1", &[]);
}

/// Without authentication, a page is still rejected by the origin check.
#[test]
fn a_page_reads_nothing_and_starts_nothing_even_without_authentication() {
    for origin in [EVIL, "127.0.0.1"] {
        assert_reads_nothing(origin, &["--no-auth"]);
    }
}

/// The same page against a server without checks: every attempt arrives. This shows that the attempts work.
#[test]
fn the_same_page_can_read_a_server_without_checks() {
    let gullible = Gullible::listen();
    let read = attack(EVIL, &gullible.url(), "any");
    let ways: Vec<&str> = read.iter().filter(|(_, read)| !read.is_null()).map(|(way, _)| way.as_str()).collect();
    assert_eq!(ways, READING);
    let arrived = gullible.arrived();
    let missing: BTreeSet<_> = ARRIVING.iter().filter(|kind| !arrived.contains(**kind)).collect();
    assert!(missing.is_empty(), "{missing:?} did not arrive: {arrived:?}");
}

/// Returns the statuses that a page gets without and with the token, once its name resolves to the server.
fn rebound(server: &Listening) -> [Value; 2] {
    let told = json!({ "token": server.token });
    let stage = Stage::new(include_str!("../../clients/browser/rebound.html"), &told);
    let report = Page::open_before(EVIL, &stage, server.port()).report();
    ["without the token", "with the token"].map(|way| report[way].clone())
}

#[test]
fn a_page_with_a_rebound_name_is_rejected() {
    let office = Office::new(ASKING);
    let server = office.listen(&[]);
    for answer in rebound(&server) {
        assert_eq!(answer["status"], 403, "{answer}");
        assert!(!answer["text"].as_str().unwrap().contains("was here"), "{answer}");
    }
    assert_untouched(&office);
}

/// Each check alone rejects the page: the name, the origin, the token.
#[test]
fn a_page_that_passes_one_check_is_rejected_by_the_next() {
    for (options, statuses) in
        [(vec!["--allow-host", EVIL], [403, 403]), (vec!["--allow-origin", "http://evil.example:*"], [403, 403])]
    {
        let office = Office::new(ASKING);
        let server = office.listen(&options);
        let answered = rebound(&server).map(|answer| answer["status"].as_u64().unwrap());
        assert_eq!(answered, statuses, "{options:?}");
        assert_untouched(&office);
    }
}

/// If the name and the origin are allowed, the page can call with the token, and not without it.
#[test]
fn an_allowed_page_can_call_only_with_the_token() {
    let office = Office::new(ASKING);
    let server = office.listen(&["--allow-host", EVIL, "--allow-origin", "http://evil.example:*"]);
    let [without, with] = rebound(&server);
    assert_eq!((&without["status"], &with["status"]), (&json!(401), &json!(200)), "{without} {with}");
    assert!(with["text"].as_str().unwrap().contains("a friend was here"), "{with}");
    assert_eq!(office.settled(), [("clerk.echo".to_owned(), "completed".to_owned())]);
}
