//! One request of the host and its answer.

use crate::closing::CloseReason;
use crate::decode::MALFORMED_ANSWER;
use crate::error::ServerError;
use crate::http::{self, HttpFailure};
use crate::traffic::Traffic;
use rmcp::RoleClient;
use rmcp::model::{ClientRequest, ServerResult};
use rmcp::service::{Peer, PeerRequestOptions, RequestHandle, ServiceError};
use std::sync::Arc;
use tokio::runtime::Handle;

/// A request of the host that the server is working on. Dropping it before its answer cancels it.
pub(crate) struct OpenExchange {
    /// `None` once there is an answer.
    handle: Option<RequestHandle<RoleClient>>,
    traffic: Arc<Traffic>,
}

impl OpenExchange {
    /// Sends a request.
    pub(crate) async fn begin(
        peer: &Peer<RoleClient>,
        traffic: &Arc<Traffic>,
        request: ClientRequest,
    ) -> Result<Self, ServerError> {
        let sent = peer.send_cancellable_request(request, PeerRequestOptions::no_options());
        let handle = sent.await.map_err(|error| convert(error, traffic))?;
        Ok(Self { handle: Some(handle), traffic: Arc::clone(traffic) })
    }

    /// Waits for the answer.
    pub(crate) async fn answer(&mut self) -> Result<ServerResult, ServerError> {
        let Some(handle) = &mut self.handle else { return Err(closed(&self.traffic)) };
        let answer = tokio::select! {
            // The answer first: a server may answer and exit at once.
            biased;
            answer = &mut handle.rx => answer,
            _ = self.traffic.closed() => {
                self.handle = None;
                return Err(closed(&self.traffic));
            }
        };
        self.handle = None;
        match answer {
            Ok(Ok(result)) => Ok(result),
            Ok(Err(error)) => Err(convert(error, &self.traffic)),
            Err(_) => Err(closed(&self.traffic)),
        }
    }
}

impl Drop for OpenExchange {
    fn drop(&mut self) {
        // The server must not keep working on an answer that no caller reads. This does not wait until it knows.
        // Without a runtime, `spawn` would panic.
        if let (Some(handle), Ok(runtime)) = (self.handle.take(), Handle::try_current()) {
            runtime.spawn(handle.cancel(Some("the caller no longer needs the answer".to_owned())));
        }
    }
}

fn closed(traffic: &Traffic) -> ServerError {
    ServerError::Closed(traffic.close_reason().unwrap_or(CloseReason::Broken))
}

fn convert(error: ServiceError, traffic: &Traffic) -> ServerError {
    match error {
        // A hostile server can send this code too.
        ServiceError::McpError(error) if error.code == MALFORMED_ANSWER => ServerError::malformed(&error.message),
        ServiceError::McpError(error) => ServerError::refused(error.code.0, &error.message),
        // After the end of the connection, its reason says more than the failed write.
        ServiceError::TransportSend(error) if traffic.close_reason().is_none() => match http::failure(&error) {
            Some(HttpFailure::Unauthorized { challenge }) => ServerError::Unauthorized { challenge },
            Some(HttpFailure::Status { status, retry_after }) => ServerError::HttpStatus { status, retry_after },
            Some(HttpFailure::NoResponse { problem }) => ServerError::NotSent(problem.into()),
            None => ServerError::NotSent(error.error),
        },
        ServiceError::TransportSend(_) | ServiceError::TransportClosed => closed(traffic),
        ServiceError::Cancelled { .. } => ServerError::Cancelled,
        other => ServerError::malformed(&other.to_string()),
    }
}
