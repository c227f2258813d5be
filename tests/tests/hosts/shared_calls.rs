//! Shared calls as hosts keep them in the ledger: whose they are, how many there can be, and that no other program can
//! change them.

use super::fleet::Fleet;
use crate::approvals::desk::{mark, open};
use portcullis::Host;
use portcullis::policy::{Principal, ToolName};
use portcullis::shared_calls::{Reported, SharedCallKind, SharedCallState, SharedCallStop, SharedCalls};
use portcullis_tests_postgres::query_ledger;
use std::sync::Arc;
use std::time::Duration;

/// Long enough for a test.
const LONG: Duration = Duration::from_secs(600);

/// Maximum calls of one kind of one principal.
const OWN_MAX: usize = 64;

async fn host(fleet: &Fleet, number: usize) -> (Host, SharedCalls) {
    let host = open(fleet.builder(number).answered_elsewhere()).await;
    let calls = host.shared_calls().expect("hosts with a database share calls").clone();
    (host, calls)
}

fn principal(name: &str) -> Principal {
    name.parse().unwrap()
}

fn tool() -> ToolName {
    "marks.run".parse().unwrap()
}

/// Shares a call that works, and returns its id.
async fn shared(calls: &SharedCalls, kind: SharedCallKind, name: &str, lifetime: Duration) -> Option<String> {
    let call = calls.share((kind, &principal(name), &tool()), &SharedCallState::Works, lifetime).await.unwrap();
    call.map(|call| call.id)
}

