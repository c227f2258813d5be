//! A thousand pending calls, through a restart and through a crash: none is lost, and each runs once. P25.

use crate::approvals::child::{Child, Order};
use crate::approvals::desk::{Desk, alone, mark, numbered, question_in};
use crate::approvals::people::no;
use portcullis::approvals::{Onward, Status};
use portcullis::{Answer, Code, Host, Request};
use portcullis_tests::BlockOn;
use std::collections::{BTreeMap, BTreeSet};

/// Pending calls.
const CALLS: usize = 1000;

/// Maximum open requests per session; the same constant as in the host.
const SESSION_QUESTIONS_MAX: usize = 1024;

/// Maximum open requests per principal; the same constant as in the host.
const PRINCIPAL_QUESTIONS_MAX: usize = 2048;

/// Requests of a flood: far more than a session or a principal may have open.
const FLOOD: usize = 3_000;

/// Concurrent tasks that resume calls.
const TASKS: usize = 4;

/// Asserts that all calls are pending, approves them through another handle, and runs each.
async fn approved_and_run(desk: &Desk) {
    let approvals = desk.approvals();
    let questions = approvals.list().await.unwrap().questions;
    assert_eq!(questions.len(), CALLS);
    let asked: BTreeSet<String> = questions.iter().map(|open| open.question.clone().unwrap().arguments).collect();
    assert_eq!(asked, (0..CALLS).map(numbered).collect());
    for question in &questions {
        assert_eq!((question.status, question.waited_for), (Status::Pending, false));
        assert_eq!(approvals.answer(&question.id, &Answer::Yes).await.unwrap(), Onward::Here);
    }
    let ids: Vec<String> = questions.into_iter().map(|question| question.id).collect();
    let host = desk.headless().await;
    let mut tasks = tokio::task::JoinSet::new();
    for chunk in ids.chunks(CALLS / TASKS) {
        tasks.spawn(run_all(host.clone(), chunk.to_vec()));
    }
    tasks.join_all().await;
    let expected: BTreeMap<String, usize> = (0..CALLS).map(|number| (numbered(number), 1)).collect();
    assert_eq!(desk.marks(), expected);
    assert!(approvals.list().await.unwrap().questions.is_empty());
    desk.verifies();
}

/// Runs each call, and tries to run it again.
async fn run_all(host: Host, ids: Vec<String>) {
    for id in ids {
        let reply = host.resume(&id).await.unwrap();
        assert_eq!(reply.code, Code::Completed, "{}", reply.message);
        assert!(host.resume(&id).await.is_err(), "the approval is already used");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_pending_calls_each_run_once() {
    let desk = Desk::new();
    let host = desk.headless().await;
    for number in 0..CALLS {
        assert_eq!(host.call(mark(number)).await.code, Code::ApprovalPending);
    }
    drop(host);
    approved_and_run(&desk).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_waiting_calls_outlive_their_process() {
    let desk = Desk::new();
    drop(desk.headless().await);
    let mut child = Child::start(Order::AskElsewhere, &desk.root(), &CALLS.to_string());
    child.until("asked");
    assert_eq!(child.kill(), Vec::<String>::new());
    approved_and_run(&desk).await;
}

/// A flood ends at the session's limit. It does not affect other sessions, nor earlier requests.
#[test]
fn the_number_of_requests_per_session_is_limited() {
    let desk = Desk::new();
    let host = alone(desk.headless());
    let request = |number: usize| Request::new("good.run", numbered(number));
    let mut pending = Vec::new();
    alone(async {
        for number in 0..FLOOD {
            let reply = host.call(request(number).session("flood")).await;
            if number < SESSION_QUESTIONS_MAX {
                pending.push(question_in(&reply));
                continue;
            }
            assert_eq!(reply.code, Code::ApprovalDenied, "{number}");
            assert!(reply.message.contains("too many approval requests are already open"), "{}", reply.message);
        }
    });
    let questions = host.approvals().list().block_on().unwrap().questions;
    assert_eq!(questions.len(), SESSION_QUESTIONS_MAX);
    assert_eq!(alone(host.call(request(1).session("calm"))).code, Code::ApprovalPending);
    // One settled request makes room for one new request.
    host.approvals().answer(&pending[0], &no()).block_on().unwrap();
    assert_eq!(alone(host.call(request(FLOOD).session("flood"))).code, Code::ApprovalPending);
    assert_eq!(alone(host.call(request(FLOOD + 1).session("flood"))).code, Code::ApprovalDenied);
    host.approvals().answer(&pending[1], &Answer::Yes).block_on().unwrap();
    assert_eq!(alone(host.resume(&pending[1])).unwrap().code, Code::Completed);
}

/// A principal and its sub-agents use at most half of the places, however many sessions they have.
#[test]
fn a_flood_by_one_principal_leaves_room_for_others() {
    let desk = Desk::new();
    let host = alone(desk.headless());
    let request = |number: usize| Request::new("good.run", numbered(number)).session(&(number % 9).to_string());
    let code = |request: Request| alone(host.call(request)).code;
    for number in 0..PRINCIPAL_QUESTIONS_MAX {
        let principal = if number % 2 == 0 { "bob" } else { "bob/helper" };
        assert_eq!(code(request(number).principal(principal.parse().unwrap())), Code::ApprovalPending, "{number}");
    }
    for principal in ["bob", "bob/helper", "bob/another"] {
        let request = request(FLOOD).session("new").principal(principal.parse().unwrap());
        assert_eq!(code(request), Code::ApprovalDenied, "{principal}");
    }
    assert_eq!(code(request(FLOOD).principal("alice".parse().unwrap())), Code::ApprovalPending);
}
