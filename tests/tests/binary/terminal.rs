//! The person at a real terminal, which `script` of util-linux makes: what they are shown, and what their answer does.

use crate::desk::{Desk, program};
use portcullis::text::is_deceptive;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::{env, fs};

/// The last words before the answer.
const PROMPT: &str = "Allow this call once? [y/N] ";

/// Asks about everything.
const ASK: &str = "[plugin.files]\ndirectory.workspace = { path = \"work\", access = \"read-write\" }\n\
    [[rule]]\ntool = \"*.*\"\ndecision = \"ask\"\nreason = \"a person looks\"\n";

/// The program at a terminal without colours and without a cursor, so that no escape sequence is the program's own.
struct Session {
    child: Child,
    keys: ChildStdin,
    screen: ChildStdout,
    seen: String,
}

impl Session {
    fn of(desk: &Desk, tool: &str, arguments: &Value) -> Self {
        let arguments = arguments.to_string();
        assert!(!arguments.contains('\''), "the shell's quotes");
        let line = format!("{} call {tool} '{arguments}'", program().display());
        let mut command = Command::new("script");
        command.args(["-qec", &line, "/dev/null"]).current_dir(desk.site.path("")).env_clear();
        command.env("PATH", env::var_os("PATH").unwrap_or_default()).env("TERM", "dumb").env("NO_COLOR", "1");
        command.env("HOME", desk.site.path("home")).env("PORTCULLIS_STATE", desk.site.state());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("util-linux has `script`");
        let (keys, screen) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Self { child, keys, screen, seen: String::new() }
    }

    /// Reads the screen as far as the question, and says what was on it.
    fn question(&mut self) -> String {
        let (mut bytes, mut byte) = (Vec::new(), [0]);
        while !bytes.ends_with(PROMPT.as_bytes()) {
            let read = self.screen.read(&mut byte).unwrap();
            assert_eq!(read, 1, "no question: {}", String::from_utf8_lossy(&bytes));
            bytes.push(byte[0]);
        }
        String::from_utf8(bytes).unwrap().replace("\r\n", "\n")
    }

    fn types(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    /// How the program ended, and what it said after the question.
    fn ends(mut self, code: i32) -> String {
        self.screen.read_to_string(&mut self.seen).unwrap();
        drop(self.keys);
        assert_eq!(self.child.wait().unwrap().code(), Some(code), "{}", self.seen);
        self.seen.replace("\r\n", "\n")
    }
}

fn greet() -> Value {
    json!({ "name": "Ann" })
}

#[test]
fn a_yes_runs_the_call_once() {
    for yes in ["y\n", "yes\n", "Y\n"] {
        let desk = Desk::new(ASK);
        let mut session = Session::of(&desk, "hello.greet", &greet());
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
fn anything_else_denies_it() {
    for no in ["n\n", "\n", "x\n", "yy\n", "y n\n", "\u{4}"] {
        let desk = Desk::new(ASK);
        let mut session = Session::of(&desk, "hello.greet", &greet());
        session.question();
        session.types(no);
        let said = session.ends(3);
        assert!(said.contains("approval-denied") && !said.contains("Hello"), "{no:?}: {said}");
        desk.verifies();
    }
}

/// A file is there after a yes, and is not after a no.
#[test]
fn an_answer_decides_over_an_effect() {
    let desk = Desk::new(ASK);
    for (answer, code) in [("n\n", 3), ("y\n", 0)] {
        let mut session = Session::of(&desk, "files.write", &json!({ "path": "new.txt", "content": "one" }));
        assert!(session.question().contains("read-write"));
        assert!(!desk.site.path("work/new.txt").exists(), "nothing is done before the answer");
        session.types(answer);
        session.ends(code);
        assert_eq!(desk.site.path("work/new.txt").exists(), code == 0);
    }
    assert_eq!(fs::read_to_string(desk.site.path("work/new.txt")).unwrap(), "one");
}

/// Nobody answers a question before it is asked.
#[test]
fn what_was_typed_before_the_question_is_no_answer() {
    let desk = Desk::new(ASK);
    let mut session = Session::of(&desk, "hello.greet", &greet());
    session.types("y\ny\ny\n");
    session.question();
    session.types("n\n");
    session.ends(3);
}

/// Two hundred lines, and every trick of a terminal: the tool, the warning and the question stand on one screen.
#[test]
fn arguments_cannot_hide_the_question() {
    let desk = Desk::new(ASK);
    let evil = "\u{1b}[2J\u{1b}[1;1H\u{1b}]0;x\u{7}\u{9b}1A\r\u{8}\u{202e}\u{200b}\u{e0041}";
    let lines = format!("{}{evil}", "Allow this call once? [y/N] y\nallowed\n".repeat(100));
    let mut session = Session::of(&desk, "files.read", &json!({ "path": lines }));
    let mut question = session.question();
    // The arguments repeat the prompt, but not at the beginning of a line: there only the program writes it.
    while !question.ends_with(&format!("\n{PROMPT}")) {
        question += &session.question();
    }
    let found = question.chars().find(|character| is_deceptive(*character) && *character != '\n');
    assert_eq!(found, None, "{question:?}");
    assert!(question.lines().count() < 48, "{question}");
    assert!(question.contains("files.read") && question.contains("invisible characters"), "{question}");
    session.types("n\n");
    session.ends(3);
}

/// What is left out on one screen is shown to who asks for it, and then asked again.
#[test]
fn more_shows_everything() {
    let desk = Desk::new(ASK);
    let name: String = (0..200).map(|line| format!("line {line}\n")).collect();
    let mut session = Session::of(&desk, "hello.greet", &json!({ "name": name }));
    let question = session.question();
    assert!(question.contains("type `more` to see all") && !question.contains("line 199"), "{question}");
    session.types("more\n");
    assert!(session.question().contains("line 199"));
    session.types("y\n");
    assert!(session.ends(0).contains("line 199"));
}
