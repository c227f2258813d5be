//! A ledger that is older than the audit log says is ignored, and the operator is warned. G07.

use crate::approvals::desk::{Desk, alone, left_behind, mark, numbered};
use crate::approvals::people::{Person, no};
use portcullis::approvals::{ApprovalError, Onward, RolledBack, Status};
use portcullis::audit::Fault;
use portcullis::{Answer, Code, Covers, Request, open_approvals, open_audit};
use portcullis_tests::{BlockOn, place};
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Barrier;
use std::thread;

/// A file that a test saves and restores.
const LEDGER: &str = "ledger.sqlite";
const HEAD: &str = "audit.head";
const LOG: &str = "audit.jsonl";

impl Desk {
    fn state_file(&self, name: &str) -> PathBuf {
        self.site.state().join(name)
    }

    /// Copies files of the state directory. No process has the ledger open, so it is a single file.
    fn back_up(&self, names: &[&str]) {
        for name in names {
            fs::copy(self.state_file(name), self.site.path(name)).unwrap();
        }
    }

    fn restore(&self, names: &[&str]) {
        for name in names {
            fs::copy(self.site.path(name), self.state_file(name)).unwrap();
        }
    }

    /// Returns the fault that `audit verify` finds, without opening the ledger as a host does.
    fn verified(&self) -> Option<Fault> {
        open_audit(place(self.site.state())).block_on().unwrap().verify().block_on().unwrap().fault
    }

    /// Opens the approvals, and asserts that the rollback is detected. Returns the number of revoked approvals.
    fn rolled_back(&self) -> RolledBack {
        let rolled_back = *self.approvals().rolled_back().expect("the rollback was not detected");
        assert_eq!(self.approvals().rolled_back(), None, "it must be reported only once");
        let mut record = self.record();
        record.retain(|line| line["kind"] == "ledger");
        assert_eq!(record.len(), 1, "{record:?}");
        assert_eq!(record[0]["event"], "rolled-back");
        self.verifies();
        rolled_back
    }

    /// Makes a call and approves it for always.
    fn remember(&self, number: usize) -> String {
        let person = Person::who_says(Answer::Always(Covers::Exact));
        assert_eq!(alone(async { self.asking(&person).await.call(mark(number)).await }).code, Code::Completed);
        self.approvals().list().block_on().unwrap().answers.remove(0).id
    }

    /// Asserts that a call needs approval, although it was approved for always.
    fn is_asked_again(&self, number: usize) {
        let person = Person::who_says(no());
        let code = alone(async { self.asking(&person).await.call(mark(number)).await }).code;
        assert_eq!((code, person.asked().len()), (Code::ApprovalDenied, 1));
    }
}

#[test]
fn a_revoked_approval_stays_revoked_in_an_older_ledger() {
    let desk = Desk::new();
    let held = desk.remember(1);
    desk.back_up(&[LEDGER]);
    desk.approvals().revoke(&held).block_on().unwrap();
    desk.restore(&[LEDGER]);
    assert!(matches!(desk.verified(), Some(Fault::Ledger { .. })), "{:?}", desk.verified());
    let rolled_back = desk.rolled_back();
    assert!(rolled_back.found < rolled_back.expected, "{rolled_back:?}");
    assert_eq!((rolled_back.approvals, rolled_back.requests, rolled_back.trusted), (1, 0, 0));
    desk.is_asked_again(1);
}

#[test]
fn a_used_approval_stays_used_in_an_older_ledger() {
    let desk = Desk::new();
    let id = alone(async { left_behind(&desk.headless().await, mark(1)).await });
    assert_eq!(desk.approvals().answer(&id, &Answer::Yes).block_on().unwrap(), Onward::Here);
    desk.back_up(&[LEDGER]);
    let resume = || alone(async { desk.headless().await.resume(&id).await });
    assert_eq!(resume().unwrap().code, Code::Completed);
    desk.restore(&[LEDGER]);
    assert_eq!(desk.rolled_back().requests, 1);
    assert!(matches!(resume(), Err(ApprovalError::Settled(Status::Withdrawn))));
    assert_eq!(desk.marks(), BTreeMap::from([(numbered(1), 1)]));
}

#[test]
fn an_older_ledger_trusts_nothing() {
    let desk = Desk::new();
    let sha256 = "0".repeat(64);
    desk.approvals().trust(&sha256, "portcullis.toml").block_on().unwrap();
    desk.back_up(&[LEDGER]);
    assert!(desk.approvals().distrust(&sha256).block_on().unwrap());
    desk.restore(&[LEDGER]);
    assert_eq!(desk.rolled_back().trusted, 1);
    assert!(!desk.approvals().is_trusted(&sha256).block_on().unwrap());
}

#[test]
fn a_removed_ledger_is_detected() {
    let desk = Desk::new();
    desk.remember(1);
    fs::remove_file(desk.state_file(LEDGER)).unwrap();
    assert!(matches!(desk.verified(), Some(Fault::Ledger { .. })), "{:?}", desk.verified());
    assert_eq!(desk.rolled_back().found, 1);
    desk.is_asked_again(1);
}

/// An older ledger names a new generation, which was written without the key.
#[test]
fn a_generation_without_a_valid_seal_does_not_hide_an_older_ledger() {
    let desk = Desk::new();
    let held = desk.remember(1);
    desk.back_up(&[LEDGER]);
    desk.approvals().revoke(&held).block_on().unwrap();
    desk.restore(&[LEDGER]);
    let connection = Connection::open(desk.state_file(LEDGER)).unwrap();
    assert_eq!(connection.execute("UPDATE generation SET number = number + 100", []).unwrap(), 1);
    drop(connection);
    assert_eq!(desk.rolled_back().found, 0);
    desk.is_asked_again(1);
}

