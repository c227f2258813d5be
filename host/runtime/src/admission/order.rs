//! The order of the calls of one session. Calls that change something run alone, and others run concurrently.

use super::applicant::Applicant;
use super::lock_file::{OrderFile, OrderFiles};
use super::runs::Runs;
use portcullis_policy::Principal;
use portcullis_policy::recovery::RecoverMutex;
use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex};
use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock};

/// Number of sessions above which idle ones are removed. A removed session costs its next call one allocation.
const IDLE_SESSIONS_MAX: usize = 1024;

/// The sessions that have calls, each with its order.
pub(super) struct SessionOrders {
    sessions: Mutex<HashMap<(Principal, Arc<str>), CallOrder>>,
    /// The lock files, if sessions are shared with other processes.
    files: Option<OrderFiles>,
}

/// An order of calls, such as those of a session or of a batch. Calls that change nothing hold it shared, and other
/// calls hold it exclusively. It is fair: first come, first served. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallOrder(Arc<RwLock<()>>);

/// A call's place in an order. Held only for its `Drop`.
#[derive(Debug)]
pub(crate) enum CallOrderGuard {
    Shared { _guard: OwnedRwLockReadGuard<()> },
    Alone { _guard: OwnedRwLockWriteGuard<()> },
}

/// The order that a call takes, and whether it takes it exclusively.
#[derive(Clone, Debug)]
pub(super) struct OrderKey {
    session: (Principal, Arc<str>),
    runs: Runs,
}

/// A call's place in the order of its session. Held only for its `Drop`.
#[derive(Debug)]
pub(super) struct OrderGuard {
    // Fields are dropped in this order. So the next call of this process finds the file unlocked.
    _file: Option<OrderFile>,
    _memory: CallOrderGuard,
}

impl CallOrder {
    /// Waits until a call may run with the others of the order.
    pub(crate) async fn take(self, runs: Runs) -> CallOrderGuard {
        match runs {
            Runs::BesideOthers => CallOrderGuard::Shared { _guard: self.0.read_owned().await },
            Runs::Alone => CallOrderGuard::Alone { _guard: self.0.write_owned().await },
        }
    }
}

impl OrderKey {
    pub(super) fn of(applicant: &Applicant<'_>) -> Self {
        let session = (applicant.principal.clone(), Arc::clone(applicant.session));
        Self { session, runs: Runs::of(applicant.tool) }
    }

    /// Returns whether a call with another key may use the place of a call with this key.
    pub(super) fn covers(&self, other: &Self) -> bool {
        self.session == other.session && (self.runs == Runs::Alone || other.runs == Runs::BesideOthers)
    }
}

impl SessionOrders {
    pub(super) fn new(files: Option<OrderFiles>) -> Self {
        Self { sessions: Mutex::default(), files }
    }

    /// Waits until the call may run with the others of its session.
    ///
    /// # Errors
    /// The lock file of the session cannot be used.
    pub(super) async fn take(&self, OrderKey { session, runs }: &OrderKey) -> io::Result<OrderGuard> {
        // Take the fair lock in memory first. Then only calls that this process would run now poll the file.
        let memory = self.of(session).take(*runs).await;
        let file = match &self.files {
            Some(files) => Some(files.take((&session.0, &session.1), *runs).await?),
            None => None,
        };
        Ok(OrderGuard { _file: file, _memory: memory })
    }

    fn of(&self, session: &(Principal, Arc<str>)) -> CallOrder {
        let mut orders = self.sessions.lock_recovered();
        if let Some(order) = orders.get(session) {
            return order.clone();
        }
        if orders.len() >= IDLE_SESSIONS_MAX {
            // A call that holds an order or waits for it has a clone. Clones are only made under this lock, so the
            // count is exact.
            orders.retain(|_, order| Arc::strong_count(&order.0) > 1);
        }
        orders.entry(session.clone()).or_default().clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_serves_calls_of_its_session_that_exclude_no_more_calls() {
        let key = |principal: &str, session: &str, runs| {
            let session = (principal.parse().unwrap(), Arc::from(session));
            OrderKey { session, runs }
        };
        let [alone, beside] = [Runs::Alone, Runs::BesideOthers].map(|runs| key("alice", "main", runs));
        assert!(alone.covers(&alone) && alone.covers(&beside) && beside.covers(&beside));
        assert!(!beside.covers(&alone));
        assert!(!alone.covers(&key("bob", "main", Runs::Alone)));
        assert!(!alone.covers(&key("alice", "other", Runs::Alone)));
    }
}
