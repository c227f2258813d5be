//! Processes that die at every step of an approval and at any moment. A pending call stays pending, an approved call
//! stays approved, and a call that had started is recorded as lost and never runs again. P22, P23; invariant 9.

use crate::approvals::child::{Child, Order, Reported};
use crate::approvals::desk::{Desk, alone, left_behind, mark, numbered};
use crate::approvals::middle::{ASKS, RESOURCE_RULES, asking_for_its_argument};
use portcullis::approvals::{ApprovalError, Onward, OpenQuestion, Status};
use portcullis::{Answer, Code, Host};
use portcullis_tests::{BlockOn, Manifest, component, eventually, module};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The arguments of a call whose tool asks for exactly what they say.
pub(crate) const ARGUMENTS_IN_THE_MIDDLE: &str = r#"{"resource":"x"}"#;

fn start(desk: &Desk, order: Order, about: &str) -> Child {
    Child::start(order, &desk.root(), about)
}

/// Returns the only approval request.
fn the_only(desk: &Desk) -> OpenQuestion {
    let mut questions = desk.approvals().list_all().block_on().unwrap().questions;
    assert_eq!(questions.len(), 1, "{questions:?}");
    questions.remove(0)
}

fn resume(desk: &Desk, id: &str) -> Result<Code, ApprovalError> {
    alone(async { desk.headless().await.resume(id).await }).map(|reply| reply.code)
}

/// Asserts that the call of a request runs now, and never again.
fn runs_once(desk: &Desk, id: &str) {
    assert_eq!(resume(desk, id).unwrap(), Code::Completed);
    assert!(matches!(resume(desk, id), Err(ApprovalError::Settled(Status::Done))));
    assert_eq!(desk.marks(), BTreeMap::from([(numbered(1), 1)]));
    desk.verifies();
}

/// Asserts that a call ran once, is recorded as lost, and cannot run again.
fn is_lost(desk: &Desk, id: &str) {
    let lost = the_only(desk);
    assert_eq!((lost.id.as_str(), lost.status, lost.waited_for), (id, Status::Lost, false));
    assert!(matches!(resume(desk, id), Err(ApprovalError::Settled(Status::Lost))));
    assert!(matches!(desk.approvals().answer(id, &Answer::Yes).block_on(), Err(ApprovalError::Settled(Status::Lost))));
    assert_eq!(desk.marks(), BTreeMap::from([(numbered(1), 1)]));
    assert_eq!(desk.outcomes(&lost.call).last().map(String::as_str), Some("lost"));
    desk.verifies();
}

/// Makes a call that is approved and has not run yet. Returns the ID of its request.
fn approved(desk: &Desk) -> String {
    let id = alone(async { left_behind(&desk.headless().await, mark(1)).await });
    assert_eq!(desk.approvals().answer(&id, &Answer::Yes).block_on().unwrap(), Onward::Here);
    id
}

#[test]
fn killed_while_the_approver_decides_the_call_stays_pending() {
    let desk = Desk::new();
    let mut child = start(&desk, Order::AskAnApprover, "");
    let id = child.until("asked");
    let waiting = desk.approvals().question(&id).block_on().unwrap();
    assert_eq!((waiting.status, waiting.waited_for), (Status::Pending, true));
    child.kill();
    let left = the_only(&desk);
    assert_eq!((left.status, left.waited_for), (Status::Pending, false));
    assert_eq!(desk.outcomes(&left.call), ["pending"], "the call has ended, and its request waits");
    assert!(matches!(resume(&desk, &id), Err(ApprovalError::Settled(Status::Pending))), "it is not approved");
    assert_eq!(desk.approvals().answer(&id, &Answer::Yes).block_on().unwrap(), Onward::Here);
    runs_once(&desk, &id);
}

#[test]
fn killed_between_approval_and_run_the_call_can_still_run() {
    let desk = Desk::new();
    let mut child = start(&desk, Order::AskElsewhere, "1");
    child.until("asked");
    child.stop();
    let id = the_only(&desk).id;
    // The process is stopped, not dead: it would run the call when it is resumed.
    assert_eq!(desk.approvals().answer(&id, &Answer::Yes).block_on().unwrap(), Onward::There);
    assert!(matches!(resume(&desk, &id), Err(ApprovalError::WaitedFor)));
    child.kill();
    assert_eq!(the_only(&desk).status, Status::Approved);
    runs_once_as(&desk, &id, 0);
}

fn runs_once_as(desk: &Desk, id: &str, number: usize) {
    assert_eq!(resume(desk, id).unwrap(), Code::Completed);
    assert!(matches!(resume(desk, id), Err(ApprovalError::Settled(Status::Done))));
    assert_eq!(desk.marks(), BTreeMap::from([(numbered(number), 1)]));
    desk.verifies();
}

