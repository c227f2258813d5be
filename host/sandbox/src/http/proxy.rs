//! The proxy of a program: a listener in the program's own network, which is otherwise empty. Each request is decided
//! like a request of a guest, resolved and sent by the same client, and recorded in the same call.
//!
//! A program that encrypts its connections asks for a tunnel (`CONNECT`), of which the host sees the host and the port.

mod shared;
mod tunnel;

use super::error::{HttpFailure, RequestRefusal, bounded};
use super::order::{self, AskedRequest};
use super::proxy_setup::Proxy;
use super::{body_of, exchange, headers};
use crate::host_memory::MemoryCharge;
use http::header::{CONNECTION, CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use portcullis_policy::HttpRefusal;
use portcullis_policy::recovery::RecoverMutex;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use wasmtime_wasi_http::{Error, WasiBody};

/// Maximum connections of a program to its proxy at the same time. The others wait. Package managers open some dozens.
const PROXY_CONNECTIONS_MAX: usize = 32;

/// Maximum bytes that the host reads ahead on a connection from a program.
const PROXY_BUFFER_BYTES: usize = 32 * 1024;

/// Maximum memory of a connection from a program, in bytes: what is read ahead, and the request's head.
const PROXY_CONNECTION_BYTES: usize = 2 * PROXY_BUFFER_BYTES;

/// Maximum headers of a request.
const PROXY_HEADERS_MAX: usize = 128;

/// How long a connection from a program may be idle, and may take to send the head of a request.
const PROXY_IDLE_TIME: Duration = Duration::from_secs(30);

/// The wait after a connection that could not be accepted.
const ACCEPT_AGAIN_AFTER: Duration = Duration::from_millis(20);

/// How a refusal begins that a grant of the host and its port would lift. The plugin `shell` asks a person then.
const MISSING_HOST: &str = "no network to ";

impl Proxy {
    /// Serves the connections of a program until the result is dropped.
    pub(crate) async fn serve(self, listener: std::net::TcpListener) {
        // It was made in the program's network, and was set to not block.
        let Ok(listener) = TcpListener::from_std(listener) else { return };
        let room = Arc::new(Semaphore::new(PROXY_CONNECTIONS_MAX));
        let mut connections = JoinSet::new();
        loop {
            // The set would otherwise keep each task that has ended.
            while connections.try_join_next().is_some() {}
            // Before `accept`, so that further connections wait in the kernel, where they cost the host nothing.
            let Ok(place) = Arc::clone(&room).acquire_owned().await else { return };
            let Ok((stream, _)) = listener.accept().await else {
                // A connection was given up, or the process has too many open files for now.
                tokio::time::sleep(ACCEPT_AGAIN_AFTER).await;
                continue;
            };
            // A connection without room is closed, and the program sees its end.
            let Ok(charge) = self.memory.charge(PROXY_CONNECTION_BYTES) else { continue };
            let proxy = self.clone();
            connections.spawn(async move {
                proxy.connection(stream, charge).await;
                drop(place);
            });
        }
    }

    async fn connection(self, stream: TcpStream, _charge: MemoryCharge) {
        let tunnels = Arc::new(Mutex::new(JoinSet::new()));
        let mut builder = hyper::server::conn::http1::Builder::new();
        builder
            .max_headers(PROXY_HEADERS_MAX)
            .max_buf_size(PROXY_BUFFER_BYTES)
            .timer(TokioTimer::new())
            .header_read_timeout(PROXY_IDLE_TIME);
        let (proxy, opened) = (&self, &tunnels);
        let answer = service_fn(async move |request| {
            Ok::<_, Infallible>(proxy.answer(request, opened).await.unwrap_or_else(|refused| plain(&refused)))
        });
        // How the connection failed concerns only the program.
        let _ = builder.serve_connection(TokioIo::new(stream), answer).with_upgrades().await;
        // A tunnel goes on after the HTTP connection that it began on, and ends with this task.
        let mut tunnels = std::mem::take(&mut *tunnels.lock_recovered());
        while tunnels.join_next().await.is_some() {}
    }

    /// Answers one request. The error is the text for the program.
    async fn answer(
        &self,
        request: Request<Incoming>,
        tunnels: &Mutex<JoinSet<()>>,
    ) -> Result<Response<WasiBody>, RefusedRequest> {
        let (method, uri) = (request.method().clone(), request.uri().clone());
        let destination = match method {
            Method::CONNECT => tunnel::destination(&uri),
            _ => order::destination(&uri),
        };
        let destination = destination.map_err(RequestRefusal::from);
        let url = order::recorded_url(&destination, &uri);
        let record = self.call.record(method.as_str(), &url);
        let answered = match method {
            Method::CONNECT => self.open_tunnel(request, destination, record.clone(), tunnels).await,
            _ => {
                let asked = AskedRequest {
                    client: self.client_for(&destination),
                    request: without_connection(request),
                    options: None,
                    destination,
                };
                match asked.order(record.clone(), &self.memory) {
                    Ok(order) => exchange(order).await,
                    Err(failure) => Err(failure),
                }
            }
        };
        answered.map_err(|failure| {
            record.failed(&failure);
            let text = match &failure {
                HttpFailure::Refused(RequestRefusal::NoClient) => {
                    format!("{MISSING_HOST}it: the policy gives this program no network")
                }
                HttpFailure::Refused(RequestRefusal::Policy(why @ (HttpRefusal::Host(_) | HttpRefusal::Port(_)))) => {
                    format!("{MISSING_HOST}it: {why}")
                }
                failure => failure.to_string(),
            };
            let text = format!("{} {}: {text}", bounded(method.as_str()), bounded(&url));
            // A server that cannot be reached is no refusal.
            let is_refused =
                matches!(failure, HttpFailure::Refused(_) | HttpFailure::RequestBody(_) | HttpFailure::ResponseBody(_));
            if is_refused {
                self.refusals.add(text.clone());
            }
            RefusedRequest { status: if is_refused { StatusCode::FORBIDDEN } else { StatusCode::BAD_GATEWAY }, text }
        })
    }
}

/// A request without a response of a server.
struct RefusedRequest {
    status: StatusCode,
    text: String,
}

/// Returns the response that tells a program why there is no other.
fn plain(refused: &RefusedRequest) -> Response<WasiBody> {
    let text = format!("Portcullis: {}\n", refused.text);
    let mut response = Response::new(body_of(text.into()));
    *response.status_mut() = refused.status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}

/// Removes the headers that concern only the connection to the proxy (RFC 9110 section 7.6.1), and those that the host
/// sets itself.
fn without_connection(request: Request<Incoming>) -> Request<WasiBody> {
    let (mut parts, body) = request.into_parts();
    let named: Vec<HeaderName> = named_by_connection(&parts.headers);
    let removed: Vec<HeaderName> = parts
        .headers
        .keys()
        // The length frames the body and is checked against a limit, so the header `Connection` cannot remove it.
        .filter(|name| **name != CONTENT_LENGTH && (headers::is_kept(name) || named.contains(name)))
        .cloned()
        .collect();
    for name in removed {
        parts.headers.remove(name);
    }
    // The host's own data stays behind.
    parts.extensions.clear();
    let body = body.map_err(|_| Error::HttpProtocolError).boxed_unsync();
    Request::from_parts(parts, body)
}

/// Returns the headers that the header `Connection` names.
fn named_by_connection(headers: &HeaderMap) -> Vec<HeaderName> {
    let values = headers.get_all(CONNECTION).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).filter_map(|name| name.trim().parse().ok()).collect()
}
