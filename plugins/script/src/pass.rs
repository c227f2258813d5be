//! One pass over a script, in a fresh realm.

#[cfg(test)]
mod tests;

use std::path::Path;
use std::rc::Rc;

use boa_engine::builtins::promise::PromiseState;
use boa_engine::object::builtins::JsPromise;
use boa_engine::{Context, JsResult, JsValue, Script, Source};
use portcullis_sdk::prelude::*;

use crate::bridge::{self, Bridge};
use crate::fault::Fault;
use crate::notation;
use crate::queue::CallLog;
use crate::realm;
use crate::session::Session;
use crate::source::{FILE, ScriptSource};

/// Maximum bytes of the final value: about 25,000 tokens. A script that needs more writes a file.
pub(crate) const VALUE_BYTES_MAX: usize = 100_000;

/// Maximum rejections to report that a script did not handle.
const UNHANDLED_SHOWN_MAX: usize = 10;

/// What a pass did, and how it ended.
#[derive(Debug)]
pub(crate) struct Pass {
    pub(crate) console: String,
    pub(crate) log: CallLog,
    pub(crate) end: PassEnd,
}

/// How a pass ended.
#[derive(Debug)]
pub(crate) enum PassEnd {
    /// The script ran to its end.
    Finished {
        /// The final value, or `None` for `undefined`.
        value: Option<String>,
        /// The errors of promises that the script neither awaited nor handled.
        unhandled: Vec<String>,
    },
    /// An error ended the script.
    Faulted {
        fault: Fault,
        /// The report of the error with the line of code.
        report: String,
        /// The number of queued calls that were then not made.
        abandoned: usize,
    },
    /// The bridge ended the pass.
    Stopped(Failure),
}

/// Runs a script in a fresh realm. The bridge makes its calls.
pub(crate) fn run_pass(code: &str, bridge: &dyn Bridge) -> Pass {
    let session = Rc::new(Session::default());
    let mut log = CallLog::default();
    let end = match ScriptSource::parse(code) {
        Ok(source) => run(&source, bridge, &session, &mut log),
        Err(fault) => Ending::Faulted(Fault::of_syntax(fault)),
    };
    let end = match end {
        Ending::Finished { value, unhandled } => PassEnd::Finished { value, unhandled },
        Ending::Stopped(failure) => PassEnd::Stopped(failure),
        Ending::Faulted(fault) => {
            let abandoned = session.queue.borrow().len();
            PassEnd::Faulted { report: fault.text(code), fault, abandoned }
        }
    };
    let console = session.console.borrow().text();
    // The queue and the rejections refer to objects of the realm, which is gone.
    session.queue.borrow_mut().clear();
    session.unhandled.borrow_mut().clear();
    Pass { console, log, end }
}

enum Ending {
    Finished { value: Option<String>, unhandled: Vec<String> },
    Faulted(Fault),
    Stopped(Failure),
}

fn run(source: &ScriptSource, bridge: &dyn Bridge, session: &Rc<Session>, log: &mut CallLog) -> Ending {
    let mut context = match realm::build(&bridge.tools(), session) {
        Ok(context) => context,
        Err(error) => return Ending::Stopped(Failure::failed(format!("the engine did not start: {error}"))),
    };
    let main = match start(source, &mut context) {
        Ok(main) => main,
        Err(error) => return Ending::Faulted(Fault::of_engine(&error, source, &mut context)),
    };
    loop {
        if let Err(error) = context.run_jobs() {
            return Ending::Faulted(Fault::of_engine(&error, source, &mut context));
        }
        // An error that ends the script comes before its queued calls, which are then not made.
        if let PromiseState::Rejected(reason) = main.state() {
            return Ending::Faulted(Fault::of_thrown(&reason, source, &mut context));
        }
        match make_calls(bridge, session, log, &mut context) {
            Ok(Batch::Empty) => break,
            Ok(Batch::Made) => (),
            Ok(Batch::Faulted(error)) => return Ending::Faulted(Fault::of_engine(&error, source, &mut context)),
            Err(failure) => return Ending::Stopped(failure),
        }
    }
    match main.state() {
        PromiseState::Fulfilled(value) => {
            Ending::Finished { value: shown(&value, &mut context), unhandled: unhandled(session, source, &mut context) }
        }
        PromiseState::Rejected(reason) => Ending::Faulted(Fault::of_thrown(&reason, source, &mut context)),
        // No job and no call is left that could settle the promise.
        PromiseState::Pending => Ending::Faulted(Fault::of_stuck()),
    }
}

/// Runs the script to its first `await`, and returns the promise of its end.
fn start(source: &ScriptSource, context: &mut Context) -> JsResult<JsPromise> {
    let file = Source::from_bytes(source.wrapped()).with_path(Path::new(FILE));
    let value = Script::parse(file, None, context)?.evaluate(context)?;
    // The value is the promise of the async function. An object that is no promise makes this fail.
    JsPromise::from_object(value.as_object().unwrap_or_else(boa_engine::object::JsObject::with_null_proto))
}

enum Batch {
    /// No call was queued.
    Empty,
    Made,
    /// Code of the script that ran on an answer exceeded a limit of the engine.
    Faulted(boa_engine::JsError),
}

/// Makes all queued calls as one batch, and settles their promises.
fn make_calls(
    bridge: &dyn Bridge,
    session: &Session,
    log: &mut CallLog,
    context: &mut Context,
) -> Result<Batch, Failure> {
    // Empty the queue first: the answers make the script go on, and it can queue new calls meanwhile.
    let queued = session.queue.take();
    if queued.is_empty() {
        return Ok(Batch::Empty);
    }
    let calls: Vec<ToolCall> = queued.iter().map(|queued| queued.call.clone()).collect();
    let answers = bridge::completed(bridge.call_all(&calls)?, calls.len());
    // Log all calls before the script sees an answer. They were made, even if an answer ends the script.
    calls.iter().zip(&answers).for_each(|(call, answer)| log.add(&call.tool, answer.is_err()));
    for (queued, answer) in queued.iter().zip(answers) {
        if let Err(error) = crate::reply::deliver(queued, answer, context) {
            return Ok(Batch::Faulted(error));
        }
    }
    Ok(Batch::Made)
}

/// Returns the final value as text.
fn shown(value: &JsValue, context: &mut Context) -> Option<String> {
    if value.is_undefined() {
        return None;
    }
    let text = notation::text(value, VALUE_BYTES_MAX, context);
    Some(notation::shortened(&text, VALUE_BYTES_MAX))
}

fn unhandled(session: &Session, source: &ScriptSource, context: &mut Context) -> Vec<String> {
    let promises = session.unhandled.take();
    let reasons = promises.into_iter().filter_map(|promise| match JsPromise::from_object(promise).ok()?.state() {
        PromiseState::Rejected(reason) => Some(reason),
        PromiseState::Pending | PromiseState::Fulfilled(_) => None,
    });
    let faults = reasons.take(UNHANDLED_SHOWN_MAX).map(|reason| Fault::of_thrown(&reason, source, context));
    faults.map(|fault| fault.text("").replace('\n', " ")).collect()
}
