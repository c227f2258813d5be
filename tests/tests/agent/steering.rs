//! Steering: when the user writes something new, calls that have not started are skipped, running calls continue, and
//! the model reads the text next.

use crate::agent::desk::{ALLOW, ASK, Desk};
use crate::agent::model::{Model, Say, call, calling, done, saying};
use crate::agent::session::{HEARD, Session};
use portcullis::Code;
use serde_json::{Value, json};
use std::sync::mpsc::channel;

fn write(path: &str) -> Value {
    call("call_a", "files__write", &json!({ "path": path, "content": "one\n" }))
}

/// Returns the results of the calls in the model's next request, and asserts that the user's text follows them.
#[track_caller]
fn told(messages: &[Value], words: &str) -> Vec<String> {
    let (last, before) = messages.split_last().unwrap();
    assert_eq!((&last["role"], &last["content"]), (&json!("user"), &json!(words)));
    let results = before.iter().filter(|message| message["role"] == "tool");
    results.map(|message| message["content"].as_str().unwrap().to_owned()).collect()
}

/// Of two calls that run in sequence, the first has started.
#[test]
fn calls_that_have_not_started_are_skipped_and_running_calls_continue() {
    let desk = Desk::new(ALLOW);
    let gate = |id: &str| call(id, "gate__run", &json!({ "of": id }));
    let model = Model::answers([calling([gate("call_a"), gate("call_b")]), done("stopped")]);
    let mut session = Session::of(&desk, &model, "Wait");
    session.until("runs: gate.run");
    session.types("do something else\n");
    session.until(HEARD);
    desk.open_the_gate();
    assert!(session.ends(0).ends_with("stopped\n"));
    let told = told(&model.last_messages(), "do something else");
    assert_eq!(told.iter().filter(|told| told.contains("call_")).count(), 1, "{told:?}");
    assert_eq!(told.iter().filter(|told| told.contains("do something else")).count(), 1, "{told:?}");
    let outcomes = [("gate.run", Code::Completed), ("gate.run", Code::Superseded), ("done.done", Code::Completed)];
    desk.recorded(&outcomes);
}

/// An approval request becomes obsolete too: a line that is not an answer is what the user wants instead.
#[test]
fn a_request_is_withdrawn_when_the_user_writes_something_else() {
    let desk = Desk::new(ASK);
    let model = Model::answers([calling([write("new.txt")]), done("I will not.")]);
    let mut session = Session::of(&desk, &model, "Write");
    session.question();
    session.types("leave the files alone\n");
    session.ends(0);
    assert!(!desk.site.path("work/new.txt").exists());
    let told = told(&model.last_messages(), "leave the files alone");
    assert!(told.len() == 1 && told[0].contains("leave the files alone"), "{told:?}");
    desk.recorded(&[("files.write", Code::Superseded), ("done.done", Code::Completed)]);
}

/// While the model responds: the calls in that response were made without the user's text.
#[test]
fn text_that_is_written_during_a_response_supersedes_its_calls() {
    let desk = Desk::new(ALLOW);
    let (think, gate) = channel();
    let script = [Say::Later(calling([write("new.txt")]), gate), Say::Message(done("I will not."))];
    let model = Model::says(script);
    let mut session = Session::of(&desk, &model, "Write");
    model.was_asked(1);
    session.types("y\nleave the files alone\nand the poem\n");
    session.until(HEARD);
    session.until(HEARD);
    think.send(()).unwrap();
    session.ends(0);
    assert!(!desk.site.path("work/new.txt").exists());
    // A short answer without a prompt would mean nothing to the model.
    told(&model.last_messages(), "leave the files alone\nand the poem");
    desk.recorded(&[("files.write", Code::Superseded), ("done.done", Code::Completed)]);
}

/// If the user has written something meanwhile, a response without calls does not end the run.
#[test]
fn text_that_is_written_before_the_end_is_answered() {
    let desk = Desk::new(ALLOW);
    let (think, gate) = channel();
    let model = Model::says([Say::Later(saying("first"), gate), Say::Message(saying("second"))]);
    let mut session = Session::of(&desk, &model, "Talk");
    model.was_asked(1);
    session.types("and then?\n");
    session.until(HEARD);
    think.send(()).unwrap();
    assert!(session.ends(0).ends_with("second\n"));
    assert_eq!(model.requests().len(), 2);
    let messages = model.last_messages();
    assert_eq!(messages[2], saying("first"));
    told(&messages, "and then?");
}

/// An interrupted call is cancelled and recorded.
#[test]
fn an_interrupt_ends_running_calls() {
    let desk = Desk::new(ALLOW);
    let model = Model::answers([calling([call("call_a", "sleeps__run", &json!({}))])]);
    let mut session = Session::of(&desk, &model, "Sleep");
    session.until("runs: sleeps.run");
    session.types("\u{3}");
    session.ends(130);
    desk.recorded(&[("sleeps.run", Code::Cancelled)]);
    assert_eq!(model.requests().len(), 1);
}
