//! The values of one call: each made when it is first wanted, once, and shared by all that want it.

use super::facts::CallFacts;
use super::injection::Injection;
use super::key::{Erased, Key, KeyId};
use super::overrides::Overrides;
use super::waiting::Board;
use std::error::Error;
use std::sync::{Arc, Weak};

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

/// Gives a provider what others provide for the same call, and the facts of the call. Cheap to clone; it does not keep
/// the call's values alive.
#[derive(Clone, Debug)]
pub struct Injector {
    values: Weak<Values>,
    facts: CallFacts,
    /// For whose provider it was made.
    wanted_by: KeyId,
}

impl Injector {
    /// The value of a key: made by its provider when it is first wanted, and the same for all that want it in this
    /// call.
    ///
    /// # Errors
    /// Nothing provides it, its provider fails, or two providers need each other.
    pub async fn get<T: ?Sized + Send + Sync + 'static>(&self, key: &Key<T>) -> Result<Arc<T>, InjectError> {
        let values = self.values.upgrade().ok_or(InjectError::Ended)?;
        let value = values.get(key.id(), Some(self.wanted_by)).await?;
        value.value().ok_or(InjectError::NotProvided { key: key.name() })
    }

    /// The call that the values are made for.
    #[must_use]
    pub fn call(&self) -> &CallFacts {
        &self.facts
    }
}

/// The values of one call. They go with it: providers hold it weakly.
pub(super) struct Values {
    injection: Arc<Injection>,
    overrides: Overrides,
    pub(super) facts: CallFacts,
    board: Board,
}

impl Values {
    pub(super) fn new(injection: Arc<Injection>, facts: CallFacts, overrides: Overrides) -> Self {
        Self { injection, overrides, facts, board: Board::default() }
    }

    /// The value of a key, on behalf of a provider or of the call itself.
    pub(super) async fn get(self: &Arc<Self>, key: KeyId, wanted_by: Option<KeyId>) -> Made {
        let cell = self.board.cell(key);
        if let Some(made) = cell.get() {
            return made.clone();
        }
        let _waiting = wanted_by.map(|provider| self.board.wait(provider, key)).transpose()?;
        cell.get_or_init(|| self.make(key)).await.clone()
    }

    async fn make(self: &Arc<Self>, key: KeyId) -> Made {
        if let Some(value) = self.overrides.get(key) {
            return Ok(value.clone());
        }
        let injector = Injector { values: Arc::downgrade(self), facts: self.facts.clone(), wanted_by: key };
        match self.injection.make(key, injector).await {
            Some(made) => made.map_err(|error| InjectError::Failed { key: key.name, error: Arc::from(error) }),
            None => Err(InjectError::NotProvided { key: key.name }),
        }
    }
}

impl std::fmt::Debug for Values {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Values").field("facts", &self.facts).finish_non_exhaustive()
    }
}
