//! When an entry is written: the decision and the answer before they take effect, and the outcome at the end, even if
//! the caller goes away. P28.

use crate::record::desk::{Desk, entries, kinds, text};
use portcullis::approvals::{Answering, Scripted};
use portcullis::events::{EventKind, Events};
use portcullis::{Answer, Approver, Code, Host, Question, Request};
use portcullis_tests::{assert_verifies, eventually_async, outcomes};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use tokio::sync::Notify;

/// Reads the audit log when something happens.
struct Witness {
    state: PathBuf,
    seen: Mutex<Vec<Vec<String>>>,
    happened: Notify,
    /// Whether the approver never answers.
    silent: bool,
}

impl Witness {
    fn of(desk: &Desk, silent: bool) -> Arc<Self> {
        let (seen, happened) = (Mutex::new(Vec::new()), Notify::new());
        Arc::new(Self { state: desk.site.state(), seen, happened, silent })
    }

    fn look(&self, call: &str) {
        self.seen.lock().unwrap().push(kinds(&entries(&self.state), call));
        self.happened.notify_one();
    }

    fn seen(&self) -> Vec<Vec<String>> {
        self.seen.lock().unwrap().clone()
    }
}

impl Approver for Witness {
    fn answer<'a>(&'a self, question: &'a Question) -> Answering<'a> {
        self.look(&question.call);
        if self.silent { Box::pin(std::future::pending()) } else { Box::pin(std::future::ready(Answer::Yes)) }
    }
}

/// Returns the call whose tool was the first to report progress.
async fn first_report(events: &mut Events) -> String {
    loop {
        let event = events.next().await.unwrap();
        if let EventKind::Progress(_) = event.kind {
            return event.call.to_string();
        }
    }
}

/// Drops a call of a tool that has reported progress and never ends. Returns the call's entries while it ran.
async fn dropped_while_it_runs(desk: &Desk, host: &Host) -> Vec<String> {
    let mut events = host.events();
    // Read inside the branch: when a branch is chosen, the other future is dropped, and recorded, before anything else.
    let look = async {
        let call = first_report(&mut events).await;
        kinds(&desk.entries(), &call)
    };
    tokio::select! {
        biased;
        reply = host.call(Request::new("reports.run", r#"{"for":"ever"}"#)) => panic!("it ended: {reply:?}"),
        seen = look => seen,
    }
}

/// While the tool runs, the log contains its decision and not its outcome.
#[tokio::test]
async fn the_decision_is_written_before_the_tool_runs() {
    let desk = Desk::new();
    let host = desk.open().await;
    assert_eq!(dropped_while_it_runs(&desk, &host).await, ["decision"]);
    let reply = host.call(Request::new("reports.run", "{}")).await;
    assert_eq!(reply.code, Code::Completed, "{}", reply.message);
    assert_eq!(kinds(&desk.entries(), &reply.id), ["decision", "outcome"]);
}

/// The decision is written before the approval request, and the answer is written before the tool runs.
#[tokio::test]
async fn the_answer_is_written_before_the_tool_runs() {
    let desk = Desk::new();
    let asked = Witness::of(&desk, false);
    let policy = "[[rule]]\ntool = \"*.*\"\ndecision = \"ask\"\n";
    let host = desk.site.builder(policy).approver(Arc::clone(&asked) as _).open().await.unwrap();
    let ran = dropped_while_it_runs(&desk, &host).await;
    assert_eq!(asked.seen(), [["decision", "asked"]]);
    assert_eq!(ran, ["decision", "asked", "answer"]);
}

/// The log contains the answer to a request, and who gave it.
#[tokio::test]
async fn a_denial_is_recorded_with_its_note() {
    let desk = Desk::new();
    let note = Some("not today".to_owned());
    let scripted = Arc::new(Scripted::new([Answer::No { note }]));
    let host = desk.builder().approver(scripted).open().await.unwrap();
    let reply = host.call(Request::new("asked.run", "{}")).await;
    assert_eq!(reply.code, Code::ApprovalDenied);
    let entries = desk.entries();
    let answer = entries.iter().find(|entry| entry.document["kind"] == "answer").unwrap();
    assert_eq!((text(&answer.document["answer"]), text(&answer.document["note"])), ("no".into(), "not today".into()));
}

/// Returns the outcome of the dropped call and its detail. Other threads write it and the withdrawal of its request.
async fn outcome(desk: &Desk) -> (String, String) {
    let find = || desk.entries().into_iter().map(|entry| entry.document).find(|entry| entry["kind"] == "outcome");
    let entry = eventually_async("the outcome", find).await;
    (text(&entry["outcome"]), text(&entry["detail"]))
}

/// A future that is dropped during an approval request leaves an outcome that says that nothing ran.
#[tokio::test]
async fn a_call_that_is_dropped_during_a_request_is_recorded() {
    let desk = Desk::new();
    let asked = Witness::of(&desk, true);
    let host = desk.open_with(Arc::clone(&asked) as _).await;
    tokio::select! {
        biased;
        reply = host.call(Request::new("asked.run", "{}")) => panic!("it ended: {reply:?}"),
        () = asked.happened.notified() => {}
    }
    let (outcome, detail) = outcome(&desk).await;
    assert_eq!(outcome, "cancelled");
    assert!(detail.contains("before the tool ran"), "{detail}");
    assert_eq!(outcomes(&host).len(), 1);
    assert_verifies(&host);
}

/// A future that is dropped while the tool runs leaves an outcome that says so.
#[tokio::test]
async fn a_call_that_is_dropped_while_the_tool_runs_is_recorded() {
    let desk = Desk::new();
    let host = desk.open().await;
    dropped_while_it_runs(&desk, &host).await;
    let (outcome, detail) = outcome(&desk).await;
    assert_eq!(outcome, "cancelled");
    assert!(detail.contains("while the tool ran"), "{detail}");
    assert_eq!(outcomes(&host).len(), 1);
    assert_eq!(host.call(Request::new("good.run", "{}")).await.code, Code::Completed);
    assert_verifies(&host);
}
