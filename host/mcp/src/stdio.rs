//! The stdio transport: one client, one message per line, on standard input and output.
//!
//! It replaces the library's own transport for four reasons. Messages go through the host's strict JSON parser, so
//! that no later stage reads them differently. No two running requests share an id. Only messages reach the client,
//! even if other code prints to standard output. And it runs tool calls itself, on as few threads as they need.

mod in_flight;
mod lines;
mod output;
mod streams;
mod tool_calls;
mod wire;

use crate::error::ServerError;
use crate::server::Server;
use crate::stopping::TransportStop;
use in_flight::InFlight;
use output::ClientOutput;
use rmcp::ServiceExt;
use rmcp::service::{QuitReason, ServerInitializeError};
use std::convert::Infallible;
use std::future::pending;
use std::pin::Pin;
use tokio_util::sync::CancellationToken;
use tool_calls::CallSession;
use wire::{TransportEnd, Wire};

/// Serves one client over standard input and output, until it closes its end. Calls in flight may then finish within
/// half a second before they are cancelled. From now on, standard output belongs to the protocol. What other code
/// prints there goes to standard error.
///
/// # Errors
/// The streams cannot be taken over, or the session ended with an error.
pub async fn serve_stdio(server: Server) -> Result<(), ServerError> {
    serve_stdio_until(server, pending()).await
}

/// Serves one client over standard input and output, until it closes its end or `stop` completes. Then calls in flight
/// may finish within half a second. The others are cancelled, and the client gets the error -32000.
///
/// # Errors
/// The streams cannot be taken over, or the session ended with an error.
pub async fn serve_stdio_until(server: Server, stop: impl Future<Output = ()>) -> Result<(), ServerError> {
    let (end, stopping) = (CancellationToken::new(), TransportStop::default());
    let streams = streams::take()?;
    let in_flight = InFlight::default();
    let farewell = TransportEnd { stopping: stopping.clone(), in_flight, end: end.clone() };
    let (output, session) = (ClientOutput::new(streams.output, end.clone()), CallSession::default());
    let wire = Wire::new(streams.input, output, session.clone(), farewell.clone());
    // Boxed, because the service's future type is too deeply nested to be part of another future.
    let served: Pin<Box<dyn Future<Output = _> + Send>> =
        Box::pin(serve(server.served_until(stopping.clone()), wire, session, end));
    let stopped = async {
        stop.await;
        stopping.begin();
        farewell.say().await;
        // The session now ends by itself, and `served` returns how.
        pending::<Infallible>().await
    };
    let ended = tokio::select! {
        ended = served => ended,
        never = stopped => match never {},
    };
    streams.written.finish().await;
    match ended? {
        QuitReason::JoinError(error) => Err(ServerError::Broken(error.to_string())),
        _ => Ok(()),
    }
}

async fn serve(
    server: Server,
    wire: Wire,
    session: CallSession,
    end: CancellationToken,
) -> Result<QuitReason, ServerError> {
    match server.clone().serve_with_ct(wire, end).await {
        Ok(running) => {
            session.begin(server, running.peer().clone());
            running.waiting().await.map_err(|error| ServerError::Broken(error.to_string()))
        }
        // A client that disconnects before its first message has ended the session normally.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => Ok(QuitReason::Closed),
        Err(error) => Err(ServerError::Broken(error.to_string())),
    }
}
