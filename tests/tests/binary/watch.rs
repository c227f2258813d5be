//! `portcullis watch` at a terminal of three widths, and without one.

use crate::binary::console::{ASK, Session};
use crate::binary::desk::Desk;
use portcullis::approvals::Status;
use portcullis::{Host, Reply, Request, open_approvals};
use portcullis_tests::{BlockOn, eventually, program};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

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
    session.until("Press any key to go back. ");
    assert!(desk.site.path("work/evil.sh").exists());
    session.types("x");
    session.until("q quit");
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
        // The line may be that of the call, which appears before its request.
        let id = eventually("a request that is waited for", || {
            let listed = desk.run(&["--json", "approvals", "list"]).ends(0).document();
            let questions = listed["questions"].as_array().unwrap();
            questions.iter().find(|it| it["waited_for"] == true).map(|it| it["id"].as_str().unwrap().to_owned())
        });
        desk.run(&["approvals", "approve", &id, "--yes"]).ends(0);
        assert_eq!(call.wait_with_output().unwrap().status.code(), Some(0));
        assert_eq!(fs::read_to_string(desk.site.path(format!("work/{json}.md"))).unwrap(), "one\n");
    }
}

/// A host in this process, whose calls wait for an answer from elsewhere.
struct WaitingHost {
    runtime: Runtime,
    host: Host,
}

impl WaitingHost {
    fn open(desk: &Desk) -> Self {
        let runtime = Runtime::new().unwrap();
        let host = runtime.block_on(desk.site.builder(ASK).answered_elsewhere().share_live().open()).unwrap();
        Self { runtime, host }
    }

    fn call(&self, arguments: &Value) -> JoinHandle<Reply> {
        let (host, request) = (self.host.clone(), Request::new("files.write", arguments.to_string()));
        self.runtime.spawn(async move { host.call(request).await })
    }

    fn code(&self, call: JoinHandle<Reply>) -> String {
        self.runtime.block_on(call).unwrap().code.as_str().to_owned()
    }
}

/// Maximum frames until a screen shows what a test waits for: half a minute, because the screen is drawn every 100 ms.
const FRAMES_MAX: usize = 300;

/// Frames in which a key that was typed before them would have had its effect: half a second.
const FRAMES_AFTER: usize = 5;

/// Reads the next frame of the second screen, as lines.
fn frame(session: &mut Session) -> Vec<String> {
    let frame = session.until("\u{1b}[J");
    let drawn = frame.rsplit("\u{1b}[H").next().unwrap();
    let drawn = drawn.replace(['\r'], "").replace("\u{1b}[K", "").replace("\u{1b}[J", "");
    drawn.split('\n').map(str::to_owned).collect()
}

/// Reads frames until one has the words.
fn frame_with(session: &mut Session, words: &str) -> String {
    let frames = (0..FRAMES_MAX).map(|_| frame(session).join("\n"));
    let mut last = String::new();
    let found = frames.inspect(|frame| last.clone_from(frame)).find(|frame| frame.contains(words));
    found.unwrap_or_else(|| panic!("no frame has {words:?}: {last}"))
}

/// Reads frames until one has this many rows and a request.
fn frame_of(session: &mut Session, rows: usize) -> Vec<String> {
    let has_request = |frame: &Vec<String>| frame.iter().any(|row| row.contains("[?] details"));
    let mut frames = (0..FRAMES_MAX).map(|_| frame(session));
    frames.find(|frame| frame.len() == rows && has_request(frame)).expect("the screen has the new size")
}

/// Reads all pages of a review. Returns their text.
fn read_review(session: &mut Session) -> String {
    let (mut all, mut first) = (String::new(), 1);
    loop {
        let page = frame_with(session, &format!(": rows {first} to "));
        let heading = page.lines().next().unwrap();
        let numbers: Vec<usize> = heading.split([' ', ':']).filter_map(|word| word.parse().ok()).collect();
        let [.., last, rows] = numbers[..] else { panic!("{heading}") };
        all.push_str(&page);
        if last == rows {
            return all;
        }
        first = last + 1;
        session.types(" ");
    }
}

/// Two keys besides those for pages answer 100 requests. None is approved before the end of all was on the screen.
#[test]
fn a_hundred_requests_are_reviewed_and_answered_together() {
    let desk = Desk::new(ASK);
    let host = WaitingHost::open(&desk);
    let path = |number: usize| format!("{number}.md");
    let calls: Vec<_> = (0..100).map(|number| host.call(&write(&path(number)))).collect();
    let mut session = watch(&desk, 80);
    frame_with(&mut session, "100 requests wait");
    session.types("r");
    frame_with(&mut session, "Review of 100 requests: rows 1 to ");
    session.types("y");
    frame_with(&mut session, "more rows were not on the screen yet. Press space");
    let approvals = open_approvals(&desk.site.state()).block_on().unwrap();
    assert_eq!(approvals.list().block_on().unwrap().questions.len(), 100);
    let all = read_review(&mut session);
    assert!((0..100).all(|number| all.contains(&format!("wants to write {}", path(number)))), "{all}");
    session.types("y");
    frame_with(&mut session, "100 approved: they run in the processes that made them");
    for (number, call) in calls.into_iter().enumerate() {
        assert_eq!(host.code(call), "completed");
        assert!(desk.site.path("work").join(path(number)).exists());
    }
    session.types("q");
    assert!(session.ends(0).contains("restored"));
    desk.verifies();
}

