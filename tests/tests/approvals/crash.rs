//! Processes that die, at every step of an approval and at any moment: what was pending is still pending, what was
//! approved is still approved, what had begun to run is known as lost and is not run again. P22, P23; invariant 9.

use crate::child::{Child, Order};
use crate::desk::{Desk, alone, eventually, left_behind, mark, numbered};
use crate::middle::{ASKS, RESOURCE_RULES, asking_for_its_argument};
use portcullis::approvals::{ApprovalError, Onward, OpenQuestion, Status};
use portcullis::{Answer, Code, Host};
use portcullis_tests::{Manifest, component, module};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The arguments of a call whose tool asks for just what its arguments say.
pub(crate) const ARGUMENTS_IN_THE_MIDDLE: &str = r#"{"resource":"x"}"#;

fn start(desk: &Desk, order: Order, about: &str) -> Child {
    Child::start(order, &desk.root(), about)
}

/// The one question there is.
fn the_only(desk: &Desk) -> OpenQuestion {
    let mut questions = desk.approvals().list_all().unwrap().questions;
    assert_eq!(questions.len(), 1, "{questions:?}");
    questions.remove(0)
}

fn resume(desk: &Desk, id: &str) -> Result<Code, ApprovalError> {
    alone(async { desk.headless().await.resume(id).await }).map(|reply| reply.code)
}

/// Asserts that the call of a question runs now, and never again.
fn runs_once(desk: &Desk, id: &str) {
    assert_eq!(resume(desk, id).unwrap(), Code::Completed);
    assert!(matches!(resume(desk, id), Err(ApprovalError::Settled(Status::Done))));
    assert_eq!(desk.marks(), BTreeMap::from([(numbered(1), 1)]));
    desk.verifies();
}

/// Asserts that a call ran once, that nobody knows how far, and that it is over.
fn is_lost(desk: &Desk, id: &str) {
    let lost = the_only(desk);
    assert_eq!((lost.id.as_str(), lost.status, lost.waited_for), (id, Status::Lost, false));
    assert!(matches!(resume(desk, id), Err(ApprovalError::Settled(Status::Lost))));
    assert!(matches!(desk.approvals().answer(id, &Answer::Yes), Err(ApprovalError::Settled(Status::Lost))));
    assert_eq!(desk.marks(), BTreeMap::from([(numbered(1), 1)]));
    assert_eq!(desk.outcomes(&lost.call).last().map(String::as_str), Some("lost"));
    desk.verifies();
}

/// An approved call that nobody has run yet.
fn approved(desk: &Desk) -> String {
    let id = alone(async { left_behind(&desk.headless().await, mark(1)).await });
    assert_eq!(desk.approvals().answer(&id, &Answer::Yes).unwrap(), Onward::Here);
    id
}

#[test]
fn killed_while_the_approver_thinks_it_is_still_pending() {
    let desk = Desk::new();
    let mut child = start(&desk, Order::AskAnApprover, "");
    let id = child.until("asked");
    let waiting = desk.approvals().question(&id).unwrap();
    assert_eq!((waiting.status, waiting.waited_for), (Status::Pending, true));
    child.kill();
    let left = the_only(&desk);
    assert_eq!((left.status, left.waited_for), (Status::Pending, false));
    assert_eq!(desk.outcomes(&left.call), ["pending"], "the call has ended, and its request waits");
    assert!(matches!(resume(&desk, &id), Err(ApprovalError::Settled(Status::Pending))), "nobody said yes");
    assert_eq!(desk.approvals().answer(&id, &Answer::Yes).unwrap(), Onward::Here);
    runs_once(&desk, &id);
}