/// The same, but the process resumes. It runs the call, and no other process does.
#[test]
fn stopped_between_approval_and_run_the_process_runs_the_call_when_it_resumes() {
    let desk = Desk::new();
    let mut child = start(&desk, Order::AskElsewhere, "1");
    child.until("asked");
    child.stop();
    let id = the_only(&desk).id;
    desk.approvals().answer(&id, &Answer::Yes).block_on().unwrap();
    child.go_on();
    assert_eq!(child.ends(), ["ended completed"]);
    assert!(matches!(resume(&desk, &id), Err(ApprovalError::Settled(Status::Done))));
    assert_eq!(desk.marks(), BTreeMap::from([(numbered(0), 1)]));
    desk.verifies();
}

/// Another process makes the same call while the first one is stopped.
#[test]
fn an_approval_that_a_stopped_process_waits_for_is_not_used_by_another() {
    let desk = Desk::new();
    let mut child = start(&desk, Order::AskElsewhere, "1");
    child.until("asked");
    child.stop();
    let id = the_only(&desk).id;
    desk.approvals().answer(&id, &Answer::Yes).block_on().unwrap();
    let again = alone(async { left_behind(&desk.headless().await, mark(0).session("0")).await });
    assert_eq!(again, id, "the call joins the request");
    child.go_on();
    assert_eq!(child.ends(), ["ended completed"]);
    assert_eq!(desk.marks(), BTreeMap::from([(numbered(0), 1)]));
    desk.verifies();
}

/// The approval was revoked before the process resumed, or the request was denied.
#[test]
fn an_approval_that_is_revoked_while_the_process_is_stopped_runs_nothing() {
    let desk = Desk::new();
    let mut child = start(&desk, Order::AskElsewhere, "1");
    child.until("asked");
    child.stop();
    let id = the_only(&desk).id;
    desk.approvals().answer(&id, &Answer::Yes).block_on().unwrap();
    desk.approvals().revoke(&id).block_on().unwrap();
    child.go_on();
    assert_eq!(child.ends(), ["ended approval-denied"]);
    assert!(desk.marks().is_empty());
    desk.verifies();
}

/// The approval expired before the process resumed.
#[test]
fn an_approval_that_expires_while_the_process_is_stopped_runs_nothing() {
    let desk = Desk::new();
    let mut child = start(&desk, Order::AskBriefly, "");
    child.until("asked");
    child.stop();
    let asked = the_only(&desk);
    // On a slow machine it may expire before its approval. Nothing runs either way.
    let _ = desk.approvals().answer(&asked.id, &Answer::Yes).block_on();
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
    eventually("the end of the approval", || (asked.expires_at.as_millisecond() as u128 <= now()).then_some(()));
    child.go_on();
    assert_eq!(child.ends(), ["ended approval-denied"]);
    assert!(desk.marks().is_empty());
    desk.verifies();
}

#[test]
fn killed_before_a_resumed_call_starts_it_can_still_run() {
    let desk = Desk::new();
    let id = approved(&desk);
    let mut child = start(&desk, Order::StayBefore, &id);
    child.until("there");
    child.kill();
    assert_eq!(the_only(&desk).status, Status::Approved);
    runs_once(&desk, &id);
}

#[test]
fn killed_while_the_tool_runs_the_call_is_lost() {
    let desk = Desk::new();
    let mut child = start(&desk, Order::RunForEver, "");
    eventually("the mark", || desk.marks().values().any(|times| *times > 0).then_some(()));
    assert_eq!(the_only(&desk).status, Status::Running);
    child.kill();
    is_lost(&desk, &the_only(&desk).id);
}

#[test]
fn killed_after_the_tool_ran_the_call_is_lost() {
    let desk = Desk::new();
    let id = approved(&desk);
    let mut child = start(&desk, Order::StayAfter, &id);
    child.until("there");
    // No other process takes over a running call.
    assert!(matches!(resume(&desk, &id), Err(ApprovalError::Settled(Status::Running))));
    assert_eq!(the_only(&desk).status, Status::Running);
    child.kill();
    is_lost(&desk, &id);
}

/// Several processes resume one approved call, and one of them runs it.
#[test]
fn only_one_of_several_processes_resumes_an_approved_call() {
    let desk = Desk::new();
    let id = approved(&desk);
    let children: Vec<Child> = (0..4).map(|_| start(&desk, Order::Resume, &id)).collect();
    let said: Vec<String> = children.into_iter().flat_map(Child::ends).collect();
    assert_eq!(said.len(), 4);
    assert_eq!(said.iter().filter(|said| *said == "resumed completed").count(), 1, "{said:?}");
    runs_no_more(&desk, &id);
}

fn runs_no_more(desk: &Desk, id: &str) {
    assert!(matches!(resume(desk, id), Err(ApprovalError::Settled(Status::Done))));
    assert_eq!(desk.marks(), BTreeMap::from([(numbered(1), 1)]));
    desk.verifies();
}

