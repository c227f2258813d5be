//! The providers and services of an application. They are set while a host is built, and read by every call.

use super::CallFacts;
use super::grant::CallInjection;
use super::injector::Injector;
use super::key::{Erased, Key, KeyId};
use super::overrides::Overrides;
use super::service::Service;
use crate::caught::caught;
use portcullis_sandbox::BoxFuture;
use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;

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

    /// Begins the injection for one call. Values are only created when they are needed.
    pub(crate) fn begin(self: &Arc<Self>, facts: CallFacts, overrides: &Overrides) -> CallInjection {
        CallInjection::new(Arc::clone(self), facts, overrides.clone())
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
