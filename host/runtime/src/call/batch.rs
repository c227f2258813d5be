//! Runs `tools.batch`: makes several calls for its caller at the same time. Each takes all the steps of a call of that
//! caller, with its own record, limits and approvals. The batch itself gives no right.

use super::grant::GrantedCall;
use super::outcome::{BatchResult, RawOutcome};
use super::record::CallRecord;
use super::rejection::Rejection;
use super::running_answer::RunningAnswer;
use super::validate::PortableNames;
use crate::admission::Admitted;
use crate::batched_call::BatchedCall;
use crate::inner::HostState;
use crate::reply::{CallUsage, Code, Outcome, Reply};
use crate::request::Request;
use crate::steering::Steering;
use portcullis_definitions::manifest::{Output, Success};
use portcullis_sandbox::{INNER_CALLS_AT_ONCE_MAX, Progress, Usage};
use serde_json::Value;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Proposed wait before a retry while too many other calls wait.
const BUSY_RETRY_AFTER: Duration = Duration::from_secs(5);

/// Replaces a result for which there is no memory.
const LOST_RESULT: &str = "[Portcullis: this call has run, but its result is lost, because the results of the batch are too \
                           large to be held together. Request less per batch.]";

/// A batch that may start now.
pub(super) struct ReadyBatch<'a> {
    pub(super) host: &'a Arc<HostState>,
    pub(super) request: &'a Request,
    pub(super) record: &'a CallRecord,
    pub(super) granted: GrantedCall,
    pub(super) admitted: Admitted,
    pub(super) answer: RunningAnswer,
}

impl<'a> ReadyBatch<'a> {
    /// Makes the calls, and waits for their results. It is boxed, because a batch is a call and makes calls.
    pub(super) fn run(self) -> Pin<Box<dyn Future<Output = Result<RawOutcome, Rejection>> + Send + 'a>> {
        Box::pin(self.run_unboxed())
    }

    async fn run_unboxed(self) -> Result<RawOutcome, Rejection> {
        let began = Instant::now();
        // The calls take the slot, the turn and the place in the session's order of the batch, which needs none again.
        if !self.host.admissions.lend(&self.request.admission) {
            let busy = Rejection::new(Code::Busy, "Too many calls wait for other calls or for an approver.");
            return Err(Rejection { retry_after: Some(BUSY_RETRY_AFTER), ..busy });
        }
        if let Some(turn) = &self.request.turn {
            turn.release();
        }
        // The calls count for themselves, and the batch only waits for them.
        self.request.admission.pause_count();
        let (names, requests) = self.requests();
        let replies = self.replies(requests).await;
        let Self { request, granted, admitted, answer, .. } = self;
        drop(admitted);
        // The calls run at the same time, so the sum of their times can exceed the time that has passed.
        let run = Usage { wall: time_of(&replies).min(began.elapsed()), ..Usage::default() };
        let bytes_in = granted.call.canonical.len() as u64;
        if request.cancellation.is_cancelled() && replies.iter().any(|reply| reply.outcome() == Outcome::Cancelled) {
            let usage = Box::new(CallUsage { run, bytes_in, bytes_out: 0 });
            return Err(Rejection { usage, ..cancelled(&replies) });
        }
        let results = names.into_iter().zip(replies).map(|(name, reply)| BatchResult { name, reply }).collect();
        Ok(RawOutcome {
            tool: Arc::clone(&granted.call.tool),
            success: Success { title: None, output: Output::Parts(Vec::new()), metadata: None },
            written: answer.finish().await.0,
            results: Some(results),
            usage: run,
            bytes_in,
            output_bytes_max: granted.limits.output_bytes,
        })
    }

    /// Returns the requests of the calls, and the names of their tools as the caller wrote them.
    fn requests(&self) -> (Vec<String>, Vec<Request>) {
        let (request, catalog) = (self.request, self.host.catalog());
        let portable = PortableNames::of(&catalog);
        let batch: Arc<str> = Arc::from(self.record.id());
        let calls = self.granted.call.arguments.get("calls").and_then(Value::as_array);
        let made = calls.into_iter().flatten().enumerate().map(|(place, call)| {
            let written = call["tool"].as_str().unwrap_or_default();
            let known = request.batched.as_ref().map(|known| known.get(place).cloned().unwrap_or_else(unknown));
            let BatchedCall { name, definition, refused } = known.unwrap_or_else(|| BatchedCall::new(written));
            let tool = portable.find(written).unwrap_or(written).to_owned();
            let arguments = call.get("arguments").map_or_else(|| "{}".to_owned(), Value::to_string);
            let made = Request {
                in_batch: Some(Arc::clone(&batch)),
                overrides: request.overrides.clone(),
                // The repair of the batch may have changed the arguments of the call.
                provenance: request.provenance.clone().filter(|from| from.is_repaired()),
                definition,
                refused,
                ..request.of_the_same_caller(tool, arguments)
            };
            (name, made)
        });
        made.unzip()
    }

    /// Makes the calls. Returns the replies in their order.
    async fn replies(&self, requests: Vec<Request>) -> Vec<Reply> {
        let steering = self.request.turn.as_ref().map_or_else(Steering::new, |turn| turn.steering().clone());
        let ended = (&self.request.cancellation, &steering);
        let (total, mut room) = (requests.len(), self.granted.limits.host_memory_bytes);
        let mut replies: Vec<Option<Reply>> = requests.iter().map(|_| None).collect();
        let mut count = 0;
        let take = |place: usize, reply| {
            replies[place] = Some(held(reply, &mut room));
            count += 1;
            // The caller does not wait for the progress of a cancelled batch, and its client may be gone.
            if !self.request.cancellation.is_cancelled() {
                self.record.progressed(progress(count, total));
            }
        };
        (self.host.makes_together)(self.host, requests, INNER_CALLS_AT_ONCE_MAX, ended, Box::new(take)).await;
        replies.into_iter().flatten().collect()
    }
}

/// Returns a call that the embedder does not know of.
fn unknown() -> BatchedCall {
    BatchedCall::new("").refused(Code::UnknownTool, "This call was not expected.")
}

/// Returns what a batch needs of a reply until it ends, as far as there is room.
fn held(reply: Reply, room: &mut usize) -> Reply {
    let message = if reply.output.is_some() { String::new() } else { reply.message };
    let output = reply.output.map(|output| match room.checked_sub(output.bytes()) {
        Some(left) => {
            *room = left;
            output
        }
        None => Output::Text(LOST_RESULT.to_owned()),
    });
    Reply { message, output, title: None, metadata: None, ..reply }
}

fn progress(ended: usize, total: usize) -> Progress {
    #[expect(clippy::cast_precision_loss, reason = "a batch has few calls")]
    let fraction = ended as f32 / total as f32;
    let title = Some(format!("{ended} of {total} calls have ended"));
    Progress { title, fraction: Some(fraction), ..Progress::default() }
}

/// Returns the time in which the tools of the calls ran, added up. It does not contain the time of approvers.
fn time_of(replies: &[Reply]) -> Duration {
    replies.iter().map(|reply| reply.usage.run.wall).sum()
}

fn cancelled(replies: &[Reply]) -> Rejection {
    let completed = replies.iter().filter(|reply| reply.outcome() == Outcome::Completed).count();
    let total = replies.len();
    Rejection::new(Code::Cancelled, format!("The call was cancelled. {completed} of its {total} calls had completed."))
}