#[test]
fn killed_between_the_yes_and_the_run_it_can_be_run() {
    let desk = Desk::new();
    let mut child = start(&desk, Order::AskElsewhere, "1");
    child.until("asked");
    child.stop();
    let id = the_only(&desk).id;
    // It is stopped, not gone: it would run the call as soon as it goes on.
    assert_eq!(desk.approvals().answer(&id, &Answer::Yes).unwrap(), Onward::There);
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

/// The same, but the process goes on: it runs the call, and nobody else does.
#[test]
fn stopped_between_the_yes_and_the_run_it_runs_when_it_goes_on() {
    let desk = Desk::new();
    let mut child = start(&desk, Order::AskElsewhere, "1");
    child.until("asked");
    child.stop();
    let id = the_only(&desk).id;
    desk.approvals().answer(&id, &Answer::Yes).unwrap();
    child.go_on();
    assert_eq!(child.ends(), ["ended completed"]);
    assert!(matches!(resume(&desk, &id), Err(ApprovalError::Settled(Status::Done))));
    assert_eq!(desk.marks(), BTreeMap::from([(numbered(0), 1)]));
    desk.verifies();
}

/// The yes was taken back before the process went on, or it was a no.
#[test]
fn a_yes_that_was_taken_back_while_the_process_was_stopped_runs_nothing() {
    let desk = Desk::new();
    let mut child = start(&desk, Order::AskElsewhere, "1");
    child.until("asked");
    child.stop();
    let id = the_only(&desk).id;
    desk.approvals().answer(&id, &Answer::Yes).unwrap();
    desk.approvals().revoke(&id).unwrap();
    child.go_on();
    assert_eq!(child.ends(), ["ended approval-denied"]);
    assert!(desk.marks().is_empty());
    desk.verifies();
}

#[test]
fn killed_before_a_resumed_call_begins_it_can_be_run() {
    let desk = Desk::new();
    let id = approved(&desk);
    let mut child = start(&desk, Order::StayBefore, &id);
    child.until("there");
    child.kill();
    assert_eq!(the_only(&desk).status, Status::Approved);
    runs_once(&desk, &id);
}

#[test]
fn killed_while_the_tool_runs_it_is_lost() {
    let desk = Desk::new();
    let mut child = start(&desk, Order::RunForEver, "");
    eventually("the mark", || desk.marks().values().any(|times| *times > 0).then_some(()));
    assert_eq!(the_only(&desk).status, Status::Running);
    child.kill();
    is_lost(&desk, &the_only(&desk).id);
}

#[test]
fn killed_after_the_tool_ran_it_is_lost() {
    let desk = Desk::new();
    let id = approved(&desk);
    let mut child = start(&desk, Order::StayAfter, &id);
    child.until("there");
    // Nobody takes over what still runs.
    assert!(matches!(resume(&desk, &id), Err(ApprovalError::Settled(Status::Running))));
    assert_eq!(the_only(&desk).status, Status::Running);
    child.kill();
    is_lost(&desk, &id);
}

/// Several processes resume one approved call, and one of them runs it.
#[test]
fn of_several_processes_that_resume_one_call_one_runs_it() {
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

/// A yes to something in the middle of a call is none to the call, though it asks for just what its arguments say: the
/// call has run, and it is not run again. A host that was open all the while is no exception.
#[test]
fn a_yes_in_the_middle_of_a_call_that_died_runs_nothing() {
    let desk = Desk::new();
    let manifest = Manifest::of("asks").tool(|tool| tool.required = 2);
    desk.site.plugin("asks", &component(&module(&asking_for_its_argument(ASKS), &manifest)));
    let host = alone(desk.unattended(&crate::desk::policy(RESOURCE_RULES)));
    let mut child = start(&desk, Order::AskInTheMiddle, RESOURCE_RULES);
    child.until("asked");
    child.stop();
    let id = the_only(&desk).id;
    assert_eq!(host.approvals().answer(&id, &Answer::Yes).unwrap(), Onward::There);
    child.kill();
    let resumed = alone(host.resume(&id));
    assert!(matches!(resumed, Err(ApprovalError::Gone)), "{resumed:?}");
    assert!(!the_only(&desk).status.is_open());
    desk.verifies();
}

/// What a child had done when it was killed, as far as it could say.
#[derive(Default)]
struct Told {
    pending: BTreeMap<String, usize>,
    approved: BTreeSet<String>,
    completed: BTreeSet<usize>,
}

impl Told {
    fn hear(&mut self, said: &str) {
        let words: Vec<&str> = said.split(' ').collect();
        match words[..] {
            ["pending", id, number] => drop(self.pending.insert(id.to_owned(), number.parse().unwrap())),
            ["approved", id] => drop(self.approved.insert(id.to_owned())),
            ["called", number, "completed"] => drop(self.completed.insert(number.parse().unwrap())),
            ["resumed", id, "completed"] => drop(self.completed.insert(self.pending[id])),
            ["done"] => {}
            _ => panic!("{said}"),
        }
    }
}

/// Rounds of the loop, each with a child that is killed somewhere.
const ROUNDS: usize = 64;

/// A delay between nothing and what a child needs for all it does, spread over that time.
fn delay(round: usize) -> Duration {
    Duration::from_micros((round * 7919 % ROUNDS * 3000) as u64)
}

#[test]
fn killed_at_any_moment_nothing_runs_twice_and_nothing_pending_is_lost() {
    let desk = Desk::new();
    drop(alone(desk.headless()));
    let mut told = Told::default();
    for round in 0..ROUNDS {
        let mut child = start(&desk, Order::Churn, &(round * 100).to_string());
        child.until("begun");
        std::thread::sleep(delay(round));
        child.kill().iter().for_each(|said| told.hear(said));
        desk.verifies_but_for_a_torn_end();
        // A tool that was killed between making its file and writing to it has left an empty one.
        assert!(desk.marks().values().all(|times| *times <= 1), "round {round}: {:?}", desk.marks());
    }
    assert!(told.completed.len() > ROUNDS && told.pending.len() > ROUNDS, "the children did something");
    // What the last one may have torn is set aside by the next call.
    alone(async { left_behind(&desk.headless().await, mark(ROUNDS * 100)).await });
    desk.verifies();
    nothing_was_lost(&desk, &told);
    every_call_has_an_outcome(&desk);
    everything_left_runs_once(&desk);
    let marks = desk.marks();
    assert!(marks.values().all(|times| *times <= 1), "{marks:?}");
    assert!(told.completed.iter().all(|number| marks[&numbered(*number)] == 1), "{marks:?}");
    desk.verifies();
}

/// Everything that was pending is pending or further, and everything that was approved is approved or further.
fn nothing_was_lost(desk: &Desk, told: &Told) {
    let approvals = desk.approvals();
    let completed: BTreeSet<_> = told.completed.iter().map(|number| numbered(*number)).collect();
    for (id, number) in &told.pending {
        let status = approvals.question(id).unwrap().status;
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

/// Approves and runs what is left. A call that was lost may have run or not; what else there is runs once.
fn everything_left_runs_once(desk: &Desk) {
    let approvals = desk.approvals();
    let listed = approvals.list_all().unwrap().questions;
    let lost = listed.iter().filter(|question| question.status == Status::Lost);
    let lost: BTreeSet<String> = lost.map(|question| question.call.clone()).collect();
    for call in &lost {
        // The process may have died after it recorded the outcome.
        let last = desk.outcomes(call).pop();
        assert!(matches!(last.as_deref(), Some("lost" | "completed")), "{call}: {last:?}");
    }
    let host: Host = alone(desk.headless());
    for question in approvals.list().unwrap().questions {
        if question.status == Status::Pending {
            assert_eq!(approvals.answer(&question.id, &Answer::Yes).unwrap(), Onward::Here);
        }
        let reply = alone(host.resume(&question.id)).unwrap();
        assert_eq!(reply.code, Code::Completed, "{}", reply.message);
    }
    assert!(approvals.list().unwrap().questions.is_empty());
}
