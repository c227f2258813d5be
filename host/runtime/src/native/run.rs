//! Runs a native tool: until it answers, its time is over, or its caller does not want the answer any more.

use super::answer::{NativeAnswer, NativeFailure};
use super::call::{NativeCall, NativeFacts, ProgressSender};
use super::plugin::NativeFunction;
use crate::caught::caught;
use portcullis_definitions::manifest::{Answer, Success};
use portcullis_policy::Limits;
use portcullis_sandbox::{Cancellation, LimitKind, Stop, Usage};
use serde_json::{Map, Value};
use std::time::{Duration, Instant};

/// Everything that one run of a native tool gets.
pub(crate) struct NativeRun {
    pub(crate) facts: NativeFacts,
    pub(crate) progress: ProgressSender,
    pub(crate) arguments: Map<String, Value>,
    pub(crate) limits: Limits,
    pub(crate) cancellation: Cancellation,
}

/// Runs a native tool. Its answer still contains what secrets it may have.
pub(crate) async fn run(function: &NativeFunction, run: NativeRun) -> (Result<Answer, Stop>, Usage) {
    let NativeRun { facts, progress, arguments, limits, cancellation } = run;
    let began = Instant::now();
    let call = NativeCall::new(facts, progress);
    // Dropped after the future of the tool, also if this future is dropped.
    let _ending = call.ending();
    let work = caught(|| function(call.clone(), Value::Object(arguments)));
    let result = tokio::select! {
        // A cancelled call does not begin.
        biased;
        () = cancellation.cancelled() => Err(Stop::Cancelled),
        ended = work => ended.map_err(Stop::Trapped).and_then(|answer| bounded(answer, &limits)),
        () = tokio::time::sleep(limits.time) => Err(Stop::Limit(LimitKind::Time)),
    };
    // Only a sandbox measures processor time and memory.
    (result, Usage { wall: began.elapsed(), cpu: Duration::ZERO, memory_bytes: 0 })
}

/// Refuses an answer that is larger than what a plugin could pass to the host.
fn bounded(answer: Result<NativeAnswer, NativeFailure>, limits: &Limits) -> Result<Answer, Stop> {
    match answer {
        // `call/execute.rs` cuts the text of a failure.
        Err(failure) => Ok(Err(failure.into_failure())),
        Ok(answer) => {
            let success = answer.into_success();
            if bytes_of(&success) > limits.transfer_bytes {
                return Err(Stop::Limit(LimitKind::Transfer));
            }
            Ok(Ok(success))
        }
    }
}

fn bytes_of(success: &Success) -> usize {
    let texts = [&success.title, &success.metadata].into_iter().flatten().map(String::len);
    texts.sum::<usize>() + success.output.bytes()
}