/// In a review, a request whose file has changed is not approved, and one that was answered elsewhere is reported.
#[test]
fn a_review_approves_only_what_it_showed() {
    let desk = Desk::new(ASK);
    let host = WaitingHost::open(&desk);
    let calls: Vec<_> = ["poem.txt", "elsewhere.md", "new.md"].map(|path| host.call(&write(path))).into();
    let mut session = watch(&desk, 80);
    frame_with(&mut session, "3 requests wait");
    session.types("r");
    read_review(&mut session);
    fs::write(desk.site.path("work/poem.txt"), "changed meanwhile\n").unwrap();
    let listed = desk.run(&["--json", "approvals", "list"]).ends(0).document();
    let elsewhere = listed["questions"].as_array().unwrap().iter();
    let elsewhere = elsewhere.clone().find(|it| it["question"]["targets"]["/path"] == "elsewhere.md").unwrap();
    desk.run(&["approvals", "reject", elsewhere["id"].as_str().unwrap()]).ends(0);
    session.types("y");
    let message = frame_with(&mut session, "1 not answered: it is already rejected");
    assert!(message.contains("1 approved: they run in the processes that made them"), "{message}");
    assert!(message.contains("1 not approved: changed since they were shown"), "{message}");
    let mut codes = calls.into_iter();
    let changed = codes.next().unwrap();
    assert_eq!(codes.map(|call| host.code(call)).collect::<Vec<_>>(), ["approval-denied", "completed"]);
    assert_eq!(fs::read_to_string(desk.site.path("work/poem.txt")).unwrap(), "changed meanwhile\n");
    // It can be reviewed again, and then the person sees why it has no difference.
    frame_with(&mut session, "1 request waits");
    session.types("n");
    session.until("for no reason: ");
    session.types("look again\n");
    frame_with(&mut session, "denied files.write");
    assert_eq!(host.code(changed), "approval-denied");
    session.types("q");
    session.ends(0);
}

/// A key that was typed while an answer was given does not answer the request that is shown next.
#[test]
fn a_key_that_was_typed_early_does_not_answer_the_next_request() {
    let desk = Desk::new(ASK);
    let host = WaitingHost::open(&desk);
    // Too long for a review, so it is still the selected request after the review of the others.
    let next = host.call(&json!({ "path": "next.md", "content": "line\n".repeat(64 * 1024) }));
    let mut session = watch(&desk, 80);
    frame_with(&mut session, "1 request waits");
    let mut call = waiting(&desk, &write("reviewed.md"));
    frame_with(&mut session, "2 requests wait");
    session.types("r");
    read_review(&mut session);
    // A stopped process takes no answer, so the watcher waits for it for two seconds.
    kill_process(Pid::from_child(&call), Signal::STOP).unwrap();
    session.types("y");
    let approvals = open_approvals(&desk.site.state()).block_on().unwrap();
    let pending = || {
        let listed = approvals.list().block_on().unwrap().questions;
        listed.into_iter().filter(|it| it.status == Status::Pending).collect::<Vec<_>>()
    };
    eventually("an approved request", || (pending().len() == 1).then_some(()));
    session.types("y");
    let message = "1 approved: they run when their clients make the calls again";
    frame_with(&mut session, message);
    // The next key would replace the message, because the request is cut.
    for _ in 0..FRAMES_AFTER {
        let frame = frame(&mut session).join("\n");
        assert!(frame.contains(message), "{frame}");
    }
    session.types("q");
    session.ends(0);
    call.kill().unwrap();
    call.wait().unwrap();
    let [left] = &pending()[..] else { panic!("the second key has approved a request") };
    desk.run(&["approvals", "reject", &left.id]).ends(0);
    assert_eq!(host.code(next), "approval-denied");
}

/// One reason denies all requests. No one has to read all of what they deny.
#[test]
fn all_requests_are_denied_with_a_reason() {
    let desk = Desk::new(ASK);
    let host = WaitingHost::open(&desk);
    let calls: Vec<_> = (0..30).map(|number| host.call(&write(&format!("{number}.md")))).collect();
    let mut session = watch(&desk, 60);
    frame_with(&mut session, "30 requests wait");
    session.types("r");
    frame_with(&mut session, "Review of 30 requests");
    session.types("n");
    session.until("for no reason: ");
    session.types("not today\n");
    frame_with(&mut session, "30 denied");
    for call in calls {
        let reply = host.runtime.block_on(call).unwrap();
        assert!(reply.message.contains("not today"), "{}", reply.message);
    }
    session.types("q");
    session.ends(0);
}

