//! Finds out where an approved call runs, and runs it here if its own process no longer waits for it.

use super::super::conduct::{INTERRUPTED, to_its_end};
use super::super::no_result::fail_as;
use super::super::{Context, call, reply};
use super::refusal;
use crate::arguments::AskMode;
use crate::exit_code::Exit;
use crate::failure::FailureCode;
use crate::opening;
use crate::progress::StatusLine;
use portcullis::approvals::{ApprovalError, Status};
use portcullis::{Approvals, Cancellation};
use std::future::pending;
use std::time::Duration;

/// How often to check an approved call of another process.
const LOOK: Duration = Duration::from_millis(100);

/// How many times to check. A waiting process takes its answer within a few tenths of a second, unless it is exiting.
const LOOKS_MAX: u32 = 20;

/// Where an approved call runs.
#[derive(Debug)]
pub(in crate::commands) enum RunPlace {
    /// In the process that made the request, now.
    There,
    /// In the process that made the request, when its client makes the call again.
    Later,
    /// In this process.
    Here,
    Nowhere(ApprovalError),
}

/// Waits until the process that made the request takes the answer, and returns where the call runs.
pub(super) async fn run_place(approvals: &Approvals, id: &str) -> RunPlace {
    let mut places = run_places(approvals, vec![id.to_owned()]).await;
    // `run_places` returns a place for each id. The default runs nothing here.
    places.pop().map_or(RunPlace::Later, |(_, place)| place)
}

/// Waits until the processes that made these requests take the answers, and returns where each call runs. Waits for all
/// of them together no longer than for one.
pub(in crate::commands) async fn run_places(approvals: &Approvals, mut ids: Vec<String>) -> Vec<(String, RunPlace)> {
    let mut places = Vec::with_capacity(ids.len());
    for _ in 0..LOOKS_MAX {
        let mut waiting = Vec::new();
        for id in ids {
            let question = match approvals.question(&id).await {
                Ok(question) => question,
                Err(error) => {
                    places.push((id, RunPlace::Nowhere(error)));
                    continue;
                }
            };
            match question.status {
                Status::Running | Status::Done => places.push((id, RunPlace::There)),
                // No process waits for it any more, so none would run it.
                Status::Approved if !question.waited_for => places.push((id, RunPlace::Here)),
                Status::Approved => waiting.push(id),
                Status::Pending | Status::Rejected | Status::Expired | Status::Withdrawn | Status::Lost => {
                    places.push((id, RunPlace::Nowhere(ApprovalError::Settled(question.status))));
                }
            }
        }
        ids = waiting;
        if ids.is_empty() {
            break;
        }
        tokio::time::sleep(LOOK).await;
    }
    places.extend(ids.into_iter().map(|id| (id, RunPlace::Later)));
    places
}

/// Runs an approved call of this tool in this process, as `portcullis call` does, and shows its reply.
pub(in crate::commands) async fn resume(id: &str, tool: &str, context: &Context) -> anyhow::Result<Exit> {
    let status = StatusLine::new(context.terminal);
    let cancellation = Cancellation::new();
    // The call may ask an approver for more while it runs.
    let channel = call::channel(AskMode::Auto, context, &status, &cancellation);
    let host = opening::open_with(context, &status, &channel, tool).await?;
    let resumed = host.resume_until(id, cancellation.clone());
    let ended = to_its_end(&host, &status, &cancellation, resumed, pending()).await?;
    match ended {
        Some(Ok(reply)) => {
            reply::show(&host, &reply, context)?;
            // The policy of this process denied the call before it spent the approval.
            let wants_more = reply::wants_a_wider_policy(&reply);
            if wants_more && host.approvals().question(id).await?.status == Status::Approved {
                context
                    .terminal
                    .note("the approval is still valid: approve again under the policy of the request (--policy FILE)");
            }
            Ok(Exit::after(&reply))
        }
        Some(Err(error)) => refusal::tell_of(&error, id, host.approvals(), context).await,
        None => fail_as(FailureCode::Interrupted, INTERRUPTED, Exit::ToolFailed, context),
    }
}
