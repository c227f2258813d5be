//! Connects to a server.

use crate::client::{ServerClient, ServerConnection};
use crate::closing::CloseReason;
use crate::error::ConnectError;
use crate::guard::GuardedTransport;
use crate::handler::RequestHandler;
use crate::http::{self, HttpExchange, HttpFailure};
use crate::identity::ServerIdentity;
use crate::limits::ServerLimits;
use crate::requests::ServerRequests;
use crate::stdio::StdioTransport;
use crate::subscription;
use crate::traffic::Traffic;
use portcullis_definitions::text;
use rmcp::RoleClient;
use rmcp::model::{ProtocolVersion, ServerPeerInfo};
use rmcp::service::{ClientInitializeError, ClientLifecycleMode, RunningService, serve_client_with_lifecycle};
use rmcp::transport::Transport;
use std::pin::Pin;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// Maximum length of what a server answers in an error, in bytes.
const PROBLEM_BYTES_MAX: usize = 1024;

/// The standard streams of a server.
#[derive(Debug)]
pub struct ServerStreams<R, W> {
    /// The server's standard output.
    pub output: R,
    /// The server's standard input.
    pub input: W,
}

/// The eras of the protocol that a client tries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ServerEra {
    /// First the modern era, then the one before it. Right for almost every server.
    #[default]
    Detect,
    /// The versions with a handshake, up to 2025-11-25. For a server that exits at an unknown first request.
    Handshake,
    /// The versions without a handshake, from 2026-07-28 on.
    Modern,
}

/// Connects to a server over its standard streams. `requests` replies to what the server asks.
///
/// Lines of the server that are no messages, such as a banner, are skipped up to
/// [`noise_bytes`](ServerLimits::noise_bytes) between two messages.
///
/// # Errors
/// The server does not introduce itself in time, or not as an MCP server.
pub async fn connect<R, W>(
    streams: ServerStreams<R, W>,
    limits: ServerLimits,
    requests: Arc<dyn ServerRequests>,
) -> Result<ServerClient, ConnectError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    connect_in_era(streams, limits, requests, ServerEra::Detect).await
}

/// Connects to a server as [`connect`] does, in an era of the caller's choice.
///
/// # Errors
/// The server does not introduce itself in time, or not as an MCP server.
pub async fn connect_in_era<R, W>(
    streams: ServerStreams<R, W>,
    limits: ServerLimits,
    requests: Arc<dyn ServerRequests>,
    era: ServerEra,
) -> Result<ServerClient, ConnectError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let traffic = Arc::new(Traffic::new());
    let transport = StdioTransport::new(streams.output, streams.input, &limits, Arc::clone(&traffic));
    start(transport, traffic, limits, requests, era).await
}

/// Connects to a server at an address, over Streamable HTTP. `exchange` sends the requests.
///
/// # Errors
/// The address is none, or the server does not introduce itself in time, or not as an MCP server.
pub async fn connect_over_http(
    exchange: Arc<dyn HttpExchange>,
    address: &str,
    limits: ServerLimits,
    requests: Arc<dyn ServerRequests>,
    era: ServerEra,
) -> Result<ServerClient, ConnectError> {
    let traffic = Arc::new(Traffic::new());
    let transport = http::transport(exchange, address, &limits, Arc::clone(&traffic));
    start(transport, traffic, limits, requests, era).await
}

