//! Events with arguments and results, for subscribers that ask for them.

use crate::embed::native_desk::{call, open};
use portcullis::events::{EVENT_PAYLOAD_BYTES_MAX, Event, EventFilter, EventKind, Events};
use portcullis::{Code, Request};
use portcullis_tests::{Site, allow_all};
use serde_json::json;

fn all(events: &mut Events) -> Vec<Event> {
    std::iter::from_fn(|| events.try_next()).collect()
}

fn state(event: &Event) -> &'static str {
    match event.kind {
        EventKind::State(state) => state.as_str(),
        EventKind::Progress(_) => "progress",
        EventKind::Lagged => "lagged",
    }
}

/// Returns each state with the texts of its payloads.
fn texts(events: &mut Events) -> Vec<(&'static str, Option<String>, Option<String>)> {
    let text = |event: Event| {
        let text = |payload: &Option<std::sync::Arc<portcullis::events::EventPayload>>| {
            payload.as_ref().map(|payload| payload.text.clone())
        };
        (state(&event), text(&event.arguments), text(&event.result))
    };
    all(events).into_iter().map(text).collect()
}

#[tokio::test]
async fn only_a_subscriber_that_asks_gets_arguments_and_results() {
    let site = Site::new();
    let (host, ..) = open(&site, &allow_all("")).await;
    let (mut plain, mut full) = (host.events(), host.events_with(EventFilter::new().with_payloads()));
    let reply = host.call(Request::new("app.echo", r#"{ "text" : "hello" }"#)).await;
    assert_eq!(reply.code, Code::Completed, "{}", reply.message);
    assert_eq!(texts(&mut plain), [("pending", None, None), ("running", None, None), ("completed", None, None)]);
    let arguments = Some(r#"{"text":"hello"}"#.to_owned());
    let expected = [
        ("pending", None, None),
        ("running", arguments.clone(), None),
        ("completed", arguments, Some("hello".to_owned())),
    ];
    assert_eq!(texts(&mut full), expected);
    let refused = call(&host, "app.echo", json!({ "text": 1 })).await;
    assert_eq!(refused.code.outcome(), portcullis::Outcome::Invalid);
    assert_eq!(texts(&mut full), [("pending", None, None), ("invalid", None, None)]);
}

#[tokio::test]
async fn a_subscriber_can_follow_one_session_or_one_principal() {
    let site = Site::new();
    let (host, ..) = open(&site, &allow_all("")).await;
    let ada = "ada".parse().unwrap();
    let mut session = host.events_with(EventFilter::new().session("one"));
    let mut principal = host.events_with(EventFilter::new().principal(&ada).with_payloads());
    for (session, principal) in [("one", "ada"), ("one", "bob"), ("two", "ada/helper"), ("two", "adam")] {
        let request = Request::json("app.echo", &json!({ "text": principal })).session(session);
        host.call(request.principal(principal.parse().unwrap())).await;
    }
    let of_session: Vec<String> = all(&mut session).iter().map(|event| event.principal.to_string()).collect();
    assert_eq!(of_session, ["ada", "ada", "ada", "bob", "bob", "bob"]);
    let results: Vec<_> = texts(&mut principal).into_iter().filter_map(|(_, _, result)| result).collect();
    assert_eq!(results, ["ada", "ada/helper"]);
}

#[tokio::test]
async fn a_filter_passes_no_session_whose_long_name_begins_alike() {
    let site = Site::new();
    let (host, ..) = open(&site, &allow_all("")).await;
    let long = |last: &str| format!("{}{last}", "s".repeat(500));
    let mut events = host.events_with(EventFilter::new().session(&long("a")).with_payloads());
    for last in ["a", "b"] {
        host.call(Request::json("app.echo", &json!({ "text": last })).session(&long(last))).await;
    }
    let results: Vec<_> = texts(&mut events).into_iter().filter_map(|(_, _, result)| result).collect();
    assert_eq!(results, ["a"]);
}

#[tokio::test]
async fn a_long_payload_is_cut_and_names_the_kept_output() {
    let site = Site::new();
    let (host, ..) = open(&site, &allow_all("output = \"64 KiB\"")).await;
    let mut events = host.events_with(EventFilter::new().with_payloads());
    let text = "ü".repeat(EVENT_PAYLOAD_BYTES_MAX);
    call(&host, "app.echo", json!({ "text": text })).await;
    let end = all(&mut events).pop().unwrap();
    let (arguments, result) = (end.arguments.unwrap(), end.result.unwrap());
    for payload in [&arguments, &result] {
        assert!(payload.is_cut() && payload.text.len() <= EVENT_PAYLOAD_BYTES_MAX, "{}", payload.text.len());
    }
    assert_eq!((result.bytes, &result.reference), (text.len(), &None));
    let reply = call(&host, "app.long", json!({ "lines": 20_000 })).await;
    let end = all(&mut events).pop().unwrap();
    assert_eq!(end.result.unwrap().reference, reply.reference.map(|reference| reference.id));
}

/// A subscriber that does not read makes the host keep 4 MiB of payloads, and no call waits for it. It still gets every
/// state, and payloads again once it has read.
#[tokio::test]
async fn a_subscriber_that_does_not_read_gets_states_without_texts() {
    let site = Site::new();
    let (host, ..) = open(&site, &allow_all("")).await;
    let mut events = host.events_with(EventFilter::new().with_payloads());
    let text = "a".repeat(15_000);
    for _ in 0..150 {
        assert_eq!(call(&host, "app.echo", json!({ "text": text })).await.code, Code::Completed);
    }
    let read = all(&mut events);
    assert_eq!(read.len(), 450);
    let payloads = || read.iter().flat_map(|event| [&event.arguments, &event.result]).flatten();
    let bytes: usize = payloads().map(|payload| payload.text.len()).sum();
    assert!((3 << 20..=4 << 20).contains(&bytes), "{bytes}");
    let last = read.last().unwrap().result.as_ref().unwrap();
    assert_eq!((last.text.as_str(), last.bytes, last.is_cut()), ("", 15_000, true));
    call(&host, "app.echo", json!({ "text": "short" })).await;
    assert_eq!(all(&mut events).pop().unwrap().result.unwrap().text, "short");
}
