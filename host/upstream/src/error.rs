//! What goes wrong between the host and a server.

use crate::closing::CloseReason;
use portcullis_definitions::text;
use std::time::Duration;
use thiserror::Error;

/// Maximum length of a message in a server's error, in bytes.
const MESSAGE_BYTES_MAX: usize = 4096;

/// Why a server cannot be used. The texts in it are the server's, cut to a limit but otherwise unchecked.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The connection ended before the server had answered.
    #[error("the connection ended before the server had introduced itself")]
    Closed(#[source] CloseReason),
    /// The server did not answer in time.
    #[error(
        "the server did not introduce itself within {} seconds: check that the command starts an MCP server over stdio, and that it has what it needs",
        .max.as_secs()
    )]
    Timeout {
        /// The limit.
        max: Duration,
    },
    /// The server speaks a version of the protocol that the host does not know.
    #[error(
        "the server speaks version \"{version}\" of the protocol, and the host speaks {supported}: use another version of the server"
    )]
    UnsupportedVersion {
        /// The version that the server named.
        version: String,
        /// The versions that the host speaks.
        supported: String,
    },
    /// The server demands an authorization, over HTTP.
    #[error("the server demands an authorization: log in to it, then connect again")]
    Unauthorized {
        /// The header `WWW-Authenticate` of the response.
        challenge: String,
    },
    /// The server answered with an error of HTTP.
    #[error("the server answered with the HTTP status {status}: check its address, or try again later")]
    HttpStatus {
        /// The status.
        status: u16,
        /// The header `Retry-After` of the response.
        retry_after: Option<String>,
    },
    /// The request could not be sent.
    #[error("the first request could not be sent to the server: check its address")]
    NotSent(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The server refused, or answered something else.
    #[error("the server did not accept the host as a client ({problem}): check that it is an MCP server")]
    Refused {
        /// What it answered instead.
        problem: String,
    },
}

/// Why a server did not do what it was asked. The texts in it are the server's, cut to a limit but otherwise unchecked.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ServerError {
    /// The connection has ended.
    #[error("the connection to the server has ended")]
    Closed(#[source] CloseReason),
    /// The request could not be sent.
    #[error("the request could not be sent to the server: check that it runs")]
    NotSent(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The server demands an authorization, over HTTP.
    #[error("the server demands an authorization: log in to it again")]
    Unauthorized {
        /// The header `WWW-Authenticate` of the response.
        challenge: String,
    },
    /// The server answered with an error of HTTP.
    #[error("the server answered with the HTTP status {status}: try again later")]
    HttpStatus {
        /// The status.
        status: u16,
        /// The header `Retry-After` of the response.
        retry_after: Option<String>,
    },
    /// The deadline passed.
    #[error("the server did not answer before the deadline: give the call more time, or start the server again")]
    Timeout,
    /// The caller cancelled.
    #[error("the call was cancelled")]
    Cancelled,
    /// The server answered with an error of the protocol.
    #[error("the server refused the request with the error {code}: {message}")]
    Refused {
        /// The JSON-RPC code.
        code: i32,
        /// The server's message.
        message: String,
    },
    /// The answer is not what the protocol demands.
    #[error("the server's answer is malformed ({problem}): report this to the server's author")]
    Malformed {
        /// What is wrong.
        problem: String,
    },
    /// The result of a call is too large.
    #[error("the result has {bytes} bytes, and at most {max} are accepted: ask the tool for less at a time")]
    ResultTooLarge {
        /// The size of the result.
        bytes: usize,
        /// The limit.
        max: usize,
    },
    /// The list of tools is too long.
    #[error("the server lists more than {max} {what}: it cannot be used with the present limits")]
    ListTooLong {
        /// What there is too much of.
        what: &'static str,
        /// The limit.
        max: usize,
    },
    /// The list of tools does not end.
    #[error("the server's list of tools repeats a page, so it has no end: report this to the server's author")]
    RepeatedCursor,
    /// The list of tools names a tool twice.
    #[error("the server lists the tool \"{name}\" twice: report this to the server's author")]
    RepeatedTool {
        /// The tool's name.
        name: String,
    },
    /// The server asked for too much during one call.
    #[error("the server made more than {max} requests of its own during the call: it misbehaves, so do not retry")]
    TooManyRequests {
        /// The limit.
        max: usize,
    },
    /// The server asked for input in place of an answer too often.
    #[error(
        "the server asked for input in more than {max} rounds and did not answer the call: it misbehaves, so do not retry"
    )]
    TooManyRounds {
        /// The limit.
        max: usize,
    },
    /// The server needs an answer that it does not get.
    #[error(
        "the tool needs {what}, which the host does not offer to this server: call it without, or change the policy"
    )]
    RequestRefused {
        /// What the server asked for.
        what: &'static str,
    },
}

impl ServerError {
    /// Returns the error that a server answered with.
    pub(crate) fn refused(code: i32, message: &str) -> Self {
        Self::Refused { code, message: text::cut(message, MESSAGE_BYTES_MAX).to_owned() }
    }

    /// Returns the error for a malformed answer. The problem can quote the server.
    pub(crate) fn malformed(problem: &str) -> Self {
        Self::Malformed { problem: text::cut(problem, MESSAGE_BYTES_MAX).to_owned() }
    }
}
