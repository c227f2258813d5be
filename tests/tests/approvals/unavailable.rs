//! A ledger that cannot be written: no call that needs approval runs, and no answer has an effect. P27; invariant 6.

use crate::approvals::desk::{ALLOW, ASK, Desk, left_behind, mark, numbered, open, policy, the_question};
use crate::approvals::people::{Person, no};
use portcullis::approvals::{Answering, ApprovalError, Status};
use portcullis::{Answer, Approver, Code, Covers, Host, Outcome, Question, Request};
use portcullis_tests::{BlockOn, eventually_async};
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Much less than the busy timeout of a thread that waits for another process to release the ledger.
const HELD_MAX: Duration = Duration::from_secs(5);

/// Blocks all writes to the ledger until it is dropped, as a full or read-only disk does.
pub(crate) fn refuse_writes(state: &Path) {
    let connection = Connection::open(state.join("ledger.sqlite")).unwrap();
    for table in ["question", "answer"] {
        for event in ["INSERT", "UPDATE"] {
            let trigger = format!(
                "CREATE TRIGGER no_{event}_{table} BEFORE {event} ON {table} \
                 BEGIN SELECT RAISE(ABORT, 'disk is full'); END"
            );
            connection.execute_batch(&trigger).unwrap();
        }
    }
}

pub(crate) fn allow_writes(state: &Path) {
    let connection = Connection::open(state.join("ledger.sqlite")).unwrap();
    for table in ["question", "answer"] {
        for event in ["INSERT", "UPDATE"] {
            connection.execute_batch(&format!("DROP TRIGGER IF EXISTS no_{event}_{table}")).unwrap();
        }
    }
}

async fn is_denied(host: &Host, request: Request) {
    let reply = host.call(request).await;
    assert_eq!((reply.code, reply.outcome()), (Code::RecordUnavailable, Outcome::Denied), "{}", reply.message);
    assert!(!reply.message.contains("disk"), "the detail is for the operator: {}", reply.message);
}

#[tokio::test]
async fn a_call_that_needs_approval_is_refused_while_the_ledger_cannot_be_written() {
    let desk = Desk::new();
    let person = Person::who_says(Answer::Yes);
    let (asking, headless) = (desk.asking(&person).await, desk.headless().await);
    let id = left_behind(&headless, mark(9)).await;
    headless.approvals().answer(&id, &Answer::Yes).await.unwrap();
    refuse_writes(&desk.site.state());
    is_denied(&asking, mark(1)).await;
    is_denied(&headless, mark(2)).await;
    assert_eq!(person.asked(), [], "the approver was asked although the request cannot be stored");
    let resumed = headless.resume(&id).await;
    assert!(!resumed.is_ok_and(|reply| reply.code == Code::Completed), "its use could not be stored");
    assert!(desk.marks().is_empty());
    // A call that needs no approval needs no ledger.
    let allowing = desk.approved_by(&policy(ALLOW), &person).await;
    assert_eq!(allowing.call(mark(3)).await.code, Code::Completed);
    allow_writes(&desk.site.state());
    assert_eq!(asking.call(mark(4)).await.code, Code::Completed);
    assert_eq!(headless.resume(&id).await.unwrap().code, Code::Completed);
    assert_eq!(desk.marks().into_keys().collect::<Vec<_>>(), [numbered(3), numbered(4), numbered(9)]);
    desk.verifies();
}

/// The runtime of this test has one worker: while it is blocked, no other task of the test runs.
#[tokio::test]
async fn a_process_that_locks_the_ledger_blocks_no_worker() {
    let desk = Desk::new();
    let host = open(desk.site.builder(&policy(ASK)).answered_elsewhere()).await;
    let call = |number| {
        let host = host.clone();
        tokio::spawn(async move { host.call(mark(number)).await })
    };
    let waits = call(1);
    let id = the_question(host.approvals()).await;
    let holder = Connection::open(desk.site.state().join("ledger.sqlite")).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    let began = Instant::now();
    // This call cannot write its request yet. Meanwhile the other call looks for its answer, and is then dropped.
    let asks = call(2);
    for _ in 0..50 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    waits.abort();
    assert!(waits.await.unwrap_err().is_cancelled());
    tokio::time::sleep(Duration::from_millis(10)).await;
    assert!(began.elapsed() < HELD_MAX, "a worker was blocked: {:?}", began.elapsed());
    holder.execute_batch("ROLLBACK").unwrap();
    let status = || host.approvals().question(&id).block_on().unwrap().status;
    eventually_async("the withdrawal", || (status() == Status::Withdrawn).then_some(())).await;
    assert_ne!(the_question(host.approvals()).await, id);
    asks.abort();
    desk.verifies();
}

