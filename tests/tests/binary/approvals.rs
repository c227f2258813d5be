//! Answers from other processes: one approves, rejects and revokes, and a request left behind runs once.

use crate::binary::console::{ASK, Session};
use crate::binary::desk::{Desk, Ran, finish};
use portcullis_tests::program;
use serde_json::{Value, json};
use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The prompt of `approvals approve`.
const APPROVE: &str = "Approve hello.greet? [y/N/?] ";

/// Timeout of every wait, for a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

fn greet() -> Value {
    json!({ "name": "Ann" })
}

fn write(path: &str) -> Value {
    json!({ "path": path, "content": "one\n" })
}

/// Returns the open approval requests and the remembered approvals.
fn listing(desk: &Desk) -> Value {
    desk.run(&["approvals", "list", "--json"]).ends(0).document()
}

/// Waits for the only open approval request. Returns its ID.
fn question(desk: &Desk) -> String {
    let began = Instant::now();
    loop {
        if let [question] = listing(desk)["questions"].as_array().unwrap().as_slice() {
            return question["id"].as_str().unwrap().to_owned();
        }
        assert!(began.elapsed() < PATIENCE, "no question");
    }
}

/// Starts a call that waits for an answer from another process.
fn waiting(desk: &Desk) -> Child {
    let arguments = ["--json", "call", "hello.greet", &greet().to_string(), "--ask", "wait"];
    desk.command().args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn approvals(desk: &Desk, arguments: &[&str]) -> Ran {
    desk.run(&[&["approvals"], arguments].concat())
}

#[test]
fn another_process_approves_a_request_that_waits_at_a_terminal() {
    let desk = Desk::new(ASK);
    let mut session = Session::of(&desk, "hello.greet", &greet());
    session.question();
    let id = question(&desk);
    let shown = approvals(&desk, &["show", &id[..6]]).ends(0).out;
    assert!(shown.contains("a call waits") && shown.contains("\"name\": \"Ann\""), "{shown}");
    let ran = approvals(&desk, &["approve", &id[..8], "--yes"]).ends(0);
    assert!(ran.err.contains("the call runs in the process that made it") && ran.out.is_empty(), "{ran:?}");
    let said = session.ends(0);
    assert!(said.contains("Approved elsewhere, with `portcullis approvals`.\n"), "{said}");
    assert!(said.contains("Hello, Ann!"), "{said}");
    desk.verifies();
}

#[test]
fn another_process_rejects_with_a_note() {
    let desk = Desk::new(ASK);
    let mut session = Session::of(&desk, "hello.greet", &greet());
    session.question();
    approvals(&desk, &["reject", &question(&desk), "--note", "greet Bob instead"]).ends(0);
    let said = session.ends(3);
    assert!(said.contains("Rejected elsewhere") && said.contains("Note: greet Bob instead"), "{said}");
    desk.verifies();
}

/// Without a terminal, and with `--ask pending`, the call's message says how to approve it.
#[test]
fn a_call_that_waits_says_how_it_is_approved() {
    let desk = Desk::new(ASK);
    let child = waiting(&desk);
    let id = question(&desk);
    approvals(&desk, &["approve", &id, "--yes"]).ends(0);
    let ran = finish(child).ends(0);
    assert!(ran.err.contains(&format!("portcullis approvals approve {}", &id[..8])), "{}", ran.err);
    assert_eq!(ran.document()["message"], "Hello, Ann!");
}

#[test]
fn a_request_left_behind_runs_once_in_the_process_that_approves_it() {
    let desk = Desk::new(ASK);
    let reply = desk.call("hello.greet", &greet(), 4);
    assert_eq!((&reply["outcome"], &reply["code"]), (&json!("pending"), &json!("approval-pending")));
    let id = question(&desk);
    assert!(reply["message"].as_str().unwrap().contains(&id), "{reply}");
    assert_eq!(reply["approval_request"], id);
    assert_eq!(approvals(&desk, &["approve", &id, "--yes"]).ends(0).out, "Hello, Ann!\n");
    let second = approvals(&desk, &["approve", &id, "--yes"]).ends(3);
    assert!(second.out.is_empty() && second.err.contains("already done"), "{second:?}");
    approvals(&desk, &["reject", &id]).ends(3);
    desk.verifies();
}

#[test]
fn one_command_approves_several_requests() {
    let desk = Desk::new(ASK);
    let mut ids = Vec::new();
    for name in ["Ann", "Bob"] {
        let reply = desk.call("hello.greet", &json!({ "name": name }), 4);
        ids.push(reply["approval_request"].as_str().unwrap().to_owned());
    }
    // If one id is unknown, nothing is approved.
    approvals(&desk, &["approve", &ids[0], "123456", "--yes"]).ends(2);
    assert_eq!(listing(&desk)["questions"].as_array().unwrap().len(), 2);
    let ran = approvals(&desk, &["approve", &ids[0], &ids[1], &ids[0][..8], "--yes"]).ends(0);
    assert_eq!(ran.out, "Hello, Ann!\nHello, Bob!\n");
    desk.verifies();
}

/// The first failure decides the exit code. The requests after it are still approved.
#[test]
fn the_exit_code_for_several_requests_is_that_of_the_first_failure() {
    let desk = Desk::new(ASK);
    let mut ids = Vec::new();
    for name in ["Ann", "Bob"] {
        let reply = desk.call("hello.greet", &json!({ "name": name }), 4);
        ids.push(reply["approval_request"].as_str().unwrap().to_owned());
    }
    approvals(&desk, &["reject", &ids[0]]).ends(0);
    let ran = approvals(&desk, &["approve", &ids[0], &ids[1], "--yes"]).ends(3);
    assert_eq!(ran.out, "Hello, Bob!\n");
    desk.verifies();
}

/// The command in a message works in another directory, and without the environment variables of the program that
/// printed it.
#[test]
fn the_printed_command_is_complete() {
    let desk = Desk::new(ASK);
    fs::create_dir(desk.site.path("my places")).unwrap();
    for (from, to) in [("plugins", "my places/plugins"), ("portcullis.toml", "my places/it's.toml")] {
        fs::rename(desk.site.path(from), desk.site.path(to)).unwrap();
    }
    fs::rename(desk.site.path("work"), desk.site.path("my places/work")).unwrap();
    let options = ["--plugins", "my places/plugins", "--policy", "my places/it's.toml"];
    let greet = greet().to_string();
    let reply =
        desk.run(&[&options as &[&str], &["--json", "call", "hello.greet", &greet]].concat()).ends(4).document();
    let message = reply["message"].as_str().unwrap();
    let command = message.split('`').nth(1).unwrap();
    assert!(command.contains(reply["approval_request"].as_str().unwrap()), "{message}");
    let script = format!("portcullis() {{ {} \"$@\"; }}; {command} --yes", program().display());
    let mut shell = Command::new("sh");
    let shell = shell.args(["-c", &script]).current_dir("/").env_clear().env("HOME", desk.site.path("home"));
    let ran = Ran::from(shell.output().unwrap()).ends(0);
    assert_eq!(ran.out, "Hello, Ann!\n");
}

/// The preview is computed when the request is shown, not when the call was made.
#[test]
fn a_request_shows_the_current_content_of_the_file() {
    let desk = Desk::new(ASK);
    let made = desk.call("files.write", &write("new.txt"), 4);
    let show = |reply: &Value| approvals(&desk, &["show", reply["approval_request"].as_str().unwrap()]).ends(0).out;
    let shown = show(&made);
    assert!(shown.contains("a new file") && shown.contains("@@ -0,0 +1 @@"), "{shown}");
    assert!(shown.contains("files computes that this call would change 1 file"), "{shown}");
    fs::write(desk.site.path("work/new.txt"), "theirs\n").unwrap();
    let shown = show(&made);
    assert!(shown.contains("the file has changed since the call was made"), "{shown}");
    assert!(!shown.contains("@@ -") && !shown.contains("a new file"), "{shown}");
    let edit = json!({ "path": "poem.txt", "edits": [{ "old": "blue", "new": "red" }] });
    let edited = show(&desk.call("files.edit", &edit, 4));
    assert!(edited.contains("@@ -1,2 +1,2 @@") && edited.contains("+violets are red"), "{edited}");
    let edit = json!({ "path": "none.txt", "edits": [{ "old": "blue", "new": "red" }] });
    let edited = show(&desk.call("files.edit", &edit, 4));
    assert!(edited.contains("files could not compute what this call would change: `none.txt` does not"), "{edited}");
}

/// An edited policy withdraws the requests that it denies, and says why. A policy from another file does not withdraw
/// them.
#[test]
fn an_edited_policy_withdraws_what_it_denies_and_another_policy_does_not() {
    let desk = Desk::new(ASK);
    desk.call("hello.greet", &greet(), 4);
    let id = question(&desk);
    fs::write(desk.site.path("other.toml"), "").unwrap();
    let denied = desk.run(&["--policy", "other.toml", "approvals", "approve", &id, "--yes"]).ends(3);
    assert!(
        denied.err.contains("policy-denied") && denied.err.contains("the approval is still valid"),
        "{}",
        denied.err
    );
    desk.policy("");
    let withdrawn = approvals(&desk, &["approve", &id, "--yes"]).ends(3);
    let why = "the policy has changed: the call is denied";
    assert!(withdrawn.err.contains("already withdrawn") && withdrawn.err.contains(why), "{}", withdrawn.err);
    for shown in [approvals(&desk, &["show", &id]), approvals(&desk, &["list", "--all"])] {
        let shown = shown.ends(0).out;
        assert!(shown.contains("withdrawn") && shown.contains("the policy has changed"), "{shown}");
    }
    desk.policy(ASK);
    approvals(&desk, &["approve", &id, "--yes"]).ends(3);
    desk.verifies();
}

/// A process that dies while it waits leaves its request open. The process that approves it runs the call.
#[test]
fn the_call_of_a_killed_process_runs_in_the_process_that_approves_it() {
    let desk = Desk::new(ASK);
    let mut child = waiting(&desk);
    let id = question(&desk);
    child.kill().unwrap();
    child.wait().unwrap();
    let reply = approvals(&desk, &["approve", &id, "--json", "--yes"]).ends(0).document();
    assert_eq!(reply["message"], "Hello, Ann!");
    desk.verifies();
}

#[test]
fn an_approval_for_always_is_valid_until_it_is_revoked() {
    let desk = Desk::new(ASK);
    desk.call("files.write", &write("src/a.md"), 4);
    let id = question(&desk);
    let refused = approvals(&desk, &["approve", &id, "--always", "--for", "**", "--yes"]).ends(2);
    assert!(refused.err.contains("path = \"src/**\""), "{}", refused.err);
    approvals(&desk, &["approve", &id, "--for", "src/**", "--yes"]).ends(2);
    approvals(&desk, &["approve", &id, "--always", "--for", "src/**", "--yes"]).ends(0);
    desk.call("files.write", &write("src/b.md"), 0);
    desk.call("files.write", &write("Cargo.toml"), 4);
    approvals(&desk, &["reject", &question(&desk)]).ends(0);
    let listed = listing(&desk);
    let answer = &listed["answers"][0];
    assert_eq!((&answer["uses"], &answer["session"]), (&json!(1), &Value::Null), "{listed}");
    assert!(approvals(&desk, &["list"]).ends(0).out.contains("path = \"src/**\""));
    let held = answer["id"].as_str().unwrap();
    assert!(approvals(&desk, &["show", held]).ends(0).out.contains("read-write"));
    approvals(&desk, &["approve", held, "--yes"]).ends(2);
    approvals(&desk, &["revoke", held]).ends(0);
    approvals(&desk, &["revoke", held]).ends(3);
    desk.call("files.write", &write("src/b.md"), 4);
    desk.verifies();
}

/// At a terminal, the command shows the request and asks for confirmation.
#[test]
fn approving_at_a_terminal_shows_the_request_first() {
    let desk = Desk::new(ASK);
    desk.call("hello.greet", &greet(), 4);
    let id = question(&desk);
    for (answer, code) in [("\n", 3), ("y\n", 0)] {
        let mut session = Session::running(&desk, &["approvals", "approve", &id]);
        assert!(session.until(APPROVE).contains("\"name\": \"Ann\""));
        session.types(answer);
        assert_eq!(session.ends(code).contains("Hello, Ann!"), code == 0);
    }
}

/// An approval for one state of a file does not cover another.
#[test]
fn approving_at_a_terminal_counts_only_for_the_displayed_file() {
    let desk = Desk::new(ASK);
    fs::write(desk.site.path("work/new.txt"), "first\n").unwrap();
    let made = desk.call("files.write", &write("new.txt"), 4);
    let id = made["approval_request"].as_str().unwrap();
    let mut session = Session::running(&desk, &["approvals", "approve", id]);
    let prompt = APPROVE.replace("hello.greet", "files.write");
    assert!(session.until(&prompt).contains("-first"));
    fs::write(desk.site.path("work/new.txt"), "theirs\n").unwrap();
    session.types("y\n");
    let shown = session.until(&prompt);
    assert!(shown.contains("the file has changed since the call was made"), "{shown}");
    assert_eq!(fs::read_to_string(desk.site.path("work/new.txt")).unwrap(), "theirs\n");
    session.types("n\n");
    session.ends(3);
    assert_eq!(listing(&desk)["questions"][0]["status"], "pending");
}

/// A request that was cut must be shown completely before an approval counts.
#[test]
fn approving_at_a_terminal_requires_the_complete_request_to_be_shown() {
    let desk = Desk::new(ASK);
    let content = format!("{}; rm -rf /", "harmless ".repeat(1000));
    desk.call("hello.greet", &json!({ "name": content }), 4);
    let mut session = Session::running(&desk, &["approvals", "approve", &question(&desk)]);
    assert!(!session.until(APPROVE).contains("rm -rf"));
    session.types("y\n");
    assert!(session.until(APPROVE).contains("Type ?"));
    session.types("more\n");
    assert!(session.until(APPROVE).contains("rm -rf"));
    session.types("y\n");
    session.ends(0);
}

/// Without a terminal, the caller may be a tool of the model, so `--yes` is required.
#[test]
fn approving_without_a_terminal_requires_yes() {
    let desk = Desk::new(ASK);
    desk.call("hello.greet", &greet(), 4);
    let id = question(&desk);
    for arguments in [&["approve", &id] as &[&str], &["approve", &id, "--json"], &["approve", &id, "--always"]] {
        let piped = desk.run_with(&[&["approvals"], arguments].concat(), b"y\ny\n").ends(2);
        assert!(format!("{}{}", piped.out, piped.err).contains("with --yes"), "{piped:?}");
    }
    let line = format!("{} approvals approve {id} 2>/dev/null", program().display());
    let mut session = Session::shell(&desk, &line);
    session.types("y\n");
    assert!(!session.ends(2).contains("Hello"));
    assert_eq!(listing(&desk)["questions"][0]["status"], "pending");
    desk.verifies();
}

/// A sub-agent gets no more than its principal, and its calls need their own approvals.
#[test]
fn a_sub_agent_needs_its_own_approvals() {
    let desk = Desk::new(ASK);
    let greeted = greet().to_string();
    let agent = ["call", "hello.greet", &greeted, "--principal", "alice", "--sub-agent", "finder"];
    desk.run(&agent).ends(4);
    let listed = listing(&desk);
    let asked = &listed["questions"][0]["question"];
    assert_eq!((&asked["principal"], &asked["origin"]), (&json!("alice/finder"), &json!("sub-agent")), "{listed}");
    desk.run(&["call", "hello.greet", &greeted, "--principal", "no name"]).ends(2);
    desk.run(&["call", "hello.greet", &greeted, "--sub-agent", "a/b"]).ends(2);
    let rule = |who, decision| format!("[[rule]]\ntool = \"hello.*\"\n{who}decision = \"{decision}\"\n");
    desk.policy(&(rule("", "allow") + &rule("origin = \"sub-agent\"\n", "deny")));
    desk.run(&agent).ends(3);
    desk.run(&agent[..5]).ends(0);
    let explained = desk.run(&["explain", "hello.greet", &greeted, "--sub-agent", "finder"]).ends(0).out;
    assert!(explained.contains("hello.*, origin sub-agent"), "{explained}");
}
