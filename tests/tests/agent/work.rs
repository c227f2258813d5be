//! A normal run of the agent: its requests, the recorded calls, and its end.

use crate::agent::desk::{ALLOW, Desk};
use crate::agent::model::{Model, call, calling, done, saying};
use portcullis::Code;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;

fn read(id: &str) -> Value {
    call(id, "files__read", &json!({ "path": "poem.txt" }))
}

/// Returns the tool names in a request, and asserts that Chat Completions accepts each of them.
#[track_caller]
fn tools(request: &Value) -> BTreeSet<String> {
    let portable = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    let name = |tool: &Value| {
        assert_eq!(tool["type"], "function", "{tool}");
        let function = tool["function"].as_object().unwrap();
        let name = function["name"].as_str().unwrap();
        assert!(portable(name) && name.len() <= 64, "{name}");
        assert!(!function["description"].as_str().unwrap().is_empty(), "{tool}");
        assert_eq!(function["parameters"]["type"], "object", "{tool}");
        name.to_owned()
    };
    let tools = request["tools"].as_array().unwrap();
    let names: BTreeSet<String> = tools.iter().map(name).collect();
    assert_eq!(names.len(), tools.len(), "a tool is listed twice");
    names
}

#[test]
fn a_task_is_done_with_tools() {
    let desk = Desk::new(ALLOW);
    let model = Model::answers([calling([read("call_a")]), done("It is a poem.")]);
    let ran = desk.work(&model, &["What does poem.txt say?"]).ends(0);
    assert_eq!(ran.out, "It is a poem.\n");

    for head in model.heads() {
        assert!(head.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{head}");
        for line in ["authorization: Bearer sk-of-a-test", "content-type: application/json"] {
            assert!(head.lines().any(|header| header == line), "{head}");
        }
    }
    let requests = model.requests();
    assert_eq!(requests.len(), 2);
    for request in &requests {
        assert_eq!(request["model"], "scripted");
        assert_eq!(request["tools"], requests[0]["tools"], "the tools must not change");
        let names = tools(request);
        for name in ["files__read", "hello__greet", "output__read", "output__grep", "done"] {
            assert!(names.contains(name), "{name}: {names:?}");
        }
    }
    let [system, task] = requests[0]["messages"].as_array().unwrap().as_slice() else { panic!("{}", requests[0]) };
    assert_eq!((&system["role"], &task["role"]), (&json!("system"), &json!("user")));
    assert_eq!(task["content"], "What does poem.txt say?");

    let messages = model.last_messages();
    assert_eq!(messages[2], calling([read("call_a")]), "the model's message must be sent back unchanged");
    assert_eq!((&messages[3]["role"], &messages[3]["tool_call_id"]), (&json!("tool"), &json!("call_a")));
    assert!(model.told()[0].contains("violets are blue"), "{:?}", model.told());
    desk.recorded(&[("files.read", Code::Completed), ("done.done", Code::Completed)]);
    for (call, _) in desk.calls() {
        assert!(call["session"].as_str().unwrap().starts_with("agent-"), "{call}");
    }
}

#[test]
fn a_response_without_calls_ends_the_run() {
    let desk = Desk::new(ALLOW);
    let model = Model::answers([saying("There is nothing to do.")]);
    assert_eq!(desk.work(&model, &["Do nothing"]).ends(0).out, "There is nothing to do.\n");
    desk.recorded(&[]);
}

/// Each call of a message gets its result, in the order of the calls.
#[test]
fn several_calls_of_one_message_each_have_their_result() {
    let desk = Desk::new(ALLOW);
    let greet = |name: &str| call(name, "hello__greet", &json!({ "name": name }));
    let names = ["Ann", "Bob", "Eve", "Joe", "Zoe"];
    let model = Model::answers([calling(names.map(greet)), done("greeted")]);
    desk.work(&model, &["Greet them"]).ends(0);
    let messages = model.last_messages();
    let results: Vec<_> = messages[3..].iter().map(|message| message["tool_call_id"].as_str().unwrap()).collect();
    assert_eq!(results, names);
    for (told, name) in model.told().iter().zip(names) {
        assert!(told.contains(&format!("Hello, {name}!")), "{told}");
    }
}

/// `done` ends the run only if the host has run it.
#[test]
fn a_done_call_that_the_policy_denies_does_not_end_the_run() {
    let desk = Desk::new(&format!("{ALLOW}[[rule]]\ntool = \"done.*\"\ndecision = \"deny\"\n"));
    let model = Model::answers([done("too early"), saying("later")]);
    assert_eq!(desk.work(&model, &["Do nothing"]).ends(0).out, "later\n");
    desk.recorded(&[("done.done", Code::PolicyDenied)]);
}

/// If the call has no result, the text of the message is the result.
#[test]
fn a_done_call_without_a_result_ends_with_the_messages_text() {
    let desk = Desk::new(ALLOW);
    let mut message = calling([call("call_a", "done", &json!({}))]);
    message["content"] = json!([{ "type": "text", "text": "It is done." }]);
    let model = Model::answers([message]);
    assert_eq!(desk.work(&model, &["Do nothing"]).ends(0).out, "It is done.\n");
}

/// Of a large catalog, the model sees only the tools that match the task, and the host's own.
#[test]
fn the_number_of_tools_is_limited_to_the_option() {
    let desk = Desk::new(ALLOW);
    let model = Model::answers([done("greeted")]);
    desk.work(&model, &["--tools", "1", "greet Ann by name"]).ends(0);
    let expected =
        ["done", "hello__greet", "output__grep", "output__read", "tools__batch", "tools__explain"].map(str::to_owned);
    assert_eq!(tools(&model.requests()[0]), BTreeSet::from(expected));
}

/// A tool that the model did not see is not called, although the host has it.
#[test]
fn a_tool_that_was_not_offered_is_refused() {
    let desk = Desk::new(ALLOW);
    let write = call("call_a", "files__write", &json!({ "path": "new.txt", "content": "one" }));
    let model = Model::answers([calling([write]), done("gave up")]);
    desk.work(&model, &["--tools", "1", "greet Ann by name"]).ends(0);
    assert!(!desk.site.path("work/new.txt").exists());
    assert!(model.told()[0].contains("files__write"), "{:?}", model.told());
    let record = desk.record();
    assert!(record.len() == 2 && record[0].1 == "completed" && record[1].1 == "unknown-tool", "{record:?}");
}

/// The model can read the rest of a large result with the host's own tools, by the names that the model sees.
#[test]
fn a_large_result_can_be_read_in_parts() {
    let desk = Desk::new(&ALLOW.replace("[limits]", "[limits]\noutput = \"2 KiB\""));
    fs::write(desk.site.path("work/long.txt"), "one of many\n".repeat(1000)).unwrap();
    let read = call("call_a", "files__read", &json!({ "path": "long.txt" }));
    let model = Model::answers([calling([read]), done("read")]);
    desk.work(&model, &["Read it"]).ends(0);
    let told = model.told();
    assert!(told[0].contains("output__read {\"reference\"") && !told[0].contains("output.read"), "{told:?}");
}

/// A model that never ends is stopped after a number of requests.
#[test]
fn a_model_that_never_ends_is_stopped() {
    let desk = Desk::new(ALLOW);
    let greet = |number: usize| calling([call("call_a", "hello__greet", &json!({ "name": number.to_string() }))]);
    let model = Model::answers((0..60).map(greet));
    let ran = desk.work(&model, &["Greet"]).ends(3);
    assert!(ran.out.is_empty() && ran.err.contains("does not finish"), "{ran:?}");
    assert_eq!(model.requests().len(), 50);
    assert_eq!(desk.calls().len(), 50);
}
