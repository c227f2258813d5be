//! The limits of a listener.

use std::time::Duration;

/// The limits of a listener. Each program chooses them for its clients.
#[derive(Clone, Copy, Debug)]
pub struct ListenerLimits {
    /// Maximum connections at one time.
    pub connections: usize,
    /// Maximum headers of a request.
    pub headers: usize,
    /// Maximum bytes of a request line and its headers together. Every connection can make the server buffer this much.
    pub headers_bytes: usize,
    /// Timeout for the first headers of a connection.
    pub first_headers_time: Duration,
    /// Timeout for the headers of a later request. It is also the idle timeout of a connection.
    pub headers_time: Duration,
    /// Maximum time to discard the rest of a body, after a request was answered before it was read.
    pub linger_time: Duration,
    /// Maximum time for connections to finish their requests when the server stops.
    pub stop_time: Duration,
}
