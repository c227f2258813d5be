//! A ledger that another program has edited: the edits give no right, and are reported. Invariants 6 and 10.

use crate::approvals::desk::{ASK, Desk, GRANT, alone, left_behind, mark, policy, policy_with};
use crate::approvals::people::{Person, no};
use portcullis::approvals::{ApprovalError, LedgerError, Status};
use portcullis::{Answer, Code, Covers, OpenError, Request, open_approvals};
use portcullis_tests::{BlockOn, eventually_async, place};
use rusqlite::Connection;
use std::fs;
use std::path::PathBuf;

fn file(desk: &Desk) -> PathBuf {
    desk.site.state().join("ledger.sqlite")
}

/// Edits the ledger behind the host's back.
fn edit(desk: &Desk, change: &str) -> usize {
    Connection::open(file(desk)).unwrap().execute(change, []).unwrap()
}

fn is_sealed(error: &ApprovalError) -> bool {
    matches!(error, ApprovalError::Ledger(LedgerError::Seal(_)))
}

/// Edits of a request that would let its call run, or run with changes. `?` stands for its ID.
const QUESTION_EDITS: [&str; 10] = [
    "UPDATE question SET status = 'approved'",
    "UPDATE question SET status = 'approved', settled_at = NULL, seal = zeroblob(32)",
    "UPDATE question SET status = 'approved', seal = x''",
    "UPDATE question SET expires_at = expires_at + 1000000000",
    "UPDATE question SET body = replace(body, '\\\"n\\\":1', '\\\"n\\\":2')",
    "UPDATE question SET binding = '0000000000000000000000000000000000000000000000000000000000000000'",
    "UPDATE question SET principal = 'root'",
    "UPDATE question SET session = 'another'",
    "UPDATE question SET tool = 'good.run'",
    "UPDATE question SET owner = 'ffffffffffffffffffffffffffffffff'",
];

#[test]
fn an_edited_request_runs_nothing_and_is_reported() {
    for change in QUESTION_EDITS {
        let desk = Desk::new();
        let host = alone(desk.headless());
        let id = alone(left_behind(&host, mark(1)));
        assert_eq!(edit(&desk, change), 1, "{change}");
        let answered = host.approvals().answer(&id, &Answer::Yes).block_on().unwrap_err();
        let resumed = alone(host.resume(&id)).unwrap_err();
        assert!(is_sealed(&answered) && is_sealed(&resumed), "{change}: {answered} {resumed}");
        let listing = host.approvals().list_all().block_on().unwrap();
        assert!(listing.questions.is_empty(), "{change}");
        assert!(listing.faults.len() == 1 && listing.faults[0].contains(&id), "{change}: {:?}", listing.faults);
        // A host that is opened afterwards runs nothing of it either.
        drop(host);
        let host = alone(desk.headless());
        assert!(alone(host.resume(&id)).is_err(), "{change}");
        assert!(desk.marks().is_empty(), "{change}");
        assert_eq!(alone(host.call(mark(2))).code, Code::ApprovalPending, "{change}");
    }
}

/// An edit makes a used approval look unused.
#[test]
fn a_used_approval_cannot_be_reset() {
    let desk = Desk::new();
    let host = alone(desk.headless());
    let id = alone(left_behind(&host, mark(1)));
    let body = "SELECT body FROM question";
    let body: String = Connection::open(file(&desk)).unwrap().query_row(body, [], |row| row.get(0)).unwrap();
    host.approvals().answer(&id, &Answer::Yes).block_on().unwrap();
    assert_eq!(alone(host.resume(&id)).unwrap().code, Code::Completed);
    let connection = Connection::open(file(&desk)).unwrap();
    let again = "UPDATE question SET status = 'approved', settled_at = NULL, body = ?1";
    assert_eq!(connection.execute(again, [body]).unwrap(), 1);
    assert!(is_sealed(&alone(host.resume(&id)).unwrap_err()));
    assert_eq!(desk.marks().into_values().collect::<Vec<_>>(), [1]);
}

