//! The weights of the objects of `wasi:http/types`: upper bounds of the memory that they hold.

use crate::host_memory::{ALLOCATION_BYTES, Weighed};
use http::{HeaderMap, HeaderName, HeaderValue};
use wasmtime_wasi_http::FieldMap;
use wasmtime_wasi_http::p2::bindings::http::types::{Method, Scheme};
use wasmtime_wasi_http::p2::types::{HostIncomingResponse, HostOutgoingRequest, HostOutgoingResponse};

/// Maximum size of headers that a guest can create, in bytes as wasmtime counts them: names, values and 72 bytes for
/// each entry. This is twice the maximum that the host sends.
pub(in crate::http) const FIELDS_BYTES_MAX: usize = 64 * 1024;

/// Maximum size of a piece of a request's body that the host accepts at once, in bytes.
pub(in crate::http) const BODY_CHUNK_BYTES_MAX: usize = 64 * 1024;

/// Pieces of a body that can wait to be sent: one, and the slot that wasmtime adds.
const BODY_CHUNKS_MAX: usize = 2;

/// Maximum memory of the trailers of a request, in bytes: about a hundred short ones.
pub(super) const TRAILERS_WEIGHT_MAX: usize = 64 * 1024;

/// Weight of a body that was begun and is not sent yet.
const BODY_WEIGHT: usize = BODY_CHUNKS_MAX * BODY_CHUNK_BYTES_MAX + TRAILERS_WEIGHT_MAX;

/// Weight of the head of a response that was not taken yet: 64 KiB of headers, and the map of 128 entries.
pub(in crate::http) const HEAD_WEIGHT: usize = 128 * 1024;

/// An entry of a header map: hash, name, value and links, and its share of the index.
const ENTRY_BYTES: usize = size_of::<HeaderName>() + size_of::<HeaderValue>() + 48;

impl Weighed for FieldMap {
    fn weight(&self) -> usize {
        let map: &HeaderMap = self;
        let texts = |bytes: usize| bytes + ALLOCATION_BYTES;
        let names: usize = map.keys().map(|name| texts(name.as_str().len())).sum();
        let values: usize = map.values().map(|value| texts(value.len())).sum();
        // Further values of a name are in a separate list, which grows by doubling.
        let more_values = map.len().saturating_sub(map.keys_len());
        (map.capacity() + 2 * more_values) * ENTRY_BYTES + names + values
    }
}

impl Weighed for HostOutgoingRequest {
    fn weight(&self) -> usize {
        let method = match &self.method {
            Method::Other(other) => other.len(),
            Method::Get
            | Method::Head
            | Method::Post
            | Method::Put
            | Method::Delete
            | Method::Connect
            | Method::Options
            | Method::Trace
            | Method::Patch => 0,
        };
        let scheme = match &self.scheme {
            Some(Scheme::Other(other)) => other.len(),
            Some(Scheme::Http | Scheme::Https) | None => 0,
        };
        let text = |text: &Option<String>| text.as_ref().map_or(0, String::capacity);
        let body = if self.body.is_some() { BODY_WEIGHT } else { 0 };
        method + scheme + text(&self.authority) + text(&self.path_with_query) + self.headers.weight() + body
    }
}

impl Weighed for HostOutgoingResponse {
    fn weight(&self) -> usize {
        self.headers.weight() + if self.body.is_some() { BODY_WEIGHT } else { 0 }
    }
}

impl Weighed for HostIncomingResponse {
    fn weight(&self) -> usize {
        self.headers.weight()
    }
}
