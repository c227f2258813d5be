//! The Streamable HTTP transport, over an HTTP client of the embedder.
//!
//! The protocol library keeps the session and reconnects event streams. This module sends its requests, and checks
//! every message before the library reads it.

mod backend;
mod client;
mod events;
mod failure;
mod seen_tools;

pub use backend::{ExchangeError, ExchangeFuture, HttpBody, HttpExchange, collect_body};
pub(crate) use failure::{HttpFailure, failure};

use crate::limits::ServerLimits;
use crate::traffic::Traffic;
use client::ExchangeClient;
use rmcp::RoleClient;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::Transport;
use rmcp::transport::common::client_side_sse::ExponentialBackoff;
use rmcp::transport::streamable_http_client::{StreamableHttpClientTransportConfig, StreamableHttpError};
use std::sync::Arc;
use std::time::Duration;

/// Maximum attempts to open an event stream again, one after another.
const RECONNECTS_MAX: usize = 10;

/// Maximum wait before an event stream is opened again.
const RECONNECT_WAIT_MAX: Duration = Duration::from_secs(60);

/// Returns the transport to the server at an address.
pub(crate) fn transport(
    exchange: Arc<dyn HttpExchange>,
    address: &str,
    limits: &ServerLimits,
    traffic: Arc<Traffic>,
) -> impl Transport<RoleClient, Error = StreamableHttpError<ExchangeError>> + 'static {
    let mut retry = ExponentialBackoff::default();
    retry.max_times = Some(RECONNECTS_MAX);
    retry.max_delay = Some(RECONNECT_WAIT_MAX);
    let mut config = StreamableHttpClientTransportConfig::with_uri(address)
        .max_sse_event_size(limits.message_bytes)
        // A new session can be another server. So the connection ends, and the caller checks the next one.
        .reinit_on_expired_session(false);
    config.retry_config = Arc::new(retry);
    StreamableHttpClientTransport::with_client(ExchangeClient::new(exchange, limits.clone(), traffic), config)
}
