//! Sends one request on its own connection: secret, addresses, connection, TLS, HTTP, response.
//!
//! The request has already been permitted. Only the addresses of its host are still checked here, because they need a
//! DNS lookup.

use super::body::{BodyReading, RequestBody, ResponseBody};
use super::call::{NetworkCall, Record};
use super::client::Client;
use super::decode::Decoder;
use super::error::{HttpFailure, RequestRefusal};
use super::order::{Order, Timing};
use super::redact_stream::StreamRedactor;
use super::secret::{Vault, basic};
use super::secret_error::SecretError;
use super::tasks::Connection;
use super::{connect, headers, response_headers, tls};
use http::header::{AUTHORIZATION, HOST};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, Uri};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::rt::Executor;
use hyper_util::rt::TokioIo;
use portcullis_policy::{Destination, Host, Scheme, SecretSlot};
use rustls::ClientConfig;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout_at;
use wasmtime_wasi_http::WasiBody;
use zeroize::Zeroizing;

/// Maximum headers of a response.
const HEADERS_MAX: usize = 128;
/// Maximum length of all headers of a response together, in bytes.
const HEADER_BYTES_MAX: usize = 64 * 1024;
/// Maximum bytes to read ahead of a guest on an HTTP/1.1 connection.
const BUFFER_BYTES_MAX: usize = 128 * 1024;
/// Maximum bytes that a server may send ahead of a guest on an HTTP/2 connection.
const WINDOW_BYTES: u32 = 256 * 1024;
/// Maximum stream resets on an HTTP/2 connection, which has only one stream.
const RESETS_MAX: usize = 8;

/// Sends a request and waits for the head of its response.
pub(super) async fn exchange(order: Order) -> Result<Response<WasiBody>, HttpFailure> {
    timeout_at(order.timing.deadline, respond(order)).await.unwrap_or(Err(HttpFailure::Timeout))
}

async fn respond(order: Order) -> Result<Response<WasiBody>, HttpFailure> {
    let Order { client, destination, method, headers, body, timing, record, slot, authorization } = order;
    let mut head = RequestHead { method, headers, target: Zeroizing::new(destination.path_with_query()) };
    headers::complete(&mut head.headers);
    if let Some(authorization) = authorization {
        head.headers.insert(AUTHORIZATION, authorization);
    }
    if let Some(vault) = client.vault(&destination) {
        inject(vault, &mut head, &destination).await?;
    }
    // Open the secrets before anything is received. This server may repeat a secret that another call sent to another
    // server.
    record.call().open_secrets().await;
    let addresses = checked_addresses(&client, &destination, record.call()).await?;
    let stream = connect::connect(&addresses, timing.end(timing.connect)).await?;
    let over = Arc::new(AtomicBool::new(false));
    let limits = client.binding().limits;
    let body = RequestBody::new(body, limits.request_bytes, Arc::clone(&over), record.clone());
    let connection = Connection::new(stream, timing.deadline, slot, &record)?;
    let stream = connection.socket();
    let sent = match destination.scheme() {
        Scheme::Http => send_http1(head.plain(&destination, body)?, stream, &connection, &timing, &record).await,
        Scheme::Https => {
            let config = client.tls().ok_or_else(|| HttpFailure::Tls("this host does not support TLS".to_owned()))?;
            let handshake = tls::encrypt(&config, destination.host(), stream);
            let stream =
                timeout_at(timing.end(timing.connect), handshake).await.map_err(|_| HttpFailure::ConnectTimeout)??;
            if stream.get_ref().1.alpn_protocol() == Some(b"h2") {
                send_http2(head.framed(&destination, body)?, stream, &connection, &timing, &record).await
            } else {
                send_http1(head.plain(&destination, body)?, stream, &connection, &timing, &record).await
            }
        }
    };
    // hyper's error does not say that a limit was the cause, so both limits are checked first.
    let over_limit = |failure| match failure {
        _ if over.load(Ordering::Relaxed) => HttpFailure::RequestBody(limits.request_bytes),
        _ if connection.is_talked_out() => HttpFailure::ResponseHeaders,
        failure => failure,
    };
    let (mut parts, incoming) = sent.map_err(over_limit)?.into_parts();
    connection.response_begins();
    record.status(parts.status.as_u16());
    if parts.status.is_informational() {
        // The server would switch to another protocol here, which the request did not ask for.
        return Err(HttpFailure::Protocol);
    }
    let decoder = Decoder::of(&parts.headers)?;
    response_headers::clean(&mut parts.headers, decoder.changes_length(), record.call());
    response_headers::detach(&mut parts.headers);
    // Do not pass hyper's own data on to a guest.
    parts.extensions.clear();
    let reading = BodyReading {
        decoder,
        redactor: StreamRedactor::default(),
        limit: limits.response_bytes,
        request_limit: limits.request_bytes,
        request_over: over,
        deadline: timing.deadline,
        between: timing.between_bytes,
        record,
    };
    Ok(Response::from_parts(parts, ResponseBody::new(incoming, connection, reading).boxed_unsync()))
}

impl Client {
    /// Returns the TLS configuration with the client's roots.
    fn tls(&self) -> Option<Arc<ClientConfig>> {
        self.transport().tls().or_else(|| self.network().transport().tls())
    }

    /// Returns all addresses of a host. Neither a literal address nor a name in the call's cache needs a lookup.
    async fn addresses(&self, host: &Host, call: &NetworkCall) -> Result<Vec<IpAddr>, HttpFailure> {
        let name = match host {
            Host::Name(name) => name,
            Host::Address(address) => return Ok(vec![*address]),
        };
        // `checked_addresses` checks cached addresses again.
        if let Some(kept) = call.kept_addresses(name) {
            return Ok(kept);
        }
        let found = self.network().transport().name_servers().addresses(name).await?;
        call.keep_addresses(name, &found);
        Ok(found)
    }
}

