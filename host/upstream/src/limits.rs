//! What one server can use.

use std::time::Duration;

/// What one server can make the host hold and wait for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerLimits {
    /// Maximum length of a message of the server, in bytes. A longer one ends the connection.
    pub message_bytes: usize,
    /// Maximum JSON values in a message. Each takes far more memory than its text. An answer with more fails its
    /// request.
    pub message_values: usize,
    /// Maximum bytes of lines or events that are no messages, such as a banner, between two messages. More end the
    /// connection. Notifications that the host has no use for are messages. Each is dropped, and not counted.
    pub noise_bytes: usize,
    /// Maximum pages of a list of tools.
    pub pages: usize,
    /// Maximum tools.
    pub tools: usize,
    /// Maximum bytes of the definitions of all tools, as JSON.
    pub definitions_bytes: usize,
    /// Maximum bytes of the result of a call, after the decoding of images and files.
    pub result_bytes: usize,
    /// Maximum time until a server has answered the first request and the handshake.
    pub connect_time: Duration,
    /// Maximum wait for the answer to `server/discover`. After it, the server is taken for one of the handshake era.
    pub discovery_time: Duration,
    /// Maximum time for all pages of a list of tools.
    pub list_time: Duration,
    /// Maximum time until the server has read a message. A slower server ends the connection.
    pub write_time: Duration,
    /// Maximum wait for the reply to a request of the server. A reply may need an approver.
    pub reply_time: Duration,
    /// Maximum time to end a connection in order.
    pub shutdown_time: Duration,
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            // As in the other direction, over pipes (host/mcp).
            message_bytes: 16 * 1024 * 1024,
            message_values: 500_000,
            noise_bytes: 64 * 1024,
            pages: 100,
            tools: 1000,
            definitions_bytes: 4 * 1024 * 1024,
            result_bytes: 8 * 1024 * 1024,
            // A package in Python can take ten seconds to start on a busy machine.
            connect_time: Duration::from_secs(60),
            // Less than the library's own ten seconds.
            discovery_time: Duration::from_secs(8),
            list_time: Duration::from_secs(60),
            write_time: Duration::from_secs(30),
            reply_time: Duration::from_secs(600),
            shutdown_time: Duration::from_secs(3),
        }
    }
}
