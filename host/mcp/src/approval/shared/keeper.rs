//! Minds a shared call where it runs: reports what it does, and cancels it when its client says so on any host.

use crate::approval::running::RunningCall;
use crate::approval::stage::CallPhase;
use portcullis::policy::{Principal, ToolName};
use portcullis::shared_calls::{Reported, SharedCall, SharedCallKind, SharedCallStop, SharedCalls};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

/// Pause before a report that could not be written is tried again.
const REPORT_PAUSE: Duration = Duration::from_secs(1);

/// Shares a call, and minds it until it is over. Gives the call back if it cannot be shared. `over` is cancelled when
/// the server ends.
pub(super) async fn share(
    (calls, over): (SharedCalls, CancellationToken),
    (kind, principal, tool): (SharedCallKind, Principal, ToolName),
    (mut running, lifetime): (RunningCall, Duration),
    told: oneshot::Sender<Result<SharedCall, RunningCall>>,
) {
    let state = running.phase().shared();
    match calls.share((kind, &principal, &tool), &state, lifetime).await {
        Ok(Some(call)) => {
            running.kept();
            let id = call.id.clone();
            if told.send(Ok(call)).is_err() {
                // The client disconnected before it got the id. Dropping the call ends it.
                drop(running);
                // If that fails, the row expires.
                drop(calls.forget(&id).await);
            } else if !state.has_ended() {
                mind(&calls, &id, running, &over).await;
            }
        }
        // If the client has disconnected, this drops the call.
        Ok(None) | Err(_) => drop(told.send(Err(running))),
    }
}

/// Reports what a call does until it is over or no longer shared. Dropping the call ends it.
async fn mind(calls: &SharedCalls, id: &str, mut running: RunningCall, over: &CancellationToken) {
    let mut orders = calls.watch(id);
    let mut unreported: Option<CallPhase> = None;
    let mut is_ending = false;
    loop {
        let waits_for_database = unreported.is_some();
        tokio::select! {
            phase = running.next_phase() => unreported = match phase {
                // Other hosts see in the ledger that a request is answered, so the work after it need not be reported.
                Some(CallPhase::Work) => None,
                Some(phase) => Some(phase),
                None => Some(CallPhase::Lost),
            },
            stop = orders.stopped() => match stop {
                SharedCallStop::Cancelled => running.cancel(),
                SharedCallStop::Gone => return,
            },
            // Only once: the token stays cancelled, and would be ready in every turn of the loop.
            () = over.cancelled(), if !is_ending => {
                is_ending = true;
                running.cancel();
            }
            () = sleep(REPORT_PAUSE), if waits_for_database => {}
        }
        if let Some(phase) = &unreported {
            match calls.report(id, &phase.shared()).await {
                Ok(Reported::Known) if phase.has_ended() => return,
                Ok(Reported::Known) => unreported = None,
                Ok(Reported::Gone) => return,
                // The call goes on. What it does is reported when the database can be reached.
                Err(_) => {}
            }
        }
    }
}
