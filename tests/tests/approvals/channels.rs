//! Several ways to answer one request: the first answer counts, on any channel, and a request that no call waits for is
//! withdrawn. P02 to P04.

use crate::approvals::desk::{ASK, Desk, GRANT, alone, mark, numbered, open, policy, policy_with, the_question};
use crate::approvals::people::{Person, Thinker, no};
use portcullis::approvals::{ApprovalError, Onward, Status};
use portcullis::{Answer, Approvals, Cancellation, Code, Covers, Host, Steering};
use portcullis::{Batch, Reply};
use portcullis_tests::{BlockOn, eventually, eventually_async};
use std::collections::BTreeSet;
use std::future::poll_fn;
use std::sync::{Arc, Barrier, OnceLock};
use std::task::Poll;
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

/// Threads that answer concurrently.
const THREADS: usize = 64;

async fn elsewhere(desk: &Desk) -> Host {
    open(desk.site.builder(&policy(ASK)).answered_elsewhere()).await
}

/// Returns the status of the only request.
fn ended(approvals: &Approvals) -> Status {
    let questions = approvals.list_all().block_on().unwrap().questions;
    assert_eq!(questions.len(), 1, "{questions:?}");
    questions[0].status
}

#[tokio::test]
async fn another_handle_answers_a_waiting_call() {
    let desk = Desk::new();
    let host = elsewhere(&desk).await;
    let handles = [host.approvals().clone(), desk.approvals()];
    for (number, approvals) in handles.iter().enumerate() {
        let answer = async {
            let id = the_question(approvals).await;
            let question = approvals.question(&id).await.unwrap();
            assert!(question.waited_for);
            assert_eq!(question.question.unwrap().arguments, numbered(number));
            assert_eq!(approvals.answer(&id, &Answer::Yes).await.unwrap(), Onward::There);
            id
        };
        let (reply, id) = tokio::join!(host.call(mark(number)), answer);
        assert_eq!(reply.code, Code::Completed, "{}", reply.message);
        assert_eq!(approvals.question(&id).await.unwrap().status, Status::Done);
        // A second answer fails, and so does a second run.
        let again = approvals.answer(&id, &Answer::Yes).await;
        assert!(matches!(again, Err(ApprovalError::Settled(Status::Done))), "{again:?}");
        assert!(matches!(host.resume(&id).await, Err(ApprovalError::Settled(Status::Done))));
    }
    assert_eq!(desk.marks().into_values().collect::<Vec<_>>(), [1, 1]);
    desk.verifies();
}

#[tokio::test]
async fn a_denial_on_another_channel_ends_the_call_and_releases_the_approver() {
    let desk = Desk::new();
    let thinker = Thinker::new();
    let host = desk.asking(&thinker).await;
    let refuse = async {
        let question = thinker.question().await;
        let note = Answer::No { note: Some("from elsewhere".to_owned()) };
        assert_eq!(host.approvals().answer(&question.id, &note).await.unwrap(), Onward::Ended);
    };
    let (reply, ()) = tokio::join!(host.call(mark(1)), refuse);
    assert_eq!(reply.code, Code::ApprovalDenied);
    assert!(reply.message.contains("from elsewhere"), "{}", reply.message);
    assert!(desk.marks().is_empty());
    assert_eq!(ended(host.approvals()), Status::Rejected);
}

/// If the approver of the call's own process and another channel both approve, the call runs once.
#[tokio::test]
async fn approvals_on_two_channels_count_as_one() {
    let desk = Desk::new();
    let thinker = Thinker::new();
    let host = desk.asking(&thinker).await;
    let both = async {
        let question = thinker.question().await;
        host.approvals().answer(&question.id, &Answer::Yes).await.unwrap();
        thinker.yes.add_permits(1);
    };
    let (reply, ()) = tokio::join!(host.call(mark(1)), both);
    assert_eq!(reply.code, Code::Completed);
    assert_eq!(desk.marks()[&numbered(1)], 1);
    desk.verifies();
}

/// Threads on two handles answer one request concurrently, half of them yes and half no. One answer counts, the others
/// get an error, and the call runs at most once.
#[test]
fn only_one_of_many_concurrent_answers_counts() {
    for round in 0..6 {
        let desk = Desk::new();
        let (codes, reply) = raced(&desk, round);
        let won: Vec<_> = codes.iter().filter(|(_, onward)| onward.is_ok()).collect();
        assert_eq!(won.len(), 1, "{codes:?}");
        for (_, lost) in codes.iter().filter(|(_, onward)| onward.is_err()) {
            assert!(matches!(lost, Err(ApprovalError::Settled(_))), "{lost:?}");
        }
        let (yes, _) = won[0];
        let (code, marks) = if *yes { (Code::Completed, 1) } else { (Code::ApprovalDenied, 0) };
        assert_eq!((reply.code, desk.marks().into_values().sum::<usize>()), (code, marks));
        let answers = desk.record().iter().filter(|line| line["kind"] == "answer").count();
        assert_eq!(answers, 1, "the answers that came too late had no effect");
        desk.verifies();
    }
}

