//! Answers at the terminal other than yes and no, and what must be shown before an approval counts.

use crate::binary::console::{ASK, PROMPT, Session};
use crate::binary::desk::Desk;
use portcullis::text::is_deceptive;
use portcullis_tests::net::{Behaviour, Server};
use serde_json::{Value, json};
use std::fs;

/// Size of the hostile text in one call: a command line can hold it even if every byte is escaped.
const ARGUMENT_BYTES_MAX: usize = 8 * 1024;

fn write(path: &str, content: &str) -> Value {
    json!({ "path": path, "content": content })
}

#[track_caller]
fn harmless(screen: &str) {
    let found = screen.chars().find(|character| is_deceptive(*character) && *character != '\n');
    assert_eq!(found, None, "{screen:?}");
}

/// A remembered approval covers only what its choice says.
#[test]
fn an_approval_for_the_session_covers_its_numbered_choice() {
    let desk = Desk::new(ASK);
    let mut session = Session::of(&desk, "files.write", &write("src/a.md", "one\n"));
    assert!(session.question().contains("[a] always for src/**"));
    session.types("?\n");
    let question = session.question();
    let number = question.lines().find_map(|line| line.trim().strip_suffix("path = \"src/**\"")?.split(' ').next());
    let number = number.unwrap_or_else(|| panic!("{question}"));
    session.types(&format!("s{number}\n"));
    session.ends(0);
    desk.call("files.write", &write("src/b.md", "two\n"), 0);
    desk.call("files.write", &write("other.md", "two\n"), 4);
    let elsewhere = ["--json", "call", "files.write", &write("src/c.md", "").to_string(), "--session", "another"];
    desk.run(&elsewhere).ends(4);
    desk.verifies();
}

/// After a host is approved for the session, its next page needs no answer, but another port does.
#[test]
fn an_approval_for_the_session_covers_the_host_of_its_choice() {
    let serving = || {
        let page = Behaviour::whole(200, &[("content-type", "text/plain")], "page");
        Server::plain(Behaviour::answer(move |_| page.clone()))
    };
    let (server, other) = (serving(), serving());
    let desk = Desk::with_web(&format!(
        "[plugin.web]\nhttp.fetch = {{ hosts = [\"127.0.0.1\"], schemes = [\"http\"], ports = [{}, {}] }}\n\
         [limits]\ntime = \"20 s\"\n[[rule]]\ntool = \"*.*\"\ndecision = \"ask\"\n",
        server.port(),
        other.port()
    ));
    let url = |server: &Server, path: &str| json!({ "url": format!("http://127.0.0.1:{}{path}", server.port()) });
    let mut session = Session::of(&desk, "web.fetch", &url(&server, "/a?b"));
    session.question();
    session.types("?\n");
    let question = session.question();
    let offer = format!("url = every path of http://127.0.0.1:{}", server.port());
    let number = question.lines().find_map(|line| line.trim().strip_suffix(&*offer)?.split(' ').next());
    let number = number.unwrap_or_else(|| panic!("{question}"));
    session.types(&format!("s{number}\n"));
    session.ends(0);
    desk.call("web.fetch", &url(&server, "/c"), 0);
    desk.call("web.fetch", &url(&other, "/c"), 4);
    assert_eq!((server.texts().len(), other.texts().len()), (2, 0));
    desk.verifies();
}

/// A note after a denial reaches the model.
#[test]
fn a_note_reaches_the_reply() {
    let desk = Desk::new(ASK);
    let mut session = Session::of(&desk, "hello.greet", &json!({ "name": "Ann" }));
    session.question();
    session.types("n greet Bob instead\n");
    assert!(session.ends(3).contains("greet Bob instead"));
}

/// After a line that is not an answer, the prompt is shown again.
#[test]
fn an_invalid_answer_is_asked_again() {
    let desk = Desk::new(ASK);
    let mut session = Session::of(&desk, "hello.greet", &json!({ "name": "Ann" }));
    for unclear in ["what?\n", "yy\n"] {
        session.question();
        session.types(unclear);
    }
    assert!(session.question().contains("Type y, s, a, n or ?."));
    session.types("y\n");
    assert!(session.ends(0).contains("Hello, Ann!"));
}

