//! Why a server cannot be started or go on.

use std::io;

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// Two tools would have one name.
    #[error("{0}; or name tools in full")]
    NameCollision(#[from] portcullis::plugins::NameCollision),
    /// The system gives no randomness, and what has to be unguessable could be guessed.
    #[error("the system gives no randomness")]
    NoRandomness,
    /// The streams.
    #[error("the standard streams cannot be used: {0}")]
    Streams(#[from] io::Error),
    /// Serving broke off.
    #[error("the session broke off: {0}")]
    Broken(String),
}
