//! The order of the calls of one session: those that change something run alone, the others beside each other.

use super::Applicant;
use super::lock_file::{OrderFile, OrderFiles};
use crate::catalog::Tool;
use portcullis_policy::{Hint, Permission, Principal};
use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock};

/// Number of sessions after which those without a call are forgotten. A session that is forgotten costs its next call
/// one allocation.
const IDLE_SESSIONS_MAX: usize = 1024;

/// The sessions that have calls, each with its order.
pub(super) struct SessionOrders {
    sessions: Mutex<HashMap<(Principal, Arc<str>), SessionOrder>>,
    /// Where sessions are shared with other processes.
    files: Option<OrderFiles>,
}

/// Held shared by calls that change nothing, and alone by those that may. First come, first served.
type SessionOrder = Arc<RwLock<()>>;

/// Which order a call takes, and how.
#[derive(Clone, Debug)]
pub(super) struct OrderKey {
    session: (Principal, Arc<str>),
    runs: Runs,
}

/// Beside which calls of its session, or of its batch, a call may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Runs {
    BesideOthers,
    Alone,
}

/// A call's part in the order of its session, until it is dropped. The fields are there for that.
#[derive(Debug)]
pub(super) struct OrderGuard {
    _file: Option<OrderFile>,
    _memory: MemoryGuard,
}

#[derive(Debug)]
enum MemoryGuard {
    Shared { _guard: OwnedRwLockReadGuard<()> },
    Alone { _guard: OwnedRwLockWriteGuard<()> },
}

impl OrderKey {
    pub(super) fn of(applicant: &Applicant<'_>) -> Self {
        let session = (applicant.principal.clone(), Arc::clone(applicant.session));
        Self { session, runs: Runs::of(applicant.tool) }
    }
}

impl SessionOrders {
    pub(super) fn new(files: Option<OrderFiles>) -> Self {
        Self { sessions: Mutex::default(), files }
    }

    /// Waits until the call may run beside the others of its session.
    ///
    /// # Errors
    /// The lock file of the session cannot be used.
    pub(super) async fn take(&self, OrderKey { session, runs }: &OrderKey) -> io::Result<OrderGuard> {
        let order = self.of(session);
        let memory = match runs {
            Runs::BesideOthers => MemoryGuard::Shared { _guard: order.read_owned().await },
            Runs::Alone => MemoryGuard::Alone { _guard: order.write_owned().await },
        };
        let file = match &self.files {
            Some(files) => Some(files.take((&session.0, &session.1), *runs).await?),
            None => None,
        };
        Ok(OrderGuard { _file: file, _memory: memory })
    }

    fn of(&self, session: &(Principal, Arc<str>)) -> SessionOrder {
        let mut orders = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(order) = orders.get(session) {
            return Arc::clone(order);
        }
        if orders.len() >= IDLE_SESSIONS_MAX {
            // Whoever holds an order or waits for it has a clone. Clones are made under this lock.
            orders.retain(|_, order| Arc::strong_count(order) > 1);
        }
        Arc::clone(orders.entry(session.clone()).or_default())
    }
}

impl Runs {
    /// How calls of a tool run. A hint counts here because it can only make a tool wait.
    pub(crate) fn of(tool: &Tool) -> Self {
        let permissions = tool.permissions();
        let changes = permissions.contains(Permission::Write) || permissions.contains(Permission::Execute);
        if changes || tool.hints().contains(&Hint::Sequential) { Self::Alone } else { Self::BesideOthers }
    }
}
