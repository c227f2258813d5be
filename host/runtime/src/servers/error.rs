//! Why a server cannot be used.

use super::login::AccountError;
use crate::text::{OneLine, WithCauses, cut};
use portcullis_sandbox::VariableError;
use portcullis_upstream::{ConnectError, ServerError};
use std::fmt;
use std::time::Duration;

/// Maximum bytes of a server's standard error in a message: the last lines, which name the fault.
const LOG_SHOWN_BYTES_MAX: usize = 600;

/// Why a server cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerFault {
    /// The policy binds no program to the server.
    #[error("the policy names no program for the server")]
    NotBound,
    /// The package of the server cannot be used.
    #[error("its package cannot be used: {0}")]
    Package(String),
    /// A secret of the server's environment is not available.
    #[error("the secret {name} of its environment is not available: {source}")]
    Secret {
        /// The variable.
        name: String,
        /// The reason. It is part of this error's own message.
        source: VariableError,
    },
    /// The program does not start.
    #[error("its program does not start: {0}")]
    Start(String),
    /// The program runs, but does not introduce itself as an MCP server.
    #[error("{fault}{log}")]
    Connect {
        /// Why. It is part of this error's own message.
        fault: String,
        /// The end of its standard error.
        log: LogEnd,
    },
    /// The host cannot log in to the server.
    #[error("{0}")]
    Login(String),
    /// The server demands an authorization that the host does not have.
    #[error(
        "it demands an authorization: {}",
        if *logs_in {
            "log in again with `portcullis login`"
        } else {
            "write oauth = true into its section, or a secret for the header that it expects"
        }
    )]
    Unauthorized {
        /// Whether the host logs in to the server.
        logs_in: bool,
    },
    /// The server at an address does not introduce itself as an MCP server.
    #[error("{0}")]
    Address(String),
    /// The server does not list its tools.
    #[error("it does not list its tools: {0}")]
    List(String),
    /// It has failed several times, and is not started again yet.
    #[error("it has failed {failures} times in a row, and is not started again for {} s: {why}", .wait.as_secs() + 1)]
    Waiting {
        /// The number of failures.
        failures: u32,
        /// The time until the next attempt.
        wait: Duration,
        /// Why it failed the last time.
        why: String,
    },
}

/// The end of a server's standard error, for a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogEnd(String);

impl LogEnd {
    pub(super) fn new(log: &str) -> Self {
        let log = log.trim();
        let start = log.ceil_char_boundary(log.len().saturating_sub(LOG_SHOWN_BYTES_MAX));
        Self(OneLine(&log[start..]).to_string())
    }
}

impl fmt::Display for LogEnd {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.is_empty() {
            true => formatter.write_str(" (it printed nothing to its standard error)"),
            false => write!(formatter, " (the end of its standard error: {})", self.0),
        }
    }
}

impl ServerFault {
    pub(super) fn connect(error: &ConnectError, ended: Option<String>, log: &str) -> Self {
        let mut fault = shown(error);
        if let Some(ended) = ended {
            fault = format!("{fault}: {ended}");
        }
        Self::Connect { fault, log: LogEnd::new(log) }
    }

    pub(super) fn login(error: &AccountError) -> Self {
        Self::Login(shown(error))
    }

    /// Returns whether only a person can mend it, so that a retry needs no wait.
    pub(super) fn needs_a_person(&self) -> bool {
        matches!(self, Self::Login(_) | Self::Unauthorized { .. })
    }

    pub(super) fn list(error: &ServerError) -> Self {
        Self::List(shown(error))
    }

    /// Returns the proposed wait before a retry.
    pub(super) fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Waiting { wait, .. } => Some(*wait + Duration::from_secs(1)),
            _ => None,
        }
    }
}

/// Returns an error with its causes, on one line. It may quote the server.
pub(super) fn shown(error: &(dyn std::error::Error + 'static)) -> String {
    let text = WithCauses(error).to_string();
    OneLine(cut(&text, 2 * LOG_SHOWN_BYTES_MAX)).to_string()
}
