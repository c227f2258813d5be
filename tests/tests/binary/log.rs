//! `portcullis log`: one line for each call, everything about one call, and calls as they are made.

use crate::binary::console::Session;
use crate::binary::desk::Desk;
use portcullis_tests::program;
use serde_json::{Value, json};
use std::fs::{self, OpenOptions};
use std::io::Write as _;

/// Lets reads run, asks about greetings, and denies writes.
const POLICY: &str = "[plugin.files]\ndirectory.workspace = { path = \"work\", access = \"read-write\" }\n\
    [[rule]]\ntool = \"files.read\"\ndecision = \"allow\"\n\
    [[rule]]\ntool = \"hello.*\"\ndecision = \"ask\"\n\
    [[rule]]\ntool = \"files.write\"\ndecision = \"deny\"\nreason = \"never write\"\n";

fn desk() -> (Desk, Vec<String>) {
    let desk = Desk::new(POLICY);
    let calls = [
        desk.call("files.read", &json!({ "path": "poem.txt" }), 0),
        desk.call("files.write", &json!({ "path": "src/\u{1b}[2J.rs", "content": "secret" }), 3),
        desk.call("hello.greet", &json!({ "name": "Ann" }), 4),
    ];
    let ids = calls.map(|reply| reply["id"].as_str().unwrap().to_owned()).to_vec();
    (desk, ids)
}

#[track_caller]
fn lines(desk: &Desk, arguments: &[&str]) -> Vec<String> {
    let told = desk.run(&[&["log"], arguments].concat()).ends(0).out;
    told.lines().map(str::to_owned).collect()
}

