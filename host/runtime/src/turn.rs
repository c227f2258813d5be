//! Schedules the calls of a batch: a limited number runs at the same time, and calls that change something run alone.
//!
//! A running call that waits for an approver releases its turn, and takes it again before it continues.

use crate::admission::{CallOrder, CallOrderGuard, Runs};
use crate::catalog::Tool;
use crate::steering::Steering;
use portcullis_policy::recovery::RecoverMutex;
use std::sync::{Arc, Mutex};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The scheduling state that the calls of one batch share.
#[derive(Debug)]
pub(crate) struct Turns {
    places: Arc<Semaphore>,
    order: CallOrder,
}

/// The turn of one call.
#[derive(Debug)]
pub(crate) struct Turn {
    turns: Arc<Turns>,
    steering: Steering,
    held: Mutex<HeldTurn>,
}

#[derive(Debug, Default)]
struct HeldTurn {
    runs: Option<Runs>,
    turn: Option<Guards>,
}

/// The permit and lock of a running call. Held only for their `Drop`.
#[derive(Debug)]
struct Guards {
    _order: CallOrderGuard,
    _place: OwnedSemaphorePermit,
}

/// Releases a call's turn on drop.
pub(crate) struct TurnUntilOver(Arc<Turn>);

impl Turns {
    pub(crate) fn new(at_once: usize) -> Arc<Self> {
        Arc::new(Self { places: Arc::new(Semaphore::new(at_once)), order: CallOrder::default() })
    }

    /// Creates the turn of another call.
    pub(crate) fn turn(self: &Arc<Self>, steering: Steering) -> Arc<Turn> {
        Arc::new(Turn { turns: Arc::clone(self), steering, held: Mutex::default() })
    }
}

impl Turn {
    pub(crate) fn steering(&self) -> &Steering {
        &self.steering
    }

    /// Returns a guard that releases the turn when it is dropped, at the end of the call.
    pub(crate) fn until_over(self: &Arc<Self>) -> TurnUntilOver {
        TurnUntilOver(Arc::clone(self))
    }

    /// Waits for the turn of a call of this tool.
    pub(crate) async fn take(&self, tool: &Tool) {
        self.held().runs = Some(Runs::of(tool));
        self.resume().await;
    }

    /// Releases the turn for other calls while an approver is asked.
    pub(crate) fn release(&self) {
        let turn = self.held().turn.take();
        // Dropping it wakes other calls, so it happens outside the lock.
        drop(turn);
    }

    /// Takes the turn again. Does nothing if the call still has it.
    pub(crate) async fn resume(&self) {
        let Some(runs) = self.missing() else { return };
        // Acquire the permit before the lock, so that a call that waits for the lock only waits for calls that hold
        // both. Otherwise two calls could deadlock. The semaphore is never closed.
        let Ok(place) = Arc::clone(&self.turns.places).acquire_owned().await else { return };
        let order = self.turns.order.clone().take(runs).await;
        self.held().turn = Some(Guards { _order: order, _place: place });
    }

    /// Returns how to take the turn again, if the call has released it.
    fn missing(&self) -> Option<Runs> {
        let held = self.held();
        held.runs.filter(|_| held.turn.is_none())
    }

    fn held(&self) -> std::sync::MutexGuard<'_, HeldTurn> {
        self.held.lock_recovered()
    }
}

impl Drop for TurnUntilOver {
    fn drop(&mut self) {
        self.0.release();
    }
}
