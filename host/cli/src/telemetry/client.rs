//! Sends telemetry to a collector: HTTP on a connection of its own for each report, without a redirect, a proxy or a
//! cookie.

use super::settings::port;
use http::header::{HOST, HeaderValue};
use http::uri::Uri;
use http_body_util::{BodyExt, Full, Limited};
use hyper::client::conn::http1::handshake;
use hyper_util::rt::TokioIo;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use portcullis::text::OneLine;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::runtime::Handle;
use tokio::time::timeout;

/// Maximum time for one report, from the connection to the response.
const REPORT_TIME_MAX: Duration = Duration::from_secs(10);

/// Maximum bytes of a response of the collector. Its content is not used.
const RESPONSE_BYTES_MAX: usize = 64 * 1024;

/// A client of the collector. Clones share whether the last report arrived.
#[derive(Clone, Debug)]
pub(super) struct CollectorClient {
    /// The runtime on which reports are sent. The library sends them from a thread without one.
    runtime: Handle,
    is_failing: Arc<AtomicBool>,
}

impl CollectorClient {
    /// Creates a client that sends on the current runtime.
    pub(super) fn new() -> Self {
        Self { runtime: Handle::current(), is_failing: Arc::default() }
    }

    /// Sends a report.
    ///
    /// # Errors
    /// The collector cannot be reached in time, or does not speak HTTP.
    pub(super) async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let sent = timeout(REPORT_TIME_MAX, send(request)).await;
        let sent = sent.unwrap_or_else(|_| Err("it does not answer in time".into()));
        self.note(&sent);
        sent
    }

    /// Writes a line to the log when reports begin to fail, and when they arrive again.
    fn note(&self, sent: &Result<Response<Bytes>, HttpError>) {
        let fault = match sent {
            Ok(response) if response.status().is_success() => None,
            Ok(response) => Some(format!("it answered {}", response.status())),
            Err(error) => Some(error.to_string()),
        };
        // `Relaxed`: the flag only decides whether a line is logged.
        let was_failing = self.is_failing.swap(fault.is_some(), Ordering::Relaxed);
        match fault {
            Some(fault) if !was_failing => tracing::warn!(
                target: "portcullis::server",
                event = "telemetry",
                "the collector does not take telemetry: {}",
                OneLine(&fault)
            ),
            None if was_failing => tracing::info!(
                target: "portcullis::server",
                event = "telemetry",
                "the collector takes telemetry again"
            ),
            Some(_) | None => {}
        }
    }
}

impl HttpClient for CollectorClient {
    fn send_bytes<'client, 'sent>(
        &'client self,
        request: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'sent>>
    where
        'client: 'sent,
        Self: 'sent,
    {
        let client = self.clone();
        let sending = self.runtime.spawn(async move { client.send(request).await });
        Box::pin(async { sending.await? })
    }
}

#[expect(clippy::disallowed_methods, reason = "the operator names the collector, and no guest reaches it through this")]
async fn send(mut request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
    let endpoint = std::mem::take(request.uri_mut());
    let authority = endpoint.authority().ok_or("the endpoint has no host")?.clone();
    // A URL has an IPv6 address in brackets, and `connect` takes it without them.
    let host = authority.host().trim_start_matches('[').trim_end_matches(']');
    let stream = TcpStream::connect((host, port(&endpoint))).await?;
    let (mut sender, connection) = handshake(TokioIo::new(stream)).await?;
    // The connection makes progress only while it is polled. It ends when `sender` is dropped.
    tokio::spawn(connection);
    // A server gets the path alone (RFC 9112 section 3.2.1).
    *request.uri_mut() = endpoint.path_and_query().map_or(Ok(Uri::default()), |path| path.as_str().parse())?;
    request.headers_mut().insert(HOST, HeaderValue::from_str(authority.as_str())?);
    let response = sender.send_request(request.map(Full::new)).await?;
    let (parts, body) = response.into_parts();
    let body = Limited::new(body, RESPONSE_BYTES_MAX).collect().await?.to_bytes();
    Ok(Response::from_parts(parts, body))
}