/// Returns the addresses of the destination's host, if the policy allows all of them. A name with an allowed and a
/// forbidden address is suspicious, so the request is refused.
pub(super) async fn checked_addresses(
    client: &Client,
    destination: &Destination,
    call: &NetworkCall,
) -> Result<Vec<SocketAddr>, HttpFailure> {
    let addresses = client.addresses(destination.host(), call).await?;
    let checked = addresses.into_iter().map(|address| {
        let address = SocketAddr::new(address, destination.port());
        client.check_address(destination.host(), address).map(|()| address)
    });
    Ok(checked.collect::<Result<_, _>>()?)
}

/// The head of a request.
struct RequestHead {
    method: Method,
    headers: HeaderMap,
    /// The path and the query, which may contain a secret.
    target: Zeroizing<String>,
}

impl RequestHead {
    /// Returns the request for HTTP/1.1: the path in the request line, and the host in its header.
    fn plain(mut self, destination: &Destination, body: RequestBody) -> Result<Request<RequestBody>, HttpFailure> {
        let host = HeaderValue::try_from(destination.authority()).map_err(|_| HttpFailure::Protocol)?;
        self.headers.insert(HOST, host);
        let uri = Uri::try_from(self.target.as_str()).map_err(|_| HttpFailure::Protocol)?;
        self.request(uri, body)
    }

    /// Returns the request for HTTP/2: everything in the URI, from which HTTP/2 derives its own headers.
    fn framed(self, destination: &Destination, body: RequestBody) -> Result<Request<RequestBody>, HttpFailure> {
        let uri = Uri::builder()
            .scheme(destination.scheme().to_string().as_str())
            .authority(destination.authority())
            .path_and_query(self.target.as_str())
            .build()
            .map_err(|_| HttpFailure::Protocol)?;
        self.request(uri, body)
    }

    fn request(self, uri: Uri, body: RequestBody) -> Result<Request<RequestBody>, HttpFailure> {
        let mut request =
            Request::builder().method(self.method).uri(uri).body(body).map_err(|_| HttpFailure::Protocol)?;
        *request.headers_mut() = self.headers;
        Ok(request)
    }
}

/// Adds the secret to a request. If the secret cannot be read, the request is not sent.
async fn inject(vault: &Vault, head: &mut RequestHead, destination: &Destination) -> Result<(), RequestRefusal> {
    let refused = |error| RequestRefusal::Secret { host: destination.host().to_string(), error };
    let charge = vault.open().await.map_err(refused)?;
    let secret = &charge.secret;
    match vault.slot() {
        SecretSlot::Header { name, value } => {
            let filled = Zeroizing::new(SecretSlot::fill(value, secret.expose()));
            let name = HeaderName::try_from(name).map_err(|_| refused(SecretError::Characters))?;
            head.headers.insert(name, sensitive(&filled).ok_or_else(|| refused(SecretError::Characters))?);
        }
        SecretSlot::Basic { user } => {
            let filled = Zeroizing::new(format!("Basic {}", *basic(user, secret)));
            head.headers.insert(AUTHORIZATION, sensitive(&filled).ok_or_else(|| refused(SecretError::Characters))?);
        }
        SecretSlot::Query { name } => headers::append_parameter(&mut head.target, name, secret.expose()),
    }
    Ok(())
}

/// Returns a header value that hyper neither prints nor adds to the compression table of HTTP/2.
fn sensitive(value: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(value).ok()?;
    value.set_sensitive(true);
    Some(value)
}

async fn send_http1<S>(
    request: Request<RequestBody>,
    stream: S,
    connection: &Connection,
    timing: &Timing,
    record: &Record,
) -> Result<Response<Incoming>, HttpFailure>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let mut builder = hyper::client::conn::http1::Builder::new();
    builder.max_headers(HEADERS_MAX).max_buf_size(BUFFER_BYTES_MAX).max_header_size(HEADER_BYTES_MAX);
    let handshake = builder.handshake(TokioIo::new(stream)).await;
    let (mut sender, task) = handshake.map_err(|error| HttpFailure::from_hyper(&error))?;
    connection.spawner().execute(task);
    record.sending();
    first_byte(timing, sender.send_request(request)).await
}

async fn send_http2<S>(
    request: Request<RequestBody>,
    stream: S,
    connection: &Connection,
    timing: &Timing,
    record: &Record,
) -> Result<Response<Incoming>, HttpFailure>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let mut builder = hyper::client::conn::http2::Builder::new(connection.spawner());
    builder
        .max_header_list_size(u32::try_from(HEADER_BYTES_MAX).unwrap_or(u32::MAX))
        .initial_stream_window_size(WINDOW_BYTES)
        .initial_connection_window_size(WINDOW_BYTES)
        .max_concurrent_reset_streams(RESETS_MAX)
        .max_pending_accept_reset_streams(RESETS_MAX);
    let handshake = builder.handshake(TokioIo::new(stream)).await;
    let (mut sender, task) = handshake.map_err(|error| HttpFailure::from_hyper(&error))?;
    connection.spawner().execute(task);
    record.sending();
    first_byte(timing, sender.send_request(request)).await
}

/// Waits for the head of a response, up to the timeouts of the guest and the grant.
async fn first_byte(
    timing: &Timing,
    sent: impl Future<Output = hyper::Result<Response<Incoming>>>,
) -> Result<Response<Incoming>, HttpFailure> {
    let response = timeout_at(timing.end(timing.first_byte), sent).await;
    response.map_err(|_| HttpFailure::Timeout)?.map_err(|error| HttpFailure::from_hyper(&error))
}
