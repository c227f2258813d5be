//! What a client sends to another server than the one that it is for.

use super::cluster::{ASK, ASK_TOO, Cluster, answer, operator, other};
use crate::guard::service::{OTHER_TOKEN, SLEEP};
use portcullis_tests::{Manifest, eventually_async, guest};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Messages of one principal that wait for other hosts at one time.
const RELAYED_OF_PRINCIPAL_MAX: u64 = 256;

/// Messages of all principals that wait for other hosts at one time.
const RELAYED_MAX: u64 = 4096;

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_reaches_the_request_that_it_is_for_and_no_other() {
    let Some(cluster) = Cluster::open().await else { return };
    let [first, second, third] = &cluster.replicas[..] else { panic!("there are three") };
    let session = cluster.session(2).await;
    // Both servers ask their first request of this session.
    let mut calls = [first.call(&session, 1, ASK).await, second.call(&session, 2, ASK_TOO).await];
    let mut asked = Vec::new();
    for call in &mut calls {
        let request = call.message().await;
        assert_eq!(request["method"], "elicitation/create", "{request}");
        asked.push(request["id"].clone());
    }
    assert_ne!(asked[0], asked[1]);
    // None of these is the id of a request.
    let text = asked[0].as_str().unwrap();
    let (instance, number) = text.rsplit_once('.').unwrap();
    let host = instance.split_once('.').unwrap().0;
    let wrong = [json!(0), json!("0"), json!(format!("{instance}.7")), json!(format!("{host}.999.{number}"))];
    for id in &wrong {
        for replica in &cluster.replicas {
            replica.tell(&session, &answer(id, "accept")).await.is(202);
        }
    }
    // Nor may another principal, or another session, answer it.
    let theirs = third.session(OTHER_TOKEN).await;
    let ask = third.post(&theirs, &answer(&asked[0], "accept")).having("Authorization", &other());
    third.send(&ask).await.is(202);
    let another = cluster.session(1).await;
    third.tell(&another, &answer(&asked[0], "accept")).await.is(202);

    third.tell(&session, &answer(&asked[1], "decline")).await.is(202);
    assert_eq!(calls[1].message().await["result"]["isError"], true);
    let open = || first.host.approvals().list();
    assert_eq!(open().await.unwrap().questions.len(), 1, "no wrong answer counted");
    third.tell(&session, &answer(&asked[0], "accept")).await.is(202);
    let result = calls[0].message().await;
    assert_eq!(result["result"]["isError"], false, "{result}");
    assert_eq!(result["id"], 1);
    // An answer counts once.
    second.tell(&session, &answer(&asked[0], "accept")).await.is(202);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_through_another_server_arrives_soon() {
    const ROUNDS: u64 = 20;
    let Some(cluster) = Cluster::open().await else { return };
    let session = cluster.session(0).await;
    let mut took = Vec::new();
    for (round, replica) in (0..ROUNDS).zip(cluster.replicas.iter().cycle()) {
        let mut call = cluster.replicas[0].call(&session, round, ASK).await;
        let asked = call.message().await;
        let sent = Instant::now();
        replica.tell(&session, &answer(&asked["id"], "accept")).await.is(202);
        assert_eq!(call.message().await["result"]["isError"], false);
        // Every third answer reaches the server that asked.
        if round % 3 > 0 {
            took.push(sent.elapsed());
        }
    }
    took.sort_unstable();
    let (median, slowest) = (took[took.len() / 2], took[took.len() - 1]);
    println!("from an answer at another server to the result: {median:?} (median), {slowest:?} (slowest)");
    assert!(median < Duration::from_secs(5), "{took:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_is_cancelled_through_another_server() {
    let Some(cluster) = Cluster::open().await else { return };
    let session = cluster.session(0).await;
    let other_session = cluster.session(0).await;
    let mut calling = cluster.replicas[0].call(&session, 1, SLEEP).await;
    let mut waiting = cluster.replicas[0].call(&session, 2, ASK).await;
    waiting.message().await;
    let running = || (cluster.replicas[0].host.calls_under_way() == 2).then_some(());
    eventually_async("the calls", running).await;
    let cancel =
        |id: u64| json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } });
    // The same ids in another session are other requests.
    for id in [1, 2] {
        cluster.replicas[1].tell(&other_session, &cancel(id)).await.is(202);
    }
    cluster.replicas[1].tell(&session, &cancel(1)).await.is(202);
    assert_eq!(calling.next().await, None, "a cancelled request has no answer");
    eventually_async("one call", || (cluster.replicas[0].host.calls_under_way() == 1).then_some(())).await;
    let questions = cluster.replicas[0].host.approvals().within(&operator()).list().await.unwrap().questions;
    assert_eq!(questions.len(), 1, "the other call still waits");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_hears_of_changes_and_resumes_only_where_it_is() {
    let Some(cluster) = Cluster::open().await else { return };
    let [first, second, third] = &cluster.replicas[..] else { panic!("there are three") };
    let session = cluster.session(0).await;
    let mut streams = [second.read(&second.ask("GET", &session)).await, third.read(&third.ask("GET", &session)).await];
    cluster.site.plugin("late", &guest("good", &Manifest::of("late")));
    for replica in &cluster.replicas {
        replica.host.reload().await.unwrap();
    }
    let changed = |message: &Value| message["method"] == "notifications/tools/list_changed";
    for stream in &mut streams {
        assert!(changed(&stream.message().await));
    }
    // A stream for notifications resumes on any server, which says that something may have been missed.
    let event = streams[0].last_event.clone();
    let mut resumed = first.read(&first.ask("GET", &session).with("Last-Event-ID", &event)).await;
    assert!(changed(&resumed.message().await));

    // The stream of a request is on one server.
    let mut calling = first.call(&session, 5, ASK).await;
    let asked = calling.message().await;
    let event = calling.last_event.clone();
    drop(calling);
    let resume = |replica: &super::cluster::Replica| replica.ask("GET", &session).with("Last-Event-ID", &event);
    for replica in [second, third] {
        let refused = replica.send(&resume(replica)).await.is(503);
        assert!(refused.header("retry-after").is_some() && refused.body.contains("another host"), "{refused:?}");
    }
    // So is that of an earlier instance of the session on the same server, which is gone for good.
    let [host, _, rest] = event.splitn(3, '.').collect::<Vec<_>>()[..] else { panic!("{event}") };
    let earlier = first.ask("GET", &session).with("Last-Event-ID", &format!("{host}.999.{rest}"));
    let gone = first.send(&earlier).await.is(410);
    assert!(gone.body.contains("lost"), "{gone:?}");
    let mut calling = first.read(&resume(first)).await;
    second.tell(&session, &answer(&asked["id"], "accept")).await.is(202);
    let mut last = calling.message().await;
    while last.get("result").is_none() {
        last = calling.message().await;
    }
    assert_eq!((&last["id"], &last["result"]["isError"]), (&json!(5), &json!(false)), "{last}");
}

