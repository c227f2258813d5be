//! Calls that run on a task of their own: streams, cancellation and the end of each call are its own.

use portcullis::events::{CallState, Event, EventKind, Events, TextStream};
use portcullis::{Cancellation, Code, Host, Outcome, Request};
use portcullis_tests::{Manifest, Site, allow_all, built_guest, guest, outcome_of};
use serde_json::json;
use std::time::Duration;

/// The states of a call, from its beginning to its end, each with the id that its event names.
async fn states(mut events: Events) -> Vec<(String, CallState)> {
    let mut states = Vec::new();
    while let Some(Event { call, kind, .. }) = events.next().await {
        if let EventKind::State(state) = kind {
            states.push((call.to_string(), state));
        }
    }
    states
}

async fn whole(mut text: TextStream) -> String {
    let mut whole = String::new();
    while let Some(piece) = text.next().await {
        whole.push_str(&piece);
    }
    whole
}

fn site() -> Site {
    let site = Site::new();
    site.plugin("scribe", &built_guest("output"));
    site.plugin("sleeps", &guest("sleep-in-execute", &Manifest::of("sleeps")));
    site.warm();
    site
}

async fn until_running(events: &mut Events) {
    while let Some(event) = events.next().await {
        if matches!(event.kind, EventKind::State(CallState::Running)) {
            return;
        }
    }
    panic!("the call ended before it ran");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_calls_of_one_cloned_request_have_streams_of_their_own() {
    let site = site();
    let host = site.open(&allow_all("")).await;
    let request = Request::json("scribe.lines", &json!({ "count": 10, "bytes": 64 }));
    let mut calls = [host.start(request.clone()), host.start(request.clone()), host.start(request)];
    assert_ne!(calls[0].id(), calls[1].id());
    let streams = calls.each_mut().map(|call| (call.events(), call.text()));
    for (call, (events, text)) in calls.into_iter().zip(streams) {
        let id = call.id().to_owned();
        let reply = call.await;
        assert_eq!((reply.code, &reply.id), (Code::Completed, &id), "{}", reply.message);
        assert_eq!(whole(text).await, reply.message);
        let passed = [CallState::Pending, CallState::Running, CallState::Ended(Outcome::Completed)];
        assert_eq!(states(events).await, passed.map(|state| (id.clone(), state)));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cancelling_one_call_leaves_the_other_of_the_same_request() {
    let site = site();
    let host = site.open(&allow_all("time = \"20 s\"")).await;
    let own = Cancellation::new();
    let request = Request::new("sleeps.run", "{}").cancellation(own.clone());
    let (mut one, mut other) = (host.start(request.clone()), host.start(request));
    let (mut events_of_one, mut events_of_other) = (one.events(), other.events());
    until_running(&mut events_of_one).await;
    until_running(&mut events_of_other).await;
    one.cancel();
    assert_eq!(one.await.code, Code::Cancelled);
    assert!(events_of_other.try_next().is_none(), "the other call still runs");
    // The cancellation that the request brought along still works.
    own.cancel();
    assert_eq!(other.await.code, Code::Cancelled);
}

/// Dropping a call, or the future that awaits it, ends it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dropped_call_is_recorded_as_cancelled() {
    let site = site();
    let host = site.open(&allow_all("time = \"20 s\"")).await;
    for awaited in [false, true] {
        let mut call = host.start(Request::new("sleeps.run", "{}"));
        let (id, mut events) = (call.id().to_owned(), call.events());
        until_running(&mut events).await;
        match awaited {
            false => drop(call),
            true => assert!(tokio::time::timeout(Duration::from_millis(1), call).await.is_err()),
        }
        let ended = CallState::Ended(Outcome::Cancelled);
        assert_eq!(states(events).await, [(id.clone(), ended)]);
        assert_eq!(outcome_of(&host, &id)["outcome"], "cancelled");
    }
}

#[tokio::test]
async fn the_streams_of_a_call_are_taken_once() {
    let site = Site::new();
    let host: Host = site.open(&allow_all("")).await;
    let mut call = host.start(Request::new("good.run", "{}"));
    let _first = (call.events(), call.text());
    assert!(call.events().next().await.is_none());
    assert!(call.text().next().await.is_none());
    assert_eq!(call.await.code, Code::Completed);
}
