//! A call's place among those that run at one time. While a person is asked in its middle, another call may have it:
//! the pool has room for so many calls that wait.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The most calls that wait for a person in their middle without a place. Each holds its memory meanwhile, so a host
/// may hold so many calls' memory more; who waits beyond that keeps its place.
pub(crate) const WAITING_RUNS_MAX: u32 = 16;

/// The places of a host.
pub(crate) struct Places {
    running: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
}

/// The place of one call.
#[derive(Debug, Default)]
pub(crate) struct Place(Mutex<Held>);

#[derive(Debug, Default)]
struct Held {
    running: Option<OwnedSemaphorePermit>,
    _waiting: Option<OwnedSemaphorePermit>,
}

/// A call has its place until this is dropped.
pub(crate) struct Placed(Arc<Place>);

impl Places {
    pub(crate) fn new(calls: u32) -> Self {
        Self {
            running: Arc::new(Semaphore::new(calls as usize)),
            waiting: Arc::new(Semaphore::new(waiting_runs(calls) as usize)),
        }
    }

    /// Waits for a place. It is never refused: nobody closes the places.
    pub(crate) async fn take(&self, place: &Arc<Place>) -> Placed {
        // From here on it is given back, also when the wait is dropped.
        let placed = Placed(Arc::clone(place));
        self.retake(place).await;
        placed
    }

    /// Lets another call have the place while a person is asked, if there is room for one more that waits.
    pub(crate) fn lend(&self, place: &Place) {
        let mut held = place.held();
        if held.running.is_none() {
            return;
        }
        if let Ok(waiting) = Arc::clone(&self.waiting).try_acquire_owned() {
            *held = Held { running: None, _waiting: Some(waiting) };
        }
    }

    /// Waits for the place again. Does nothing where it was kept.
    pub(crate) async fn retake(&self, place: &Place) {
        if place.held().running.is_some() {
            return;
        }
        if let Ok(running) = Arc::clone(&self.running).acquire_owned().await {
            *place.held() = Held { running: Some(running), _waiting: None };
        }
    }
}

impl Place {
    fn held(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Placed {
    fn drop(&mut self) {
        *self.0.held() = Held::default();
    }
}

/// Calls that may wait without a place beside so many that run.
pub(crate) fn waiting_runs(calls: u32) -> u32 {
    calls.min(WAITING_RUNS_MAX)
}