/// Edits of a remembered approval that would let more run. The first two come after it was revoked or has expired.
const ANSWER_EDITS: [&str; 9] = [
    "UPDATE answer SET revoked_at = NULL",
    "UPDATE answer SET expires_at = expires_at + 1000000000",
    "UPDATE answer SET covers = '{\"pattern\":{\"arguments\":{\"n\":\"any\"}}}'",
    "UPDATE answer SET covers = replace(covers, 'a', 'b')",
    "UPDATE answer SET binding = replace(binding, 'local', 'bob'), principal = 'bob'",
    "UPDATE answer SET binding = replace(binding, 'person', 'automation')",
    "UPDATE answer SET session = NULL, given_at = given_at + 1",
    "UPDATE answer SET tool = 'stays.run', binding = replace(binding, 'marks.run', 'stays.run')",
    "UPDATE answer SET seal = randomblob(32)",
];

#[tokio::test]
async fn an_edited_approval_covers_nothing_and_is_reported() {
    for change in ANSWER_EDITS {
        let desk = Desk::new();
        let person = Person::who_says(Answer::Always(Covers::Exact));
        let host = desk.asking(&person).await;
        assert_eq!(host.call(mark(1)).await.code, Code::Completed);
        let held = host.approvals().list().await.unwrap().answers[0].id.clone();
        if change.contains("revoked_at") {
            host.approvals().revoke(&held).await.unwrap();
        }
        assert_eq!(edit(&desk, change), 1, "{change}");
        person.says(no());
        person.asked();
        for (number, request) in
            [mark(1), mark(2), mark(1).principal("bob".parse().unwrap()), mark(1).automated()].into_iter().enumerate()
        {
            let reply = host.call(request.session(&number.to_string())).await;
            assert_eq!(reply.code, Code::ApprovalDenied, "{change}");
            assert_eq!(person.asked().len(), 1, "{change}");
        }
        let listing = host.approvals().list_all().await.unwrap();
        assert!(listing.answers.is_empty(), "{change}");
        assert!(listing.faults.len() == 1 && listing.faults[0].contains(&held), "{change}: {:?}", listing.faults);
        assert_eq!(desk.marks().into_values().collect::<Vec<_>>(), [1], "{change}");
    }
}

/// An expired approval does not become valid when its expiry is edited.
#[tokio::test]
async fn an_expired_approval_stays_expired() {
    let desk = Desk::new();
    let person = Person::who_says(Answer::Always(Covers::Exact));
    let soon = policy_with("repeats = 1000000\nalways-time = \"10 ms\"", GRANT, ASK);
    let host = desk.approved_by(&soon, &person).await;
    assert_eq!(host.call(mark(1)).await.code, Code::Completed);
    let none = || host.approvals().list().block_on().unwrap().answers.is_empty().then_some(());
    eventually_async("its end", none).await;
    assert_eq!(edit(&desk, "UPDATE answer SET expires_at = expires_at + 1000000000"), 1);
    person.says(no());
    assert_eq!(host.call(mark(1)).await.code, Code::ApprovalDenied);
    assert_eq!(host.approvals().list_all().await.unwrap().faults.len(), 1);
}

/// Rows of another state directory, which has another key.
#[tokio::test]
async fn a_row_of_another_state_directory_gives_no_right() {
    let (desk, other) = (Desk::new(), Desk::new());
    let person = Person::who_says(Answer::Always(Covers::Exact));
    assert_eq!(other.asking(&person).await.call(mark(1)).await.code, Code::Completed);
    let theirs = other.headless().await;
    let id = left_behind(&theirs, mark(2)).await;
    theirs.approvals().answer(&id, &Answer::Yes).await.unwrap();
    theirs.approvals().trust(&"a".repeat(64), "a file").await.unwrap();
    drop(theirs);
    drop(desk.headless().await);
    let connection = Connection::open(file(&desk)).unwrap();
    connection.execute("ATTACH ?1 AS other", [file(&other).to_str().unwrap()]).unwrap();
    for table in ["question", "answer", "trusted"] {
        let copied = connection.execute(&format!("INSERT INTO {table} SELECT * FROM other.{table}"), []).unwrap();
        assert!(copied > 0, "{table}");
    }
    drop(connection);
    let host = desk.headless().await;
    assert_eq!(host.call(mark(1)).await.code, Code::ApprovalPending, "the approval must not count here");
    assert!(is_sealed(&host.resume(&id).await.unwrap_err()));
    assert!(!host.approvals().is_trusted(&"a".repeat(64)).await.unwrap());
    assert!(host.approvals().list_all().await.unwrap().faults.len() >= 2);
    assert!(desk.marks().is_empty());
}

