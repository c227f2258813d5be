//! How a transport stops. Calls in flight may finish within a grace period. The others are cancelled, and their clients
//! get an error that says why.

use crate::rpc_error;
use portcullis::{Host, Outcome, Reply};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use std::time::Duration;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

/// Grace period for calls in flight when their transport stops. It is enough for a short call, and for the responses
/// that a script expects after it has closed its input.
const GRACE: Duration = Duration::from_millis(500);
/// Interval at which to check whether calls are still in flight.
const LOOK_INTERVAL: Duration = Duration::from_millis(5);

/// The stop signal of one transport. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct TransportStop {
    begun: CancellationToken,
    late: CancellationToken,
}

impl TransportStop {
    /// Refuses calls from now on.
    pub(crate) fn begin(&self) {
        self.begun.cancel();
    }

    /// Returns a token that is cancelled when the transport begins to stop.
    pub(crate) fn begun(&self) -> &CancellationToken {
        &self.begun
    }

    /// Returns a token that is cancelled when no call is in flight or the grace period is over.
    pub(crate) fn late(&self) -> &CancellationToken {
        &self.late
    }

    /// Waits until no call is in flight or the grace period is over. Then ends the remaining calls.
    pub(crate) async fn end_calls(&self, is_idle: impl Fn() -> bool) {
        // The result does not matter: if the transport is idle, there is no call to cancel.
        let _ = timeout(GRACE, until(is_idle)).await;
        self.late.cancel();
    }

    /// Ends the calls in flight immediately.
    pub(crate) fn end_calls_now(&self) {
        self.begun.cancel();
        self.late.cancel();
    }

    /// Returns whether [`Self::unwanted`] would not wait.
    pub(crate) fn is_unwanted(&self, cx: &RequestContext<RoleServer>) -> bool {
        cx.ct.is_cancelled() || self.late.is_cancelled()
    }

    /// Waits until the client of a request cancels or disconnects, or the grace period is over.
    pub(crate) async fn unwanted(&self, cx: &RequestContext<RoleServer>) {
        tokio::select! {
            () = cx.ct.cancelled() => {}
            () = self.late.cancelled() => {}
        }
    }

    /// Checks whether a call may begin.
    ///
    /// # Errors
    /// The transport is stopping.
    pub(crate) fn admit(&self) -> Result<(), ErrorData> {
        if self.begun.is_cancelled() {
            return Err(rpc_error::stopping("the server is stopping: the call was not started"));
        }
        Ok(())
    }

    /// Returns the error for a call that was cancelled because the transport is stopping.
    pub(crate) fn cut_off(&self, reply: &Reply) -> Option<ErrorData> {
        if !self.late.is_cancelled() || reply.outcome() != Outcome::Cancelled {
            return None;
        }
        let message = "the server is stopping: the call was cancelled, and its side effects until then remain";
        Some(rpc_error::stopping(message))
    }
}

/// Waits until every call of a host has ended and has its audit entry. Returns whether that happened within `most`.
pub(crate) async fn settled_within(host: &Host, most: Duration) -> bool {
    timeout(most, until(|| host.calls_under_way() == 0)).await.is_ok()
}

async fn until(holds: impl Fn() -> bool) {
    while !holds() {
        sleep(LOOK_INTERVAL).await;
    }
}