/// The change to the file is shown, and in the details it is labelled as the plugin's claim, below the arguments.
#[test]
fn the_difference_is_shown() {
    let desk = Desk::new(ASK);
    let mut session = Session::of(&desk, "files.write", &write("poem.txt", "roses are red\nviolets are violet\n"));
    let brief = session.question();
    assert!(brief.starts_with("local wants to write poem.txt  (files.write)\n    @@ -1,2 +1,2 @@\n"), "{brief}");
    session.types("?\n");
    let question = session.question();
    let claim = "\n  what would change, as claimed by the plugin (only the arguments decide):\n    \
                 @@ files computes that this call would change 1 file @@\n    --- a/poem.txt\n    +++ b/poem.txt\n";
    let (arguments, claimed) = (question.find("arguments, exactly as they will run"), question.find(claim));
    assert!(arguments.is_some() && arguments < claimed, "{question}");
    for line in ["    -violets are blue", "    +violets are violet", "     roses are red"] {
        assert!(brief.lines().any(|shown| shown == line), "{line}: {brief}");
        assert!(question.lines().any(|shown| shown == line), "{line}: {question}");
    }
    session.types("n\n");
    session.ends(3);
}

/// An approval of an outdated difference does not count.
#[test]
fn a_file_that_changes_before_the_approval_is_shown_again() {
    let desk = Desk::new(ASK);
    let poem = desk.site.path("work/poem.txt");
    let mut session = Session::of(&desk, "files.write", &write("poem.txt", "mine\n"));
    assert!(session.question().contains("    -violets are blue\n"));
    fs::write(&poem, "theirs\n").unwrap();
    session.types("y\n");
    let question = session.question();
    assert!(question.contains("The file has changed") && !question.contains("    +mine\n"), "{question}");
    assert!(question.contains("has changed since the call was made, and is now SHA-256 "), "{question}");
    assert_eq!(fs::read_to_string(&poem).unwrap(), "theirs\n");
    session.types("y\n");
    session.ends(0);
    assert_eq!(fs::read_to_string(&poem).unwrap(), "mine\n");
}

/// An approval covers only what was shown, so a long content requires `more` first.
#[test]
fn a_cut_argument_cannot_be_approved_unseen() {
    let desk = Desk::new(ASK);
    let content = format!("{}rm -rf /\n", "harmless ".repeat(1000));
    let mut session = Session::of(&desk, "files.write", &write("long.txt", &content));
    assert!(!session.question().contains("rm -rf"));
    session.types("y\n");
    assert!(session.question().contains("Type ?"));
    assert!(!desk.site.path("work/long.txt").exists());
    session.types("more\n");
    assert!(session.question().contains("rm -rf"));
    session.types("y\n");
    session.ends(0);
    assert_eq!(fs::read_to_string(desk.site.path("work/long.txt")).unwrap(), content);
    // Also if only a little was cut.
    let content = format!("{}rm", "x".repeat(1600));
    let mut session = Session::of(&desk, "files.write", &write("short.txt", &content));
    assert!(!session.question().contains("xrm"));
    for answer in ["y\n", "a2\n"] {
        session.types(answer);
        assert!(session.question().contains("Type ?"));
    }
    session.types("more\n");
    assert!(session.question().contains("xrm"));
    session.types("y\n");
    session.ends(0);
}

/// A run of blanks is shown as a count, so that the text after it stays on the screen.
#[test]
fn blanks_cannot_hide_text() {
    let desk = Desk::new(ASK);
    let content = format!("ls{}; rm -rf /", " ".repeat(1500));
    let mut session = Session::of(&desk, "files.write", &write("run.sh", &content));
    assert!(session.question().contains("ls[1500 blanks]; rm -rf /"));
    session.types("n\n");
    session.ends(3);
}

/// Forty hostile texts: none of them moves the cursor, and the choices are printed below each of them.
#[test]
fn hostile_arguments_neither_escape_nor_hide_the_choices() {
    let desk = Desk::new(ASK);
    let evil = ["\u{1b}[2J\u{1b}[1;1H", "\u{1b}]52;c;aGk=\u{1b}\\", "\u{9b}31m\r", "\u{202e}\u{2066}\u{e0041}"];
    let naughty = naughty_strings::BLNS.iter().filter(|text| !text.is_ascii() && text.len() < ARGUMENT_BYTES_MAX);
    let naughty = naughty.take(36).copied();
    let texts: Vec<&str> = evil.into_iter().chain(naughty).collect();
    assert_eq!(texts.len(), 40);
    for text in texts {
        let prompt = format!("Allow files.write{PROMPT}");
        let content = format!("{}\n{prompt}y\n{text}", text.repeat(ARGUMENT_BYTES_MAX / text.len()));
        let mut session = Session::of(&desk, "files.write", &write("src/a.md", &content));
        let mut question = session.question();
        // The arguments repeat the prompt, but only the program can write it at the start of a line.
        while !question.ends_with(&format!("\n{prompt}")) {
            question += &session.question();
        }
        harmless(&question);
        let last: Vec<&str> = question.lines().rev().take(7).collect();
        assert!(last.iter().any(|line| line.contains("[a] always for src/**")), "{question}");
        assert!(question.lines().count() < 48, "{question}");
        session.types("n\n");
        harmless(&session.ends(3));
    }
}

