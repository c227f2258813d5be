//! Services of the application, as the application writes them.

use super::facts::CallFacts;
use crate::text::cut;
use portcullis_sandbox::BoxFuture;
use serde_json::Value;
use std::sync::Arc;

/// The longest text of a failing service that a guest is given, in bytes; what is over it is cut.
pub const SERVICE_TEXT_BYTES_MAX: usize = 4096;

/// A service of the application: methods with one JSON document in and one out. The policy says which plugin may call
/// which of them, and how often; the host holds input and output to the limits of the call and counts both in its
/// record. The time that a method takes is the call's own: when that is over, its future is dropped. It must not block
/// its thread, since what never returns cannot be interrupted.
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
    /// Calls a method. Its name and its input are the plugin's: hostile, though the policy grants the method and the
    /// input is JSON of a bounded size and depth.
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
/// use portcullis::{Compiler, Host};
/// use serde_json::json;
///
/// const CLOCK: Key<dyn Service> = Key::new("clock");
///
/// # async fn example() -> Result<(), portcullis::OpenError> {
/// let clock = service_fn(async |_, method, _| match method.as_str() {
///     "today" => Ok(json!("2026-11-23")),
///     method => Err(ServiceError::unknown_method(method)),
/// });
/// let host = Host::builder("plugins", "state", Compiler::InProcess)
///     .provide(&CLOCK, move |_| Ok(clock.clone()))
///     .service("clock", &CLOCK)
///     .open()
///     .await?;
/// # let _ = host;
/// # Ok(())
/// # }
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
    fault: Fault,
    text: String,
    detail: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
enum Fault {
    #[error("the input is not valid")]
    InvalidInput,
    #[error("the service is not available")]
    Unavailable,
    #[error("the service failed")]
    Failed,
}

impl ServiceError {
    /// The input cannot be used; the text says how to correct it.
    pub fn invalid_input(text: impl Into<String>) -> Self {
        Self::new(Fault::InvalidInput, text.into())
    }

    /// The service has no such method.
    #[must_use]
    pub fn unknown_method(method: &str) -> Self {
        Self::new(Fault::InvalidInput, format!("there is no method `{method}`"))
    }

    /// The service cannot be reached now; trying again later may help.
    pub fn unavailable(text: impl Into<String>) -> Self {
        Self::new(Fault::Unavailable, text.into())
    }

    /// Anything else.
    pub fn failed(text: impl Into<String>) -> Self {
        Self::new(Fault::Failed, text.into())
    }

    /// With what the operator should know. It goes into the record, and no guest sees it.
    #[must_use]
    pub fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    pub(super) fn detail(&self) -> Option<&str> {
        self.detail.as_deref()
    }

    fn new(fault: Fault, mut text: String) -> Self {
        text.truncate(cut(&text, SERVICE_TEXT_BYTES_MAX).len());
        Self { fault, text, detail: None }
    }
}
