//! Leases: rows that say until when a process runs, by the database's clock. A process renews its lease. So a host that
//! died, or that cannot reach the database, is noticed by the others.

use crate::ledger::backend::error::Result;
use crate::ledger::owner::{CONTACT_GAP_MILLISECONDS, LEASE_MILLISECONDS};
use deadpool_postgres::{Object, Pool};
use portcullis_policy::recovery::RecoverMutex;
use std::collections::BTreeSet;
use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::runtime::Handle;

/// How often a lease is renewed. Several renewals can fail.
const RENEW_INTERVAL: Duration = Duration::from_secs(5);

/// Pause after a renewal that failed.
const RENEW_PAUSE: Duration = Duration::from_secs(1);

/// How long the token of a change is kept, in milliseconds. A host asks for it within 90 s.
const TOKENS_KEPT_MILLISECONDS: i64 = 10 * 60 * 1000;

/// How long the row of a dead process is kept, in milliseconds.
const DEAD_KEPT_MILLISECONDS: i64 = 24 * 60 * 60 * 1000;

/// Writes the leases of processes.
const RENEW: &str = "INSERT INTO host (id, alive_until) \
                     SELECT unnest($1::text[]), CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT) + $2 \
                     ON CONFLICT (id) DO UPDATE SET alive_until = excluded.alive_until";

/// Notes a gap that is not noted yet. A process without a lease does that: it is not heard itself, so it must not end
/// the gap. Otherwise no process would ever learn that all hosts are dead.
const NOTE_GAP: &str = "UPDATE contact SET since = time.now \
                        FROM (SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT) AS now) AS time \
                        WHERE time.now - heard_at > $1 AND since <= heard_at";

/// Notes that a host was heard, and whether that ended a gap.
const HEARD: &str = "UPDATE contact SET heard_at = time.now, \
                     since = CASE WHEN time.now - heard_at > $1 THEN time.now ELSE since END \
                     FROM (SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT) AS now) AS time";

/// The processes whose leases are renewed.
#[derive(Clone, Default)]
pub(super) struct Leases(Arc<Mutex<BTreeSet<String>>>);

/// A lease, which ends when it is dropped.
struct LeaseHold {
    owner: String,
    leases: Leases,
    pool: Pool,
    thread: Handle,
}

impl Leases {
    /// Renews a lease that is written, until the returned value is dropped.
    pub(super) fn hold(&self, owner: &str, pool: &Pool, thread: Handle) -> impl Send + Sync + use<> {
        self.0.lock_recovered().insert(owner.to_owned());
        LeaseHold { owner: owner.to_owned(), leases: self.clone(), pool: pool.clone(), thread }
    }

    /// Returns the processes whose leases are renewed here.
    pub(super) fn owners(&self) -> Vec<String> {
        self.0.lock_recovered().iter().cloned().collect()
    }

    /// Renews the leases as long as it is polled.
    pub(super) fn renewals(&self, pool: Pool) -> impl Future<Output = ()> + Send + use<> {
        let leases = self.clone();
        async move {
            loop {
                let owners = leases.owners();
                if owners.is_empty() {
                    // A command that only looks is no host. It noted a gap when it opened, and may run for hours.
                    tokio::time::sleep(RENEW_INTERVAL).await;
                    if let Ok(client) = pool.get().await {
                        let _ = note_gap(&client).await;
                    }
                    continue;
                }
                let renewed = async {
                    let client = pool.get().await.ok()?;
                    renew(&client, &owners).await.ok()?;
                    forget_old(&client).await.ok()
                };
                let pause = if renewed.await.is_some() { RENEW_INTERVAL } else { RENEW_PAUSE };
                tokio::time::sleep(pause).await;
            }
        }
    }
}

impl Drop for LeaseHold {
    fn drop(&mut self) {
        self.leases.0.lock_recovered().remove(&self.owner);
        let (pool, owner) = (self.pool.clone(), std::mem::take(&mut self.owner));
        // If the database cannot be reached, or the thread ends first, the lease expires.
        drop(self.thread.spawn(async move {
            if let Ok(client) = pool.get().await {
                let _ = end(&client, &[owner]).await;
            }
        }));
    }
}

/// Writes the leases of processes.
pub(super) async fn renew(client: &Object, owners: &[String]) -> Result<()> {
    let statement = client.prepare_cached(HEARD).await?;
    client.execute(&statement, &[&CONTACT_GAP_MILLISECONDS]).await?;
    let statement = client.prepare_cached(RENEW).await?;
    client.execute(&statement, &[&owners, &LEASE_MILLISECONDS]).await?;
    Ok(())
}

/// Notes that no host was heard for a time, if that is so. From now on each has the time of a lease to renew its own.
pub(super) async fn note_gap(client: &Object) -> Result<()> {
    let statement = client.prepare_cached(NOTE_GAP).await?;
    client.execute(&statement, &[&CONTACT_GAP_MILLISECONDS]).await?;
    Ok(())
}

/// Ends the leases of processes.
pub(super) async fn end(client: &Object, owners: &[String]) -> Result<()> {
    let statement = client.prepare_cached("DELETE FROM host WHERE id = ANY($1)").await?;
    client.execute(&statement, &[&owners]).await?;
    Ok(())
}

/// Deletes rows that no host asks for any more.
async fn forget_old(client: &Object) -> Result<()> {
    let delete = "DELETE FROM committed \
                  WHERE at < CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT) - $1";
    let statement = client.prepare_cached(delete).await?;
    client.execute(&statement, &[&TOKENS_KEPT_MILLISECONDS]).await?;
    let delete = "DELETE FROM host \
                  WHERE alive_until < CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT) - $1";
    let statement = client.prepare_cached(delete).await?;
    client.execute(&statement, &[&DEAD_KEPT_MILLISECONDS]).await?;
    Ok(())
}