/// The room for messages between hosts is limited, for one principal and for all. A message that finds none has no
/// effect, and its sender learns that.
#[tokio::test(flavor = "multi_thread")]
async fn the_room_for_messages_is_limited_for_a_principal_and_for_all() {
    let Some(cluster) = Cluster::open().await else { return };
    let [first, second, _] = &cluster.replicas[..] else { panic!("there are three") };
    let session = cluster.session(0).await;
    let other_session = first.session(OTHER_TOKEN).await;
    let cancel =
        |id: u64| json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } });
    let of_other = |id| second.post(&other_session, &cancel(id)).having("Authorization", &other());
    for id in 0..RELAYED_OF_PRINCIPAL_MAX {
        second.tell(&session, &cancel(id)).await.is(202);
    }
    let refused = second.tell(&session, &cancel(RELAYED_OF_PRINCIPAL_MAX)).await.is(503);
    assert!(refused.header("retry-after").is_some() && refused.body.contains("no effect"), "{refused:?}");
    second.send(&of_other(0)).await.is(202);

    let rows = format!(
        "INSERT INTO relayed (kind, session, owner, target, body, expires_at, seal) SELECT kind, session, \
         'filler', target, body, expires_at, seal FROM (SELECT * FROM relayed LIMIT 1) AS one, \
         generate_series(1, {RELAYED_MAX} - (SELECT count(*) FROM relayed))"
    );
    cluster.query(&rows);
    let refused = second.send(&of_other(1)).await.is(503);
    assert!(refused.body.contains("too many messages to other hosts"), "{refused:?}");

    // A minute later, which the test does not wait for, the messages make room.
    cluster.query("UPDATE relayed SET expires_at = 0");
    second.send(&of_other(2)).await.is(202);
    second.tell(&session, &cancel(0)).await.is(202);
    assert_eq!(cluster.query("SELECT count(*) FROM relayed").trim(), "2");
}