fn sql(fleet: &Fleet, statement: &str) -> String {
    query_ledger(fleet.server.port(), "ledger", statement).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_with_a_directory_shares_no_calls() {
    let Some(fleet) = Fleet::new() else { return };
    let alone = open(fleet.desk.site.builder("")).await;
    assert!(alone.shared_calls().is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shared_call_belongs_to_its_principal_and_its_kind_until_it_expires() {
    let Some(fleet) = Fleet::new() else { return };
    let ((_first, here), (_second, there)) = (host(&fleet, 1).await, host(&fleet, 2).await);
    let (alice, bob) = (principal("alice"), principal("bob"));
    let (task, round) = (SharedCallKind::Task, SharedCallKind::Round);
    let id = shared(&here, task, "alice", LONG).await.unwrap();
    let found = there.find(task, &alice, &id).await.unwrap().unwrap();
    assert_eq!((found.tool.as_str(), found.lifetime), ("marks.run", LONG));
    assert!(matches!(found.state, SharedCallState::Works));
    assert!(there.find(task, &bob, &id).await.unwrap().is_none());
    assert!(there.find(task, &principal("alice/helper"), &id).await.unwrap().is_none());
    assert!(there.find(round, &alice, &id).await.unwrap().is_none(), "a task is no round");
    assert!(there.take_turn(&alice, (&id, 1), LONG).await.unwrap().is_none());
    assert!(!there.cancel(task, &bob, &id).await.unwrap());
    assert!(!there.cancel(round, &alice, &id).await.unwrap());
    let brief = shared(&here, task, "alice", Duration::from_millis(1)).await.unwrap();
    tokio::time::sleep(Duration::from_millis(5)).await;
    assert!(there.find(task, &alice, &brief).await.unwrap().is_none());
    assert_eq!(here.report(&brief, &SharedCallState::Lost).await.unwrap(), Reported::Gone);
    let rows = || (sql(&fleet, "SELECT count(*) FROM shared_call").trim() == "1").then_some(());
    portcullis_tests::eventually_async("the expired row is deleted", rows).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_shared_calls_of_a_principal_are_limited_on_all_hosts_together() {
    let Some(fleet) = Fleet::new() else { return };
    let ((_first, here), (_second, there)) = (host(&fleet, 1).await, host(&fleet, 2).await);
    for number in 0..OWN_MAX {
        let calls = if number % 2 == 0 { &here } else { &there };
        assert!(shared(calls, SharedCallKind::Task, "alice", LONG).await.is_some());
    }
    for calls in [&here, &there] {
        assert_eq!(shared(calls, SharedCallKind::Task, "alice", LONG).await, None);
        assert_eq!(shared(calls, SharedCallKind::Task, "alice/helper", LONG).await, None, "it counts for alice");
    }
    assert!(shared(&there, SharedCallKind::Round, "alice", LONG).await.is_some(), "each kind has its own limit");
    assert!(shared(&there, SharedCallKind::Task, "bob", LONG).await.is_some());
    // Rows of many other principals fill the table.
    sql(
        &fleet,
        "INSERT INTO shared_call SELECT 'x' || n, kind, 'p' || n, tool, owner, phase, question, body, round, revision, \
         cancelled, begun_at, changed_at, expires_at, seal \
         FROM generate_series(1, 1024) AS n, (SELECT * FROM shared_call WHERE principal = 'bob') AS one",
    );
    assert_eq!(shared(&here, SharedCallKind::Task, "carol", LONG).await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_is_taken_once_and_a_reply_is_the_same_on_every_host() {
    let Some(fleet) = Fleet::new() else { return };
    let ((first, here), (_second, there)) = (host(&fleet, 1).await, host(&fleet, 2).await);
    let alice = principal("alice");
    let id = shared(&here, SharedCallKind::Round, "alice", LONG).await.unwrap();
    assert!(there.take_turn(&alice, (&id, 2), LONG).await.unwrap().is_none(), "it is not the next one");
    assert_eq!(there.take_turn(&alice, (&id, 1), LONG).await.unwrap().unwrap().round, 2);
    for calls in [&here, &there] {
        assert!(calls.take_turn(&alice, (&id, 1), LONG).await.unwrap().is_none());
    }
    let denied = mark(1).unattended(portcullis::policy::Unattended::Deny);
    let reply = Arc::new(first.call(denied).await);
    assert_eq!(here.report(&id, &SharedCallState::Over(Arc::clone(&reply))).await.unwrap(), Reported::Known);
    let found = there.find(SharedCallKind::Round, &alice, &id).await.unwrap().unwrap();
    let SharedCallState::Over(read) = found.state else { panic!("{found:?}") };
    assert_eq!(format!("{read:?}"), format!("{reply:?}"));
    assert_eq!(here.report(&id, &SharedCallState::Works).await.unwrap(), Reported::Gone, "an end is final");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_host_of_a_call_hears_that_it_is_cancelled_or_gone() {
    let Some(fleet) = Fleet::new() else { return };
    let ((_first, here), (_second, there)) = (host(&fleet, 1).await, host(&fleet, 2).await);
    let id = shared(&here, SharedCallKind::Task, "alice", LONG).await.unwrap();
    let mut orders = here.watch(&id);
    assert!(there.cancel(SharedCallKind::Task, &principal("alice"), &id).await.unwrap());
    let wait = Duration::from_secs(10);
    assert_eq!(tokio::time::timeout(wait, orders.stopped()).await.unwrap(), SharedCallStop::Cancelled);
    there.forget(&id).await.unwrap();
    assert_eq!(tokio::time::timeout(wait, orders.stopped()).await.unwrap(), SharedCallStop::Gone);
}

/// The database's administrator cannot change whose a call is, what it replied, or that a turn was taken.
#[tokio::test(flavor = "multi_thread")]
async fn a_shared_call_that_another_program_has_changed_counts_for_nothing() {
    let Some(fleet) = Fleet::new() else { return };
    let (_host, calls) = host(&fleet, 1).await;
    let (kind, alice) = (SharedCallKind::Round, principal("alice"));
    let changes = [
        "principal = 'mallory'",
        "kind = 'task'",
        "phase = 'lost'",
        "phase = 'over', body = '{}'",
        "round = 2",
        "owner = ''",
        "expires_at = expires_at + 1",
        "cancelled = true",
    ];
    for change in changes {
        let id = shared(&calls, kind, "alice", LONG).await.unwrap();
        assert!(calls.find(kind, &alice, &id).await.unwrap().is_some());
        sql(&fleet, &format!("UPDATE shared_call SET {change} WHERE id = '{id}'"));
        for (kind, name) in [(kind, "alice"), (kind, "mallory"), (SharedCallKind::Task, "alice")] {
            let error = calls.find(kind, &principal(name), &id).await.expect_err(change).to_string();
            assert!(error.contains("changed by another program"), "{change}: {error}");
        }
        assert!(calls.take_turn(&alice, (&id, 1), LONG).await.is_err(), "{change}");
        assert!(calls.take_turn(&alice, (&id, 2), LONG).await.is_err(), "{change}");
    }
}
