//! The trait for services of the application.

use super::facts::CallFacts;
use crate::text::cut;
use portcullis_sandbox::BoxFuture;
use serde_json::Value;
use std::sync::Arc;

/// Maximum length of a failing service's text for the guest, in bytes. A longer text is cut.
pub const SERVICE_TEXT_BYTES_MAX: usize = 4096;

/// A service of the application. Its methods take one JSON document and return one. The policy decides which plugin may
/// call which methods, and how often. The host checks the size of inputs and outputs, and counts the calls in the audit
/// log. The time of a method counts for the tool's call. When the call's time is over, the method's future is dropped.
/// A method must not block its thread, because a blocked thread cannot be interrupted.
///
/// ```
/// use portcullis::services::{CallFacts, Service, ServiceError};
/// use portcullis::BoxFuture;
/// use serde_json::{Value, json};
///
/// struct Dictionary;
///
/// impl Service for Dictionary {
///     fn call<'a>(
///         &'a self,
///         call: &'a CallFacts,
///         method: &'a str,
///         input: Value,
///     ) -> BoxFuture<'a, Result<Value, ServiceError>> {
///         Box::pin(async move {
///             match (method, input["word"].as_str()) {
///                 ("look-up", Some("portcullis")) => Ok(json!({ "means": "a gate that falls" })),
///                 ("look-up", Some(_)) => Ok(Value::Null),
///                 ("look-up", None) => Err(ServiceError::invalid_input("pass {\"word\": \"...\"}")),
///                 _ => Err(ServiceError::unknown_method(method)),
///             }
///         })
///     }
/// }
/// ```
pub trait Service: Send + Sync + 'static {
    /// Calls a method. Its name and its input are untrusted, because they come from the plugin. The policy grants the
    /// method, and the input is JSON of limited size and depth.
    fn call<'a>(
        &'a self,
        call: &'a CallFacts,
        method: &'a str,
        input: Value,
    ) -> BoxFuture<'a, Result<Value, ServiceError>>;
}

impl<S: Service + ?Sized> Service for Arc<S> {
    fn call<'a>(
        &'a self,
        call: &'a CallFacts,
        method: &'a str,
        input: Value,
    ) -> BoxFuture<'a, Result<Value, ServiceError>> {
        (**self).call(call, method, input)
    }
}

/// Makes a service from a closure, which gets the call, the name of the method and its input.
///
/// ```no_run
/// use portcullis::services::{Key, Service, ServiceError, service_fn};
/// use portcullis::Host;
/// use serde_json::json;
///
/// const CLOCK: Key<dyn Service> = Key::new("clock");
///
/// # async fn example() -> Result<(), portcullis::OpenError> {
/// let clock = service_fn(async |_, method, _| match method.as_str() {
///     "today" => Ok(json!("2026-11-23")),
///     method => Err(ServiceError::unknown_method(method)),
/// });
/// let host = Host::builder("plugins", "state")
///     .provide(&CLOCK, move |_| Ok(clock.clone()))
///     .service("clock", &CLOCK)
///     .open()
///     .await?;
/// # let _ = host;
/// # Ok(())
/// # }
/// ```
///
/// A closure that captures something clones it into its future:
///
/// ```
/// use portcullis::services::{ServiceError, service_fn};
/// use serde_json::json;
/// use std::collections::BTreeMap;
/// use std::sync::Arc;
/// use tokio::sync::RwLock;
///
/// let prices = Arc::new(RwLock::new(BTreeMap::from([("tea".to_owned(), 3)])));
/// let shop = service_fn(move |_, method, input| {
///     let prices = Arc::clone(&prices);
///     async move {
///         match prices.read().await.get(input.as_str().unwrap_or_default()) {
///             Some(price) if method == "price" => Ok(json!(price)),
///             Some(_) => Err(ServiceError::unknown_method(&method)),
///             None => Ok(json!(null)),
///         }
///     }
/// });
/// # let _ = shop;
/// ```
pub fn service_fn<F, A>(call: F) -> Arc<dyn Service>
where
    F: Fn(CallFacts, String, Value) -> A + Send + Sync + 'static,
    A: Future<Output = Result<Value, ServiceError>> + Send + 'static,
{
    Arc::new(ClosureService(call))
}

struct ClosureService<F>(F);

impl<F, A> Service for ClosureService<F>
where
    F: Fn(CallFacts, String, Value) -> A + Send + Sync + 'static,
    A: Future<Output = Result<Value, ServiceError>> + Send + 'static,
{
    fn call<'a>(
        &'a self,
        call: &'a CallFacts,
        method: &'a str,
        input: Value,
    ) -> BoxFuture<'a, Result<Value, ServiceError>> {
        Box::pin((self.0)(call.clone(), method.to_owned(), input))
    }
}

/// Why a method has no answer: a text for the plugin and its model, and a detail for the operator.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{fault}: {text}")]
pub struct ServiceError {
    fault: ServiceFault,
    text: String,
    detail: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
enum ServiceFault {
    #[error("the input is not valid")]
    InvalidInput,
    #[error("the service is not available")]
    Unavailable,
    #[error("the service failed")]
    Failed,
}

impl ServiceError {
    /// Creates an error for an invalid input. The text tells the model how to correct it.
    pub fn invalid_input(text: impl Into<String>) -> Self {
        Self::new(ServiceFault::InvalidInput, text.into())
    }

    /// Creates an error for a method that the service does not have.
    #[must_use]
    pub fn unknown_method(method: &str) -> Self {
        Self::new(ServiceFault::InvalidInput, format!("the service has no method `{method}`"))
    }

    /// Creates an error for a service that is not available now. A later retry may succeed.
    pub fn unavailable(text: impl Into<String>) -> Self {
        Self::new(ServiceFault::Unavailable, text.into())
    }

    /// Creates any other error.
    pub fn failed(text: impl Into<String>) -> Self {
        Self::new(ServiceFault::Failed, text.into())
    }

    /// Adds a detail for the operator. It goes into the audit log, and no guest sees it.
    #[must_use]
    pub fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    pub(super) fn detail(&self) -> Option<&str> {
        self.detail.as_deref()
    }

    fn new(fault: ServiceFault, mut text: String) -> Self {
        text.truncate(cut(&text, SERVICE_TEXT_BYTES_MAX).len());
        Self { fault, text, detail: None }
    }
}
