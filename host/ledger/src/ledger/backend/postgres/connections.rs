//! The connections of a host to its database. Futures that talk to the database are awaited on threads that may block.

use super::address::Target;
use super::lease::Leases;
use super::news::{self, News};
use crate::ledger::backend::error::{DatabaseFault, Result};
use crate::ledger::error::LedgerError;
use deadpool_postgres::{Manager, ManagerConfig, Object, Pool, PoolError, RecyclingMethod};
use std::time::{Duration, Instant};
use tokio::runtime::{Handle, Runtime};

/// Maximum connections of one host, besides the one that listens. Changes run one after another, so more would wait.
const CONNECTIONS_MAX: usize = 8;

/// How long a transaction tries to begin while the database cannot be reached. As long as one waits for SQLite's lock.
pub(super) const REACH_TIME: Duration = Duration::from_secs(10);

/// Pause between two attempts to reach the database.
const REACH_PAUSE: Duration = Duration::from_millis(100);

/// How long one statement may take, including the wait for the lock of other hosts. The server stops a slower one.
const STATEMENT_TIME: Duration = Duration::from_secs(10);

/// How much longer than the server this host waits for a statement. The connection is then taken for lost.
const ANSWER_GRACE: Duration = Duration::from_secs(5);

/// The connections of a host to the database.
pub(super) struct Connections {
    pub(super) pool: Pool,
    /// The processes of this host, whose leases are renewed.
    pub(super) leases: Leases,
    /// What this host has heard of changes.
    pub(super) news: News,
    /// The address without the password, for messages.
    pub(super) place: String,
    /// The ports of the database.
    pub(super) ports: Vec<u16>,
    /// Drives the connections. `None` once they are closed.
    runtime: Option<Runtime>,
}

/// A connection that is closed when this is dropped, and not used again.
struct UnsureClient(Option<Object>);

impl Drop for UnsureClient {
    fn drop(&mut self) {
        if let Some(client) = self.0.take() {
            drop(Object::take(client));
        }
    }
}

impl Connections {
    /// Returns the connections to a database, which are made when they are needed.
    pub(super) fn to(target: &Target) -> std::result::Result<Self, LedgerError> {
        let Target { config, tls, place, ports } = target;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("portcullis-postgres")
            .enable_all()
            .build()?;
        // `Fast` asks the database nothing. If the connection was lost, `reach` takes another one.
        let recycling = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let manager = Manager::from_config(config.clone(), tls.clone(), recycling);
        let pool = Pool::builder(manager)
            .max_size(CONNECTIONS_MAX)
            .runtime(deadpool_postgres::Runtime::Tokio1)
            .wait_timeout(Some(REACH_TIME))
            .create_timeout(Some(STATEMENT_TIME))
            .recycle_timeout(Some(STATEMENT_TIME))
            .build()
            .map_err(|error| LedgerError::Address(error.to_string()))?;
        let (leases, news, place, ports) = (Leases::default(), News::default(), place.clone(), ports.clone());
        Ok(Self { pool, leases, news, place, ports, runtime: Some(runtime) })
    }

    /// Begins to listen for changes, on one more connection.
    pub(super) fn follow_news(&self, Target { config, tls, .. }: Target) {
        if let Some(runtime) = &self.runtime {
            drop(runtime.spawn(news::follow(config, tls, self.news.clone())));
        }
    }

    /// Waits for a future that talks to the database. Call it on a thread that may block.
    pub(super) fn wait<T>(&self, future: impl Future<Output = Result<T>>) -> Result<T> {
        let limit = STATEMENT_TIME + ANSWER_GRACE;
        let Some(runtime) = &self.runtime else { return Err(self.unreachable(Duration::ZERO, "it is closed")) };
        // A timeout must be made within a runtime, and this thread is outside of any until `block_on` polls.
        let answered = runtime.block_on(async { tokio::time::timeout(limit, future).await });
        answered.unwrap_or_else(|_| Err(self.unreachable(limit, "it does not answer")))
    }

    /// Runs work on a connection, and takes another connection as long as the database cannot be reached. The work must
    /// have no effect if its connection is lost.
    pub(super) fn reach<T>(
        &self,
        patience: Duration,
        work: &impl AsyncFn(&Object) -> Result<T>,
    ) -> Result<(Object, T)> {
        let begun = Instant::now();
        loop {
            let tried = self.wait(async {
                let client = match self.pool.get().await {
                    Ok(client) => client,
                    Err(PoolError::Backend(error)) => return Err(error.into()),
                    Err(error) => return Err(self.unreachable(REACH_TIME, &error.to_string())),
                };
                // If this fails or takes too long, the connection may be in the middle of a transaction.
                let mut unsure = UnsureClient(Some(client));
                let done = match &unsure.0 {
                    Some(client) => work(client).await?,
                    None => return Err(DatabaseFault::GivenUp),
                };
                unsure.0.take().map(|client| (client, done)).ok_or(DatabaseFault::GivenUp)
            });
            match tried {
                Err(fault) if fault.is_unreachable() && begun.elapsed() < patience => std::thread::sleep(REACH_PAUSE),
                Err(fault) if fault.is_unreachable() => {
                    return Err(self.unreachable(begun.elapsed(), &fault.to_string()));
                }
                tried => return tried,
            }
        }
    }

    pub(super) fn unreachable(&self, waited: Duration, why: &str) -> DatabaseFault {
        DatabaseFault::Unreachable { place: self.place.clone(), waited, why: why.to_owned() }
    }

    /// Returns the handle of the thread of the connections.
    pub(super) fn handle(&self) -> Option<Handle> {
        self.runtime.as_ref().map(|runtime| runtime.handle().clone())
    }
}

impl Drop for Connections {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // An async worker may drop this, and must not wait for the thread.
            runtime.shutdown_background();
        }
    }
}
