//! The HTTP transport: Streamable HTTP at one address, for clients of every era.
//!
//! Every connection is untrusted. It may come from another user of the machine, a page in a browser, or a plugin that
//! found the port. The `guard` module checks each request before rmcp sees it. This module must not know tools or
//! calls.

mod access;
mod approvers;
mod call_rate;
mod carried;
mod error;
mod guard;
mod instance_tag;
mod oauth;
mod operations;
mod options;
mod pages;
mod principal;
mod probes;
mod readiness;
mod refusal;
mod refusal_reason;
mod refusals;
mod replicas;
mod running;
mod session_instances;
mod sessions;
mod shared_meaning;
mod token_length;
mod token_life;
mod tokens;
mod usage;

pub use approvers::{ApproverVerdict, Approvers, LiveApprovers};
pub use error::{HttpError, SettingError};
pub use guard::{AllowedHost, AllowedOrigin};
pub use oauth::{APPROVER_SCOPE, KeyFinding, KeyNotice, KeySetError, OAuth, SCOPE};
pub use operations::{METRICS_PATH, Operations, OperationsOptions};
pub use options::{
    Access, BODY_TIME, CALLS_BURST, CALLS_PER_SECOND, CONNECTIONS_MAX, ENVELOPE_BYTES, FIRST_HEADERS_TIME,
    HEADERS_TIME, HttpLimits, HttpOptions, LINGER_TIME, PRINCIPALS_MAX, REQUESTS_PER_PRINCIPAL_MAX, Reach,
    SESSION_IDLE_TIME, SESSIONS_MAX, SESSIONS_PER_PRINCIPAL_MAX, STOP_TIME, STREAMS_PER_PRINCIPAL_MAX,
};
pub use pages::Pages;
pub use probes::{HEALTH_PATH, READY_PATH};
pub use refusal_reason::RefusalReason;
pub use refusals::{HttpCounters, LOG_LINES_MAX, LOG_WINDOW_TIME};
pub use running::{ENDPOINT, Running, settled};
pub use token_length::{TOKEN_BYTES_MAX, TOKEN_BYTES_MIN};
pub use token_life::TokenLife;
pub use tokens::{TOKENS_MAX, TokenFile, Tokens};

use crate::server::Server;
use crate::stopping::TransportStop;
use access::LiveAccess;
use axum::Router;
use axum::body::Body;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::Response;
use axum::routing::{any_service, get};
use guard::{BodyRules, Hosts, Origins, RateGuard, SessionGuard, TokenGuard};
use http::HeaderValue;
use http::header::CONTENT_TYPE;
use oauth::METADATA_PATH;
use portcullis::Host;
use portcullis_listener::{ListenerStop, Served};
use readiness::Readiness;
use refusals::{Refusals, recorded};
use replicas::Replicas;
use rmcp::transport::StreamableHttpServerConfig;
use rmcp::transport::streamable_http_server::StreamableHttpService;
use session_instances::SessionInstances;
use sessions::Sessions;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use usage::SlotUsage;

/// Length of the system's queue of connections to accept: more than the maximum number of connections. With the usual
/// 128, some of 200 simultaneous clients wait a second for a retransmission.
const WAITING_CONNECTIONS_MAX: u32 = 1024;

/// Starts to serve clients over HTTP, until the returned server is stopped.
///
/// It binds exactly the given address, and makes it unreachable for every plugin of the host.
///
/// # Errors
/// Other machines could reach the address and the options do not allow that, or the address cannot be bound.
pub async fn serve(server: Server, options: HttpOptions) -> Result<Running, HttpError> {
    let listener = listen(&options).await?;
    let address = listener.local_addr().map_err(|source| HttpError::Listen { address: options.address, source })?;
    let host = server.inner().host.clone();
    // After the bind, which gives port 0 its number, and before the first request is served.
    host.keep_unreachable(address);
    let hosts = Arc::new(Hosts::new(address, &options.hosts));
    let (limits, stopping, over) = (options.limits, TransportStop::default(), CancellationToken::new());
    let readiness = Arc::new(Readiness::new(host.clone(), stopping.begun().clone()));
    let refusals = Refusals::new();
    let (router, access) = router(server.served_until(stopping.clone()), options, address, &over)?;
    let router = beside_probes(router, &readiness, hosts).layer(from_fn_with_state(Arc::clone(&refusals), recorded));
    let served =
        Served { router, limits: limits.of_listener(), observer: Arc::new(HttpCounters(Arc::clone(&refusals))) };
    let stop = ListenerStop::Draining { begun: stopping.begun().clone(), drained: stopping.late().clone() };
    let connections = tokio::spawn(portcullis_listener::serve_observed(listener, served, stop));
    Ok(Running { address, host, access, readiness, refusals, stopping, over, connections })
}