/// Introduces the host to the server behind a transport, and starts the tasks of the connection.
pub(crate) async fn start<T: Transport<RoleClient> + 'static>(
    transport: T,
    traffic: Arc<Traffic>,
    limits: ServerLimits,
    requests: Arc<dyn ServerRequests>,
    era: ServerEra,
) -> Result<ServerClient, ConnectError> {
    let transport = GuardedTransport::new(transport, Arc::clone(&traffic), limits.discovery_time);
    let handler = RequestHandler::new(Arc::clone(&requests), Arc::clone(&traffic), limits.clone());
    let serving = serve_client_with_lifecycle(handler, transport, lifecycle(era));
    // Boxed, because the future's type is too deeply nested to be part of another future.
    let serving: Pin<Box<dyn Future<Output = _> + Send>> = Box::pin(serving);
    let running = match timeout(limits.connect_time, serving).await {
        Ok(served) => served.map_err(|error| connect_error(error, &traffic))?,
        Err(_) => return Err(ConnectError::Timeout { max: limits.connect_time }),
    };
    traffic.note_start();
    let peer = running.peer().clone();
    let info = peer.peer_info();
    let info = info.as_deref().ok_or(ConnectError::Closed(CloseReason::Broken))?;
    // In a handshake, the library accepts any version that the server names.
    if !ProtocolVersion::KNOWN_VERSIONS.contains(&info.protocol_version) {
        return Err(unsupported(std::slice::from_ref(&info.protocol_version)));
    }
    if reports_changes_to_subscribers(info) {
        tokio::spawn(subscription::keep(peer.clone(), Arc::clone(&traffic)));
    }
    let ended = CancellationToken::new();
    tokio::spawn(wait_for_end(running, Arc::clone(&traffic), ended.clone()));
    let identity = ServerIdentity::of(info);
    Ok(ServerClient::new(ServerConnection { peer, traffic, limits, requests, identity, ended }))
}

async fn wait_for_end(
    running: RunningService<RoleClient, RequestHandler>,
    traffic: Arc<Traffic>,
    ended: CancellationToken,
) {
    let waited = running.waiting().await;
    // Only counts if the transport has given no reason before.
    traffic.close(if waited.is_ok() { CloseReason::Shutdown } else { CloseReason::Broken });
    ended.cancel();
}

fn lifecycle(era: ServerEra) -> ClientLifecycleMode {
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    match era {
        ServerEra::Detect => ClientLifecycleMode::Auto {
            preferred_versions,
            legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
        },
        ServerEra::Handshake => ClientLifecycleMode::Initialize,
        ServerEra::Modern => ClientLifecycleMode::Discover { preferred_versions },
    }
}

/// Returns whether a server only reports changes of its tools to subscribers.
fn reports_changes_to_subscribers(info: &ServerPeerInfo) -> bool {
    let reports = info.capabilities.tools.as_ref().is_some_and(|tools| tools.list_changed == Some(true));
    reports && !info.protocol_version.has_initialize()
}

fn connect_error(error: ClientInitializeError, traffic: &Traffic) -> ConnectError {
    // The transport knows why it closed. The library only sees that the connection is gone.
    if let Some(reason) = traffic.close_reason() {
        return ConnectError::Closed(reason);
    }
    match error {
        ClientInitializeError::ConnectionClosed(_) => ConnectError::Closed(CloseReason::EndOfOutput),
        ClientInitializeError::NoCompatibleProtocolVersion { server_supported, .. } => unsupported(&server_supported),
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => connect_error(*fallback, traffic),
        ClientInitializeError::TransportError { error, .. } => match http::failure(&error) {
            Some(HttpFailure::Unauthorized { challenge }) => ConnectError::Unauthorized { challenge },
            Some(HttpFailure::Status { status, retry_after }) => ConnectError::HttpStatus { status, retry_after },
            Some(HttpFailure::NoResponse { problem }) => ConnectError::NotSent(problem.into()),
            None => ConnectError::NotSent(error.error),
        },
        error => ConnectError::Refused { problem: text::cut(&error.to_string(), PROBLEM_BYTES_MAX).to_owned() },
    }
}

fn unsupported(versions: &[ProtocolVersion]) -> ConnectError {
    let list =
        |versions: &[ProtocolVersion]| versions.iter().map(ProtocolVersion::as_str).collect::<Vec<_>>().join(", ");
    ConnectError::UnsupportedVersion {
        version: text::cut(&list(versions), PROBLEM_BYTES_MAX).to_owned(),
        supported: list(ProtocolVersion::KNOWN_VERSIONS),
    }
}
