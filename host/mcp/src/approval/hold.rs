//! How a request reaches the call that it waits for: the call runs in this process, or it is shared and may run on
//! another host.

use portcullis::Cancellation;
use portcullis::policy::Principal;
use portcullis::shared_calls::{SharedCallKind, SharedCalls, may_work_later};
use std::time::Duration;
use tokio::task::AbortHandle;
use tokio::time::sleep;

/// Pause before a cancellation that could not be written is tried again.
const RETRY_PAUSE: Duration = Duration::from_secs(1);

/// How often a cancellation is tried. Each try waits up to 10 s for the database. After that, the call ends at its own
/// limits.
const TRIES_MAX: usize = 30;

/// How a request reaches its call.
pub(super) enum CallHold {
    /// It runs in a task of this process.
    Here {
        /// Cancels the call.
        cancellation: Cancellation,
        /// The task.
        task: AbortHandle,
    },
    /// It is shared. A task of this process follows it.
    Shared(SharedHold),
}

/// A shared call for which a request of this process waits. Dropping it stops following the call.
pub(super) struct SharedHold {
    pub(super) calls: SharedCalls,
    pub(super) principal: Principal,
    pub(super) id: String,
    pub(super) follower: AbortHandle,
}

impl CallHold {
    /// Cancels the call without a grace period.
    pub(super) fn cancel(&self) {
        match self {
            Self::Here { cancellation, .. } => cancellation.cancel_at_once(),
            Self::Shared(hold) => hold.cancel(),
        }
    }

    /// Ends the call, whose reply no one will read.
    pub(super) fn abort(&self) {
        match self {
            Self::Here { task, .. } => task.abort(),
            Self::Shared(hold) => hold.cancel(),
        }
    }
}

impl SharedHold {
    /// Cancels the call where it runs. The database may be out of reach for a while.
    fn cancel(&self) {
        let (calls, principal, id) = (self.calls.clone(), self.principal.clone(), self.id.clone());
        drop(tokio::spawn(async move {
            for _ in 0..TRIES_MAX {
                match calls.cancel(SharedCallKind::Round, &principal, &id).await {
                    Err(error) if may_work_later(&error) => sleep(RETRY_PAUSE).await,
                    Ok(_) | Err(_) => return,
                }
            }
        }));
    }

    /// Forgets the call, whose reply its client gets now.
    pub(super) fn forget(&self) {
        let (calls, id) = (self.calls.clone(), self.id.clone());
        // If that fails, it expires.
        drop(tokio::spawn(async move { drop(calls.forget(&id).await) }));
    }
}

impl Drop for SharedHold {
    fn drop(&mut self) {
        self.follower.abort();
    }
}
