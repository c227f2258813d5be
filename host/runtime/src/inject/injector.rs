//! The values of one call. Each is created once, when it is first needed, and shared.

use super::facts::CallFacts;
use super::injection::Injection;
use super::key::{Erased, Key, KeyId};
use super::overrides::Overrides;
use super::waiting::Board;
use std::error::Error;
use std::sync::{Arc, Weak};

/// Why the value of a key is not available.
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
    #[error("`{key}` could not be created: {error}")]
    Failed {
        /// The name of the key.
        key: &'static str,
        /// The provider's error.
        #[source]
        error: Arc<dyn Error + Send + Sync>,
    },
    /// The call has ended.
    #[error("the call has ended")]
    Ended,
}

/// The result of creating a value. An error is kept too, so that a failed provider does not run again in the same call.
pub(super) type Made = Result<Erased, InjectError>;

/// A provider's access to the other values of the same call, and to the facts of the call. Cheap to clone. It does not
/// keep the values alive.
#[derive(Clone, Debug)]
pub struct Injector {
    values: Weak<Values>,
    facts: CallFacts,
    /// The key whose provider uses this injector.
    wanted_by: KeyId,
}

impl Injector {
    /// Returns the value of a key. Its provider creates it on first use, and all uses in this call share it.
    ///
    /// # Errors
    /// The key has no provider, its provider fails, providers need each other, or the call has ended.
    pub async fn get<T: ?Sized + Send + Sync + 'static>(&self, key: &Key<T>) -> Result<Arc<T>, InjectError> {
        let values = self.values.upgrade().ok_or(InjectError::Ended)?;
        let value = values.get(key.id(), Some(self.wanted_by)).await?;
        value.value().ok_or(InjectError::NotProvided { key: key.name() })
    }

    /// Returns the facts of the call.
    #[must_use]
    pub fn call(&self) -> &CallFacts {
        &self.facts
    }
}

/// The values of one call. They are dropped with it, because providers only hold a weak reference.
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

    /// Returns the value of a key, for a provider or for the call itself.
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
