//! Pages in a browser: what a page of another origin tries comes to nothing, and so does one whose name has come to
//! mean the server. Each attempt is shown to work against a server that does not look.

#[path = "browser/page.rs"]
mod page;

#[path = "browser/target.rs"]
mod target;

use crate::office::{ASKING, Listening, Office};
use page::{Page, Stage};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use target::Gullible;

/// A name that is nobody's, and that the browser takes for this machine.
const EVIL: &str = "evil.example";

/// The ways in which a page can read what a gullible server answers. By the others it can only send.
const READING: [&str; 8] = ["events", "get", "image", "json", "json with the token", "nobody", "plain", "script"];

/// How many ways a page tries.
const WAYS: usize = 15;

/// What arrives at a server that answers everything: the method, and what the browser says that it is for.
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

/// Nothing ran, and nothing waits to.
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
    assert_eq!(read.len(), WAYS, "every way was tried: {read:?}");
    assert_untouched(&office);
}

#[test]
fn a_page_of_another_origin_reads_nothing_and_starts_nothing() {
    assert_reads_nothing(EVIL, &[]);
}

/// Another server of this machine may call, as programs do; its pages still can read nothing.
#[test]
fn a_page_of_another_server_of_this_machine_reads_nothing_and_starts_nothing() {
    assert_reads_nothing("127.0.0.1", &[]);
}

/// The token is not all that keeps pages out: a server that asks for none takes nothing from them either.
#[test]
fn a_page_reads_nothing_and_starts_nothing_without_a_token_to_keep_it_out() {
    for origin in [EVIL, "127.0.0.1"] {
        assert_reads_nothing(origin, &["--no-auth"]);
    }
}

/// The same page against a server that answers everyone: every attempt arrives, so that its failure elsewhere means
/// something.
#[test]
fn the_same_page_reads_a_server_that_does_not_look() {
    let gullible = Gullible::listen();
    let read = attack(EVIL, &gullible.url(), "any");
    let ways: Vec<&str> = read.iter().filter(|(_, read)| !read.is_null()).map(|(way, _)| way.as_str()).collect();
    assert_eq!(ways, READING);
    let arrived = gullible.arrived();
    let missing: BTreeSet<_> = ARRIVING.iter().filter(|kind| !arrived.contains(**kind)).collect();
    assert!(missing.is_empty(), "{missing:?} did not arrive: {arrived:?}");
}

/// The status that a page gets without and with the token, once its name leads to the server.
fn rebound(server: &Listening) -> [Value; 2] {
    let told = json!({ "token": server.token });
    let stage = Stage::new(include_str!("../../clients/browser/rebound.html"), &told);
    let report = Page::open_before(EVIL, &stage, server.port()).report();
    ["without the token", "with the token"].map(|way| report[way].clone())
}

#[test]
fn a_page_whose_name_comes_to_mean_the_server_is_refused() {
    let office = Office::new(ASKING);
    let server = office.listen(&[]);
    for answer in rebound(&server) {
        assert_eq!(answer["status"], 403, "{answer}");
        assert!(!answer["text"].as_str().unwrap().contains("was here"), "{answer}");
    }
    assert_untouched(&office);
}

/// Each guard alone refuses it: the name, the origin, the token.
#[test]
fn a_page_that_passes_one_guard_is_refused_by_the_next() {
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

/// With the name and the origin allowed, the same page with the token calls, and without it does not.
#[test]
fn a_page_that_is_allowed_calls_with_the_token_alone() {
    let office = Office::new(ASKING);
    let server = office.listen(&["--allow-host", EVIL, "--allow-origin", "http://evil.example:*"]);
    let [without, with] = rebound(&server);
    assert_eq!((&without["status"], &with["status"]), (&json!(401), &json!(200)), "{without} {with}");
    assert!(with["text"].as_str().unwrap().contains("a friend was here"), "{with}");
    assert_eq!(office.settled(), [("clerk.echo".to_owned(), "completed".to_owned())]);
}
