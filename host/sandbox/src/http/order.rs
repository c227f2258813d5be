//! A permitted request, with everything that sending it needs.

use super::call::{ConnectionSlot, Record};
use super::client::Client;
use super::error::{HttpFailure, RequestRefusal};
use super::headers;
use crate::host_memory::HostMemory;
use http::header::CONTENT_LENGTH;
use http::{HeaderMap, HeaderValue, Method, Request, Uri};
use http_body::Body;
use portcullis_policy::{Destination, DestinationError};
use std::time::Duration;
use tokio::time::Instant;
use wasmtime_wasi_http::{RequestOptions, WasiBody};

/// Maximum time of a request, whatever a policy allows.
const TIME_MAX: Duration = Duration::from_secs(60 * 60);

/// The timeouts of a request. A guest can only shorten them.
pub(super) struct Timing {
    /// The deadline of the whole request.
    pub(super) deadline: Instant,
    pub(super) connect: Option<Duration>,
    pub(super) first_byte: Option<Duration>,
    pub(super) between_bytes: Option<Duration>,
}

impl Timing {
    pub(super) fn new(granted: Duration, options: Option<RequestOptions>) -> Self {
        let options = options.unwrap_or_default();
        Self {
            deadline: Instant::now() + granted.min(TIME_MAX),
            connect: options.connect_timeout,
            first_byte: options.first_byte_timeout,
            between_bytes: options.between_bytes_timeout,
        }
    }

    /// Returns the deadline of a part that begins now.
    pub(super) fn end(&self, part: Option<Duration>) -> Instant {
        // A guest can name any duration. One that overflows counts as none.
        let end = part.and_then(|part| Instant::now().checked_add(part));
        end.map_or(self.deadline, |end| end.min(self.deadline))
    }
}

/// A permitted request.
pub(super) struct Order {
    pub(super) client: Client,
    pub(super) destination: Destination,
    pub(super) method: Method,
    pub(super) headers: HeaderMap,
    pub(super) body: WasiBody,
    pub(super) timing: Timing,
    pub(super) record: Record,
    pub(super) slot: ConnectionSlot,
    /// The host's own header `Authorization`, which no guest can set.
    pub(super) authorization: Option<HeaderValue>,
}

/// A request before any check.
pub(super) struct AskedRequest {
    pub(super) client: Option<Client>,
    pub(super) request: Request<WasiBody>,
    pub(super) options: Option<RequestOptions>,
    pub(super) destination: Result<Destination, RequestRefusal>,
}

impl AskedRequest {
    /// Makes the checks that need no network.
    pub(super) fn order(self, record: Record, memory: &HostMemory) -> Result<Order, HttpFailure> {
        let Self { client, request, options, destination } = self;
        let client = client.ok_or(RequestRefusal::NoClient)?;
        let timing = Timing::new(client.binding().limits.time, options);
        let destination = destination?;
        let (parts, body) = request.into_parts();
        // The host could not check what a guest sends through a tunnel.
        if parts.method == Method::CONNECT {
            return Err(RequestRefusal::Tunnel.into());
        }
        client.decide(parts.method.as_str(), &destination, &parts.headers)?;
        let limit = client.binding().limits.request_bytes;
        // Refused before it connects. The body itself is limited while it is sent.
        if body.size_hint().lower() > limit || declared(&parts.headers) > limit {
            return Err(HttpFailure::RequestBody(limit));
        }
        // After the checks, so that a refused request costs nothing. The call's own budget comes before the one that it
        // shares with other calls.
        record.call().spend(&client)?;
        client.keep_pace()?;
        let slot = record.call().slot(memory)?;
        let (method, headers) = (parts.method, parts.headers);
        Ok(Order { client, destination, method, headers, body, timing, record, slot, authorization: None })
    }
}

/// Returns the body length that a request declares, or 0.
fn declared(sent: &HeaderMap) -> u64 {
    sent.get(CONTENT_LENGTH).and_then(headers::length).unwrap_or(0)
}

/// Returns the destination of a request.
pub(super) fn destination(uri: &Uri) -> Result<Destination, DestinationError> {
    let scheme = uri.scheme_str().unwrap_or_default();
    let authority = uri.authority().map(http::uri::Authority::as_str).unwrap_or_default();
    let path = uri.path_and_query().map(http::uri::PathAndQuery::as_str).unwrap_or_default();
    Destination::from_parts(scheme, authority, path)
}

/// Returns the URL of a request for its record, without the query.
pub(super) fn recorded_url(destination: &Result<Destination, RequestRefusal>, uri: &Uri) -> String {
    match destination {
        Ok(known) => format!("{}://{}{}", known.scheme(), known.authority(), known.path()),
        Err(_) => uri.host().unwrap_or_default().to_owned(),
    }
}