/// The keys at three widths: one key answers, without Enter, and the terminal is as before.
#[test]
fn one_key_answers_and_the_terminal_is_restored() {
    let desk = Desk::new(ASK);
    for columns in [60, 80, 200] {
        let mut session =
            Session::with_keys(&desk, columns, "files.write", &write("src/a.md", &format!("{columns}\n")));
        let screen = session.until("[?] details ");
        assert!(screen.starts_with("local wants to write src/a.md  (files.write)\n"), "{screen}");
        assert!(screen.lines().all(|line| line.chars().count() <= columns as usize), "{screen}");
        assert!(screen.contains("[a] always for src/**"), "{screen}");
        session.types("y");
        assert!(session.ends(0).contains("restored"));
        assert_eq!(fs::read_to_string(desk.site.path("work/src/a.md")).unwrap(), format!("{columns}\n"));
    }
    desk.verifies();
}

/// Whatever ends the prompt, the terminal is as before: a denial with a reason, Ctrl-D, Ctrl-C, an answer elsewhere.
#[test]
fn the_terminal_is_restored_however_the_prompt_ends() {
    let desk = Desk::new(ASK);
    for (keys, reason) in [
        (&["n", "use src/\n"][..], "use src/"),
        (&["n", "\n"], "approval-denied"),
        (&["\u{4}"], "ended"),
        (&["\u{3}"], ""),
    ] {
        let mut session = Session::with_keys(&desk, 80, "files.write", &write("b.md", "b\n"));
        session.until("[?] details ");
        session.types(keys[0]);
        if let Some(line) = keys.get(1) {
            session.until("for no reason: ");
            session.types(line);
        }
        let said = session.ends(if keys == ["\u{3}"] { 1 } else { 3 });
        assert!(said.contains("restored") && said.contains(reason), "{keys:?}: {said}");
        assert!(!desk.site.path("work/b.md").exists());
    }
    let mut session = Session::with_keys(&desk, 80, "files.write", &write("c.md", "c\n"));
    session.until("[?] details ");
    let listed: Value = serde_json::from_str(&desk.run(&["approvals", "list", "--json"]).ends(0).out).unwrap();
    let id = listed["questions"][0]["id"].as_str().unwrap().to_owned();
    desk.run(&["approvals", "approve", &id, "--yes"]).ends(0);
    let said = session.ends(0);
    assert!(said.contains("Approved elsewhere") && said.contains("restored"), "{said}");
}

/// Keys before the prompt, pasted text and unknown keys are no answers.
#[test]
fn pasted_text_and_other_keys_are_not_answers() {
    let desk = Desk::new(ASK);
    let mut session = Session::with_keys(&desk, 80, "files.write", &write("d.md", "d\n"));
    session.types("yyy");
    session.until("[?] details ");
    for keys in ["yes", "\u{1b}[A"] {
        session.types(keys);
        session.until("Type y, s, a, n or ?.");
        session.until("[?] details ");
    }
    session.types("n");
    session.until("for no reason: ");
    session.types("\n");
    assert!(session.ends(3).contains("restored"));
    assert!(!desk.site.path("work/d.md").exists());
}

/// A digit chooses what `s` and `a` cover, and the keys say so.
#[test]
fn a_digit_chooses_what_a_remembered_approval_covers() {
    let desk = Desk::new(ASK);
    let mut session = Session::with_keys(&desk, 80, "files.write", &write("src/e.md", "e\n"));
    session.until("[?] details ");
    session.types("1");
    assert!(session.until("[?] details ").contains("[a] always for exactly this"));
    session.types("3");
    assert!(session.until("[?] details ").contains("[s] this session for src/**"));
    session.types("s");
    session.ends(0);
    desk.call("files.write", &write("src/f.md", "f\n"), 0);
    desk.call("files.write", &write("g.md", "g\n"), 4);
}
