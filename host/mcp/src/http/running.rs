//! A running HTTP server, and how it stops.

use super::access::LiveAccess;
use super::error::HttpError;
use super::operations::{Operations, OperationsOptions};
use super::options::{Access, STOP_TIME};
use super::readiness::Readiness;
use super::refusals::{HttpCounters, Refusals};
use crate::stopping::{TransportStop, settled_within};
use portcullis::Host;
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// The path of the MCP endpoint.
pub const ENDPOINT: &str = "/mcp";

/// A running HTTP server. Dropping it also stops it, without waiting for anything.
pub struct Running {
    pub(super) address: SocketAddr,
    pub(super) host: Host,
    pub(super) access: LiveAccess,
    pub(super) readiness: Arc<Readiness>,
    pub(super) refusals: Arc<Refusals>,
    pub(super) stopping: TransportStop,
    /// Ends background tasks and streams, after the connections have ended.
    pub(super) over: CancellationToken,
    pub(super) connections: JoinHandle<()>,
}

impl Running {
    /// Returns the address that the server listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the URL for clients.
    pub fn url(&self) -> String {
        format!("http://{}{}", self.address, ENDPOINT)
    }

    /// Replaces the access for later requests, for example when the operator's file of tokens or keys changed. The
    /// metadata still names the original authorization server.
    pub fn replace_access(&self, access: Access) {
        self.access.replace(access);
    }

    /// Serves metrics and the probes at an address of their own, until the returned value is dropped. It makes the
    /// address unreachable for every plugin of the host.
    ///
    /// # Errors
    /// Other machines could reach the address and the options do not allow that, or the address cannot be bound.
    pub fn serve_operations(&self, options: OperationsOptions) -> Result<Operations, HttpError> {
        Operations::serve(options, &self.host, &self.readiness, &self.refusals)
    }

    /// Returns the counters of refused requests and connections.
    pub fn counters(&self) -> HttpCounters {
        HttpCounters(Arc::clone(&self.refusals))
    }

    /// Stops the server. It accepts no more requests, and gives calls in flight half a second to finish. It cancels the
    /// others, and their clients get the error -32000. It waits for their responses and audit entries, at most
    /// [`STOP_TIME`] for each. Meanwhile the readiness probe says that the server is stopping.
    pub async fn stop(mut self) {
        self.stopping.begin();
        self.stopping.end_calls(|| self.host.calls_under_way() == 0).await;
        // If the task panicked, its connections are gone too.
        drop((&mut self.connections).await);
        self.over.cancel();
        self.refusals.tell_all_left_out();
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

/// Waits until every call of a host has ended and has its audit entry, at most [`STOP_TIME`]. Returns whether that
/// happened.
pub async fn settled(host: &Host) -> bool {
    settled_within(host, STOP_TIME).await
}
