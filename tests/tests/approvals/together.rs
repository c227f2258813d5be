//! Concurrent threads and processes that answer, revoke and list in one ledger. P02, P03.

use crate::approvals::child::{Child, Order};
use crate::approvals::desk::{Desk, alone, left_behind, mark};
use portcullis::approvals::Status;
use portcullis::{Answer, Approvals, Covers, open_approvals};
use portcullis_tests::{BlockOn, place};
use std::collections::BTreeSet;
use std::sync::Barrier;
use std::thread;

/// Requests that all of them try to answer.
const QUESTIONS: usize = 60;

/// Rounds of each thread and process.
const ROUNDS: usize = 10;

fn asked(desk: &Desk, count: usize) -> Vec<String> {
    alone(async {
        let host = desk.headless().await;
        let mut ids = Vec::new();
        for number in 0..count {
            ids.push(left_behind(&host, mark(number)).await);
        }
        ids
    })
}

/// Answers and revokes as a child does. Returns how often it was first.
fn settle(approvals: &Approvals) -> (usize, usize) {
    let (mut answered, mut revoked) = (0, 0);
    for _ in 0..ROUNDS {
        let listing = approvals.list().block_on().unwrap();
        assert!(listing.faults.is_empty(), "{:?}", listing.faults);
        for question in listing.questions.iter().rev() {
            answered += usize::from(approvals.answer(&question.id, &Answer::Always(Covers::Exact)).block_on().is_ok());
        }
        for held in listing.answers.iter().step_by(2) {
            revoked += usize::from(approvals.revoke(&held.id).block_on().is_ok());
        }
    }
    (answered, revoked)
}

/// Threads with their own and with shared handles, and two other processes: every request is answered once, every
/// approval is revoked at most once, and no change is lost.
#[test]
fn threads_and_processes_share_one_ledger() {
    let desk = Desk::new();
    let ids = asked(&desk, QUESTIONS);
    let shared = desk.approvals();
    let mut children = [(); 2].map(|()| Child::start(Order::Settle, &desk.root(), &ROUNDS.to_string()));
    children.iter_mut().for_each(|child| drop(child.until("begun")));
    let mut counts: Vec<(usize, usize)> = thread::scope(|scope| {
        let with_shared = (0..3).map(|_| scope.spawn(|| settle(&shared)));
        let mut threads: Vec<_> = with_shared.collect();
        threads.extend((0..3).map(|_| scope.spawn(|| settle(&desk.approvals()))));
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    for child in children {
        let said = child.ends();
        let numbers: Vec<usize> = said[0].split(' ').skip(1).map(|number| number.parse().unwrap()).collect();
        counts.push((numbers[0], numbers[1]));
    }
    let listing = shared.list_all().block_on().unwrap();
    assert_eq!(counts.iter().map(|(answered, _)| answered).sum::<usize>(), QUESTIONS, "{counts:?}");
    assert!(ids.iter().all(|id| shared.question(id).block_on().unwrap().status == Status::Approved));
    assert_eq!(listing.answers.len(), QUESTIONS);
    let revoked = listing.answers.iter().filter(|held| held.revoked_at.is_some()).count();
    assert_eq!(counts.iter().map(|(_, revoked)| revoked).sum::<usize>(), revoked, "{counts:?}");
    let told = |kind| desk.record().iter().filter(|line| line["kind"] == kind).count();
    assert_eq!((told("answer"), told("revoked")), (QUESTIONS, revoked));
    desk.verifies();
}

/// Threads that create a state directory concurrently agree on one ledger.
#[test]
fn a_ledger_is_created_once() {
    const THREADS: usize = 8;
    for round in 0..10 {
        let desk = Desk::new();
        let barrier = Barrier::new(THREADS);
        let open = || {
            barrier.wait();
            open_approvals(place(desk.site.state()))
                .block_on()
                .map(|approvals| approvals.trust(&"a".repeat(64), "a file").block_on().unwrap())
        };
        let opened: Vec<_> = thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(open)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        for result in opened {
            assert!(result.is_ok(), "round {round}: {:?}", result.err());
        }
        assert!(desk.approvals().is_trusted(&"a".repeat(64)).block_on().unwrap());
        desk.verifies();
    }
}

/// An open handle sees the changes of another one.
#[test]
fn a_change_by_one_handle_is_visible_to_another() {
    let desk = Desk::new();
    let (first, second) = (desk.approvals(), desk.approvals());
    let ids = asked(&desk, 4);
    let listed = |approvals: &Approvals| -> BTreeSet<String> {
        approvals.list().block_on().unwrap().questions.into_iter().map(|question| question.id).collect()
    };
    assert_eq!(listed(&first), ids.iter().cloned().collect());
    for (number, id) in ids.iter().enumerate() {
        let (one, other) = if number % 2 == 0 { (&first, &second) } else { (&second, &first) };
        one.answer(id, &Answer::Always(Covers::Exact)).block_on().unwrap();
        assert_eq!(other.question(id).block_on().unwrap().status, Status::Approved);
        let held = other.list().block_on().unwrap().answers.into_iter().find(|held| held.question == *id).unwrap();
        other.revoke(&held.id).block_on().unwrap();
        assert!(one.revoke(&held.id).block_on().is_err());
        other.revoke(id).block_on().unwrap();
        assert_eq!(one.question(id).block_on().unwrap().status, Status::Rejected);
    }
    desk.verifies();
}
