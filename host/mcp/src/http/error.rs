//! Why the HTTP transport does not start.

use portcullis_tokens::KeySetError;
use std::io;
use std::net::SocketAddr;

/// Why the HTTP transport does not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HttpError {
    /// Other machines could reach the address, and nobody said that they may.
    #[error("{0} can be reached from other machines: that has to be allowed expressly")]
    Remote(SocketAddr),
    /// The address is not to be had, as where another process has it. No other is taken in its place.
    #[error("{address} cannot be listened at: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
}

/// A text that the operator gave and that cannot be used. It never quotes a secret.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum SettingError {
    /// A name of the server is none.
    #[error("a name of the server is a host name or an address, with or without `:` and a port")]
    Host,
    /// An origin is none.
    #[error(
        "an origin is `http://` or `https://` and a host, with or without `:` and a port or `*`, and nothing after"
    )]
    Origin,
    /// A line of a token file.
    #[error(
        "line {line} is neither a token nor a name, `:` and a token; a token has 32 to 512 letters, digits and `-._~+/=`"
    )]
    Token {
        /// Which one, from 1.
        line: usize,
    },
    /// Two lines of a token file have one name or one token, and it would not be clear who calls.
    #[error("line {line} has the name or the token of a line before it")]
    TokenTwice {
        /// Which one, from 1.
        line: usize,
    },
    /// A token file without a token.
    #[error("there is no token in it")]
    NoToken,
    /// A token file has too many lines.
    #[error("there are more than {0} tokens in it")]
    TooManyTokens(usize),
    /// The issuer of tokens.
    #[error("an issuer is an `https://` address without query and fragment; `http://` only for this machine")]
    Issuer,
    /// The audience of tokens.
    #[error(
        "an audience is the `https://` address of this server without query and fragment; `http://` only for this machine"
    )]
    Audience,
    /// The keys of an issuer.
    #[error(transparent)]
    KeySet(#[from] KeySetError),
}