/// An approval for a step of a running call does not approve the call, even if both name the same thing: the call has
/// run, and must not run again. A host that was open all the time behaves the same.
#[test]
fn an_approval_for_a_step_of_a_call_that_died_runs_nothing() {
    let desk = Desk::new();
    let manifest = Manifest::of("asks").tool(|tool| tool.required = 2);
    desk.site.plugin("asks", &component(&module(&asking_for_its_argument(ASKS), &manifest)));
    let host = alone(desk.unattended(&crate::approvals::desk::policy(RESOURCE_RULES)));
    let mut child = start(&desk, Order::AskInTheMiddle, RESOURCE_RULES);
    child.until("asked");
    child.stop();
    let id = the_only(&desk).id;
    assert_eq!(host.approvals().answer(&id, &Answer::Yes).block_on().unwrap(), Onward::There);
    child.kill();
    let resumed = alone(host.resume(&id));
    assert!(matches!(resumed, Err(ApprovalError::Gone)), "{resumed:?}");
    assert!(!the_only(&desk).status.is_open());
    desk.verifies();
}

/// Rounds, each with a child that is killed at some moment.
const ROUNDS: usize = 64;

/// Rounds where the children are slow, because the machine or the database is.
const ROUNDS_MAX: usize = 4 * ROUNDS;

/// Returns a delay between zero and the time that a child needs for its whole task.
fn delay(round: usize) -> Duration {
    let slower = 1 + round / ROUNDS;
    Duration::from_micros((round * 7919 % ROUNDS * 3000 * slower) as u64)
}

#[test]
fn after_a_kill_at_any_moment_nothing_runs_twice_and_no_pending_call_is_lost() {
    let desk = Desk::new();
    drop(alone(desk.headless()));
    let mut told = Reported::default();
    let has_progressed = |told: &Reported| told.completed.len() > ROUNDS && told.pending.len() > ROUNDS;
    for round in 0..ROUNDS_MAX {
        if round >= ROUNDS && has_progressed(&told) {
            break;
        }
        let mut child = start(&desk, Order::Churn, &(round * 100).to_string());
        child.until("begun");
        std::thread::sleep(delay(round));
        child.kill().iter().for_each(|said| told.hear(said));
        desk.verifies_but_for_a_torn_end();
        // A tool that is killed between creating its file and writing to it leaves an empty file.
        assert!(desk.marks().values().all(|times| *times <= 1), "round {round}: {:?}", desk.marks());
    }
    assert!(has_progressed(&told), "the children must have made progress");
    assert_eq!(told.refused, 0);
    // The next call sets aside the line that the last child may have torn.
    alone(async { left_behind(&desk.headless().await, mark(ROUNDS_MAX * 100)).await });
    desk.verifies();
    nothing_was_lost(&desk, &told);
    every_call_has_an_outcome(&desk);
    everything_left_runs_once(&desk);
    let marks = desk.marks();
    assert!(marks.values().all(|times| *times <= 1), "{marks:?}");
    assert!(told.completed.iter().all(|number| marks[&numbered(*number)] == 1), "{marks:?}");
    desk.verifies();
}

/// Asserts that a pending call is still pending or further, and an approved call is still approved or further.
fn nothing_was_lost(desk: &Desk, told: &Reported) {
    let approvals = desk.approvals();
    let completed: BTreeSet<_> = told.completed.iter().map(|number| numbered(*number)).collect();
    for (id, number) in &told.pending {
        let status = approvals.question(id).block_on().unwrap().status;
        let fits = match status {
            Status::Pending => !told.approved.contains(id),
            Status::Approved => !completed.contains(&numbered(*number)),
            Status::Done | Status::Lost => true,
            Status::Running | Status::Rejected | Status::Expired | Status::Withdrawn => false,
        };
        assert!(fits, "{id} {number}: {status}");
    }
}

/// Asserts that each call has an outcome, because every process that made a decision has ended.
fn every_call_has_an_outcome(desk: &Desk) {
    drop(desk.approvals());
    let record = desk.record();
    let calls = |kind: &str| -> BTreeSet<String> {
        let of_kind = record.iter().filter(|line| line["kind"] == kind);
        of_kind.map(|line| line["call"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(calls("decision"), calls("outcome"));
    assert!(record.iter().any(|line| line["outcome"] == "lost"), "no child was killed in the middle of a call");
}

/// Approves and runs the remaining calls. A lost call may or may not have run. Every other call runs once.
fn everything_left_runs_once(desk: &Desk) {
    let approvals = desk.approvals();
    let listed = approvals.list_all().block_on().unwrap().questions;
    let lost = listed.iter().filter(|question| question.status == Status::Lost);
    let lost: BTreeSet<String> = lost.map(|question| question.call.clone()).collect();
    for call in &lost {
        // The process may have died after it recorded the outcome.
        let last = desk.outcomes(call).pop();
        assert!(matches!(last.as_deref(), Some("lost" | "completed")), "{call}: {last:?}");
    }
    let host: Host = alone(desk.headless());
    for question in approvals.list().block_on().unwrap().questions {
        if question.status == Status::Pending {
            assert_eq!(approvals.answer(&question.id, &Answer::Yes).block_on().unwrap(), Onward::Here);
        }
        let reply = alone(host.resume(&question.id)).unwrap();
        assert_eq!(reply.code, Code::Completed, "{}", reply.message);
    }
    assert!(approvals.list().block_on().unwrap().questions.is_empty());
}
