//! Which calls a script makes, and which an approver is asked about together.

use std::cell::RefCell;

use portcullis_sdk::prelude::*;
use portcullis_sdk::{Outlook, Output};

use super::run;
use crate::bridge::{Bridge, PlanningBridge};
use crate::pass::{Pass, PassEnd};

/// A host where `files.write` needs approval, `todo.add` has an effect and needs none, and reads run.
#[derive(Default)]
struct Host {
    made: RefCell<Vec<String>>,
    asked: RefCell<Vec<Vec<String>>>,
    /// The text of every read.
    text: String,
    /// How the calls of `todo.add` fail.
    failure: Option<Failure>,
    /// Whether the last answer of a batch is missing.
    loses_answer: bool,
}

fn named(call: &ToolCall) -> String {
    format!("{} {}", call.tool, call.arguments)
}

impl Bridge for Host {
    fn tools(&self) -> Vec<String> {
        ["files.read", "files.write", "todo.add"].map(str::to_owned).to_vec()
    }

    fn call_all(&self, calls: &[ToolCall]) -> Result<Vec<Result<Success, Failure>>, Failure> {
        self.made.borrow_mut().extend(calls.iter().map(named));
        let answer = |call: &ToolCall| match &self.failure {
            Some(failure) if call.tool == "todo.add" => Err(failure.clone()),
            _ => Ok(Success::new(Output::Text(self.text.clone()))),
        };
        let answered = calls.len() - usize::from(self.loses_answer);
        Ok(calls.iter().take(answered).map(answer).collect())
    }
}

impl PlanningBridge for Host {
    fn foresee(&self, calls: &[ToolCall]) -> Vec<Outlook> {
        let outlook = |call: &ToolCall| match call.tool.as_str() {
            "files.write" => Outlook::NeedsApproval,
            _ => Outlook::Runs,
        };
        calls.iter().map(outlook).collect()
    }

    fn approve(&self, calls: &[ToolCall]) {
        self.asked.borrow_mut().push(calls.iter().map(named).collect());
    }

    fn only_reads(&self, tool: &str) -> bool {
        tool == "files.read"
    }
}

fn ran(code: &str) -> (Pass, Host) {
    let host = Host { text: "text".to_owned(), ..Host::default() };
    (run(code, &host), host)
}

fn writes(numbers: std::ops::Range<u32>) -> Vec<String> {
    numbers.map(|number| format!("files.write {{\"n\":{number}}}")).collect()
}

#[test]
fn a_loop_of_writes_is_asked_about_once() {
    for code in [
        "for (let n = 0; n < 40; n++) await tools.files.write({ n })",
        "await Promise.all(Array.from({ length: 40 }, (_, n) => tools.files.write({ n })))",
    ] {
        let (pass, host) = ran(code);
        assert!(matches!(pass.end, PassEnd::Finished { .. }), "{pass:?}");
        assert_eq!(*host.asked.borrow(), [writes(0..40)]);
        assert_eq!(*host.made.borrow(), writes(0..40));
    }
}

#[test]
fn a_write_that_a_script_hides_is_in_the_request() {
    let code = "for (let n = 0; n < 50; n++) { if (n == 49) await tools.files.write({ n }); else await tools.files.read({ n }) }
        await tools.files.write({ n: 50 })";
    let (_, host) = ran(code);
    assert_eq!(*host.asked.borrow(), [writes(49..51)]);
    let made = host.made.borrow();
    assert_eq!(made.len(), 51, "the reads before the first write are not repeated: {made:?}");
}

#[test]
fn without_an_approval_there_is_one_pass() {
    let (pass, host) = ran("console.log(await tools.files.read({})); await tools.todo.add({})");
    assert_eq!(pass.console, "text\n");
    assert!(host.asked.borrow().is_empty());
    assert_eq!(host.made.borrow().len(), 2);
}

#[test]
fn nothing_with_an_effect_runs_twice() {
    let code = "await tools.todo.add({ n: 1 }); await tools.files.write({ n: 1 }); await tools.todo.add({ n: 2 });
        await tools.files.write({ n: 2 })";
    let (pass, host) = ran(code);
    assert!(matches!(pass.end, PassEnd::Finished { .. }), "{pass:?}");
    // The plan ends before the second effect, so the write behind it asks by itself.
    assert_eq!(*host.asked.borrow(), [writes(1..2)]);
    let made = host.made.borrow();
    assert_eq!(made.iter().filter(|call| call.starts_with("todo.add")).count(), 2, "{made:?}");
}

#[test]
fn a_script_that_goes_another_way_stops_before_an_effect_is_repeated() {
    let code = "await tools.todo.add({ n: Math.random() }); await tools.files.write({ n: 1 })";
    let (pass, host) = ran(code);
    assert!(matches!(&pass.end, PassEnd::Stopped(Failure::Failed(text)) if text.contains("other calls")), "{pass:?}");
    assert_eq!(host.made.borrow().len(), 1);
    let (pass, host) = ran("await tools.files.read({ n: Math.random() }); await tools.files.write({ n: 1 })");
    assert!(matches!(pass.end, PassEnd::Finished { .. }), "{pass:?}");
    assert_eq!(host.made.borrow().len(), 3, "a read may be repeated");
}

#[test]
fn a_call_that_failed_is_not_repeated() {
    let code = "try { await tools.todo.add({ n: Math.random() }) } catch {} await tools.files.write({ n: 1 })";
    let failures = [Failure::failed("half done"), Failure::unavailable("half done"), Failure::denied("half done")];
    for failure in failures {
        let host = Host { failure: Some(failure), ..Host::default() };
        let pass = run(code, &host);
        assert!(
            matches!(&pass.end, PassEnd::Stopped(Failure::Failed(text)) if text.contains("other calls")),
            "{pass:?}"
        );
        assert_eq!(host.made.borrow().len(), 1);
    }
}

#[test]
fn a_call_without_an_answer_is_not_repeated() {
    let host = Host { loses_answer: true, ..Host::default() };
    run("try { await tools.todo.add({ n: 1 }) } catch {} await tools.files.write({ n: 1 })", &host);
    let made = host.made.borrow();
    assert_eq!(*made, ["todo.add {\"n\":1}", "files.write {\"n\":1}"]);
}

#[test]
fn what_follows_from_an_assumed_answer_asks_by_itself() {
    let code = "const said = await tools.files.write({ n: 1 }); if (said == 'text') await tools.files.write({ n: 2 })";
    let (_, host) = ran(code);
    assert_eq!(*host.asked.borrow(), [writes(1..2)]);
    assert_eq!(*host.made.borrow(), writes(1..3));
}

#[test]
fn a_script_with_large_answers_asks_call_by_call() {
    let host = Host { text: "a".repeat(super::KEPT_BYTES_MAX / 2 + 1), ..Host::default() };
    let code = "await tools.files.read({ n: 1 }); await tools.files.read({ n: 2 }); await tools.files.write({ n: 1 })";
    let pass = run(code, &host);
    assert!(matches!(pass.end, PassEnd::Finished { .. }), "{pass:?}");
    assert!(host.asked.borrow().is_empty());
    assert_eq!(host.made.borrow().len(), 3);
}
