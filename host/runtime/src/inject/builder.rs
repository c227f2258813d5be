//! Builder methods to provide values and services, for a host or for one request.

use super::injection::{Injector, ProviderError};
use super::key::Key;
use super::service::Service;
use crate::open::HostBuilder;
use crate::request::Request;
use std::sync::Arc;

impl HostBuilder {
    /// Sets the provider of a key's value. It runs at most once in each call that needs the value, which is kept until
    /// the call ends. A later provider of the same key replaces an earlier one. Use [`HostBuilder::provide_async`] for
    /// a provider that waits, or needs the value of another key. To share a value among all calls, create it before and
    /// clone it here.
    ///
    /// ```
    /// use portcullis::services::{CallFacts, Key, Service, ServiceError};
    /// use portcullis::{BoxFuture, Host, Request};
    /// use serde_json::{Value, json};
    /// use std::sync::Arc;
    ///
    /// /// What an application has.
    /// struct Pool { file: String }
    /// struct Index { pool: Arc<Pool>, tenant: String }
    ///
    /// impl Service for Index {
    ///     fn call<'a>(
    ///         &'a self,
    ///         _: &'a CallFacts,
    ///         _: &'a str,
    ///         input: Value,
    ///     ) -> BoxFuture<'a, Result<Value, ServiceError>> {
    ///         Box::pin(async move { Ok(json!({ "asked": input, "of": self.tenant, "in": self.pool.file })) })
    ///     }
    /// }
    ///
    /// const POOL: Key<Pool> = Key::new("pool");
    /// const INDEX: Key<Index> = Key::new("index");
    ///
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// let host = Host::builder("plugins", "state")
    ///     .policy_text(r#"[plugin.crm]
    /// service.search = { name = "search-index", methods = ["query"], calls = 100 }"#, ".")
    ///     .provide(&POOL, |_| Ok(Pool { file: "notes.sqlite".to_owned() }))
    ///     .provide_async(&INDEX, |injector| async move {
    ///         let pool = injector.get(&POOL).await?;
    ///         Ok(Index { pool, tenant: injector.call().principal().to_owned() })
    ///     })
    ///     .service("search-index", &INDEX)
    ///     .open()
    ///     .await?;
    ///
    /// // A test, or one call, can use its own database. The plugin is the same.
    /// let request = Request::new("crm.find", r#"{"name":"Ada"}"#).provide(&POOL, Pool { file: ":memory:".to_owned() });
    /// host.call(request).await;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn provide<T, V>(
        self,
        key: &Key<T>,
        provider: impl Fn(&Injector) -> Result<V, ProviderError> + Send + Sync + 'static,
    ) -> Self
    where
        T: ?Sized + Send + Sync + 'static,
        V: Into<Arc<T>> + Send + 'static,
    {
        let provider = Arc::new(provider);
        self.provide_async(key, move |injector| {
            let provider = Arc::clone(&provider);
            async move { provider(&injector) }
        })
    }

    /// Sets an asynchronous provider, like [`HostBuilder::provide`]. Its future is dropped if the call ends first.
    #[must_use]
    pub fn provide_async<T, V, F>(
        mut self,
        key: &Key<T>,
        provider: impl Fn(Injector) -> F + Send + Sync + 'static,
    ) -> Self
    where
        T: ?Sized + Send + Sync + 'static,
        V: Into<Arc<T>>,
        F: Future<Output = Result<V, ProviderError>> + Send + 'static,
    {
        self.injection.provide(key, provider);
        self
    }

    /// Exposes a service under a name for policies. A later service of the same name replaces an earlier one. A plugin
    /// reaches the service through a dependency key that the policy binds to this name: `[plugin.crm] service.search =
    /// { name = "search-index", methods = ["query"] }`.
    #[must_use]
    pub fn service<S: Service + ?Sized>(mut self, name: &str, key: &Key<S>) -> Self {
        self.injection.expose(name, key);
        self
    }
}

impl Request {
    /// Sets the value of a key for only this request, instead of the provider's value. A call that is resumed after an
    /// approval does not have this value.
    #[must_use]
    pub fn provide<T: ?Sized + Send + Sync + 'static>(mut self, key: &Key<T>, value: impl Into<Arc<T>>) -> Self {
        self.overrides.set(key, value.into());
        self
    }
}
