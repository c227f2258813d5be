//! The calls of this server that any host can continue, because the hosts share a ledger. They take the place of the
//! calls that one process keeps in memory.
//!
//! A call runs where it began. There, [`keeper`] reports what it does, and cancels it when another host says so. A
//! request that waits for the call, on any host, follows it ([`follower`]).

mod follower;
mod keeper;

use super::hold::SharedHold;
use super::running::RunningCall;
use super::stage::CallStage;
use portcullis::approvals::LedgerError;
use portcullis::policy::{Principal, ToolName};
use portcullis::shared_calls::{SharedCall, SharedCallKind, SharedCalls};
use portcullis::text::WithCauses;
use rmcp::ErrorData;
use rmcp::model::RequestStateCodec;
use std::time::Duration;
use tokio::sync::{oneshot, watch};
use tokio_util::sync::{CancellationToken, DropGuard};

/// The calls of this server that any host can continue.
pub(crate) struct SharedShelf {
    pub(crate) calls: SharedCalls,
    /// Seals states with a key that all hosts have.
    pub(super) codec: Option<RequestStateCodec>,
    /// Cancelled when the server ends. The calls that run here end then.
    over: CancellationToken,
    _ends: DropGuard,
}

impl SharedShelf {
    pub(crate) fn new(calls: SharedCalls) -> Self {
        let codec = RequestStateCodec::try_new(calls.state_key()).ok();
        let over = CancellationToken::new();
        Self { calls, codec, over: over.clone(), _ends: over.drop_guard() }
    }

    /// Keeps a call until its client comes back, to this host or another. Gives the call back if that is not possible.
    pub(crate) async fn keep(
        &self,
        (kind, principal, tool): (SharedCallKind, &Principal, &ToolName),
        running: RunningCall,
        lifetime: Duration,
    ) -> Result<SharedCall, RunningCall> {
        if let Some(SharedHold { id, .. }) = running.shared() {
            return match self.calls.leave(kind, principal, id, lifetime).await {
                Ok(Some(call)) => {
                    running.let_go();
                    Ok(call)
                }
                Ok(None) | Err(_) => Err(running),
            };
        }
        let (told, shared) = oneshot::channel();
        let about = (kind, principal.clone(), tool.clone());
        // A task of its own, so that a request that is dropped meanwhile leaves no call that no host ends.
        drop(tokio::spawn(keeper::share((self.calls.clone(), self.over.clone()), about, (running, lifetime), told)));
        // The task only ends without a word when the runtime does.
        match shared.await {
            Ok(shared) => shared,
            Err(_) => std::future::pending().await,
        }
    }

    /// Takes up a call for a request of its client, which received the approval request with this id before.
    pub(super) fn take_up(&self, principal: &Principal, call: &SharedCall, asked: &str) -> RunningCall {
        let stage = CallStage::of(call);
        let parked = stage.at.question().filter(|question| question.id == asked).cloned();
        let (sender, stages) = watch::channel(stage);
        let follow = follower::follow(self.calls.clone(), principal.clone(), call.id.clone(), sender);
        let (calls, principal, id) = (self.calls.clone(), principal.clone(), call.id.clone());
        let hold = SharedHold { calls, principal, id, follower: tokio::spawn(follow).abort_handle() };
        RunningCall::take_up(stages, hold, parked)
    }
}

/// Returns the error for a call that cannot be found or changed now.
pub(crate) fn unavailable(error: &LedgerError) -> ErrorData {
    let why = format!("the ledger cannot be used, and the call is unchanged: {}. Try again later", WithCauses(error));
    ErrorData::internal_error(why, None)
}
