//! Server start while a plugin is being compiled: the server answers immediately, reports the missing plugin, and
//! announces it later.

use crate::mcp::wire::{Desk, ERAS, Era, OPEN, PATIENCE, Wire, text};
use portcullis_tests::{HeldWorker, Manifest, guest, slow_to_compile};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

const CHANGED: &str = "notifications/tools/list_changed";

/// The file for the server's notes.
const NOTES: &str = "notes";

/// Builds a site with a plugin that has never been compiled and takes seconds to compile.
fn desk(policy: &str) -> Desk {
    let desk = Desk::new(policy);
    desk.site.plugin("slow", &slow_to_compile(&Manifest::of("slow")));
    desk
}

/// Starts a server that compiles the slow plugin until the worker is released, and connects a client.
fn serve(desk: &Desk, era: Era, arguments: &[&str]) -> (Wire, HeldWorker) {
    let mut wire = desk.noting(era, &[&["--start-wait", "0"], arguments].concat(), NOTES);
    let worker = HeldWorker::of(wire.child.id());
    if era == Era::Legacy {
        wire.shake_hands("2025-11-25");
    }
    (wire, worker)
}

fn notes(desk: &Desk) -> String {
    fs::read_to_string(desk.site.path(NOTES)).unwrap()
}

fn until_noted(desk: &Desk, words: &str) {
    eventually(words, || notes(desk).contains(words));
}

fn eventually(what: &str, mut is: impl FnMut() -> bool) {
    let late = Instant::now() + PATIENCE;
    while !is() {
        assert!(Instant::now() < late, "timeout: {what}");
        sleep(Duration::from_millis(5));
    }
}

