//! Services of the embedding application, as handles: JSON in and out, with limits.

use crate::BoxFuture;
use std::sync::Arc;

/// A service that is granted to one call.
pub trait Service: Send + Sync {
    /// Prepares the service. It is called when a guest opens the key. The error is for the operator.
    fn open(&self) -> BoxFuture<'_, Result<(), String>>;

    /// Calls a method with a JSON document, and returns one. The error is for the model.
    fn call(&self, method: String, input: String) -> BoxFuture<'_, Result<String, String>>;
}

/// A service that a guest has opened.
#[expect(unreachable_pub, reason = "the generated bindings name it as theirs")]
pub struct OpenService(pub(crate) Arc<dyn Service>);
