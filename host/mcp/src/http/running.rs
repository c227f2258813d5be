//! A server that serves, and how it stops.

use super::access::LiveAccess;
use super::options::{Access, STOP_TIME};
use portcullis::Host;
use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

/// How often it is looked whether calls have ended.
const LOOK_PAUSE: Duration = Duration::from_millis(5);

/// A server that serves. Dropping it stops it as well, without waiting for anything.
pub struct Running {
    pub(super) address: SocketAddr,
    pub(super) host: Host,
    pub(super) access: LiveAccess,
    pub(super) stopping: CancellationToken,
    pub(super) connections: JoinHandle<()>,
}

impl Running {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address that clients are given.
    pub fn url(&self) -> String {
        format!("http://{}{}", self.address, super::ENDPOINT)
    }

    /// Replaces the access for later requests, for example when the operator's file of tokens or keys changed. The
    /// authorization server that clients are pointed to stays the original one.
    pub fn replace_access(&self, access: Access) {
        self.access.replace(access);
    }

    /// Stops: takes no more requests, cancels the calls that run, and waits until each is recorded, as long as that may
    /// take.
    pub async fn stop(mut self) {
        self.stopping.cancel();
        // Where the task broke, there are no connections either.
        drop((&mut self.connections).await);
        settled(&self.host).await;
    }
}

impl fmt::Debug for Running {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Running").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stopping.cancel();
    }
}

/// Waits until every call of a host has ended and is recorded, as long as the end of a server may take. Whether they
/// have.
pub async fn settled(host: &Host) -> bool {
    let over = async {
        while host.calls_under_way() > 0 {
            sleep(LOOK_PAUSE).await;
        }
    };
    timeout(STOP_TIME, over).await.is_ok()
}
