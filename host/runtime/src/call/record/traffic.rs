//! What a call did over the network, as the record keeps it. Hosts and paths are the guest's words; the line they stand
//! in is JSON, which escapes them.

use crate::text::{cut, is_zero};
use portcullis_sandbox::{Exchange, Traffic};
use serde::Serialize;

/// The longest URL or error of one request that is kept, in bytes.
const TEXT_BYTES_MAX: usize = 512;

/// What a call did over the network.
#[derive(Serialize)]
pub(super) struct TrafficLine {
    requests: Vec<RequestLine>,
    /// Requests that are not listed.
    #[serde(skip_serializing_if = "is_zero")]
    more: u64,
    /// How often a secret was found in what came back or went out, and taken out.
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
    /// The line of a call that used the network; nothing for one that did not.
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
