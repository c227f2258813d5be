//! A connected server.

use crate::call::{CallContext, ServerCall};
use crate::closing::CloseReason;
use crate::error::ServerError;
use crate::identity::ServerIdentity;
use crate::limits::ServerLimits;
use crate::list;
use crate::offers::{OfferContext, ServerOffer};
use crate::requests::ServerRequests;
use crate::tool::ServerTool;
use crate::traffic::Traffic;
use portcullis_definitions::manifest::Answer;
use rmcp::RoleClient;
use rmcp::service::Peer;
use serde_json::{Map, Value};
use std::fmt;
use std::sync::Arc;
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// A connected server. A clone is the same connection, which ends when the last clone is dropped.
#[derive(Clone)]
pub struct ServerClient {
    connection: Arc<ServerConnection>,
}

/// A connection to a server.
pub(crate) struct ServerConnection {
    pub(crate) peer: Peer<RoleClient>,
    pub(crate) traffic: Arc<Traffic>,
    pub(crate) limits: ServerLimits,
    pub(crate) requests: Arc<dyn ServerRequests>,
    pub(crate) identity: ServerIdentity,
    /// Cancelled when the connection has ended and its streams are closed.
    pub(crate) ended: CancellationToken,
}

impl ServerClient {
    pub(crate) fn new(connection: ServerConnection) -> Self {
        Self { connection: Arc::new(connection) }
    }

    /// Returns how the server introduces itself.
    pub fn identity(&self) -> &ServerIdentity {
        &self.connection.identity
    }

    /// Lists all tools of the server. Every list is a new one: nothing is cached.
    ///
    /// # Errors
    /// The server does not answer in time, or lists more than the limits allow.
    pub async fn tools(&self) -> Result<Vec<ServerTool>, ServerError> {
        let ServerConnection { peer, traffic, limits, .. } = &*self.connection;
        list::list_tools(peer, traffic, limits).await
    }

    /// Calls a tool. If this future is dropped, the call is cancelled.
    ///
    /// The outer result says whether the server answered, the inner one what the tool answered.
    ///
    /// # Errors
    /// There is no answer, or none within the limits.
    pub async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        call: ServerCall,
    ) -> Result<Answer, ServerError> {
        let ServerConnection { peer, traffic, limits, requests, .. } = &*self.connection;
        CallContext { peer, traffic, limits, requests: &**requests }.call(tool, arguments, call).await
    }

    /// Returns what the server offers besides tools, in the form of an answer of a tool. If this future is dropped, the
    /// request is cancelled.
    ///
    /// # Errors
    /// There is no answer, or none within the limits.
    pub async fn offer(&self, offer: ServerOffer) -> Result<Answer, ServerError> {
        let ServerConnection { peer, traffic, limits, .. } = &*self.connection;
        OfferContext { peer, traffic, limits }.get(offer).await
    }

    /// Returns how often the server has said that its tools changed. A flood of such messages only changes the number.
    pub fn changed(&self) -> watch::Receiver<u64> {
        self.connection.traffic.changes()
    }

    /// Waits until the connection has ended, and returns why.
    pub async fn closed(&self) -> CloseReason {
        self.connection.traffic.closed().await
    }

    /// Returns why the connection has ended, if it has.
    pub fn close_reason(&self) -> Option<CloseReason> {
        self.connection.traffic.close_reason()
    }

    /// Ends the connection: calls in flight fail, and the server sees the end of its input. A server that does not exit
    /// then must be killed by the caller.
    pub async fn shutdown(&self) {
        self.connection.traffic.close(CloseReason::Shutdown);
        // The streams are closed even if this does not wait for it.
        let _ = timeout(self.connection.limits.shutdown_time, self.connection.ended.cancelled()).await;
    }
}

impl Drop for ServerConnection {
    fn drop(&mut self) {
        self.traffic.close(CloseReason::Shutdown);
    }
}

impl fmt::Debug for ServerClient {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ServerClient").field("identity", self.identity()).finish_non_exhaustive()
    }
}
