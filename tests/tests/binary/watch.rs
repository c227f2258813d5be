//! `portcullis watch` at a terminal of three widths, and without one.

use crate::binary::console::{ASK, Session};
use crate::binary::desk::Desk;
use portcullis_tests::program;
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

fn write(path: &str) -> Value {
    json!({ "path": path, "content": "one\n" })
}

fn watch(desk: &Desk, columns: u32) -> Session {
    Session::wide(desk, columns, &format!("{} watch --quiet", program().display()))
}

/// Starts a call that waits for an approver elsewhere.
fn waiting(desk: &Desk, arguments: &Value) -> std::process::Child {
    let arguments = ["call", "files.write", &arguments.to_string(), "--ask", "wait"];
    desk.command().args(arguments).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

/// A call of another process is on the screen, one key approves it, and it runs there.
#[test]
fn one_key_answers_a_call_of_another_process() {
    let desk = Desk::new(ASK);
    desk.call("hello.greet", &json!({ "name": "Ann" }), 4);
    desk.run(&["approvals", "reject", "--note", "no", &first(&desk)]).ends(0);
    for columns in [60, 80, 200] {
        let mut session = watch(&desk, columns);
        session.until("q quit");
        let path = format!("src/{columns}.md");
        let call = waiting(&desk, &write(&path));
        let screen = session.until("[?] details");
        assert!(screen.contains(&format!("local wants to write {path}")), "{screen}");
        session.types("y");
        session.until("its call runs");
        assert_eq!(call.wait_with_output().unwrap().status.code(), Some(0));
        assert!(desk.site.path("work").join(path).exists());
        session.types("q");
        assert!(session.ends(0).contains("restored"));
    }
    desk.verifies();
}

fn first(desk: &Desk) -> String {
    desk.run(&["--json", "approvals", "list"]).ends(0).document()["questions"][0]["id"].as_str().unwrap().to_owned()
}

/// A request that no call waits for any more is shown, and can be denied with a reason.
#[test]
fn a_request_that_no_call_waits_for_is_denied_with_a_reason() {
    let desk = Desk::new(ASK);
    let made = desk.call("files.write", &write("left.md"), 4);
    let mut session = watch(&desk, 80);
    session.until("[?] details");
    session.types("n");
    session.until("for no reason: ");
    session.types("use src/\n");
    session.until("denied files.write");
    session.types("\u{3}");
    assert!(session.ends(0).contains("restored"));
    let shown = desk.run(&["--json", "log", "show", made["id"].as_str().unwrap()]).ends(0).document();
    assert_eq!((&shown["answer"], &shown["note"]), (&json!("no"), &json!("use src/")), "{shown}");
}

/// What does not fit the screen cannot be approved before the details were shown. No hostile text moves the cursor.
#[test]
fn a_cut_request_needs_its_details() {
    let desk = Desk::new(ASK);
    let evil = format!("{}\u{1b}[2J\u{202e}rm -rf /\n", "harmless\n".repeat(100));
    desk.call("files.write", &json!({ "path": "evil.sh", "content": evil }), 4);
    let mut session = watch(&desk, 80);
    let screen = session.until("[?] details");
    assert!(!screen.contains('\u{202e}') && !screen.contains("rm -rf"), "{screen}");
    session.types("y");
    session.until("Type ? to see all of it");
    session.types("?");
    let details = session.until("any other key: back ");
    assert!(details.contains("rm -rf /") && details.contains("\\u{202e}"), "{details}");
    session.types("s");
    session.until("no call waits any more");
    session.types("q");
    session.ends(0);
}

/// Without a terminal, each change is a line or a document. Killing the watcher leaves the calls alone.
#[test]
fn lines_are_printed_without_a_terminal() {
    let desk = Desk::new(ASK);
    desk.call("files.write", &write("old.md"), 4);
    for json in [false, true] {
        let mut command: Command = desk.command();
        command.args(if json { &["--json", "watch"] as &[&str] } else { &["watch"] }).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        assert!(lines.next().unwrap().contains("files.write"));
        let call = waiting(&desk, &write(&format!("{json}.md")));
        let line = lines.find(|line| line.contains(&format!("{json}.md")) && line.contains("request") == json).unwrap();
        assert!(!line.contains('\u{1b}'), "{line}");
        child.kill().unwrap();
        child.wait().unwrap();
        let listed = desk.run(&["--json", "approvals", "list"]).ends(0).document();
        let questions = listed["questions"].as_array().unwrap();
        let id = questions.iter().find(|it| it["waited_for"] == true).unwrap()["id"].as_str().unwrap();
        desk.run(&["approvals", "approve", id, "--yes"]).ends(0);
        assert_eq!(call.wait_with_output().unwrap().status.code(), Some(0));
        assert_eq!(fs::read_to_string(desk.site.path(format!("work/{json}.md"))).unwrap(), "one\n");
    }
}