/// The head and the later entries name the newest generation.
#[test]
fn an_older_head_does_not_hide_an_older_ledger() {
    let desk = Desk::new();
    let held = desk.remember(1);
    desk.back_up(&[LEDGER, HEAD]);
    desk.approvals().revoke(&held).block_on().unwrap();
    desk.restore(&[LEDGER, HEAD]);
    desk.rolled_back();
    desk.is_asked_again(1);
}

/// Only the head names the newest generation.
#[test]
fn a_truncated_log_does_not_hide_an_older_ledger() {
    let desk = Desk::new();
    let held = desk.remember(1);
    desk.back_up(&[LEDGER]);
    desk.approvals().revoke(&held).block_on().unwrap();
    desk.restore(&[LEDGER]);
    let whole = fs::read(desk.state_file(LOG)).unwrap();
    fs::write(desk.state_file(LOG), &whole[..whole.len() - 10]).unwrap();
    let approvals = desk.approvals();
    assert!(approvals.rolled_back().is_some());
    assert!(approvals.list().block_on().unwrap().answers.is_empty());
    // The pending entry follows when the log can be written again.
    fs::write(desk.state_file(LOG), whole).unwrap();
    assert_eq!(desk.approvals().rolled_back(), None);
    assert_eq!(desk.record().iter().filter(|line| line["kind"] == "ledger").count(), 1);
    desk.is_asked_again(1);
}

/// Without the log, the host does not know what was revoked.
#[test]
fn a_new_log_does_not_vouch_for_a_ledger() {
    let desk = Desk::new();
    desk.remember(1);
    for name in [LOG, HEAD] {
        fs::remove_file(desk.state_file(name)).unwrap();
    }
    assert_eq!(desk.rolled_back().expected, 0);
    desk.is_asked_again(1);
}

/// A process is killed after it commits to the ledger and before it notes the commit in the head.
#[test]
fn a_ledger_that_is_newer_than_the_log_is_valid() {
    let desk = Desk::new();
    let held = desk.remember(1);
    desk.remember(2);
    let (log, head) = (fs::read(desk.state_file(LOG)).unwrap(), fs::read(desk.state_file(HEAD)).unwrap());
    desk.approvals().revoke(&held).block_on().unwrap();
    fs::write(desk.state_file(LOG), log).unwrap();
    fs::write(desk.state_file(HEAD), head).unwrap();
    assert_eq!(desk.verified(), None);
    let approvals = desk.approvals();
    assert_eq!(approvals.rolled_back(), None);
    assert_eq!(approvals.list().block_on().unwrap().answers.len(), 1);
}

/// Older rows replace those of the ledger in place, while a host has it open.
#[test]
fn a_ledger_that_is_rolled_back_under_an_open_host_is_not_used() {
    let desk = Desk::new();
    let held = desk.remember(1);
    desk.back_up(&[LEDGER]);
    let person = Person::who_says(Answer::Yes);
    let host = alone(desk.asking(&person));
    host.approvals().revoke(&held).block_on().unwrap();
    let connection = Connection::open(desk.state_file(LEDGER)).unwrap();
    connection.execute("ATTACH ?1 AS older", [desk.site.path(LEDGER).to_str().unwrap()]).unwrap();
    for table in ["question", "answer", "generation"] {
        let replace = format!("DELETE FROM main.{table}; INSERT INTO main.{table} SELECT * FROM older.{table}");
        connection.execute_batch(&replace).unwrap();
    }
    drop(connection);
    let reply = alone(host.call(mark(1)));
    assert_eq!(reply.code, Code::RecordUnavailable, "{}", reply.message);
    assert!(person.asked().is_empty());
    drop(host);
    desk.rolled_back();
    desk.is_asked_again(1);
    assert_eq!(desk.marks(), BTreeMap::from([(numbered(1), 1)]));
}

/// Hosts that create a state directory concurrently do not mistake each other's ledger for an older copy.
#[test]
fn hosts_that_start_together_agree_on_the_ledger() {
    for round in 0..20 {
        let desk = Desk::new();
        let barrier = Barrier::new(3);
        thread::scope(|scope| {
            for number in 0..3 {
                let (desk, barrier) = (&desk, &barrier);
                scope.spawn(move || {
                    barrier.wait();
                    let approvals = open_approvals(place(desk.site.state())).block_on().unwrap();
                    assert_eq!(approvals.rolled_back(), None, "round {round}");
                    approvals.trust(&format!("{number:064}"), "portcullis.toml").block_on().unwrap();
                });
            }
        });
        assert_eq!(desk.approvals().rolled_back(), None);
        assert!((0..3).all(|number| desk.approvals().is_trusted(&format!("{number:064}")).block_on().unwrap()));
    }
}

/// A call that needs no approval changes neither the ledger nor its mark in the log.
#[test]
fn a_call_without_a_request_does_not_touch_the_ledger() {
    let desk = Desk::new().with(&portcullis_tests::Manifest::of("good"));
    let host = alone(desk.unattended(&crate::approvals::desk::policy(crate::approvals::desk::ALLOW)));
    let before = fs::read(desk.state_file(HEAD)).unwrap();
    let ledger = Connection::open(desk.state_file(LEDGER)).unwrap();
    // This number changes with each commit of another connection.
    let version = || ledger.pragma_query_value(None, "data_version", |row| row.get::<_, i64>(0)).unwrap();
    let known = version();
    assert_eq!(alone(host.call(Request::new("good.run", "{}"))).code, Code::Completed);
    assert_eq!(version(), known);
    assert_eq!(fs::read(desk.state_file(HEAD)).unwrap()[80..], before[80..]);
}
