//! The pipe transport: one client, one message a line, on the standard streams.
//!
//! The library has one of its own. This one is here for what that leaves to others: a message is read by the strict
//! reader of the host, so that nothing downstream reads it otherwise; no two running requests share an id; and nothing
//! but messages can reach the client, whoever prints.

mod lines;
mod streams;
mod wire;

use crate::error::ServerError;
use crate::server::Server;
use rmcp::ServiceExt;
use rmcp::service::{QuitReason, ServerInitializeError};
use tokio_util::sync::CancellationToken;
use wire::Wire;

/// Serves one client over the standard streams, until it closes its end. What it asked for before is given a moment
/// more, then cancelled. From here on, standard output belongs to the protocol: what anything else prints there goes to
/// standard error.
///
/// # Errors
/// The streams cannot be taken over, or serving broke off.
pub async fn serve_stdio(server: Server) -> Result<(), ServerError> {
    let end = CancellationToken::new();
    let streams = streams::take()?;
    let wire = Wire::new(streams.input, streams.output, end.clone());
    let ended = match server.serve_with_ct(wire, end).await {
        Ok(running) => running.waiting().await.map_err(|error| ServerError::Broken(error.to_string())),
        // A client that goes before it has said anything has ended the session as any other does.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => Ok(QuitReason::Closed),
        Err(error) => Err(ServerError::Broken(error.to_string())),
    };
    streams.written.finish().await;
    match ended? {
        QuitReason::JoinError(error) => Err(ServerError::Broken(error.to_string())),
        _ => Ok(()),
    }
}