type Raced = Vec<(bool, Result<Onward, ApprovalError>)>;

fn raced(desk: &Desk, round: usize) -> (Raced, Reply) {
    let host = alone(elsewhere(desk));
    let (here, there) = (host.approvals().clone(), desk.approvals());
    let barrier = Barrier::new(THREADS);
    let id: OnceLock<String> = OnceLock::new();
    let answer = |number: usize| {
        let yes = (number + round).is_multiple_of(2);
        let approvals = if number.is_multiple_of(3) { &here } else { &there };
        barrier.wait();
        (yes, approvals.answer(id.get().unwrap(), &if yes { Answer::Yes } else { no() }).block_on())
    };
    thread::scope(|scope| {
        let call = scope.spawn(|| alone(host.call(mark(1))));
        let question = || Some(here.list().block_on().unwrap().questions.first()?.id.clone());
        id.set(eventually("the question", question)).unwrap();
        let answer = &answer;
        let threads: Vec<_> = (0..THREADS).map(|number| scope.spawn(move || answer(number))).collect();
        let answers = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        (answers, call.join().unwrap())
    })
}

/// An approval after the deadline is rejected, and nothing runs.
#[tokio::test]
async fn an_answer_after_the_deadline_does_not_count() {
    let desk = Desk::new();
    let soon = policy_with("repeats = 9", GRANT, ASK).replace("[limits]", "[limits]\napproval-time = \"50 ms\"");
    let thinker = Thinker::new();
    let host = desk.approved_by(&soon, &thinker).await;
    let reply = host.call(mark(1)).await;
    assert_eq!(reply.code, Code::ApprovalDenied);
    assert!(reply.message.contains("in time"), "{}", reply.message);
    thinker.yes.add_permits(1);
    let id = thinker.question().await.id;
    for approvals in [host.approvals().clone(), desk.approvals()] {
        for answer in [Answer::Yes, Answer::Always(Covers::Exact), no()] {
            let late = approvals.answer(&id, &answer).await;
            assert!(matches!(late, Err(ApprovalError::Settled(Status::Expired))), "{late:?}");
        }
    }
    assert!(matches!(host.resume(&id).await, Err(ApprovalError::Settled(Status::Expired))));
    assert!(desk.marks().is_empty());
    assert!(host.approvals().list_all().await.unwrap().answers.is_empty());
    desk.verifies();
}

/// The same for pending calls: after it has expired, a pending call cannot be approved, and an approved one cannot run.
#[tokio::test]
async fn a_pending_call_expires_before_and_after_its_approval() {
    let desk = Desk::new();
    let host = desk.unattended(&policy_with("repeats = 9\npending-time = \"1 s\"", GRANT, ASK)).await;
    let approved = crate::approvals::desk::left_behind(&host, mark(1)).await;
    let yes = host.approvals().answer(&approved, &Answer::Yes).await;
    let pending = crate::approvals::desk::left_behind(&host, mark(2)).await;
    let repeated = crate::approvals::desk::left_behind(&host, mark(3)).await;
    let _ = host.approvals().answer(&repeated, &Answer::Yes).await;
    let over = |id: &str| {
        let question = host.approvals().question(id).block_on().unwrap();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
        (question.expires_at.as_millisecond() as u128 <= now).then_some(())
    };
    let all_over = || over(&approved).and(over(&pending)).and(over(&repeated));
    portcullis_tests::eventually_async("the end of all", all_over).await;
    assert!(matches!(host.approvals().answer(&pending, &Answer::Yes).await, Err(ApprovalError::Expired)));
    // On a slow machine the first one may expire before its approval. Nothing runs either way.
    match (yes, host.resume(&approved).await) {
        (_, Ok(reply)) => assert_eq!(reply.code, Code::ApprovalDenied, "{}", reply.message),
        (_, Err(error)) => assert!(matches!(error, ApprovalError::Settled(_) | ApprovalError::Expired), "{error}"),
    }
    assert!(desk.marks().is_empty());
    assert_eq!(host.approvals().question(&approved).await.unwrap().status, Status::Expired);
    assert_eq!(host.approvals().question(&pending).await.unwrap().status, Status::Expired);
    // Repeating the call does not use the expired approval.
    assert_ne!(crate::approvals::desk::left_behind(&host, mark(3)).await, repeated);
    assert!(desk.marks().is_empty());
}

