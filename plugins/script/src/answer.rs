//! The answer of `run`: the console and the final value for a model, and the calls for programs.

use portcullis_sdk::prelude::*;
use portcullis_sdk::serde_json::{Map, Value};

use crate::pass::{Pass, PassEnd};
use crate::queue::CallLog;

/// Builds the answer of a pass.
pub(crate) fn of(pass: Pass) -> Result<Success<String>, Failure> {
    let Pass { console, log, end } = pass;
    match end {
        PassEnd::Finished { value, unhandled } => {
            let text = finished(&console, value.as_deref(), &unhandled);
            Ok(Success::new(text).title(title(&log)).metadata(metadata(&log)))
        }
        PassEnd::Stopped(failure) => Err(failure),
        PassEnd::Faulted { fault, report, .. } if fault.is_syntax => Err(Failure::invalid(report)),
        PassEnd::Faulted { report, abandoned, .. } => Err(Failure::failed(faulted(report, &console, &log, abandoned))),
    }
}

fn finished(console: &str, value: Option<&str>, unhandled: &[String]) -> String {
    let mut text = match (console, value) {
        ("", None) => "(The script has no value and no output. End it with an expression or `return`.)\n".to_owned(),
        ("", Some(value)) => format!("{value}\n"),
        (console, None) => console.to_owned(),
        (console, Some(value)) => format!("{console}[value]\n{value}\n"),
    };
    for error in unhandled {
        text.push_str(&format!("[not handled] {error}\n"));
    }
    text
}

/// Returns an error with what happened before it: the calls keep their effects, and the model must know them.
fn faulted(report: String, console: &str, log: &CallLog, abandoned: usize) -> String {
    let mut text = report;
    if !log.0.is_empty() {
        let calls: Vec<String> = log.0.iter().map(|(tool, count)| described(tool, count.calls, count.failed)).collect();
        text.push_str(&format!("\n\nCalls before the error, which keep their effects: {}", calls.join(", ")));
    }
    if abandoned > 0 {
        text.push_str(&format!("\n\n{abandoned} queued calls were not made."));
    }
    if !console.is_empty() {
        text.push_str(&format!("\n\n[console]\n{console}"));
    }
    text
}

fn described(tool: &str, calls: usize, failed: usize) -> String {
    match failed {
        0 => format!("{tool} ({calls})"),
        failed => format!("{tool} ({calls}, {failed} failed)"),
    }
}

fn title(log: &CallLog) -> String {
    match log.total().calls {
        0 => "Ran a script".to_owned(),
        1 => "Ran a script with 1 call".to_owned(),
        calls => format!("Ran a script with {calls} calls"),
    }
}

fn metadata(log: &CallLog) -> Value {
    let tools: Map<String, Value> = log
        .0
        .iter()
        .map(|(tool, count)| (tool.clone(), json!({ "calls": count.calls, "failed": count.failed })))
        .collect();
    let total = log.total();
    json!({ "calls": total.calls, "failed": total.failed, "tools": tools })
}
