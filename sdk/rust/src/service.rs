//! A service of the application that embeds the host.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Failure;
use crate::host;

/// A service. Its methods and their JSON are an agreement between the plugin and the application.
#[derive(Debug)]
pub struct Service {
    handle: host::Service,
}

impl Service {
    pub(crate) fn new(handle: host::Service) -> Self {
        Self { handle }
    }

    /// Calls a method.
    ///
    /// # Errors
    /// `Failed`: the service or the policy refused the call, with a text for the model; or the answer is not JSON of
    /// the type.
    pub fn call<I: Serialize + ?Sized, O: DeserializeOwned>(&self, method: &str, input: &I) -> Result<O, Failure> {
        let answer = self.handle.call(method, &serde_json::to_string(input)?).map_err(Failure::Failed)?;
        let parsed = serde_json::from_str(&answer);
        parsed.map_err(|error| Failure::failed(format!("the answer of `{method}` is not what was expected: {error}")))
    }
}