#[tokio::test]
async fn a_cancelled_call_withdraws_its_request() {
    let desk = Desk::new();
    let thinker = Thinker::new();
    let host = desk.asking(&thinker).await;
    let cancellation = Cancellation::new();
    let cancel = async {
        let question = thinker.question().await;
        cancellation.cancel();
        // A late approval finds no call.
        thinker.yes.add_permits(1);
        question.id
    };
    let (reply, id) = tokio::join!(host.call(mark(1).cancellation(cancellation.clone())), cancel);
    assert_eq!(reply.code, Code::Cancelled);
    is_withdrawn(&desk, &host, &id).await;
}

#[tokio::test]
async fn a_superseded_call_withdraws_its_request() {
    let desk = Desk::new();
    let thinker = Thinker::new();
    let host = desk.asking(&thinker).await;
    let steering = Steering::new();
    let steer = async {
        let question = thinker.question().await;
        steering.steer("something else");
        question.id
    };
    let (replies, id) = tokio::join!(host.batch(Batch::new(vec![mark(1)]).steering(steering.clone())), steer);
    assert_eq!(replies[0].code, Code::Superseded);
    is_withdrawn(&desk, &host, &id).await;
}

#[tokio::test]
async fn a_dropped_call_withdraws_its_request() {
    let desk = Desk::new();
    let thinker = Thinker::new();
    let host = desk.asking(&thinker).await;
    let id = tokio::select! {
        biased;
        reply = host.call(mark(1)) => panic!("it ended: {reply:?}"),
        question = thinker.question() => question.id,
    };
    is_withdrawn(&desk, &host, &id).await;
}

async fn is_withdrawn(desk: &Desk, host: &Host, id: &str) {
    let status = || host.approvals().question(id).block_on().unwrap().status;
    eventually_async("the withdrawal", || (status() == Status::Withdrawn).then_some(())).await;
    let late = desk.approvals().answer(id, &Answer::Yes).await;
    assert!(matches!(late, Err(ApprovalError::Settled(Status::Withdrawn))), "{late:?}");
    assert!(matches!(host.resume(id).await, Err(ApprovalError::Settled(Status::Withdrawn))));
    assert!(desk.marks().is_empty());
    assert!(desk.record().iter().any(|line| line["kind"] == "withdrawn" && line["question"] == id));
    desk.verifies();
}

/// A call that is dropped at any moment leaves no open request, and runs at most as far as it had come.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_dropped_at_any_moment_leaves_no_request() {
    let desk = Desk::new();
    let person = Person::who_says(Answer::Yes);
    for (what, host) in [("asked", desk.asking(&person).await), ("elsewhere", elsewhere(&desk).await)] {
        for polls in 1..60 {
            polled(host.call(mark(polls)), polls).await;
        }
        let open = || host.approvals().list().block_on().unwrap().questions;
        let none = || open().is_empty().then_some(());
        portcullis_tests::eventually_async(&format!("no question, {what}"), none).await;
    }
    assert!(desk.marks().into_values().all(|times| times <= 1));
    desk.verifies();
}

/// Polls a future this many times, whether or not it was woken, and drops it.
async fn polled<T>(future: impl Future<Output = T>, polls: usize) {
    let mut future = Box::pin(future);
    for _ in 0..polls {
        if poll_fn(|context| Poll::Ready(future.as_mut().poll(context))).await.is_ready() {
            return;
        }
        tokio::task::yield_now().await;
    }
}

/// Concurrent calls have separate requests, and each gets the answer to its own.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_to_many_waiting_calls_are_not_mixed_up() {
    const CALLS: usize = 40;
    let desk = Desk::new();
    let host = Arc::new(elsewhere(&desk).await);
    let calls: Vec<_> = (0..CALLS)
        .map(|number| {
            let host = Arc::clone(&host);
            tokio::spawn(async move { host.call(mark(number)).await.code })
        })
        .collect();
    let approvals = desk.approvals();
    let all = || Some(approvals.list().block_on().unwrap().questions).filter(|questions| questions.len() == CALLS);
    for question in portcullis_tests::eventually_async("all questions", all).await {
        let arguments = question.question.unwrap().arguments;
        let even = (0..CALLS).step_by(2).any(|number| numbered(number) == arguments);
        approvals.answer(&question.id, &if even { Answer::Yes } else { no() }).await.unwrap();
    }
    for (number, call) in calls.into_iter().enumerate() {
        let code = if number.is_multiple_of(2) { Code::Completed } else { Code::ApprovalDenied };
        assert_eq!(call.await.unwrap(), code, "{number}");
    }
    let ran: BTreeSet<String> = (0..CALLS).step_by(2).map(numbered).collect();
    assert_eq!(desk.marks().into_keys().collect::<BTreeSet<_>>(), ran);
    desk.verifies();
}