async fn listen(options: &HttpOptions) -> Result<TcpListener, HttpError> {
    let address = options.address;
    match options.reach {
        Reach::Loopback if !address.ip().is_loopback() => Err(HttpError::Remote(address)),
        Reach::Loopback | Reach::Remote => portcullis_listener::bind(address, WAITING_CONNECTIONS_MAX)
            .map_err(|source| HttpError::Listen { address, source }),
    }
}

/// Returns the routes with their guards. A layer that is added later runs earlier.
fn router(
    server: Server,
    options: HttpOptions,
    address: SocketAddr,
    over: &CancellationToken,
) -> Result<(Router, LiveAccess), HttpError> {
    let (hosts, origins) = (Hosts::new(address, &options.hosts), Origins::new(&options.origins));
    let metadata = match &options.access {
        // Serializing strings cannot fail.
        Access::OAuth(oauth) => Some(serde_json::to_vec(&oauth.metadata()).unwrap_or_default()),
        Access::Tokens(_) | Access::Everyone => None,
    };
    let access = LiveAccess::new(options.access);
    let endpoint = endpoint(server, access.clone(), options.limits, over)?;
    let open = metadata.map(described).unwrap_or_default();
    let pages = options.pages.map(|pages| pages.router(address)).unwrap_or_default();
    let router = endpoint
        .merge(open)
        .layer(from_fn_with_state(Arc::new(origins), guard::known_origin))
        // Pages check their origins themselves, and more strictly.
        .merge(pages)
        .layer(from_fn_with_state(Arc::new(hosts), guard::known_host))
        .layer(from_fn(guard::seal));
    Ok((router, access))
}

/// Adds the probes. They accept any IP address as the host, because a cluster sends that of the container.
fn beside_probes(router: Router, readiness: &Arc<Readiness>, hosts: Arc<Hosts>) -> Router {
    let probes = probes::router(readiness).layer(from_fn_with_state(hosts, guard::known_host_or_address));
    router.merge(probes.layer(from_fn(guard::seal)))
}

fn endpoint(
    server: Server,
    access: LiveAccess,
    limits: HttpLimits,
    over: &CancellationToken,
) -> Result<Router, HttpError> {
    let (inner, begun) = (server.inner(), server.stopping().begun().clone());
    let guard = TokenGuard { access, operator: inner.options.principal.clone() };
    let bytes = arguments_bytes(&inner.host) + ENVELOPE_BYTES;
    let (usage, rules) = (SlotUsage::new(limits), BodyRules::new(bytes, limits.body_time));
    let rate = Arc::new(RateGuard { usage: Arc::clone(&usage), host: inner.host.clone(), limits });
    let shared = Replicas::shared(&inner.host, limits)?;
    let instances = Arc::new(SessionInstances::new(shared.as_ref().map(|(name, _)| name.clone())));
    let sessions = Sessions::new(Arc::clone(&instances), limits);
    tokio::spawn(Arc::clone(&sessions).sweep(over.clone()));
    let replicas = shared
        .map(|(_, shared)| Replicas::begin(shared, (&sessions, &instances), &server, over, limits.session_idle_time));
    let session_guard = Arc::new(SessionGuard { sessions, replicas });
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(true)
        .with_max_request_body_bytes(bytes)
        .with_cancellation_token(over.child_token())
        // The guards check both more strictly.
        .disable_allowed_hosts()
        .disable_allowed_origins();
    let service = StreamableHttpService::new(move || Ok(server.clone()), instances, config);
    // From the bottom up: the token gives the principal that `within_load` counts. Only a request within that load may
    // take memory for its body. What the body asks for decides about its rate, its session and its stream.
    let router = Router::new()
        .route(ENDPOINT, any_service(service))
        .route_layer(from_fn_with_state(begun, guard::while_serving))
        .route_layer(from_fn_with_state(session_guard, guard::own_session))
        .route_layer(from_fn_with_state(rate, guard::within_rate))
        .route_layer(from_fn_with_state(Arc::new(rules), guard::read_body))
        .route_layer(from_fn_with_state(usage, guard::within_load))
        .route_layer(from_fn_with_state(Arc::new(guard), guard::authorized))
        .route_layer(from_fn(guard::no_query));
    Ok(router)
}

/// Returns the routes that clients can read without a token.
fn described(metadata: Vec<u8>) -> Router {
    let answer = get(move || async move {
        let mut response = Response::new(Body::from(metadata));
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        response
    });
    Router::new().route(METADATA_PATH, answer.clone()).route(&format!("{METADATA_PATH}/{{*path}}"), answer)
}

/// Returns the largest arguments that any tool of a host accepts, in bytes.
fn arguments_bytes(host: &Host) -> usize {
    let policy = host.policy();
    let of_plugins = policy.plugins().map(|plugin| policy.limits(plugin).arguments_bytes);
    of_plugins.fold(policy.default_limits().arguments_bytes, usize::max)
}
