//! The network requests of a call, as the audit log stores them. Hosts and paths are untrusted text of the guest, which
//! JSON escapes.

use crate::text::{cut, is_zero};
use portcullis_sandbox::{Exchange, Traffic};
use serde::Serialize;

/// Maximum length of the URL or error of one request, in bytes.
const TEXT_BYTES_MAX: usize = 512;

/// The network requests of one call.
#[derive(Serialize)]
pub(super) struct TrafficLine {
    requests: Vec<RequestLine>,
    /// The number of requests that are not listed.
    #[serde(skip_serializing_if = "is_zero")]
    more: u64,
    /// How often a secret was removed from a request or a response.
    #[serde(skip_serializing_if = "is_zero")]
    redacted: u64,
}

/// One request.
#[derive(Serialize)]
struct RequestLine {
    method: String,
    url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    bytes_out: u64,
    bytes_in: u64,
}

impl TrafficLine {
    /// Returns the requests of a call, or `None` if the call did not use the network.
    pub(super) fn of(traffic: &Traffic) -> Option<Self> {
        let Traffic { exchanges, more, redactions } = traffic;
        if exchanges.is_empty() && *more == 0 && *redactions == 0 {
            return None;
        }
        let requests = exchanges.iter().map(RequestLine::of).collect();
        Some(Self { requests, more: *more, redacted: *redactions })
    }
}

impl RequestLine {
    fn of(exchange: &Exchange) -> Self {
        Self {
            method: cut(&exchange.method, TEXT_BYTES_MAX).to_owned(),
            url: cut(&exchange.url, TEXT_BYTES_MAX).to_owned(),
            status: exchange.status,
            error: exchange.error.as_deref().map(|error| cut(error, TEXT_BYTES_MAX).to_owned()),
            bytes_out: exchange.sent_bytes,
            bytes_in: exchange.received_bytes,
        }
    }
}