/// An edited row does not make a file trusted.
#[test]
fn an_edited_row_makes_nothing_trusted() {
    let desk = Desk::new();
    let approvals = desk.approvals();
    approvals.trust(&"a".repeat(64), "a file").block_on().unwrap();
    assert_eq!(edit(&desk, &format!("UPDATE trusted SET sha256 = '{}'", "b".repeat(64))), 1);
    assert!(!approvals.is_trusted(&"a".repeat(64)).block_on().unwrap());
    assert!(!approvals.is_trusted(&"b".repeat(64)).block_on().unwrap());
    let insert = format!("INSERT INTO trusted VALUES ('{}', 'p', 1, zeroblob(32))", "c".repeat(64));
    assert_eq!(edit(&desk, &insert), 1);
    assert!(!approvals.is_trusted(&"c".repeat(64)).block_on().unwrap());
}

/// Returns the error for a ledger that cannot be opened.
fn refusal(desk: &Desk) -> String {
    let refused = open_approvals(place(desk.site.state())).block_on().expect_err("the file is not a ledger");
    let opened = alone(desk.site.builder(&policy(ASK)).open());
    assert!(matches!(opened, Err(OpenError::Approvals(ApprovalError::Ledger(_)))), "the host must fail to open too");
    refused.to_string()
}

/// Damages of the file, and what the error says.
type Damage = (&'static str, fn(&Desk), &'static str);

const DAMAGES: [Damage; 6] = [
    ("text", |desk| fs::write(file(desk), "not a ledger at all, but long enough to be read as one").unwrap(), "ledger"),
    (
        "torn",
        |desk| {
            let bytes = fs::read(file(desk)).unwrap();
            fs::write(file(desk), &bytes[..bytes.len() / 2 + 100]).unwrap();
        },
        "ledger",
    ),
    (
        "another program's database",
        |desk| {
            fs::remove_file(file(desk)).unwrap();
            Connection::open(file(desk))
                .unwrap()
                .execute_batch("CREATE TABLE t (a); INSERT INTO t VALUES (1);")
                .unwrap();
        },
        "is not a ledger",
    ),
    ("another application", |desk| edit_pragma(desk, "application_id", 7), "is not a ledger"),
    ("a newer version", |desk| edit_pragma(desk, "user_version", 1000), "version 1000"),
    ("a negative version", |desk| edit_pragma(desk, "user_version", -1), "is not a ledger"),
];

fn edit_pragma(desk: &Desk, pragma: &str, value: i32) {
    Connection::open(file(desk)).unwrap().pragma_update(None, pragma, value).unwrap();
}

#[test]
fn a_file_that_is_not_a_ledger_is_refused_and_not_changed() {
    for (what, damage, says) in DAMAGES {
        let desk = Desk::new();
        let id = {
            let host = alone(desk.headless());
            alone(left_behind(&host, mark(1)))
        };
        for beside in ["ledger.sqlite-wal", "ledger.sqlite-shm"] {
            let _ = fs::remove_file(desk.site.state().join(beside));
        }
        damage(&desk);
        let before = fs::read(file(&desk)).unwrap();
        let refused = refusal(&desk);
        assert!(refused.contains(says), "{what}: {refused}");
        assert_eq!(fs::read(file(&desk)).unwrap(), before, "{what}: the file was changed");
        assert!(!refused.contains(&id));
    }
}

/// An empty file is a new ledger: its approvals are lost, and no right is gained.
#[test]
fn an_emptied_ledger_grants_nothing() {
    let desk = Desk::new();
    let person = Person::who_says(Answer::Always(Covers::Exact));
    alone(async { desk.asking(&person).await.call(mark(1)).await });
    for beside in ["ledger.sqlite", "ledger.sqlite-wal", "ledger.sqlite-shm"] {
        let _ = fs::remove_file(desk.site.state().join(beside));
    }
    fs::write(file(&desk), "").unwrap();
    let host = alone(desk.headless());
    assert_eq!(alone(host.call(mark(1))).code, Code::ApprovalPending);
    assert!(alone(host.call(Request::new("good.run", "{}"))).code == Code::ApprovalPending);
    let statuses: Vec<Status> =
        host.approvals().list_all().block_on().unwrap().questions.iter().map(|question| question.status).collect();
    assert_eq!(statuses, [Status::Pending; 2]);
}
