//! The providers and services of an application. They are set while a host is built, and read by every call. Each value
//! of a call is created once, when it is first needed, and shared.

use super::error::{InjectError, MadeValue};
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

/// The error of a provider. It is for the operator, and goes into the audit log.
pub type ProviderError = Box<dyn Error + Send + Sync>;

/// A function that creates the value of one key for one call.
type Provider = Arc<dyn Fn(Injector) -> BoxFuture<'static, Result<Erased, ProviderError>> + Send + Sync>;

/// The providers and services of an application. A later one replaces an earlier one with the same key or name.
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

    /// Returns whether there is a service of this name.
    pub(crate) fn knows(&self, name: &str) -> bool {
        self.services.contains_key(name)
    }

    /// Returns the names of all services.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.services.keys().map(String::as_str)
    }

    pub(super) fn exposed(&self, name: &str) -> Option<Exposed> {
        self.services.get(name).copied()
    }

    /// Creates the value of a key. Returns `None` if it has no provider. A provider that panics counts as failed.
    pub(super) async fn make(&self, key: KeyId, injector: Injector) -> Option<Result<Erased, ProviderError>> {
        let provider = self.providers.get(&key)?;
        Some(caught(|| provider(injector)).await.unwrap_or_else(|panic| Err(panic.into())))
    }
}

/// A provider's access to the other values of the same call, and to the facts of the call. Cheap to clone. It does not
/// keep the values alive.
#[derive(Clone, Debug)]
pub struct Injector {
    values: Weak<CallValues>,
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
        // An id contains the type of its key, so the value always has this type.
        value.value().ok_or(InjectError::NotProvided { key: key.name() })
    }

    /// Returns the facts of the call.
    #[must_use]
    pub fn call(&self) -> &CallFacts {
        &self.facts
    }
}

/// The values of one call. They are dropped with it, because providers only hold a weak reference.
pub(super) struct CallValues {
    injection: Arc<Injection>,
    overrides: Overrides,
    pub(super) facts: CallFacts,
    board: Board,
}

impl CallValues {
    pub(super) fn new(injection: Arc<Injection>, facts: CallFacts, overrides: Overrides) -> Self {
        Self { injection, overrides, facts, board: Board::default() }
    }

    /// Returns the value of a key, for a provider or for the call itself.
    pub(super) async fn get(self: &Arc<Self>, key: KeyId, wanted_by: Option<KeyId>) -> MadeValue {
        let cell = self.board.cell(key);
        if let Some(made) = cell.get() {
            return made.clone();
        }
        // The wait is noted before it begins. Two providers that need each other would otherwise wait forever.
        let _waiting = wanted_by.map(|provider| self.board.wait(provider, key)).transpose()?;
        cell.get_or_init(|| self.make(key)).await.clone()
    }

    async fn make(self: &Arc<Self>, key: KeyId) -> MadeValue {
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

impl std::fmt::Debug for CallValues {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Values").field("facts", &self.facts).finish_non_exhaustive()
    }
}
