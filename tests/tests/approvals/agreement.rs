//! The ledger and the audit log agree, even if one of them cannot be written or the process is killed between the two
//! writes. G08.

use crate::approvals::child::{Child, Order};
use crate::approvals::desk::{ASK, Desk, GRANT, alone, left_behind, mark, policy_with};
use crate::approvals::people::{Person, no};
use crate::approvals::unavailable::{allow_writes, refuse_writes};
use portcullis::approvals::{ApprovalError, Status};
use portcullis::{Answer, Covers};
use portcullis_tests::{BlockOn, eventually};
use rusqlite::Connection;
use rustix::fs::{FlockOperation, flock};
use serde_json::Value;
use std::fs::{self, File};
use std::time::{SystemTime, UNIX_EPOCH};

/// Makes the commit of every transaction that writes to a table fail. Nothing in the transaction itself fails.
fn refuse_commits(desk: &Desk, table: &str) {
    let connection = Connection::open(desk.site.state().join("ledger.sqlite")).unwrap();
    let dangling = "CREATE TABLE IF NOT EXISTS dangling \
                    (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES dangling (id) DEFERRABLE INITIALLY DEFERRED)";
    connection.execute_batch(dangling).unwrap();
    for event in ["INSERT", "UPDATE"] {
        let trigger = format!(
            "CREATE TRIGGER dangling_{event}_{table} AFTER {event} ON {table} \
             BEGIN INSERT INTO dangling (parent) VALUES (-1); END"
        );
        connection.execute_batch(&trigger).unwrap();
    }
}

fn allow_commits(desk: &Desk, table: &str) {
    let connection = Connection::open(desk.site.state().join("ledger.sqlite")).unwrap();
    for event in ["INSERT", "UPDATE"] {
        connection.execute_batch(&format!("DROP TRIGGER dangling_{event}_{table}")).unwrap();
    }
}

/// Returns the entries of one kind in the audit log, oldest first.
fn entries(desk: &Desk, kind: &str) -> Vec<Value> {
    let mut record = desk.record();
    record.retain(|line| line["kind"] == kind);
    record
}

/// Makes a call and approves it for always. Returns the id of the remembered approval.
fn remembered(desk: &Desk) -> String {
    let person = Person::who_says(Answer::Always(Covers::Exact));
    alone(async { desk.asking(&person).await.call(mark(1)).await });
    desk.approvals().list().block_on().unwrap().answers.remove(0).id
}

#[test]
fn a_revocation_that_cannot_be_committed_is_not_recorded() {
    let desk = Desk::new();
    let held = remembered(&desk);
    let approvals = desk.approvals();
    for commit in [false, true] {
        if commit {
            refuse_commits(&desk, "answer")
        } else {
            refuse_writes(&desk.site.state())
        }
        let revoked = approvals.revoke(&held).block_on();
        assert!(matches!(revoked, Err(ApprovalError::Ledger(_))), "{revoked:?}");
        assert_eq!(entries(&desk, "revoked"), [Value::Null; 0], "the log has an entry, but the approval is valid");
        if commit { allow_commits(&desk, "answer") } else { allow_writes(&desk.site.state()) }
    }
    assert_eq!(approvals.list().block_on().unwrap().answers.len(), 1);
    approvals.revoke(&held).block_on().unwrap();
    assert!(approvals.list().block_on().unwrap().answers.is_empty());
    assert_eq!(entries(&desk, "revoked").len(), 1);
    desk.verifies();
}

#[test]
fn a_revocation_is_recorded_even_if_the_process_is_killed_before_its_entry() {
    let desk = Desk::new();
    let held = remembered(&desk);
    let mut child = Child::start(Order::Revoke, &desk.root(), &held);
    child.until("open");
    // The child commits to the ledger, and then waits for the lock of the audit log. It takes the lock because another
    // process has the log open.
    let _beside = desk.approvals();
    let head = File::open(desk.site.state().join("audit.head")).unwrap();
    flock(&head, FlockOperation::LockExclusive).unwrap();
    fs::write(desk.site.path("go"), "").unwrap();
    let ledger = Connection::open(desk.site.state().join("ledger.sqlite")).unwrap();
    let is_revoked = || {
        let select = "SELECT revoked_at IS NOT NULL FROM answer WHERE id = ?1";
        ledger.query_row(select, [&held], |row| row.get::<_, bool>(0)).unwrap().then_some(())
    };
    eventually("the commit of the revocation", is_revoked);
    child.kill();
    drop(head);
    assert_eq!(entries(&desk, "revoked"), [Value::Null; 0], "the child was killed before it wrote the entry");
    for _ in 0..2 {
        assert!(desk.approvals().list().block_on().unwrap().answers.is_empty());
        let revoked = entries(&desk, "revoked");
        assert_eq!(revoked.len(), 1, "{revoked:?}");
        assert_eq!(revoked[0]["held"], *held);
    }
    desk.verifies();
}

