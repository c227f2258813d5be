//! Whose turn it is among the calls of a batch: so many at once, and those that change something alone.
//!
//! It is a monitor: a running call that waits for a person lets go of its turn, and takes it again before it goes on.

use crate::admission::{CallOrder, CallOrderGuard, Runs};
use crate::catalog::Tool;
use crate::steering::Steering;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// What the calls of one batch share.
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
    held: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    runs: Option<Runs>,
    turn: Option<Guards>,
}

/// What a call holds while it is its turn. The fields are there to be dropped.
#[derive(Debug)]
struct Guards {
    _order: CallOrderGuard,
    _place: OwnedSemaphorePermit,
}

/// Gives a call's turn back when it is dropped.
pub(crate) struct UntilOver(Arc<Turn>);

impl Turns {
    pub(crate) fn new(at_once: usize) -> Arc<Self> {
        Arc::new(Self { places: Arc::new(Semaphore::new(at_once)), order: CallOrder::default() })
    }

    /// The turn of one more call.
    pub(crate) fn turn(self: &Arc<Self>, steering: Steering) -> Arc<Turn> {
        Arc::new(Turn { turns: Arc::clone(self), steering, held: Mutex::default() })
    }
}

impl Turn {
    pub(crate) fn steering(&self) -> &Steering {
        &self.steering
    }

    /// Whatever is taken is given back when this is dropped, which is when the call is over.
    pub(crate) fn until_over(self: &Arc<Self>) -> UntilOver {
        UntilOver(Arc::clone(self))
    }

    /// Waits until it is the turn of a call of this tool.
    pub(crate) async fn take(&self, tool: &Tool) {
        self.held().runs = Some(Runs::of(tool));
        self.resume().await;
    }

    /// Lets others go on, while a person is asked.
    pub(crate) fn release(&self) {
        let turn = self.held().turn.take();
        drop(turn);
    }

    /// Waits until it is this call's turn again. Does nothing where it is.
    pub(crate) async fn resume(&self) {
        let Some(runs) = self.missing() else { return };
        // Take the place first, so that a call that waits for the order only waits for calls that have both. Neither is
        // ever closed.
        let Ok(place) = Arc::clone(&self.turns.places).acquire_owned().await else { return };
        let order = self.turns.order.clone().take(runs).await;
        self.held().turn = Some(Guards { _order: order, _place: place });
    }

    /// What a call that began its turn and let go of it has to take again.
    fn missing(&self) -> Option<Runs> {
        let held = self.held();
        held.runs.filter(|_| held.turn.is_none())
    }

    fn held(&self) -> std::sync::MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for UntilOver {
    fn drop(&mut self) {
        self.0.release();
    }
}