/// Approves, but first makes the ledger unable to store the approval.
struct Sabotage {
    state: PathBuf,
    answer: Answer,
    asked: Mutex<usize>,
}

impl Approver for Sabotage {
    fn answer<'a>(&'a self, _: &'a Question) -> Answering<'a> {
        *self.asked.lock().unwrap() += 1;
        refuse_writes(&self.state);
        Box::pin(std::future::ready(self.answer.clone()))
    }
}

#[tokio::test]
async fn an_answer_that_cannot_be_stored_has_no_effect() {
    for answer in [Answer::Yes, Answer::Always(Covers::Exact), Answer::Session(Covers::Exact), no()] {
        let desk = Desk::new();
        let approver = Arc::new(Sabotage { state: desk.site.state(), answer, asked: Mutex::new(0) });
        let host = desk.asking(&approver).await;
        is_denied(&host, mark(1)).await;
        assert_eq!(*approver.asked.lock().unwrap(), 1);
        allow_writes(&desk.site.state());
        assert!(desk.marks().is_empty());
        let listing = host.approvals().list_all().await.unwrap();
        assert!(listing.answers.is_empty());
        assert_eq!(listing.questions[0].status, Status::Pending, "its withdrawal could not be stored either");
        desk.verifies();
    }
}

/// A remembered approval does not count if its use cannot be recorded.
#[tokio::test]
async fn an_approval_whose_use_cannot_be_recorded_does_not_count() {
    let desk = Desk::new();
    let person = Person::who_says(Answer::Always(Covers::Exact));
    let host = desk.asking(&person).await;
    assert_eq!(host.call(mark(1)).await.code, Code::Completed);
    refuse_writes(&desk.site.state());
    is_denied(&host, mark(1)).await;
    assert_eq!(desk.marks()[&numbered(1)], 1);
}

/// The file is removed or replaced while a host is open.
#[tokio::test]
async fn a_ledger_that_is_replaced_under_an_open_host_gives_no_right() {
    let desk = Desk::new();
    let other = Desk::new();
    let person = Person::who_says(Answer::Always(Covers::Exact));
    assert_eq!(other.asking(&person).await.call(mark(1)).await.code, Code::Completed);
    person.says(no());
    let host = desk.asking(&person).await;
    let headless = desk.headless().await;
    let id = left_behind(&headless, mark(2)).await;
    person.asked();
    let (ours, theirs) = (desk.site.state(), other.site.state());
    for beside in ["ledger.sqlite", "ledger.sqlite-wal", "ledger.sqlite-shm"] {
        std::fs::remove_file(ours.join(beside)).unwrap();
    }
    std::fs::copy(theirs.join("ledger.sqlite"), ours.join("ledger.sqlite")).unwrap();
    let reply = host.call(mark(1)).await;
    assert_eq!(reply.outcome(), Outcome::Denied, "{}", reply.message);
    drop((host, headless));
    let host = desk.asking(&person).await;
    assert_eq!(host.call(mark(1)).await.code, Code::ApprovalDenied);
    assert!(
        matches!(host.approvals().question(&id).await, Err(ApprovalError::Unknown)),
        "a lost request must be unknown"
    );
    assert!(desk.marks().is_empty());
}

/// If the audit log cannot be written, the call is denied before the ledger is consulted.
#[tokio::test]
async fn an_answer_that_cannot_be_recorded_has_no_effect() {
    let desk = Desk::new();
    let host = desk.headless().await;
    let id = left_behind(&host, mark(1)).await;
    let log = desk.site.state().join("audit.jsonl");
    let whole = std::fs::read(&log).unwrap();
    std::fs::write(&log, &whole[..whole.len() - 10]).unwrap();
    for answer in [Answer::Yes, Answer::Always(Covers::Exact)] {
        let answered = host.approvals().answer(&id, &answer).await;
        assert!(matches!(answered, Err(ApprovalError::Audit(_))), "{answered:?}");
    }
    std::fs::write(&log, &whole).unwrap();
    assert_eq!(host.approvals().question(&id).await.unwrap().status, Status::Pending);
    assert!(host.approvals().list_all().await.unwrap().answers.is_empty());
    assert_eq!(
        desk.headless().await.approvals().answer(&id, &Answer::Yes).await.unwrap(),
        portcullis::approvals::Onward::Here
    );
}