#[test]
fn an_approval_whose_commit_fails_is_withdrawn_in_the_audit_log() {
    let desk = Desk::new();
    let id = alone(async { left_behind(&desk.headless().await, mark(1)).await });
    let approvals = desk.approvals();
    for answer in [Answer::Yes, Answer::Session(Covers::Exact), Answer::Always(Covers::Exact)] {
        refuse_commits(&desk, "question");
        let answered = approvals.answer(&id, &answer).block_on();
        assert!(matches!(answered, Err(ApprovalError::Ledger(_))), "{answered:?}");
        allow_commits(&desk, "question");
        let record = desk.record();
        let [.., announced, undone] = record.as_slice() else { panic!("{record:?}") };
        assert_eq!((&announced["kind"], &announced["question"]), (&"answer".into(), &Value::from(id.as_str())));
        assert_eq!((&undone["kind"], &undone["entry"]), (&"undone".into(), &announced["seq"]));
    }
    assert_eq!(approvals.question(&id).block_on().unwrap().status, Status::Pending);
    assert!(approvals.list_all().block_on().unwrap().answers.is_empty());
    desk.verifies();
}

/// Approves a request in a process that is killed between the audit entry and the commit.
fn announce_without_commit(desk: &Desk, id: &str) {
    let (log, head) = (desk.site.state().join("audit.jsonl"), desk.site.state().join("audit.head"));
    let before = fs::read(&head).unwrap();
    refuse_commits(desk, "question");
    assert!(desk.approvals().answer(id, &Answer::Yes).block_on().is_err());
    allow_commits(desk, "question");
    // A process that is killed before the commit does not write the withdrawing entry.
    let whole = fs::read_to_string(&log).unwrap();
    let (announced, undone) = whole.trim_end().rsplit_once('\n').unwrap();
    assert!(undone.contains(r#""kind":"undone""#), "{undone}");
    fs::write(&log, format!("{announced}\n")).unwrap();
    fs::write(&head, before).unwrap();
}

/// Opens the state directory twice, and asserts that the newest answer in the audit log is withdrawn once.
#[track_caller]
fn is_withdrawn_once(desk: &Desk, id: &str, status: Status) {
    for _ in 0..2 {
        assert_eq!(desk.approvals().question(id).block_on().unwrap().status, status);
        let undone = entries(desk, "undone");
        assert_eq!(undone.len(), 1, "{undone:?}");
        assert_eq!(undone[0]["entry"], entries(desk, "answer").last().unwrap()["seq"]);
    }
    desk.verifies();
}

#[test]
fn an_approval_that_was_never_committed_is_withdrawn_after_a_kill() {
    let desk = Desk::new();
    let id = alone(async { left_behind(&desk.headless().await, mark(1)).await });
    announce_without_commit(&desk, &id);
    is_withdrawn_once(&desk, &id, Status::Pending);
}

/// When the next process opens the ledger, it settles expired requests, too.
#[test]
fn an_approval_that_was_never_committed_is_withdrawn_after_its_request_has_expired() {
    let desk = Desk::new();
    let policy = policy_with("repeats = 9\npending-time = \"5 s\"", GRANT, ASK);
    let id = alone(async { left_behind(&desk.unattended(&policy).await, mark(1)).await });
    let expires_at = desk.approvals().question(&id).block_on().unwrap().expires_at;
    announce_without_commit(&desk, &id);
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
    eventually("the end of the request", || (expires_at.as_millisecond() as u128 <= now()).then_some(()));
    is_withdrawn_once(&desk, &id, Status::Expired);
}

#[test]
fn a_denial_takes_effect_while_the_audit_log_cannot_be_written() {
    let desk = Desk::new();
    let id = alone(async { left_behind(&desk.headless().await, mark(1)).await });
    let log = desk.site.state().join("audit.jsonl");
    let whole = fs::read(&log).unwrap();
    let approvals = desk.approvals();
    fs::write(&log, &whole[..whole.len() - 10]).unwrap();
    let answered = approvals.answer(&id, &no()).block_on();
    assert!(matches!(answered, Err(ApprovalError::Unrecorded(_))), "{answered:?}");
    assert_eq!(approvals.question(&id).block_on().unwrap().status, Status::Rejected);
    fs::write(&log, &whole).unwrap();
    for _ in 0..2 {
        assert_eq!(desk.approvals().question(&id).block_on().unwrap().status, Status::Rejected);
        assert_eq!(entries(&desk, "answer").len(), 1, "its entry must follow once");
    }
    desk.verifies();
}

/// The log keeps the order of events: pending entries are written before an announced one.
#[test]
fn pending_entries_are_written_before_the_next_approval() {
    let desk = Desk::new();
    let host = alone(desk.headless());
    let (one, other) = (alone(left_behind(&host, mark(1))), alone(left_behind(&host, mark(2))));
    let log = desk.site.state().join("audit.jsonl");
    let whole = fs::read(&log).unwrap();
    fs::write(&log, &whole[..whole.len() - 10]).unwrap();
    assert!(matches!(host.approvals().answer(&one, &no()).block_on(), Err(ApprovalError::Unrecorded(_))));
    let denied = host.approvals().answer(&other, &Answer::Yes).block_on();
    assert!(matches!(denied, Err(ApprovalError::Audit(_))), "{denied:?}");
    fs::write(&log, &whole).unwrap();
    host.approvals().answer(&other, &Answer::Yes).block_on().unwrap();
    let answers: Vec<_> = entries(&desk, "answer").into_iter().map(|line| line["answer"].clone()).collect();
    assert_eq!(answers, ["no", "yes"]);
    desk.verifies();
}
