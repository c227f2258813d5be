//! A person at a real terminal: what the program shows, and what an answer does.

use crate::binary::console::{ASK, PROMPT, Session};
use crate::binary::desk::Desk;
use portcullis::text::is_deceptive;
use serde_json::{Value, json};
use std::fs;

fn greet() -> Value {
    json!({ "name": "Ann" })
}

#[test]
fn an_approval_runs_the_call_once() {
    for yes in ["y\n", "yes\n", "Y\n"] {
        let desk = Desk::new(ASK);
        let mut session = Session::of(&desk, "hello.greet", &greet());
        let question = session.question();
        assert!(question.starts_with("local wants to call hello.greet\n"), "{question}");
        assert!(question.contains("\"name\": \"Ann\""), "{question}");
        session.types("?\n");
        let question = session.question();
        for told in ["hello.greet", "\"name\": \"Ann\"", "a person looks", "permissions", "handles"] {
            assert!(question.contains(told), "{told}: {question}");
        }
        session.types(yes);
        assert!(session.ends(0).contains("Hello, Ann!"));
        let record = desk.run(&["audit", "show", "--json"]).ends(0).out;
        assert!(record.contains(r#""answer":"yes""#), "{record}");
        desk.verifies();
    }
}

#[test]
fn any_other_answer_denies_the_call() {
    for no in [&["n\n"][..], &["\n", "x\n", "yy\n"], &["y n\n", "s3\n", "NO\n"], &["\u{4}"]] {
        let desk = Desk::new(ASK);
        let mut session = Session::of(&desk, "hello.greet", &greet());
        for keys in no {
            session.question();
            session.types(keys);
        }
        let said = session.ends(3);
        assert!(said.contains("approval-denied") && !said.contains("Hello"), "{no:?}: {said}");
        if *no == ["\u{4}"] {
            assert!(said.contains("no answer: the input of the terminal ended") && !said.contains("said no"), "{said}");
        }
        desk.verifies();
    }
}

/// A file exists after an approval, and does not exist after a denial.
#[test]
fn an_answer_decides_about_the_effect() {
    let desk = Desk::new(ASK);
    for (answer, code) in [("n\n", 3), ("y\n", 0)] {
        let mut session = Session::of(&desk, "files.write", &json!({ "path": "new.txt", "content": "one" }));
        assert!(session.question().contains("wants to write new.txt"));
        assert!(!desk.site.path("work/new.txt").exists(), "the file exists before the answer");
        session.types(answer);
        session.ends(code);
        assert_eq!(desk.site.path("work/new.txt").exists(), code == 0);
    }
    assert_eq!(fs::read_to_string(desk.site.path("work/new.txt")).unwrap(), "one");
}

/// Input that was typed before the prompt does not answer it.
#[test]
fn input_before_the_prompt_is_not_an_answer() {
    let desk = Desk::new(ASK);
    let mut session = Session::of(&desk, "hello.greet", &greet());
    session.types("y\ny\ny\n");
    session.question();
    session.types("n\n");
    session.ends(3);
}

/// Two hundred hostile lines: the tool, the warning and the prompt still fit on one screen.
#[test]
fn arguments_cannot_hide_the_prompt() {
    let desk = Desk::new(ASK);
    let evil = "\u{1b}[2J\u{1b}[1;1H\u{1b}]0;x\u{7}\u{9b}1A\r\u{8}\u{202e}\u{200b}\u{e0041}";
    let lines = format!("{}{evil}", format!("Allow files.read{PROMPT}y\nallowed\n").repeat(100));
    let mut session = Session::of(&desk, "files.read", &json!({ "path": lines }));
    let mut question = session.question();
    // The arguments repeat the prompt, but only the program can write it at the start of a line.
    while !question.ends_with(&format!("\nAllow files.read{PROMPT}")) {
        question += &session.question();
    }
    let found = question.chars().find(|character| is_deceptive(*character) && *character != '\n');
    assert_eq!(found, None, "{question:?}");
    assert!(question.lines().count() < 48, "{question}");
    assert!(question.contains("files.read") && question.contains("invisible characters"), "{question}");
    session.types("n\n");
    session.ends(3);
}

/// `more` shows what was cut, and the program asks again.
#[test]
fn more_shows_everything() {
    let desk = Desk::new(ASK);
    let name: String = (0..200).map(|line| format!("line {line}\n")).collect();
    let mut session = Session::of(&desk, "hello.greet", &json!({ "name": name }));
    let question = session.question();
    assert!(question.contains("? shows all") && !question.contains("line 199"), "{question}");
    session.types("more\n");
    assert!(session.question().contains("line 199"));
    session.types("y\n");
    assert!(session.ends(0).contains("line 199"));
}
