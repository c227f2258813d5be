//! The error for a key whose value is not available.

use super::key::Erased;
use std::error::Error;
use std::sync::Arc;

/// The error for a key whose value is not available.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InjectError {
    /// Neither the application nor the request provides it.
    #[error("nothing provides `{key}`")]
    NotProvided {
        /// The name of the key.
        key: &'static str,
    },
    /// Its provider depends on its own value, directly or through other providers.
    #[error("these providers need each other: {}", .names.join(" -> "))]
    Cycle {
        /// The names of the keys in the cycle. The first one is repeated at the end.
        names: Vec<&'static str>,
    },
    /// Its provider failed, or panicked. It is not tried again in the same call.
    #[error("`{key}` could not be created")]
    Failed {
        /// The name of the key.
        key: &'static str,
        /// The provider's error.
        #[source]
        error: Arc<dyn Error + Send + Sync>,
    },
    /// The call ends.
    #[error("the call has ended")]
    Ended,
}

/// The result of creating a value. An error is kept too, so that a failed provider does not run again in the same call.
pub(super) type MadeValue = Result<Erased, InjectError>;
