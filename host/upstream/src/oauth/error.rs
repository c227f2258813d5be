//! Why a login does not succeed.

use portcullis_definitions::text;
use rmcp::transport::auth::AuthError;
use thiserror::Error;

/// Maximum length of what a server says about a login, in bytes.
const PROBLEM_BYTES_MAX: usize = 1024;

/// Why a login does not succeed. The texts in it are the server's, cut to a limit but otherwise unchecked.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LoginError {
    /// The server does not say who may log in to it.
    #[error("the server names no authorization server at which a user can log in: remove `oauth` from its section")]
    NotOffered,
    /// The description of the authorization server is missing, or does not fit the server.
    #[error("the authorization server cannot be used: {0}")]
    Discovery(String),
    /// The authorization server does not know the host, and does not register it.
    #[error(
        "the authorization server does not register the host: {0}: register a client there, and write its name as \
         `client-id` into the policy"
    )]
    Registration(String),
    /// The user or the authorization server refused.
    #[error("the authorization server refused the login: {0}")]
    Refused(String),
    /// The redirect does not belong to this login, or comes from another authorization server.
    #[error("the answer does not belong to this login: {0}: log in again")]
    Foreign(String),
    /// The login is not valid any more.
    #[error("the login is not valid any more: log in again")]
    Ended,
    /// The authorization server does not answer, or not as it should.
    #[error("the authorization server does not renew the login: {0}")]
    Unavailable(String),
    /// What was kept of a login is of another version, or of another server.
    #[error("the kept login cannot be used: log in again")]
    Unreadable,
}

impl LoginError {
    pub(super) fn discovery(error: &AuthError, problem: String) -> Self {
        match error {
            AuthError::NoAuthorizationSupport => Self::NotOffered,
            _ => Self::Discovery(problem),
        }
    }

    pub(super) fn unencrypted(endpoint: &str) -> Self {
        let problem = format!("its address {endpoint} is unencrypted, or no web address");
        Self::Discovery(cut_problem(&problem))
    }

    pub(super) fn refused(why: &str) -> Self {
        Self::Refused(cut_problem(why))
    }

    pub(super) fn token(error: &AuthError, problem: String) -> Self {
        match error {
            // The library has no other error for a state that it did not issue than `InternalError`.
            AuthError::AuthorizationServerMismatch { .. }
            | AuthError::AuthorizationServerMissingIssuer { .. }
            | AuthError::InternalError(_) => Self::Foreign(problem),
            _ => Self::Refused(problem),
        }
    }

    pub(super) fn renewal(error: &AuthError, problem: String) -> Self {
        match error {
            AuthError::TokenRefreshRejected(_) | AuthError::AuthorizationRequired => Self::Ended,
            _ => Self::Unavailable(problem),
        }
    }
}

/// Returns the text of an error with its causes, cut to a limit.
pub(super) fn problem(error: &(dyn std::error::Error + 'static)) -> String {
    let mut problem = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause.filter(|_| problem.len() < PROBLEM_BYTES_MAX) {
        problem = format!("{problem}: {error}");
        cause = error.source();
    }
    cut_problem(&problem)
}

/// Cuts a text about a login to a limit.
pub(super) fn cut_problem(problem: &str) -> String {
    text::cut(problem, PROBLEM_BYTES_MAX).to_owned()
}
