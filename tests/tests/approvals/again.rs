//! Repeating a call while its approval request is open joins the request. One approval runs one call.

use crate::approvals::desk::{ASK, Desk, GRANT, left_behind, mark, open, policy, policy_with, the_question};
use portcullis::approvals::{Onward, Status};
use portcullis::policy::Unattended;
use portcullis::{Answer, Code, Host, Reply, Request};
use portcullis_tests::{BlockOn, eventually_async};
use std::time::Duration;

async fn elsewhere(desk: &Desk) -> Host {
    open(desk.site.builder(&policy(ASK)).answered_elsewhere()).await
}

/// Returns a call whose caller does not wait for an approver.
fn impatient(number: usize) -> Request {
    mark(number).approval_wait(Duration::ZERO)
}

/// Returns the ID of the request that a call has left behind.
#[track_caller]
fn left(reply: &Reply) -> String {
    assert_eq!(reply.code, Code::ApprovalPending, "{}", reply.message);
    reply.approval_request.clone().unwrap()
}

/// Returns the number of calls that have asked so far.
fn asked(desk: &Desk) -> usize {
    desk.record().iter().filter(|line| line["kind"] == "asked").count()
}

/// A repeated call joins its request, even if it counts as a repetition.
#[tokio::test]
async fn repeating_a_call_creates_no_second_request() {
    let desk = Desk::new();
    let builder = desk.site.builder(&policy_with("repeats = 3", GRANT, ASK));
    let host = open(builder.unattended(Unattended::Pending)).await;
    let id = left_behind(&host, mark(1)).await;
    for _ in 0..4 {
        let reply = host.call(mark(1)).await;
        assert_eq!(left(&reply), id);
    }
    assert_eq!(host.approvals().list().await.unwrap().questions.len(), 1);
    host.approvals().answer(&id, &Answer::Yes).await.unwrap();
    assert_eq!(host.call(mark(1)).await.code, Code::Completed);
    assert!(host.resume(&id).await.is_err(), "the approval is already used");
    assert_ne!(left(&host.call(mark(1)).await), id);
    assert_eq!(desk.marks().into_values().collect::<Vec<_>>(), [1]);
    desk.verifies();
}

#[tokio::test]
async fn two_calls_that_wait_share_a_request_and_an_approval_runs_one() {
    let desk = Desk::new();
    let host = elsewhere(&desk).await;
    let calls = [(); 2].map(|()| {
        let host = host.clone();
        tokio::spawn(async move { host.call(mark(1)).await })
    });
    eventually_async("both ask", || (asked(&desk) == 2).then_some(())).await;
    let first = the_question(host.approvals()).await;
    assert_eq!(host.approvals().list().await.unwrap().questions.len(), 1);
    host.approvals().answer(&first, &Answer::Yes).await.unwrap();
    // The other call needs its own approval.
    let second = eventually_async("a second request", || {
        let questions = host.approvals().list().block_on().unwrap().questions;
        questions.into_iter().find(|question| question.id != first && question.status == Status::Pending)
    });
    let second = second.await.id;
    eventually_async("one run", || (desk.marks().into_values().sum::<usize>() == 1).then_some(())).await;
    host.approvals().answer(&second, &Answer::Yes).await.unwrap();
    for call in calls {
        assert_eq!(call.await.unwrap().code, Code::Completed);
    }
    assert_eq!(desk.marks().into_values().collect::<Vec<_>>(), [2]);
    desk.verifies();
}

#[tokio::test]
async fn the_last_waiting_call_withdraws_a_shared_request() {
    let desk = Desk::new();
    let host = elsewhere(&desk).await;
    let calls = [(); 2].map(|()| {
        let host = host.clone();
        tokio::spawn(async move { host.call(mark(1)).await })
    });
    eventually_async("both ask", || (asked(&desk) == 2).then_some(())).await;
    let id = the_question(host.approvals()).await;
    for (call, status) in calls.into_iter().zip([Status::Pending, Status::Withdrawn]) {
        call.abort();
        assert!(call.await.unwrap_err().is_cancelled());
        let is_now = || host.approvals().question(&id).block_on().unwrap().status == status;
        eventually_async("the withdrawal", || is_now().then_some(())).await;
    }
    desk.verifies();
}

#[tokio::test]
async fn a_call_that_left_its_request_runs_when_repeated_after_the_approval() {
    let desk = Desk::new();
    let host = elsewhere(&desk).await;
    let reply = host.call(impatient(1)).await;
    let id = left(&reply);
    assert!(reply.message.contains("make exactly the same call again"), "{}", reply.message);
    assert_eq!(left(&host.call(impatient(1)).await), id, "the request is still open");
    let question = host.approvals().question(&id).await.unwrap();
    assert_eq!((question.status, question.waited_for), (Status::Pending, true));
    assert_eq!(desk.approvals().answer(&id, &Answer::Yes).await.unwrap(), Onward::There);
    assert_eq!(host.call(impatient(1)).await.code, Code::Completed);
    assert_ne!(left(&host.call(impatient(1)).await), id, "the approval is already used");
    assert_eq!(desk.marks().into_values().collect::<Vec<_>>(), [1]);
    desk.verifies();
}

#[tokio::test]
async fn a_denial_after_a_call_has_left_reaches_its_caller_once() {
    let desk = Desk::new();
    let host = elsewhere(&desk).await;
    let id = left(&host.call(impatient(1)).await);
    host.approvals().answer(&id, &Answer::No { note: Some("not there".to_owned()) }).await.unwrap();
    let reply = host.call(impatient(1)).await;
    assert_eq!(reply.code, Code::ApprovalDenied);
    assert!(reply.message.contains("not there"), "{}", reply.message);
    assert_ne!(left(&host.call(impatient(1)).await), id);
    assert!(desk.marks().is_empty());
}

/// A different call, session or principal does not join the request, and a revoked approval does not count.
#[tokio::test]
async fn no_other_call_can_use_an_approval() {
    let desk = Desk::new();
    let host = elsewhere(&desk).await;
    let id = left(&host.call(impatient(1)).await);
    host.approvals().answer(&id, &Answer::Yes).await.unwrap();
    let bob = "bob".parse().unwrap();
    for other in [impatient(2), impatient(1).session("other"), impatient(1).principal(bob), impatient(1).automated()] {
        assert_ne!(left(&host.call(other).await), id);
    }
    host.approvals().revoke(&id).await.unwrap();
    assert_ne!(host.call(impatient(1)).await.code, Code::Completed);
    assert!(desk.marks().is_empty());
    desk.verifies();
}