fn tools(wire: &mut Wire) -> Vec<String> {
    let page = wire.result("tools/list", json!({}));
    page["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

fn has(wire: &mut Wire, tool: &str) -> bool {
    tools(wire).iter().any(|name| name == tool)
}

/// Returns the states of the plugins, as a client reads them.
fn plugins(wire: &mut Wire) -> Value {
    let read = wire.result("resources/read", json!({ "uri": "portcullis://plugins" }));
    let contents = &read["contents"][0];
    assert_eq!(contents["mimeType"], "application/json", "{contents}");
    serde_json::from_str::<Value>(contents["text"].as_str().unwrap()).unwrap()["plugins"].clone()
}

#[test]
fn a_server_answers_while_a_plugin_is_compiled_and_announces_it() {
    for era in ERAS {
        let desk = desk(OPEN);
        let (mut wire, worker) = serve(&desk, era, &[]);
        if era == Era::Modern {
            wire.request("subscriptions/listen", json!({ "notifications": { "toolsListChanged": true } }));
        }
        let listed = tools(&mut wire);
        assert!(listed.iter().any(|tool| tool == "clerk__echo"), "{listed:?}");
        assert!(!listed.iter().any(|tool| tool.starts_with("slow")), "{listed:?}");
        assert_eq!(wire.call("clerk__echo", json!({ "text": "hi" }))["content"][0]["text"], "hi");
        let states = plugins(&mut wire);
        assert_eq!(states["slow"], json!({ "state": "compiling", "tools": 0 }));
        assert_eq!(states["clerk"]["state"], "ready", "{states}");
        assert!(states["clerk"]["tools"].as_u64().unwrap() > 1, "{states}");

        for name in ["slow__run", "slow.run"] {
            let refused = wire.call(name, json!({}));
            assert_eq!(refused["isError"], true, "{refused}");
            assert_eq!(refused["_meta"]["portcullis/code"], "plugin-loading", "{refused}");
            assert!(refused["_meta"]["portcullis/retry-after"].as_u64().unwrap() > 0, "{refused}");
            assert!(text(&refused).contains("still being compiled"), "{refused}");
        }
        assert_eq!(wire.error("tools/call", json!({ "name": "slower__run", "arguments": {} })), -32602);
        assert_eq!(wire.notifications(CHANGED), Vec::<Value>::new(), "a change was announced too early");
        let said = notes(&desk);
        assert!(said.contains("compiling slow\n") && said.contains("1 plugin still being compiled"), "{said}");
        assert!(!said.contains("slow is"), "{said}");

        worker.release();
        while !has(&mut wire, "slow__run") {
            wire.take_first(|message| message["method"] == CHANGED);
        }
        assert_eq!(wire.call("slow__run", json!({ "word": 1 }))["isError"], false);
        eventually("slow is ready", || plugins(&mut wire)["slow"] == json!({ "state": "ready", "tools": 1 }));
        until_noted(&desk, "slow is ready after");
        let (status, _) = wire.close();
        assert_eq!(status.code(), Some(0), "{era:?}");
        let recorded = desk.calls();
        assert_eq!(recorded[1]["code"], "plugin-loading", "{recorded:?}");
        assert_eq!(recorded[1]["tool"], "slow.run", "{recorded:?}");
    }
}

#[test]
fn search_and_tools_call_know_a_plugin_that_is_being_compiled() {
    let desk = desk(OPEN);
    let (mut wire, worker) = serve(&desk, Era::Legacy, &["--search"]);
    let call = json!({ "name": "slow__run", "arguments": {} });
    let refused = wire.call("tools__call", call.clone());
    assert_eq!(refused["_meta"]["portcullis/code"], "plugin-loading", "{refused}");
    worker.release();
    eventually("slow is found", || wire.call("tools__call", call.clone())["isError"] == false);
}

#[test]
fn a_plugin_that_is_refused_after_compilation_is_reported_with_the_reason() {
    let desk = Desk::new(OPEN);
    desk.site.plugin("unfit", &guest("many-memories", &Manifest::of("unfit")));
    desk.site.plugin("broken", b"no component");
    let mut wire = desk.noting(Era::Modern, &["--start-wait", "0"], NOTES);
    eventually("it is refused", || plugins(&mut wire)["unfit"]["state"] == "refused");
    let states = plugins(&mut wire);
    for name in ["unfit", "broken"] {
        assert_eq!(states[name]["state"], "refused", "{states}");
        assert!(states[name]["reason"].as_str().is_some_and(|reason| !reason.is_empty()), "{states}");
    }
    until_noted(&desk, "unfit was refused after");
    assert_eq!(wire.error("tools/call", json!({ "name": "unfit__run", "arguments": {} })), -32602);
}

/// A caller that may call none of a plugin's tools must not learn that the plugin exists, compiles or was refused.
#[test]
fn a_plugin_whose_tools_can_never_run_is_not_reported() {
    let policy = "[[rule]]\ntool = \"clerk.*\"\ndecision = \"allow\"\n\
        [plugin.clerk]\ndirectory.desk = { path = \"desk\", access = \"read-write\" }\n";
    let desk = desk(policy);
    desk.site.plugin("broken", b"no component");
    let (mut wire, worker) = serve(&desk, Era::Legacy, &[]);
    let states = plugins(&mut wire);
    assert_eq!(states.as_object().unwrap().keys().collect::<Vec<_>>(), ["clerk"], "{states}");
    let unknown = json!({ "name": "slow__run", "arguments": {} });
    let answer = wire.ask("tools/call", unknown);
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    assert!(!answer.to_string().contains("compiled"), "{answer}");
    worker.release();
    until_noted(&desk, "slow is ready after");
    assert_eq!(plugins(&mut wire), states);
    wire.close();

    let desk = self::desk(policy);
    desk.site.plugin("broken", b"no component");
    let (mut wire, _worker) = serve(&desk, Era::Legacy, &["--list-denied"]);
    let states = plugins(&mut wire);
    let state = |plugin: &str| &states[plugin]["state"];
    assert_eq!((state("slow"), state("broken")), (&json!("compiling"), &json!("refused")), "{states}");
    assert_eq!(wire.call("slow__run", json!({}))["_meta"]["portcullis/code"], "plugin-loading");
}

#[test]
fn a_server_that_is_stopped_during_compilation_exits_with_its_worker() {
    for signal in [None, Some(Signal::TERM), Some(Signal::INT)] {
        let desk = desk(OPEN);
        let (wire, worker) = serve(&desk, Era::Legacy, &[]);
        let status = match signal {
            None => wire.close().0,
            Some(signal) => {
                kill_process(Pid::from_child(&wire.child), signal).unwrap();
                wire.until_its_end().0
            }
        };
        assert_eq!(status.code(), Some(0), "{signal:?}");
        worker.has_ended();
    }
    // Before it serves any client.
    let desk = desk(OPEN);
    let wire = desk.noting(Era::Legacy, &["--start-wait", "600"], NOTES);
    let worker = HeldWorker::of(wire.child.id());
    kill_process(Pid::from_child(&wire.child), Signal::TERM).unwrap();
    assert_eq!(wire.until_its_end().0.code(), Some(0));
    worker.has_ended();
    assert!(!notes(&desk).contains("serving"), "{}", notes(&desk));
}

#[test]
fn a_plugin_that_is_ready_within_the_start_wait_is_in_the_first_list() {
    let desk = desk(OPEN);
    let mut wire = desk.noting(Era::Legacy, &["--start-wait", "600"], NOTES);
    let worker = HeldWorker::of(wire.child.id());
    let client = json!({ "name": "wire", "version": "1" });
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    let id = wire.request("initialize", params);
    assert!(!notes(&desk).contains("serving"), "{}", notes(&desk));
    worker.release();
    wire.answer(&json!(id));
    wire.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    assert!(has(&mut wire, "slow__run"));
    assert!(notes(&desk).contains("slow is ready after"), "{}", notes(&desk));
}
