//! Errors that keep a server from starting or running.

use std::io;

/// An error that keeps a server from starting or running.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// Two tools would have the same name.
    #[error("{0}; or use full tool names")]
    NameCollision(#[from] portcullis::plugins::NameCollision),
    /// The policy has no toolset of the name in the options.
    #[error(transparent)]
    UnknownToolset(#[from] portcullis::policy::UnknownToolset),
    /// The system's random number generator fails, so ids could be guessed.
    #[error("the system gives no randomness")]
    NoRandomness,
    /// The standard streams cannot be taken over.
    #[error("standard input or output cannot be used: {0}")]
    Streams(#[from] io::Error),
    /// The session ended with an error.
    #[error("the MCP session ended unexpectedly: {0}")]
    Broken(String),
}
