//! Who may use a session on which server, and when it ends.

use super::cluster::{Cluster, call, other};
use crate::guard::ask::PATIENCE;
use crate::guard::service::{GOOD, SLEEP, TOKEN};
use portcullis_mcp::http::HttpLimits;
use serde_json::json;
use std::time::Duration;
use tokio::time::{sleep, timeout};

#[tokio::test(flavor = "multi_thread")]
async fn a_session_goes_on_on_every_server_for_its_principal_until_one_ends_it() {
    let Some(cluster) = Cluster::open().await else { return };
    let session = cluster.session(0).await;
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    cluster.replicas[1].tell(&session, &initialized).await.is(202);
    for (id, replica) in (1..).zip(cluster.replicas.iter().chain(&cluster.replicas)) {
        let theirs = replica.post(&session, &call(id, GOOD)).having("Authorization", &other());
        let unknown = replica.post("0", &call(id, GOOD));
        let (theirs, unknown) = (replica.send(&theirs).await.is(404), replica.send(&unknown).await.is(404));
        assert_eq!(theirs.body, unknown.body);
        let answer = replica.tell(&session, &call(id, GOOD)).await.is(200);
        assert_eq!(answer.last()["result"]["isError"], false, "{answer:?}");
        let delete = replica.ask("DELETE", &session).having("Authorization", &other());
        replica.send(&delete).await.is(404);
    }
    let sessions = cluster.query("SELECT id || owner || parameters FROM client_session");
    assert!(sessions.contains("local") && !sessions.contains(&session), "{sessions}");

    let calling = cluster.replicas[1].call(&session, 10, SLEEP).await;
    cluster.replicas[2].send(&cluster.replicas[2].ask("DELETE", &session)).await.is(204);
    for replica in &cluster.replicas {
        let ended = async {
            while replica.tell(&session, &call(11, GOOD)).await.status != 404 {
                sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(PATIENCE, ended).await.unwrap();
    }
    let mut calling = calling;
    assert_eq!(calling.next().await, None, "the call ended with its session");
    assert_eq!(cluster.query("SELECT count(*) FROM client_session").trim(), "0");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_another_program_changed_does_not_exist() {
    let Some(cluster) = Cluster::open().await else { return };
    let session = cluster.session(0).await;
    cluster.query("UPDATE client_session SET owner = 'mcp.other'");
    let ask = cluster.replicas[1].post(&session, &call(1, GOOD));
    for ask in [ask.clone(), ask.having("Authorization", &other())] {
        cluster.replicas[1].send(&ask).await.is(404);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_limits_of_sessions_hold_for_all_servers_together() {
    let limits = HttpLimits { sessions: 4, sessions_per_principal: 3, ..HttpLimits::default() };
    let Some(cluster) = Cluster::with(limits).await else { return };
    let theirs = cluster.replicas[0].session(crate::guard::service::OTHER_TOKEN).await;
    let mut sessions = Vec::new();
    for replica in cluster.replicas.iter().chain(&cluster.replicas) {
        sessions.push(replica.session(TOKEN).await);
    }
    let lasting = async |session: &str| {
        let answer = cluster.replicas[1].tell(session, &call(1, GOOD)).await;
        assert!([200, 404].contains(&answer.status), "{answer:?}");
        answer.status == 200
    };
    // What ended on another server is heard of a moment later.
    for (index, session) in sessions.iter().enumerate() {
        let settled = async {
            while lasting(session).await != (index >= 3) {
                sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(PATIENCE, settled).await.unwrap();
    }
    // All have their calls on another server than the one that needs room.
    let mut calls = Vec::new();
    for session in &sessions[3..] {
        calls.push(cluster.replicas[1].call(session, 2, SLEEP).await);
    }
    let reported = async {
        while cluster.query("SELECT count(*) FROM client_session WHERE calls_until > 0").trim() != "3" {
            sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(PATIENCE, reported).await.unwrap();
    cluster.replicas[2].send(&cluster.replicas[2].initialize()).await.is(429);
    let ask = cluster.replicas[1].post(&theirs, &call(1, GOOD)).having("Authorization", &other());
    cluster.replicas[1].send(&ask).await.is(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_expires_when_no_server_uses_it() {
    let idle = Duration::from_secs(2);
    let Some(cluster) = Cluster::with(HttpLimits { session_idle_time: idle, ..HttpLimits::default() }).await else {
        return;
    };
    let session = cluster.session(0).await;
    // Only one server uses it, for longer than it would last unused.
    for id in 1..=10 {
        cluster.replicas[1].tell(&session, &call(id, GOOD)).await.is(200);
        sleep(idle / 4).await;
    }
    for (id, replica) in (11..).zip(&cluster.replicas) {
        replica.tell(&session, &call(id, GOOD)).await.is(200);
    }
    let expired = async {
        while cluster.query("SELECT count(*) FROM client_session").trim() != "0" {
            sleep(idle / 4).await;
        }
    };
    timeout(PATIENCE, expired).await.unwrap();
    for replica in &cluster.replicas {
        replica.tell(&session, &call(20, GOOD)).await.is(404);
    }
}
