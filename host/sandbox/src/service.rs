//! Services of the application that embeds the host, as handles: JSON in and out, under limits.

use crate::BoxFuture;
use std::sync::Arc;

/// A service, granted to one call.
pub trait Service: Send + Sync {
    /// Makes the service ready. Called when a guest opens the key; the error is for the operator.
    fn open(&self) -> BoxFuture<'_, Result<(), String>>;

    /// Calls a method with one JSON document and gets one; the error is for the model.
    fn call(&self, method: String, input: String) -> BoxFuture<'_, Result<String, String>>;
}

/// A service that a guest has opened.
#[expect(unreachable_pub, reason = "the generated bindings name it as theirs")]
pub struct OpenService(pub(crate) Arc<dyn Service>);
