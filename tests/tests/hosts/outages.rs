//! A database that crashes, stops and returns, connections that are cut and delayed, and a network that is down.

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
use std::env;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Hosts that run at the same time.
const HOSTS: usize = 4;

/// Minimum crashes of the database, and times at which all connections are cut.
const CRASHES: usize = 4;

/// How long the database is away: three times as long as a transaction waits for it.
const AWAY: Duration = Duration::from_secs(30);

/// How long the network is down each time, in seconds. The last is longer than a transaction waits.
const DOWN_SECONDS: [u64; 4] = [1, 3, 1, 12];

/// How long the network is up meanwhile. Hosts make some calls in that time.
const UP: Duration = Duration::from_secs(3);

/// The variable of a process of this test program that has a network of its own.
const OWN_NETWORK: &str = "PORTCULLIS_TEST_OWN_NETWORK";

/// Lets hosts do their task, again and again, until `disturb` was called `times` times meanwhile. Asserts that nothing
/// is lost and nothing runs twice.
async fn while_disturbed(fleet: &Fleet, times: usize, mut disturb: impl FnMut()) {
    let mut reported = Reported::default();
    let (mut disturbed, mut rounds) = (0, 0);
    // How long the task takes depends on the machine, so one round may see only one crash.
    while disturbed < times {
        let start = |host: usize| fleet.start(host, Order::Churn, &((rounds * HOSTS + host) * 100).to_string());
        let mut children: Vec<Child> = (0..HOSTS).map(start).collect();
        children.iter_mut().for_each(|child| drop(child.until("begun")));
        let listening: Vec<_> = children.into_iter().map(|child| std::thread::spawn(|| heard(child))).collect();
        while !listening.iter().all(|thread| thread.is_finished()) {
            disturb();
            disturbed += 1;
        }
        for thread in listening {
            thread.join().unwrap().iter().for_each(|said| reported.hear(said));
        }
        rounds += 1;
        assert_eq!(reported.done, rounds * HOSTS);
    }
    // A call whose transaction was lost is refused, and says so. Most are not.
    assert!(reported.completed.len() > HOSTS, "{:?}", reported.completed);
    checked(fleet, &reported, HOSTS, 0).await;
}

/// Returns what a child reports until its task is done.
fn heard(mut child: Child) -> Vec<String> {
    let mut said = Vec::new();
    while let Some(report) = child.says() {
        said.push(report);
        if said.last().is_some_and(|last| last == "done") {
            break;
        }
    }
    said
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_crashes_and_returns_loses_nothing() {
    let Some(mut fleet) = Fleet::new() else { return };
    let mut server = std::mem::replace(&mut fleet.server, Server::start().unwrap());
    while_disturbed(&fleet, CRASHES, || {
        server.kill().unwrap();
        server.start_again().unwrap();
        std::thread::sleep(Duration::from_millis(700));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_that_are_cut_and_delayed_lose_nothing() {
    let Some(fleet) = Fleet::new() else { return };
    let proxy = Proxy::start(fleet.server.port());
    let fleet = fleet.through(proxy.port());
    let mut cuts = 0;
    while_disturbed(&fleet, CRASHES, || {
        cuts += proxy.cut();
        proxy.delay(Duration::from_millis(cuts % 3 * 3));
        std::thread::sleep(Duration::from_millis(700));
    })
    .await;
    assert!(cuts > HOSTS as u64, "{cuts}");
}

/// Nothing is answered, and no connection ends: what is sent is lost, until the hosts give up waiting.
#[test]
fn a_network_that_is_down_loses_nothing() {
    if env::var_os(OWN_NETWORK).is_none() {
        return in_own_network("hosts::outages::a_network_that_is_down_loses_nothing");
    }
    set_network("up");
    let Some(fleet) = Fleet::new() else { return };
    let mut seconds = DOWN_SECONDS.into_iter();
    let disturbed = while_disturbed(&fleet, DOWN_SECONDS.len(), || {
        if let Some(seconds) = seconds.next() {
            set_network("down");
            std::thread::sleep(Duration::from_secs(seconds));
            set_network("up");
        }
        std::thread::sleep(UP);
    });
    tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(disturbed);
}

/// Runs a test again, in a process that has a network namespace of its own. Only root can both make one and run the
/// database as another user.
fn in_own_network(test: &str) {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let mut command = Command::new("unshare");
    command.arg("--net").arg(env::current_exe().unwrap()).args(["--exact", test, "--nocapture"]);
    let output = command.env(OWN_NETWORK, "yes").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"), "the test was not run");
}

/// Sets the loopback interface of this process's network `up` or `down`.
fn set_network(state: &str) {
    let status = Command::new("ip").args(["link", "set", "lo", state]).status();
    assert!(status.expect("Debian's package iproute2 has the program ip").success());
}

#[test]
fn a_call_waits_for_its_answer_while_the_database_is_away_and_no_other_begins() {
    let Some(mut fleet) = Fleet::new() else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let first = Arc::new(runtime.block_on(async { open(fleet.builder(1).answered_elsewhere()).await }));
    let second = runtime.block_on(async { open(fleet.builder(2).answered_elsewhere()).await });
    let wait = |number: usize| {
        let first = Arc::clone(&first);
        runtime.spawn(async move { first.call(mark(number)).await.code })
    };
    let waiting = [wait(1), wait(3)];
    let questions = eventually("the requests", || {
        let questions = second.approvals().list().block_on().unwrap().questions;
        <[_; 2]>::try_from(questions).ok()
    });
    fleet.server.stop().unwrap();
    let away = Instant::now();
    let refused = runtime.block_on(first.call(mark(2)));
    assert_eq!(refused.code, Code::RecordUnavailable, "{}", refused.message);
    assert!(second.approvals().answer(&questions[0].id, &Answer::Yes).block_on().is_err());
    std::thread::sleep(AWAY.saturating_sub(away.elapsed()));
    assert!(!waiting.iter().any(|call| call.is_finished()));
    fleet.server.start_again().unwrap();
    // A host, and a command, which has no lease of its own.
    for (approvals, question) in [second.approvals(), &fleet.approvals(2)].into_iter().zip(&questions) {
        let answered = approvals.answer(&question.id, &Answer::Yes).block_on();
        assert_eq!(answered.unwrap(), Onward::There);
    }
    for call in waiting {
        assert_eq!(runtime.block_on(call).unwrap(), Code::Completed);
    }
    assert_eq!(fleet.marks(), BTreeMap::from([(numbered(1), 1), (numbered(3), 1)]));
}
