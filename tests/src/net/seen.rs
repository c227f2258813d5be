//! What a server received.

use crate::holds;

/// What a server received.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Number of accepted connections.
    pub connections: usize,
    /// Number of open connections.
    pub open: usize,
    /// Number of successful TLS handshakes.
    pub handshakes: usize,
    /// The server name in each handshake.
    pub names: Vec<Option<String>>,
    /// The bytes of each request: head and body.
    pub requests: Vec<Vec<u8>>,
    /// All received bytes, by connection.
    pub heard: Vec<Vec<u8>>,
    /// Number of sent bytes.
    pub said: u64,
}

impl Seen {
    /// Returns the requests as text.
    pub fn texts(&self) -> Vec<String> {
        self.requests.iter().map(|request| String::from_utf8_lossy(request).into_owned()).collect()
    }

    /// Returns whether any connection received this.
    pub fn heard(&self, needle: &[u8]) -> bool {
        self.heard.iter().any(|heard| holds(heard, needle))
    }
}
