//! Limits the rate of tool calls of each principal.

use super::body::Asks;
use super::load::too_much_open;
use crate::http::call_rate::CallRate;
use crate::http::carried::carry;
use crate::http::options::HttpLimits;
use crate::http::refusal::HttpRefusalReply;
use crate::http::refusal_reason::RefusalReason;
use crate::http::usage::{SlotUsage, UsageSlot};
use crate::identity::TransportIdentity;
use axum::extract::{Extension, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use portcullis::Host;
use std::sync::Arc;
use std::time::Duration;

/// What it takes to count a principal's calls and streams.
pub(crate) struct RateGuard {
    pub(crate) usage: Arc<SlotUsage>,
    /// The host, whose policy may set the rate and may change.
    pub(crate) host: Host,
    pub(crate) limits: HttpLimits,
}

impl RateGuard {
    fn call(&self, identity: &TransportIdentity, calls: u32) -> Result<(), Duration> {
        self.usage.call(&identity.principal, calls, CallRate::of(self.limits, self.host.policy().client_rate()))
    }
}

/// Passes on tool calls within their principal's rate limit, and subscriptions within its stream limit.
pub(crate) async fn within_rate(
    State(guard): State<Arc<RateGuard>>,
    Extension(identity): Extension<TransportIdentity>,
    request: Request,
    next: Next,
) -> Response {
    let asks = request.extensions().get::<Asks>().copied();
    if let Some(Asks::Calls(calls)) = asks
        && let Err(wait) = guard.call(&identity, calls)
    {
        return too_often(wait).into_response();
    }
    // In the modern era a stream begins with a POST, so `within_load` cannot tell it from a call.
    if asks != Some(Asks::Listen) {
        return next.run(request).await;
    }
    match guard.usage.hold(&identity.principal, UsageSlot::Stream) {
        Ok(held) => carry(next.run(request).await, held),
        Err(_) => too_much_open().into_response(),
    }
}

fn too_often(wait: Duration) -> HttpRefusalReply {
    // Rounded up, so that a client that waits exactly this long succeeds.
    let seconds = u32::try_from(wait.as_secs()).unwrap_or(u32::MAX).saturating_add(1);
    let message = "Too Many Requests: too many tool calls per second";
    HttpRefusalReply::new(StatusCode::TOO_MANY_REQUESTS, RefusalReason::CallRate, message).after(seconds)
}
