//! Which calls a pass makes together.

use std::cell::RefCell;

use portcullis_sdk::Output;
use portcullis_sdk::prelude::*;

use super::{Pass, PassEnd, run_pass};
use crate::bridge::Bridge;

/// A bridge that remembers the batches.
#[derive(Default)]
struct Recorder {
    batches: RefCell<Vec<Vec<String>>>,
    /// The number of batches to answer. The bridge ends the pass at the next one.
    batches_max: Option<usize>,
    /// Whether the last answer of a batch is missing.
    loses_answer: bool,
    /// Whether the answers are objects and no texts.
    is_json: bool,
}

impl Bridge for Recorder {
    fn tools(&self) -> Vec<String> {
        vec!["files.read".to_owned()]
    }

    fn call_all(&self, calls: &[ToolCall]) -> Result<Vec<Result<Success, Failure>>, Failure> {
        if self.batches_max == Some(self.batches.borrow().len()) {
            return Err(Failure::denied("the plan ends here"));
        }
        self.batches.borrow_mut().push(calls.iter().map(|call| call.arguments.clone()).collect());
        let answered = calls.len() - usize::from(self.loses_answer);
        let output = match self.is_json {
            true => Output::Json(json!({})),
            false => Output::Text("read".to_owned()),
        };
        Ok(calls.iter().take(answered).map(|_| Ok(Success::new(output.clone()))).collect())
    }
}

/// Returns the sizes of the batches of a script.
fn sizes(code: &str) -> Vec<usize> {
    let recorder = Recorder::default();
    let pass = run_pass(code, &recorder);
    assert!(matches!(pass.end, PassEnd::Finished { .. }), "{pass:?}");
    recorder.batches.into_inner().iter().map(Vec::len).collect()
}

#[test]
fn calls_without_a_wait_between_them_are_one_batch() {
    assert_eq!(sizes("await Promise.all([1, 2, 3].map(n => tools.files.read({ n })))"), [3]);
    assert_eq!(sizes("const a = tools.files.read({}); const b = tools.files.read({}); await a; await b"), [2]);
    // A wait for something else than a call does not end a batch.
    assert_eq!(
        sizes("const f = async n => { await null; return tools.files.read({ n }) }; await Promise.all([f(1), f(2)])"),
        [2]
    );
}

#[test]
fn a_call_that_is_awaited_is_a_batch_of_one() {
    assert_eq!(sizes("for (const n of [1, 2, 3]) await tools.files.read({ n })"), [1, 1, 1]);
    assert_eq!(sizes("for await (const text of [tools.files.read({}), tools.files.read({})]) console.log(text)"), [2]);
}

#[test]
fn chains_advance_together() {
    let code = "const chain = async n => { await tools.files.read({ n }); await tools.files.read({ n }) };
        await Promise.all([chain(1), chain(2), chain(3)])";
    assert_eq!(sizes(code), [3, 3]);
}

#[test]
fn a_bridge_can_end_a_pass_that_the_script_cannot_continue() {
    let recorder = Recorder { batches_max: Some(1), ..Recorder::default() };
    let code = "console.log('before');
        for (;;) { try { await tools.files.read({}) } catch { console.log('caught') } finally { console.log('after') } }";
    let Pass { console, log, end } = run_pass(code, &recorder);
    assert!(matches!(end, PassEnd::Stopped(Failure::Denied(_))), "{end:?}");
    assert_eq!(console, "before\nafter\n");
    assert_eq!(log.total().calls, 1);
}

#[test]
fn a_missing_answer_is_an_error_of_its_call() {
    let recorder = Recorder { loses_answer: true, ..Recorder::default() };
    let code = "(await Promise.allSettled([tools.files.read({}), tools.files.read({})])).map(one => one.status).join()";
    let PassEnd::Finished { value, .. } = run_pass(code, &recorder).end else { panic!("not finished") };
    assert_eq!(value.as_deref(), Some("fulfilled,rejected"));
}

#[test]
fn an_answer_that_ends_the_script_hides_no_call_of_its_batch() {
    let recorder = Recorder { is_json: true, ..Recorder::default() };
    // The engine reads `then` of each answer, which is an object.
    let code = "Object.defineProperty(Object.prototype, 'then', { get() { for (;;); } });
        await Promise.all([1, 2, 3].map(n => tools.files.read({ n })))";
    let Pass { log, end, .. } = run_pass(code, &recorder);
    assert!(matches!(end, PassEnd::Faulted { .. }), "{end:?}");
    assert_eq!(log.total().calls, 3);
}
