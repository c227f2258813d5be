//! The probes of a cluster or a load balancer: whether the process answers, and whether the server can take calls.
//!
//! They need no token, and their responses have nothing but one word.

use super::readiness::{Readiness, ServerState};
use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use axum::routing::get;
use http::header::{CONNECTION, CONTENT_TYPE};
use http::{HeaderValue, StatusCode};
use std::sync::Arc;

/// The path of the probe that says whether the process answers.
pub const HEALTH_PATH: &str = "/healthz";

/// The path of the probe that says whether the server can take calls.
pub const READY_PATH: &str = "/readyz";

/// Returns the routes of the probes.
pub(super) fn router(readiness: &Arc<Readiness>) -> Router {
    Router::new().route(HEALTH_PATH, get(health)).route(READY_PATH, get(ready)).with_state(Arc::clone(readiness))
}

async fn health() -> Response {
    response(StatusCode::OK, "ok\n")
}

async fn ready(State(readiness): State<Arc<Readiness>>) -> Response {
    let state = readiness.state().await;
    let status = match state {
        ServerState::Ready => StatusCode::OK,
        ServerState::Loading | ServerState::Stopping | ServerState::NoStorage => StatusCode::SERVICE_UNAVAILABLE,
    };
    response(status, format!("{}\n", state.as_str()))
}

/// Returns a response after which the connection is closed, so that a probe keeps no place.
fn response(status: StatusCode, text: impl Into<Body>) -> Response {
    let mut response = Response::new(text.into());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
    response
}
