//! The person writes something new: what has not started is not done, what runs goes on, and the model reads it next.

use crate::agent::desk::{ALLOW, ASK, Desk};
use crate::agent::model::{Model, Say, call, calling, done, saying};
use crate::agent::session::{HEARD, Session};
use portcullis::Code;
use serde_json::{Value, json};
use std::sync::mpsc::channel;

fn write(path: &str) -> Value {
    call("call_a", "files__write", &json!({ "path": path, "content": "one\n" }))
}

/// What the model is told when it is asked next: the results of its calls, and then the person's words.
#[track_caller]
fn told(messages: &[Value], words: &str) -> Vec<String> {
    let (last, before) = messages.split_last().unwrap();
    assert_eq!((&last["role"], &last["content"]), (&json!("user"), &json!(words)));
    let results = before.iter().filter(|message| message["role"] == "tool");
    results.map(|message| message["content"].as_str().unwrap().to_owned()).collect()
}

/// Of two calls that run one after the other, one has begun.
#[test]
fn what_has_not_started_is_not_run_and_what_runs_goes_on() {
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

/// A question is out of date too: whatever is typed there and is no answer is what the person wants instead.
#[test]
fn a_question_gives_way_to_what_the_person_writes() {
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

/// While the model thinks: what it then asks for was asked without knowing.
#[test]
fn what_is_written_while_the_model_thinks_supersedes_what_it_asks_for() {
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
    // A short answer to no question is nothing that a model would understand.
    told(&model.last_messages(), "leave the files alone\nand the poem");
    desk.recorded(&[("files.write", Code::Superseded), ("done.done", Code::Completed)]);
}

/// An answer without calls is no end where the person has written meanwhile.
#[test]
fn what_is_written_before_the_end_is_answered() {
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

/// What is interrupted is cancelled, and recorded.
#[test]
fn an_interruption_ends_what_runs() {
    let desk = Desk::new(ALLOW);
    let model = Model::answers([calling([call("call_a", "sleeps__run", &json!({}))])]);
    let mut session = Session::of(&desk, &model, "Sleep");
    session.until("runs: sleeps.run");
    session.types("\u{3}");
    session.ends(130);
    desk.recorded(&[("sleeps.run", Code::Cancelled)]);
    assert_eq!(model.requests().len(), 1);
}