#[test]
fn a_call_is_one_line_with_its_target_and_its_effect() {
    let (desk, ids) = desk();
    let shown = lines(&desk, &[]);
    assert_eq!(shown.len(), 3, "{shown:?}");
    for (line, id, words) in [
        (&shown[0], &ids[0], ["files.read", "poem.txt", "completed"]),
        (&shown[1], &ids[1], ["files.write", "src/\\u{1b}[2J.rs", "never write"]),
        (&shown[2], &ids[2], ["hello.greet", "", "waits for approval"]),
    ] {
        assert!(line.contains(&id[..8]), "{line}");
        assert!(words.iter().all(|word| line.contains(word)), "{line}");
    }
    let id = desk.run(&["--json", "approvals", "list"]).ends(0).document()["questions"][0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    desk.run(&["approvals", "approve", &id, "--yes", "--always"]).ends(0);
    desk.call("hello.greet", &json!({ "name": "Ann" }), 0);
    let shown = lines(&desk, &["--tool", "hello.*"]);
    assert!(shown[0].contains("completed") && shown[0].contains("approved by a person for always"), "{shown:?}");
    assert!(shown[1].contains("by remembered approval"), "{shown:?}");
}

#[test]
fn the_options_select_calls() {
    let (desk, _) = desk();
    let rows: [(&[&str], usize); 9] = [
        (&["--denied"], 1),
        (&["--asked"], 1),
        (&["--tool", "files.*"], 2),
        (&["--session", "other"], 0),
        (&["--since", "1h"], 3),
        (&["--since", "today", "--until", "1h"], 0),
        (&["--until", "2020-01-01"], 0),
        (&["--limit", "2"], 2),
        (&["--limit", "0"], 0),
    ];
    for (arguments, count) in rows {
        assert_eq!(lines(&desk, arguments).len(), count, "{arguments:?}");
    }
    for wrong in [&["--since", "soon"] as &[&str], &["--tool", "files"], &["show", "zzz"], &["show", "00000000"]] {
        desk.run(&[&["log"], wrong].concat()).ends(2);
    }
}

#[test]
fn a_program_gets_a_document_for_each_call() {
    let (desk, ids) = desk();
    let told = desk.run(&["--json", "log"]).ends(0).out;
    let documents: Vec<Value> = told.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(documents.iter().map(|it| it["call"].as_str().unwrap()).collect::<Vec<_>>(), ids);
    assert_eq!(documents[0]["version"], 1);
    assert_eq!(documents[0]["targets"], json!({ "/path": "poem.txt" }));
    assert_eq!((&documents[1]["outcome"], &documents[1]["decision"]), (&json!("denied"), &json!("deny")));
    assert!(!told.contains("secret") && !told.contains('\u{1b}'), "{told}");
}

/// Everything about a call: its entries, and its request as long as it is open.
#[test]
fn one_call_is_shown_with_its_request() {
    let (desk, ids) = desk();
    let shown = desk.run(&["log", "show", &ids[2][..6].to_ascii_uppercase()]).ends(0).out;
    for words in [&*ids[2], "hello.greet", "waits for approval", "asked", "\"name\": \"Ann\""] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    let shown = desk.run(&["log", "show", &ids[1]]).ends(0).out;
    assert!(shown.contains("/path") && shown.contains("never write") && !shown.contains('\u{1b}'), "{shown}");
    let document = desk.run(&["--json", "log", "show", &ids[0]]).ends(0).document();
    assert_eq!(document["entries"].as_array().unwrap().len(), 2, "{document}");
    let shown = desk.run(&["audit", "show", "--call", &ids[1].to_ascii_uppercase()]).ends(0).out;
    assert!(shown.contains("never write"), "{shown}");
}

/// The difference that the approver was shown is in the log after the answer, if the policy keeps texts. Otherwise the
/// log says which setting keeps it.
#[test]
fn the_difference_of_an_answered_call_is_shown_if_the_policy_keeps_it() {
    let grant = "[plugin.files]\ndirectory.workspace = { path = \"work\", access = \"read-write\" }\n\
        [[rule]]\ntool = \"*.*\"\ndecision = \"ask\"\n";
    for (payloads, is_kept) in [("keep", true), ("digest", false)] {
        let desk = Desk::new(&format!("{grant}[record]\npayloads = \"{payloads}\"\n"));
        let edits = json!([{ "old": "violets are blue", "new": "violets are \u{1b}[2Jviolet" }]);
        let made = desk.call("files.edit", &json!({ "path": "poem.txt", "edits": edits }), 4);
        let request = made["approval_request"].as_str().unwrap();
        desk.run(&["approvals", "approve", request, "--yes"]).ends(0);
        let id = made["id"].as_str().unwrap();
        let shown = desk.run(&["log", "show", id]).ends(0).out;
        assert_eq!(shown.contains("    -violets are blue"), is_kept, "{shown}");
        assert_eq!(shown.contains("    +violets are \\u{1b}[2Jviolet"), is_kept, "{shown}");
        assert_eq!(shown.contains("`[record] payloads = \"keep\"` in the policy would keep it"), !is_kept, "{shown}");
        assert!(!shown.contains('\u{1b}'), "{shown:?}");
        let document = desk.run(&["--json", "log", "show", id]).ends(0).document();
        let difference = document["difference"].as_str().unwrap_or_default();
        assert_eq!(difference.contains("-violets are blue\n+violets are"), is_kept, "{document}");
    }
}

/// A call that no one was asked about has no line about a difference, and one without a preview says so.
#[test]
fn a_call_without_a_difference_says_why() {
    let keep = format!("{POLICY}[record]\npayloads = \"keep\"\n");
    let desk = Desk::new(&keep);
    let read = desk.call("files.read", &json!({ "path": "poem.txt" }), 0);
    let asked = desk.call("hello.greet", &json!({ "name": "Ann" }), 4);
    desk.run(&["approvals", "reject", asked["approval_request"].as_str().unwrap()]).ends(0);
    let shown = |reply: &Value| desk.run(&["log", "show", reply["id"].as_str().unwrap()]).ends(0).out;
    assert!(!shown(&read).contains("no difference"), "{}", shown(&read));
    assert!(shown(&asked).contains("no difference: the approver was shown none"), "{}", shown(&asked));
}

#[test]
fn a_damaged_log_is_reported() {
    let (desk, _) = desk();
    let file = desk.site.state().join("audit.jsonl");
    let damaged = fs::read_to_string(&file).unwrap().replacen("never write", "NEVER write", 1);
    fs::write(&file, damaged).unwrap();
    let ran = desk.run(&["log"]).ends(8);
    assert!(ran.err.contains("does not verify") && ran.out.lines().count() == 1, "{ran:?}");
}

/// A call that is made while the log is followed is shown, and Ctrl-C ends it.
#[test]
fn calls_are_shown_as_they_are_made() {
    let (desk, _) = desk();
    for columns in [60, 80, 200] {
        let mut session = Session::wide(&desk, columns, &format!("{} log --follow --limit 1", program().display()));
        session.until("\n");
        let path = format!("{columns}.txt");
        desk.call("files.read", &json!({ "path": path }), 1);
        let shown = session.until("tool-failed");
        assert!(shown.contains(&path), "{shown}");
        session.types("\u{3}");
        assert!(session.ends(0).contains("restored"));
    }
}

/// An entry that the host did not write is not shown, also while the log is followed.
#[test]
fn a_forged_entry_ends_the_log_that_is_followed() {
    let (desk, _) = desk();
    let mut session = Session::wide(&desk, 200, &format!("{} log --follow", program().display()));
    session.until("\n");
    let forged = r#"{"seq":9999,"time":"2026-01-01T00:00:00Z","kind":"outcome","call":"f00d","tool":"forged.tool"}"#;
    let mut log = OpenOptions::new().append(true).open(desk.site.state().join("audit.jsonl")).unwrap();
    writeln!(log, "{forged}").unwrap();
    let shown = session.until("does not verify");
    assert!(!shown.contains("forged.tool"), "{shown}");
    session.ends(8);
}
