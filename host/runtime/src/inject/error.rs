//! Why there is no value under a key.

use super::key::Erased;
use std::error::Error;
use std::sync::Arc;

/// Why there is no value under a key.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InjectError {
    /// Neither the application nor the request provides it.
    #[error("nothing provides `{key}`")]
    NotProvided {
        /// The name of the key.
        key: &'static str,
    },
    /// Its provider wants, perhaps by way of others, what it is to make.
    #[error("these need each other: {}", .names.join(" -> "))]
    Cycle {
        /// The names of the keys, from one to itself.
        names: Vec<&'static str>,
    },
    /// Its provider failed, or panicked. It is not tried again in the same call.
    #[error("`{key}` could not be made: {error}")]
    Failed {
        /// The name of the key.
        key: &'static str,
        /// What the provider says.
        #[source]
        error: Arc<dyn Error + Send + Sync>,
    },
    /// The call that it would belong to has ended.
    #[error("the call has ended")]
    Ended,
}

/// What came of making a value. An error is kept as a value is: what failed is not tried again in the same call.
pub(super) type Made = Result<Erased, InjectError>;
