//! A server that serves, and how it stops.

use super::access::LiveAccess;
use super::options::{Access, STOP_TIME};
use crate::stopping::{Stopping, settled_within};
use portcullis::Host;
use std::fmt;
use std::net::SocketAddr;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// The path of the server.
pub const ENDPOINT: &str = "/mcp";

/// A server that serves. Dropping it stops it as well, without waiting for anything.
pub struct Running {
    pub(super) address: SocketAddr,
    pub(super) host: Host,
    pub(super) access: LiveAccess,
    pub(super) stopping: Stopping,
    /// Ends what is still open when the connections have had their time.
    pub(super) over: CancellationToken,
    pub(super) connections: JoinHandle<()>,
}

impl Running {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address that clients are given.
    pub fn url(&self) -> String {
        format!("http://{}{}", self.address, ENDPOINT)
    }

    /// Replaces the access for later requests, for example when the operator's file of tokens or keys changed. The
    /// authorization server that clients are pointed to stays the original one.
    pub fn replace_access(&self, access: Access) {
        self.access.replace(access);
    }

    /// Stops: takes no more requests, and gives calls in flight half a second to finish. Cancels the others, whose
    /// clients get the error -32000. Waits until each is answered and recorded, as long as that may take.
    pub async fn stop(mut self) {
        self.stopping.begin();
        self.stopping.end_calls(|| self.host.calls_under_way() == 0).await;
        // Where the task broke, there are no connections either.
        drop((&mut self.connections).await);
        self.over.cancel();
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
        self.stopping.end_calls_now();
        self.over.cancel();
    }
}

/// Waits until every call of a host has ended and is recorded, as long as the end of a server may take. Whether they
/// have.
pub async fn settled(host: &Host) -> bool {
    settled_within(host, STOP_TIME).await
}
