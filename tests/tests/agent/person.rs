//! An approver at a terminal, one in another process, and none: the effect of each answer.

use crate::agent::desk::{ASK, Desk};
use crate::agent::model::{Model, call, calling, done, saying};
use crate::agent::session::Session;
use portcullis::Code;
use serde_json::{Value, json};
use std::fs;

fn write(id: &str, path: &str) -> Value {
    call(id, "files__write", &json!({ "path": path, "content": "one\n" }))
}

fn writes() -> Model {
    Model::answers([calling([write("call_a", "new.txt")]), done("That is all.")])
}

#[test]
fn an_approval_runs_the_call_and_a_denial_does_not() {
    for (answer, code) in [("y\n", Code::Completed), ("n\n", Code::ApprovalDenied), ("\u{4}", Code::ApprovalDenied)] {
        let (desk, model) = (Desk::new(ASK), writes());
        let mut session = Session::of(&desk, &model, "Write");
        let question = session.question();
        for told in ["files.write", "a person looks", "\"path\": \"new.txt\"", "read-write", "+one"] {
            assert!(question.contains(told), "{told}: {question}");
        }
        assert!(!desk.site.path("work/new.txt").exists(), "the file exists before the answer");
        session.types(answer);
        assert!(session.ends(0).ends_with("That is all.\n"));
        assert_eq!(desk.site.path("work/new.txt").exists(), code == Code::Completed);
        desk.recorded(&[("files.write", code), ("done.done", Code::Completed)]);
    }
}

#[test]
fn the_model_reads_the_note_of_a_denial() {
    let (desk, model) = (Desk::new(ASK), writes());
    let mut session = Session::of(&desk, &model, "Write");
    session.question();
    // An empty line is not an answer.
    session.types("\n");
    session.question();
    session.types("no write to src/ instead\n");
    session.ends(0);
    assert!(model.told()[0].contains("write to src/ instead"), "{:?}", model.told());
}

/// Of two concurrent requests, each line answers one.
#[test]
fn one_request_is_shown_at_a_time() {
    let desk = Desk::new(ASK);
    let model = Model::answers([calling([write("call_a", "a.txt"), write("call_b", "b.txt")]), done("ok")]);
    let mut session = Session::of(&desk, &model, "Write both");
    let first = session.question();
    session.types("y\n");
    let second = session.question();
    session.types("n\n");
    session.ends(0);
    for name in ["a.txt", "b.txt"] {
        let asks = |question: &str| question.contains(&format!("\"path\": \"{name}\""));
        let asked_first = asks(&first);
        assert_ne!(asked_first, asks(&second), "{first}{second}");
        assert_eq!(desk.site.path("work").join(name).exists(), asked_first, "{name}");
    }
    assert_eq!(model.last_messages()[3..].len(), 2);
}

/// Input that was typed before the prompt does not answer it.
#[test]
fn input_before_the_prompt_is_not_an_answer() {
    let (desk, model) = (Desk::new(ASK), writes());
    let mut session = Session::of(&desk, &model, "Write");
    session.types("y\n");
    session.question();
    assert!(!desk.site.path("work/new.txt").exists());
    session.types("n\n");
    session.ends(0);
    assert!(!desk.site.path("work/new.txt").exists());
}

#[test]
fn another_process_approves_a_request_that_waits_at_the_terminal() {
    for (verb, code) in [("approve", Code::Completed), ("reject", Code::ApprovalDenied)] {
        let (desk, model) = (Desk::new(ASK), writes());
        let mut session = Session::of(&desk, &model, "Write");
        session.question();
        let sure: &[&str] = if verb == "approve" { &["--yes"] } else { &[] };
        desk.portcullis(&[&["approvals", verb, &desk.question()], sure].concat()).ends(0);
        let said = session.ends(0);
        assert!(said.contains("answered elsewhere") && said.ends_with("That is all.\n"), "{said}");
        desk.recorded(&[("files.write", code), ("done.done", Code::Completed)]);
    }
}

/// Without a terminal, the policy decides. Input from a pipe is not an answer.
#[test]
fn without_a_terminal_the_policy_decides() {
    let (desk, model) = (Desk::new(ASK), writes());
    desk.work(&model, &["Write"]).ends(0);
    assert!(model.told()[0].contains("waits for a person"), "{:?}", model.told());
    desk.recorded(&[("files.write", Code::ApprovalPending), ("done.done", Code::Completed)]);
    // The call stays pending, and runs once after its approval.
    desk.portcullis(&["approvals", "approve", &desk.question(), "--yes"]).ends(0);
    assert_eq!(fs::read_to_string(desk.site.path("work/new.txt")).unwrap(), "one\n");

    let desk = Desk::new(&format!("[approvals]\nunattended = \"deny\"\n{ASK}"));
    let model = Model::answers([calling([write("call_a", "new.txt")]), saying("It was refused.")]);
    desk.work(&model, &["Write"]).ends(0);
    desk.recorded(&[("files.write", Code::ApprovalDenied)]);
    assert!(!desk.site.path("work/new.txt").exists());
}
