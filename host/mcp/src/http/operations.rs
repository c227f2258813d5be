//! The address for operators: metrics and the probes, apart from the tools.

use super::error::HttpError;
use super::guard::{self, AllowedHost, Hosts};
use super::options::{LINGER_TIME, Reach};
use super::probes;
use super::readiness::Readiness;
use super::refusals::{Refusals, recorded};
use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::Response;
use axum::routing::get;
use http::HeaderValue;
use http::header::CONTENT_TYPE;
use portcullis::Host;
use portcullis_listener::ListenerLimits;
use std::fmt;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

/// The path of the metrics.
pub const METRICS_PATH: &str = "/metrics";

/// The limits of the address: a few collectors, each of which keeps its connection between two scrapes.
const LIMITS: ListenerLimits = ListenerLimits {
    connections: 32,
    headers: 64,
    headers_bytes: 16 * 1024,
    first_headers_time: Duration::from_secs(10),
    headers_time: Duration::from_secs(120),
    linger_time: LINGER_TIME,
    stop_time: Duration::from_secs(1),
};

/// Length of the system's queue of connections to accept.
const WAITING_CONNECTIONS_MAX: u32 = 64;

/// A future that writes the metrics.
type Written = Pin<Box<dyn Future<Output = String> + Send>>;

/// The options of the address for operators.
pub struct OperationsOptions {
    address: SocketAddr,
    reach: Reach,
    hosts: Vec<AllowedHost>,
    metrics: MetricsPage,
}

/// Writes the metrics of a server.
struct MetricsPage {
    content_type: &'static str,
    write: Box<dyn Fn() -> Written + Send + Sync>,
    /// Held while they are written: more collectors at the same time do not cost more.
    writing: Mutex<()>,
}

/// A running address for operators. Dropping it ends it.
pub struct Operations {
    address: SocketAddr,
    over: CancellationToken,
}

impl OperationsOptions {
    /// Serves metrics at a loopback address. `write` writes them in the format of the content type. It must not
    /// write secrets, because clients need no token.
    pub fn new(
        address: SocketAddr,
        content_type: &'static str,
        write: impl Fn() -> Written + Send + Sync + 'static,
    ) -> Self {
        let metrics = MetricsPage { content_type, write: Box::new(write), writing: Mutex::new(()) };
        Self { address, reach: Reach::Loopback, hosts: Vec::new(), metrics }
    }

    /// Sets whether other machines may reach the address.
    #[must_use]
    pub fn reach(self, reach: Reach) -> Self {
        Self { reach, ..self }
    }

    /// Adds names of the address. IP addresses need no name.
    #[must_use]
    pub fn hosts(self, hosts: Vec<AllowedHost>) -> Self {
        Self { hosts, ..self }
    }
}

impl fmt::Debug for OperationsOptions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("OperationsOptions").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Operations {
    /// Serves the metrics and the probes of a server at an address of their own.
    pub(super) fn serve(
        options: OperationsOptions,
        host: &Host,
        readiness: &Arc<Readiness>,
        refusals: &Arc<Refusals>,
    ) -> Result<Self, HttpError> {
        let address = options.address;
        if options.reach == Reach::Loopback && !address.ip().is_loopback() {
            return Err(HttpError::Remote(address));
        }
        let failed = |source| HttpError::Listen { address, source };
        let listener = portcullis_listener::bind(address, WAITING_CONNECTIONS_MAX).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        host.keep_unreachable(address);
        let hosts = Arc::new(Hosts::new(address, &options.hosts));
        let router = Router::new()
            .route(METRICS_PATH, get(metrics))
            .with_state(Arc::new(options.metrics))
            .merge(probes::router(readiness))
            .layer(from_fn_with_state(hosts, guard::known_host_or_address))
            .layer(from_fn(guard::seal))
            .layer(from_fn_with_state(Arc::clone(refusals), recorded));
        let over = CancellationToken::new();
        tokio::spawn(portcullis_listener::serve(listener, router, LIMITS, over.clone()));
        Ok(Self { address, over })
    }

    /// Returns the address that it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl fmt::Debug for Operations {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Operations").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Drop for Operations {
    fn drop(&mut self) {
        self.over.cancel();
    }
}

async fn metrics(State(page): State<Arc<MetricsPage>>) -> Response {
    let writing = page.writing.lock().await;
    let text = (page.write)().await;
    drop(writing);
    let mut response = Response::new(Body::from(text));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(page.content_type));
    response
}
