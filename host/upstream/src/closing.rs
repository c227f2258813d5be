//! Why a connection ended.

use std::io;
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;

/// Why a connection to a server ended.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum CloseReason {
    /// The server closed its output, which most servers only do when they exit.
    #[error("the server closed its standard output: read its standard error, and start it again")]
    EndOfOutput,
    /// The host ended the connection.
    #[error("the host ended the connection")]
    Shutdown,
    /// The server's output cannot be read.
    #[error("the server's output cannot be read: start the server again")]
    Unreadable(#[source] Arc<io::Error>),
    /// The server sent a message that is too long.
    #[error(
        "the server sent a message of more than {max} bytes: ask it for less at a time, or raise the limit of messages"
    )]
    MessageTooLong {
        /// The limit, in bytes.
        max: usize,
    },
    /// The server sent too much that is no message.
    #[error(
        "the server sent more than {max} bytes that are not JSON-RPC: only messages belong there, so check that it is an MCP server"
    )]
    Noise {
        /// The limit, in bytes.
        max: usize,
    },
    /// The server does not read.
    #[error("the server did not read a message within {} seconds: it hangs, so start it again", .max.as_secs())]
    WriteTimeout {
        /// The limit.
        max: Duration,
    },
    /// The server does not read, and too many messages wait for it.
    #[error("more than {max} messages wait for the server, which does not read them: it hangs, so start it again")]
    QueueFull {
        /// The limit.
        max: usize,
    },
    /// The server sent too many requests before it read the replies.
    #[error("the server sent more than {max} requests without reading the replies: it misbehaves, so do not use it")]
    UnreadReplies {
        /// The limit.
        max: usize,
    },
    /// The server sent too many requests outside of calls.
    #[error("the server sent more than {max} requests while no call was running: it misbehaves, so do not use it")]
    UnaskedRequests {
        /// The limit.
        max: usize,
    },
    /// The server no longer knows the session. Another server, or another version, may answer from now on.
    #[error("the server has ended the session: connect again")]
    SessionExpired,
    /// The server listed too many different tools during one connection.
    #[error(
        "the server listed tools with more than {max} bytes of definitions in all: it misbehaves, so do not use it"
    )]
    TooManyTools {
        /// The limit, in bytes.
        max: usize,
    },
    /// The client of the protocol ended without a reason.
    #[error("the connection has ended: connect again")]
    Disconnected,
    /// The client of the protocol failed.
    #[error("the connection broke inside the host: report this as a bug")]
    Broken,
}
