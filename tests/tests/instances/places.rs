//! Idle instances take no place from running calls, and no principal takes those of others.

use crate::instances::desk::{SESSION, note_in, policy, request, results, site, step};
use portcullis::Code;
use serde_json::json;

/// More sessions than any test host has places.
const SESSIONS: usize = 60;

#[tokio::test]
async fn a_call_takes_the_place_of_an_idle_instance() {
    let site = site();
    let host = site.builder(&policy(SESSION)).calls(2).open().await.unwrap();
    for number in 0..SESSIONS {
        let notes = note_in(&host, &format!("s{number}"), "ada", "one").await;
        assert_eq!(notes, json!(["one"]), "session {number}");
    }
    let metrics = host.metrics().await;
    assert!(metrics.session_instances > 1, "{metrics:?}");
    assert!(metrics.instances_used < metrics.instances, "reviews and descriptions keep their places: {metrics:?}");
    // The youngest is still there, and the oldest is gone.
    let youngest = format!("s{}", SESSIONS - 1);
    assert_eq!(note_in(&host, &youngest, "ada", "two").await, json!(["one", "two"]));
    assert_eq!(note_in(&host, "s0", "ada", "two").await, json!(["two"]));
    // Calls that run together find their places as well.
    let mut calls = tokio::task::JoinSet::new();
    for number in 0..20 {
        let (host, request) = (host.clone(), request("keeper.think", &format!("t{number}"), &[step("note", "x")]));
        calls.spawn(async move { host.call(request).await });
    }
    for reply in calls.join_all().await {
        assert_eq!(reply.code, Code::Completed, "{}", reply.message);
    }
}

#[tokio::test]
async fn a_principal_with_many_sessions_displaces_its_own_instances_first() {
    let site = site();
    let host = site.builder(&policy(SESSION)).calls(2).open().await.unwrap();
    note_in(&host, "s", "bob", "one").await;
    for number in 0..SESSIONS {
        note_in(&host, &format!("s{number}"), "ada", "one").await;
    }
    assert_eq!(note_in(&host, "s", "bob", "two").await, json!(["one", "two"]));
}

/// Only one of two calls at the same time can have the instance. The other one runs in a fresh sandbox.
#[tokio::test]
async fn two_calls_at_the_same_time_do_not_share_memory() {
    let site = site();
    let host = site.open(&policy(SESSION)).await;
    let call = |text: &str| {
        let steps = [json!({ "op": "wait", "bytes": 300 }), step("note", text)];
        host.call(request("keeper.look", "s", &steps))
    };
    results(&call("one").await);
    let (two, three) = tokio::join!(call("two"), call("three"));
    let mut notes = [results(&two).remove(1), results(&three).remove(1)].map(|notes| notes.as_array().unwrap().len());
    notes.sort_unstable();
    assert_eq!(notes, [1, 2], "{two:?} {three:?}");
    assert_eq!(host.metrics().await.session_instances, 1);
}
