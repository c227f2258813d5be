//! What an application provides and exposes: written while a host is built, read by every call. The values of one call
//! are each made when they are first wanted, once, and shared by all that want them.

use super::error::{InjectError, Made};
use super::facts::CallFacts;
use super::key::{Erased, Key, KeyId};
use super::overrides::Overrides;
use super::service::Service;
use super::waiting::Board;
use crate::caught::caught;
use portcullis_sandbox::BoxFuture;
use std::collections::BTreeMap;
use std::error::Error;
use std::sync::{Arc, Weak};

/// Why a provider made nothing: any error. It is for the operator, and goes into the record.
pub type ProviderError = Box<dyn Error + Send + Sync>;

/// Makes the value of one key for one call.
type Provider = Arc<dyn Fn(Injector) -> BoxFuture<'static, Result<Erased, ProviderError>> + Send + Sync>;

/// What an application provides and exposes. The later of two under one key or one name holds.
#[derive(Clone, Default)]
pub(crate) struct Injection {
    providers: BTreeMap<KeyId, Provider>,
    services: BTreeMap<String, Exposed>,
}

/// A key whose value is a service.
#[derive(Clone, Copy)]
pub(super) struct Exposed {
    pub(super) key: KeyId,
    pub(super) service: fn(&Erased) -> Option<Arc<dyn Service>>,
}

impl Injection {
    pub(super) fn provide<T, F, P, V>(&mut self, key: &Key<T>, provider: P)
    where
        T: ?Sized + Send + Sync + 'static,
        P: Fn(Injector) -> F + Send + Sync + 'static,
        F: Future<Output = Result<V, ProviderError>> + Send + 'static,
        V: Into<Arc<T>>,
    {
        let provider: Provider = Arc::new(move |injector| {
            let making = provider(injector);
            Box::pin(async move { Ok(Erased::new::<T>(making.await?.into())) })
        });
        self.providers.insert(key.id(), provider);
    }

    pub(super) fn expose<S: Service + ?Sized>(&mut self, name: &str, key: &Key<S>) {
        let service = |value: &Erased| value.value::<S>().map(|service| Arc::new(service) as Arc<dyn Service>);
        self.services.insert(name.to_owned(), Exposed { key: key.id(), service });
    }

    /// Whether there is a service of this name.
    pub(crate) fn knows(&self, name: &str) -> bool {
        self.services.contains_key(name)
    }

    /// The names of all services.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.services.keys().map(String::as_str)
    }

    pub(super) fn exposed(&self, name: &str) -> Option<Exposed> {
        self.services.get(name).copied()
    }

    /// Makes the value of a key; nothing where nobody provides it. A provider that panics has failed.
    pub(super) async fn make(&self, key: KeyId, injector: Injector) -> Option<Result<Erased, ProviderError>> {
        let provider = self.providers.get(&key)?;
        Some(caught(|| provider(injector)).await.unwrap_or_else(|panic| Err(panic.into())))
    }
}

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
