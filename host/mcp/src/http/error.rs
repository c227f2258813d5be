//! The errors that keep the HTTP transport from starting.

use super::token_length::{TOKEN_BYTES_MAX, TOKEN_BYTES_MIN};
use portcullis_tokens::KeySetError;
use std::io;
use std::net::SocketAddr;

/// An error that keeps the HTTP transport from starting.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HttpError {
    /// Other machines could reach the address, and the operator did not allow that.
    #[error("other machines can reach {0}; use 127.0.0.1 to serve this machine only, or `--allow-remote`")]
    Remote(SocketAddr),
    /// The server cannot listen on the address, for example because another process uses it. It does not try another
    /// one.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's error.
        source: io::Error,
    },
    /// The system's random number generator fails, so the host cannot name itself to others.
    #[error("the system gives no randomness")]
    NoRandomness,
}

/// An invalid setting of the operator. The message never quotes a secret.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum SettingError {
    /// A name of the server is invalid.
    #[error("a name of the server is a host name or an IP address, optionally with `:PORT`")]
    Host,
    /// An origin is invalid.
    #[error("an origin is `http://HOST` or `https://HOST`, optionally with `:PORT` or `:*`, and without a path")]
    Origin,
    /// A line of a token file is invalid.
    #[error(
        "line {line} is not `TOKEN`, `NAME:TOKEN` or `approver NAME:TOKEN`; a token has {TOKEN_BYTES_MIN} to \
         {TOKEN_BYTES_MAX} letters, digits or `-._~+/=`"
    )]
    Token {
        /// The number of the line, from 1.
        line: usize,
    },
    /// Two lines of a token file have the same name or the same token, so the caller would be ambiguous.
    #[error("line {line} repeats the name or the token of an earlier line")]
    TokenTwice {
        /// The number of the line, from 1.
        line: usize,
    },
    /// A token file has no token.
    #[error("the file contains no token")]
    NoToken,
    /// A token file has too many tokens.
    #[error("the file contains more than {0} tokens")]
    TooManyTokens(usize),
    /// The issuer of tokens is invalid.
    #[error("an issuer is an `https://` URL without query or fragment; `http://` only for this machine")]
    Issuer,
    /// The audience of tokens is invalid.
    #[error("an audience is this server's `https://` URL without query or fragment; `http://` only for this machine")]
    Audience,
    /// The key set of an issuer is invalid.
    #[error(transparent)]
    KeySet(#[from] KeySetError),
}
