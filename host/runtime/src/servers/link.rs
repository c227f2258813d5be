//! The way to one server: a connection that is opened when it is needed, and again after it has ended.

use super::connection::ServerConnection;
use super::error::ServerFault;
use super::grant::ServerGrant;
use super::listing::{self, ListedServer};
use portcullis_ledger::logins::ServerLogins;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::{Mutex, watch};
use tokio::time::sleep;
use tokio_util::task::AbortOnDropHandle;

/// The wait after the second failure in a row. It doubles with each further one. The first retry is immediate, because
/// a server may have ended long ago.
const RETRY_DELAY: Duration = Duration::from_secs(1);

/// Maximum wait before a server is started again. A person who has mended it does not want to wait longer.
const RETRY_DELAY_MAX: Duration = Duration::from_secs(60);

/// The wait between two changes of a server's list of tools that the host looks at. A server that changes more often is
/// looked at this often.
const CHANGE_INTERVAL: Duration = Duration::from_secs(1);

/// Counts the changes of all servers of a host.
#[derive(Clone, Debug)]
pub(crate) struct ServerChanges(Arc<watch::Sender<u64>>);

/// The way to one server.
pub(crate) struct ServerLink {
    state: Mutex<LinkState>,
    changes: ServerChanges,
    logins: Arc<ServerLogins>,
    /// How many changes of its tools the server has announced.
    announced: Arc<AtomicU64>,
}

#[derive(Default)]
struct LinkState {
    open: Option<OpenLink>,
    /// The number of failures in a row, the end of the wait after the last one, and its reason.
    failures: u32,
    retry_at: Option<Instant>,
    why: String,
}

struct OpenLink {
    connection: Arc<ServerConnection>,
    /// Passes on that the tools have changed.
    _follower: AbortOnDropHandle<()>,
}

impl Default for ServerChanges {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(0)))
    }
}

impl ServerChanges {
    /// Returns a receiver that sees when some server changes its tools.
    #[cfg(feature = "watch")]
    pub(crate) fn subscribe(&self) -> watch::Receiver<u64> {
        self.0.subscribe()
    }
}

impl ServerLink {
    /// Creates the way to a server. It is not started.
    pub(crate) fn new(changes: &ServerChanges, logins: &Arc<ServerLogins>) -> Self {
        let (changes, logins) = (changes.clone(), Arc::clone(logins));
        Self { state: Mutex::default(), changes, logins, announced: Arc::default() }
    }

    /// Returns how many changes of its tools the server has announced. A list with another number may be out of date.
    pub(crate) fn announced(&self) -> u64 {
        self.announced.load(Ordering::Acquire)
    }

    /// Lists the tools of the server. Starts it if necessary.
    ///
    /// # Errors
    /// It does not start, or does not list its tools.
    pub(crate) async fn list(&self, grant: ServerGrant<'_>) -> Result<ListedServer, ServerFault> {
        let connection = self.connection(grant).await?;
        // Read before the list, so that a change during the list makes it out of date.
        let announced = self.announced();
        let tools = connection.client.tools().await.map_err(|error| ServerFault::list(&error))?;
        Ok(listing::listed(connection.client.identity(), tools, grant.policy(), announced))
    }

    /// Returns the connection. Starts the server if it does not run, or was started with something else.
    pub(super) async fn connection(&self, grant: ServerGrant<'_>) -> Result<Arc<ServerConnection>, ServerFault> {
        // Held while the server starts, so that calls at the same time start it once.
        let mut state = self.state.lock().await;
        if let Some(open) = &state.open {
            if open.connection.serves(grant) {
                return Ok(Arc::clone(&open.connection));
            }
            // Calls that still use it end with it, when the last of them is over.
            state.open = None;
        }
        state.may_start()?;
        match ServerConnection::open(grant, &self.logins).await {
            Ok(connection) => {
                let connection = Arc::new(connection);
                let follower = AbortOnDropHandle::new(tokio::spawn(follow(
                    connection.client.changed(),
                    Arc::clone(&self.announced),
                    self.changes.clone(),
                )));
                *state = LinkState {
                    open: Some(OpenLink { connection: Arc::clone(&connection), _follower: follower }),
                    ..LinkState::default()
                };
                Ok(connection)
            }
            Err(fault) => {
                if !fault.needs_a_person() {
                    state.failed(&fault);
                }
                Err(fault)
            }
        }
    }
}

impl LinkState {
    /// Refuses a start while the wait after the last failure lasts.
    fn may_start(&self) -> Result<(), ServerFault> {
        let wait = self.retry_at.map(|at| at.saturating_duration_since(Instant::now())).unwrap_or_default();
        if wait.is_zero() {
            return Ok(());
        }
        Err(ServerFault::Waiting { failures: self.failures, wait, why: self.why.clone() })
    }

    fn failed(&mut self, fault: &ServerFault) {
        self.failures = self.failures.saturating_add(1);
        self.why = fault.to_string();
        self.retry_at = retry_delay(self.failures).map(|delay| Instant::now() + delay);
    }
}

/// Returns the wait after this many failures in a row.
fn retry_delay(failures: u32) -> Option<Duration> {
    let doublings = failures.checked_sub(2)?;
    Some(RETRY_DELAY.saturating_mul(2_u32.saturating_pow(doublings)).min(RETRY_DELAY_MAX))
}

/// Passes on that a server has changed its tools, as long as the connection is open.
async fn follow(mut changed: watch::Receiver<u64>, announced: Arc<AtomicU64>, changes: ServerChanges) {
    while changed.changed().await.is_ok() {
        announced.fetch_add(1, Ordering::AcqRel);
        changes.0.send_modify(|count| *count = count.wrapping_add(1));
        sleep(CHANGE_INTERVAL).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_fails_again_and_again_is_started_ever_more_rarely() {
        let seconds = |failures| retry_delay(failures).map(|delay| delay.as_secs());
        assert_eq!(
            [1, 2, 3, 4, 8, 9, u32::MAX].map(seconds),
            [None, Some(1), Some(2), Some(4), Some(60), Some(60), Some(60),]
        );
        let mut state = LinkState::default();
        for _ in 0..2 {
            assert!(state.may_start().is_ok());
            state.failed(&ServerFault::NotBound);
        }
        let refused = state.may_start().unwrap_err();
        assert!(refused.to_string().contains("failed 2 times in a row") && refused.retry_after().is_some());
    }
}
