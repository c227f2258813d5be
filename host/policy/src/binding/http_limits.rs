//! The limits of an HTTP client: defaults and ceilings, each with its reason.
//!
//! This file must not know how a limit is enforced.

use std::time::Duration;

use super::limited::{BindingLimit, Limited};
use crate::amount::Unit;
use crate::limits::milliseconds;

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

/// One request's body. A large form fits, and a plugin cannot carry away much in one call.
const REQUEST_BYTES: usize = 64 * KIB;
/// A larger upload needs its own program.
const REQUEST_CEILING_BYTES: usize = 64 * MIB;
/// One response's body, decoded. Long pages of documentation fit, and a decompression bomb does not.
const RESPONSE_BYTES: usize = 4 * MIB;
/// The body is streamed, but the guest keeps most of it in its memory.
const RESPONSE_CEILING_BYTES: usize = 256 * MIB;
/// Requests of one call: a page, its redirects and a few further pages.
const REQUESTS: usize = 16;
/// A call with more requests is a crawler, and takes longer than a call may.
const REQUESTS_CEILING: usize = 1000;
/// Requests per minute of all calls of a plugin: one per second, which servers tolerate.
const REQUESTS_PER_MINUTE: usize = 60;
/// More than 160 per second is a load test.
const REQUESTS_PER_MINUTE_CEILING: usize = 10_000;
/// From DNS lookup to the last byte. It is shorter than the time of the call, so that the plugin can still report an
/// error.
const TIME_MILLISECONDS: usize = 20_000;
/// One message to an MCP server. The arguments of a call are smaller.
const SERVER_REQUEST_BYTES: u64 = 16 << 20;
/// One stream of messages from an MCP server. A stream that the server keeps open for hours is opened again after it.
const SERVER_RESPONSE_BYTES: u64 = 256 << 20;
/// Requests per minute to an MCP server: ten calls per second.
const SERVER_REQUESTS_PER_MINUTE: u32 = 600;
/// A stream of messages from an MCP server. Each call has a shorter time of its own.
const SERVER_TIME: Duration = Duration::from_secs(60 * 60);
/// No server needs longer than ten minutes.
const TIME_CEILING_MILLISECONDS: usize = 10 * 60 * 1000;

/// The limits of an HTTP client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HttpLimits {
    /// Maximum bytes of one request's body.
    pub request_bytes: u64,
    /// Maximum bytes of one response's body, decoded.
    pub response_bytes: u64,
    /// Maximum requests of one call.
    pub requests: u32,
    /// Maximum requests per minute of all calls of the plugin.
    pub requests_per_minute: u32,
    /// Maximum time of one request, from the DNS lookup to the last byte.
    pub time: Duration,
}

impl Default for HttpLimits {
    /// Returns the limits of a client that sets none.
    fn default() -> Self {
        let mut limits =
            Self { request_bytes: 0, response_bytes: 0, requests: 0, requests_per_minute: 0, time: Duration::ZERO };
        // A limit that `ALL` lacks would stay zero: it would refuse everything, and not be unlimited.
        for &limit in HttpLimit::ALL {
            limits.store(limit, limit.default());
        }
        limits
    }
}

impl HttpLimits {
    /// Returns the limits of the client of an MCP server. The number of requests is that of its calls.
    pub(crate) fn of_server() -> Self {
        Self {
            request_bytes: SERVER_REQUEST_BYTES,
            response_bytes: SERVER_RESPONSE_BYTES,
            requests: u32::MAX,
            requests_per_minute: SERVER_REQUESTS_PER_MINUTE,
            time: SERVER_TIME,
        }
    }
}

/// One of the limits in [`HttpLimits`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HttpLimit {
    RequestBytes,
    ResponseBytes,
    Requests,
    RequestsPerMinute,
    Time,
}

impl BindingLimit for HttpLimit {
    const ALL: &'static [Self] =
        &[Self::RequestBytes, Self::ResponseBytes, Self::Requests, Self::RequestsPerMinute, Self::Time];

    fn key(self) -> &'static str {
        match self {
            Self::RequestBytes => "request-bytes",
            Self::ResponseBytes => "response-bytes",
            Self::Requests => "requests",
            Self::RequestsPerMinute => "requests-per-minute",
            Self::Time => "time",
        }
    }

    fn unit(self) -> Unit {
        match self {
            Self::RequestBytes | Self::ResponseBytes => Unit::Bytes,
            Self::Requests | Self::RequestsPerMinute => Unit::Count,
            Self::Time => Unit::Milliseconds,
        }
    }

    fn default(self) -> usize {
        match self {
            Self::RequestBytes => REQUEST_BYTES,
            Self::ResponseBytes => RESPONSE_BYTES,
            Self::Requests => REQUESTS,
            Self::RequestsPerMinute => REQUESTS_PER_MINUTE,
            Self::Time => TIME_MILLISECONDS,
        }
    }

    fn ceiling(self) -> usize {
        match self {
            Self::RequestBytes => REQUEST_CEILING_BYTES,
            Self::ResponseBytes => RESPONSE_CEILING_BYTES,
            Self::Requests => REQUESTS_CEILING,
            Self::RequestsPerMinute => REQUESTS_PER_MINUTE_CEILING,
            Self::Time => TIME_CEILING_MILLISECONDS,
        }
    }
}

impl Limited for HttpLimits {
    type Limit = HttpLimit;

    fn store(&mut self, limit: HttpLimit, admitted: usize) {
        // `admit` has checked the ceiling, so a count always fits.
        let count = u32::try_from(admitted).unwrap_or(u32::MAX);
        match limit {
            HttpLimit::RequestBytes => self.request_bytes = admitted as u64,
            HttpLimit::ResponseBytes => self.response_bytes = admitted as u64,
            HttpLimit::Requests => self.requests = count,
            HttpLimit::RequestsPerMinute => self.requests_per_minute = count,
            HttpLimit::Time => self.time = milliseconds(admitted),
        }
    }

    fn get(&self, limit: HttpLimit) -> u64 {
        match limit {
            HttpLimit::RequestBytes => self.request_bytes,
            HttpLimit::ResponseBytes => self.response_bytes,
            HttpLimit::Requests => self.requests.into(),
            HttpLimit::RequestsPerMinute => self.requests_per_minute.into(),
            HttpLimit::Time => u64::try_from(self.time.as_millis()).unwrap_or(u64::MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_limit_is_as_high_as_it_is_documented_and_never_off() {
        let rows = [
            (HttpLimit::RequestBytes, 64 << 10, 64 << 20),
            (HttpLimit::ResponseBytes, 4 << 20, 256 << 20),
            (HttpLimit::Requests, 16, 1000),
            (HttpLimit::RequestsPerMinute, 60, 10_000),
            (HttpLimit::Time, 20_000, 600_000),
        ];
        for (limit, default, ceiling) in rows {
            let mut limits = HttpLimits::default();
            assert_eq!(limits.get(limit), default, "{}", limit.key());
            assert!(limits.set(limit, 0).is_err() && limits.set(limit, ceiling + 1).is_err(), "{}", limit.key());
            assert_eq!(limits, HttpLimits::default());
            limits.set(limit, ceiling).unwrap();
            assert_eq!((limits.get(limit), limits.changed().count()), (ceiling, 1), "{}", limit.key());
        }
    }
}
