//! A plugin's opinion of a call, given before the call runs.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::Failure;
use crate::host;

/// What a plugin thinks of a call. It can only tighten what the policy decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing to say.
    Clear,
    /// A person should look; the text says at what.
    Ask(String),
    /// The call must not run; the text says why.
    Refuse(String),
}

impl Verdict {
    /// A person should look at this.
    pub fn ask(text: impl Into<String>) -> Self {
        Self::Ask(text.into())
    }

    /// The call must not run, for this reason.
    pub fn refuse(text: impl Into<String>) -> Self {
        Self::Refuse(text.into())
    }
}

/// A call that is about to run. A review has no handle, little time and little memory; a panic in it refuses the call.
#[derive(Debug)]
pub struct Review<'a> {
    tool: &'a str,
    arguments: Value,
    host: &'a host::Host,
}

impl<'a> Review<'a> {
    pub(crate) fn new(tool: &'a str, arguments: Value, host: &'a host::Host) -> Self {
        Self { tool, arguments, host }
    }

    /// The tool, without the name of the plugin.
    #[must_use]
    pub fn tool(&self) -> &str {
        self.tool
    }

    /// The arguments: an object that has passed the schema of the tool.
    #[must_use]
    pub fn arguments(&self) -> &Value {
        &self.arguments
    }

    /// The arguments, as the tool takes them.
    ///
    /// # Errors
    /// `InvalidArguments`: they are not of the type.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        crate::arguments::parse(&self.arguments.to_string())
    }

    /// Whether the policy names the host of a URL in what it binds to an HTTP key. False for what is no URL.
    ///
    /// # Errors
    /// The manifest asks for no HTTP client under the key, or the policy binds nothing to it.
    pub fn names_host(&self, key: &str, url: &str) -> Result<bool, Failure> {
        self.host.names_host(key, url)
    }
}
