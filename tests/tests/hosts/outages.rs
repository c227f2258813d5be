//! A database that crashes, stops and returns, and connections that are cut and delayed.

use super::fleet::Fleet;
use super::kills::checked;
use super::proxy::Proxy;
use crate::approvals::child::{Child, Order, Reported};
use crate::approvals::desk::{mark, numbered, open};
use portcullis::approvals::Onward;
use portcullis::{Answer, Code};
use portcullis_tests::{BlockOn, eventually};
use portcullis_tests_postgres::Server;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Hosts that run at the same time.
const HOSTS: usize = 4;

/// How long the database is away. Longer than a transaction waits for it.
const AWAY: Duration = Duration::from_secs(14);

/// Lets hosts do their task while `disturb` is called again and again. Asserts that nothing is lost and nothing runs
/// twice.
async fn while_disturbed(fleet: &Fleet, mut disturb: impl FnMut()) {
    let start = |host: usize| fleet.start(host, Order::Churn, &(host * 100).to_string());
    let mut children: Vec<Child> = (0..HOSTS).map(start).collect();
    children.iter_mut().for_each(|child| drop(child.until("begun")));
    let listening: Vec<_> = children
        .into_iter()
        .map(|mut child| {
            std::thread::spawn(move || {
                let mut said = Vec::new();
                while let Some(report) = child.says() {
                    said.push(report);
                    if said.last().is_some_and(|last| last == "done") {
                        break;
                    }
                }
                said
            })
        })
        .collect();
    while !listening.iter().all(|thread| thread.is_finished()) {
        disturb();
    }
    let mut reported = Reported::default();
    for thread in listening {
        thread.join().unwrap().iter().for_each(|said| reported.hear(said));
    }
    assert_eq!(reported.done, HOSTS);
    // A call whose transaction was lost is refused, and says so. Most are not.
    assert!(reported.completed.len() > HOSTS, "{:?}", reported.completed);
    checked(fleet, &reported, HOSTS).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_crashes_and_returns_loses_nothing() {
    let Some(mut fleet) = Fleet::new() else { return };
    let mut server = std::mem::replace(&mut fleet.server, Server::start().unwrap());
    let mut crashes = 0;
    while_disturbed(&fleet, || {
        server.kill().unwrap();
        server.start_again().unwrap();
        crashes += 1;
        std::thread::sleep(Duration::from_millis(700));
    })
    .await;
    assert!(crashes > 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_that_are_cut_and_delayed_lose_nothing() {
    let Some(fleet) = Fleet::new() else { return };
    let proxy = Proxy::start(fleet.server.port());
    let fleet = fleet.through(proxy.port());
    let mut cuts = 0;
    while_disturbed(&fleet, || {
        cuts += proxy.cut();
        proxy.delay(Duration::from_millis(cuts % 3 * 3));
        std::thread::sleep(Duration::from_millis(700));
    })
    .await;
    assert!(cuts > HOSTS as u64, "{cuts}");
}

#[test]
fn a_call_waits_for_its_answer_while_the_database_is_away_and_no_other_begins() {
    let Some(mut fleet) = Fleet::new() else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let first = Arc::new(runtime.block_on(async { open(fleet.builder(1).answered_elsewhere()).await }));
    let second = runtime.block_on(async { open(fleet.builder(2).answered_elsewhere()).await });
    let waiting = runtime.spawn({
        let first = Arc::clone(&first);
        async move { first.call(mark(1)).await.code }
    });
    let question = eventually("the request", || second.approvals().list().block_on().unwrap().questions.pop());
    fleet.server.stop().unwrap();
    let away = Instant::now();
    let refused = runtime.block_on(first.call(mark(2)));
    assert_eq!(refused.code, Code::RecordUnavailable, "{}", refused.message);
    assert!(second.approvals().answer(&question.id, &Answer::Yes).block_on().is_err());
    std::thread::sleep(AWAY.saturating_sub(away.elapsed()));
    assert!(!waiting.is_finished());
    fleet.server.start_again().unwrap();
    let answered = second.approvals().answer(&question.id, &Answer::Yes).block_on();
    assert_eq!(answered.unwrap(), Onward::There);
    assert_eq!(runtime.block_on(waiting).unwrap(), Code::Completed);
    assert_eq!(fleet.marks(), BTreeMap::from([(numbered(1), 1)]));
}