/// Calls whose processes have ended run in the watcher, and their replies are shown without control characters.
#[test]
fn calls_that_no_process_waits_for_run_in_the_watcher() {
    let desk = Desk::new(ASK);
    let mut left = vec![desk.call("echo.run", &json!({ "said": "\u{1b}[2Jfirst" }), 4)];
    left.extend(["one.md", "two.md"].map(|path| desk.call("files.write", &write(path), 4)));
    let mut session = watch(&desk, 80);
    frame_with(&mut session, "3 requests wait");
    session.types("y");
    let run = session.until("Press any key to go back. ");
    let reply = run.rsplit("\u{1b}[?1049l").next().unwrap();
    assert!(reply.contains("\\u001b[2Jfirst") || reply.contains("\\u{1b}[2Jfirst"), "{reply:?}");
    assert!(!reply.contains('\u{1b}'), "{reply:?}");
    session.types("x");
    frame_with(&mut session, "2 requests wait");
    session.types("r");
    assert!(read_review(&mut session).contains("no call waits"));
    session.types("y");
    let run = session.until("Press any key to go back. ");
    assert!(run.contains("one.md") && run.contains("two.md"), "{run}");
    session.types("x");
    frame_with(&mut session, "0 requests wait");
    session.types("q");
    assert!(session.ends(0).contains("restored"));
    assert!(["one.md", "two.md"].iter().all(|path| desk.site.path("work").join(path).exists()));
    let approvals = open_approvals(&desk.site.state()).block_on().unwrap();
    for reply in left {
        let request = approvals.question(reply["approval_request"].as_str().unwrap()).block_on().unwrap();
        assert_eq!(request.status, Status::Done);
    }
    desk.verifies();
}

/// The end of a process that waits changes nothing in the ledger. The screen shows it all the same.
#[test]
fn the_end_of_a_waiting_process_is_shown() {
    let desk = Desk::new(ASK);
    let mut calls = ["one.md", "two.md"].map(|path| waiting(&desk, &write(path)));
    let mut session = watch(&desk, 80);
    frame_with(&mut session, "2 requests wait");
    calls[0].kill().unwrap();
    calls[0].wait().unwrap();
    frame_with(&mut session, "(no call waits)");
    session.types("q");
    session.ends(0);
    calls[1].kill().unwrap();
    calls[1].wait().unwrap();
}

/// Prints the time from the request in the ledger to its text on the screen. The bound is for a busy machine.
#[test]
#[expect(clippy::print_stderr, reason = "the figure is for people who run the test")]
fn a_request_is_on_the_screen_soon() {
    let desk = Desk::new(ASK);
    let host = WaitingHost::open(&desk);
    let mut session = watch(&desk, 80);
    session.until("q quit");
    let call = host.call(&write("soon.md"));
    session.until("wants to write soon.md");
    let seen = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let approvals = open_approvals(&desk.site.state()).block_on().unwrap();
    let asked = approvals.list().block_on().unwrap().questions[0].asked_at.as_millisecond();
    let took = seen.saturating_sub(Duration::from_millis(asked.try_into().unwrap()));
    eprintln!("a request was on the screen after {} ms", took.as_millis());
    assert!(took < Duration::from_secs(2), "{took:?}");
    session.types("y");
    assert_eq!(host.code(call), "completed");
    session.types("q");
    session.ends(0);
}

/// A request is laid out again for each size of the terminal. One that does not fit cannot be approved.
#[test]
fn a_terminal_that_is_resized_shows_the_request_again() {
    let desk = Desk::new(ASK);
    let host = WaitingHost::open(&desk);
    let path = format!("src/{}.md", "n".repeat(60));
    let call = host.call(&write(&path));
    let mut session = Session::wide(&desk, 80, &format!("tty; {} watch --quiet", program().display()));
    let tty = session.until("\n").trim().to_owned();
    let resize = |columns: usize, rows: usize| {
        let (columns, rows) = (columns.to_string(), rows.to_string());
        let ran = Command::new("stty").args(["-F", &tty, "cols", &columns, "rows", &rows]).status().unwrap();
        assert!(ran.success());
    };
    // Each size has its own number of rows, which tells the frames apart.
    for (columns, rows, key_rows) in [(60, 20, 2), (200, 22, 1), (80, 24, 2)] {
        resize(columns, rows);
        let shown = frame_of(&mut session, rows);
        assert!(shown.iter().all(|row| row.chars().count() <= columns), "{columns}: {shown:#?}");
        assert!(shown.concat().contains(&format!("wants to write {path}")), "{columns}: {shown:#?}");
        let place = |key: &str| shown.iter().position(|row| row.contains(key)).unwrap();
        assert_eq!(place("[?] details") + 1 - place("[y] once"), key_rows, "{columns}: {shown:#?}");
    }
    resize(80, 5);
    frame_of(&mut session, 5);
    session.types("y");
    frame_with(&mut session, "Type ? to see all of it");
    resize(80, 24);
    frame_of(&mut session, 24);
    session.types("y");
    frame_with(&mut session, "its call runs");
    assert_eq!(host.code(call), "completed");
    session.types("q");
    assert!(session.ends(0).contains("restored"));
}
