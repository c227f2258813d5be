//! A plugin's opinion of a call, given before the call runs.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::host;
use crate::{Failure, Store};

/// What a plugin thinks of a call. It can only tighten what the policy decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing to say.
    Clear,
    /// A person should look; the text says at what. A remembered approval counts only if the person had the same text
    /// before them, so put what is new about this call into it.
    Ask(String),
    /// The call must not run; the text says why.
    Refuse(String),
    /// A person should look, and is offered patterns that a remembered approval may cover.
    Request(ApprovalRequest),
}

/// What a review asks a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalRequest {
    /// At what to look.
    pub reason: String,
    /// What a remembered approval may cover: at most 4 patterns, the narrowest first.
    pub patterns: Vec<Pattern>,
}

/// Which later calls a remembered approval may cover. Every argument that it does not name is as in this call.
///
/// ```
/// use portcullis_sdk::Pattern;
///
/// // The same payee, whatever the amount, for reports in one directory.
/// let pattern = Pattern::new().any("amount").within("report", "reports/2026/**");
/// assert_eq!(pattern.variations.len(), 2);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pattern {
    /// The arguments that may differ.
    pub variations: Vec<Variation>,
}

/// How one argument of a later call may differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variation {
    /// The name of the argument.
    pub argument: String,
    /// The directory that it may name a path in, such as `src/**`. None: it may be anything.
    pub within: Option<String>,
}

impl Pattern {
    /// A pattern that lets nothing differ yet. The host offers only patterns that let something differ.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets an argument be anything. The host takes no such pattern for an argument that names a file or a resource.
    #[must_use]
    pub fn any(self, argument: impl Into<String>) -> Self {
        self.varying(argument, None)
    }

    /// Lets an argument name any path in a directory, such as `src/**`.
    #[must_use]
    pub fn within(self, argument: impl Into<String>, directory: impl Into<String>) -> Self {
        self.varying(argument, Some(directory.into()))
    }

    fn varying(mut self, argument: impl Into<String>, within: Option<String>) -> Self {
        self.variations.push(Variation { argument: argument.into(), within });
        self
    }
}

impl Verdict {
    /// A person should look at this.
    pub fn ask(text: impl Into<String>) -> Self {
        Self::Ask(text.into())
    }

    /// A person should look at this, and may approve one of the patterns for longer. Such an approval answers what this
    /// plugin asks about, as long as it proposes the same pattern, and never what the policy asks about.
    pub fn request(reason: impl Into<String>, patterns: impl IntoIterator<Item = Pattern>) -> Self {
        Self::Request(ApprovalRequest { reason: reason.into(), patterns: patterns.into_iter().collect() })
    }

    /// The call must not run, for this reason.
    pub fn refuse(text: impl Into<String>) -> Self {
        Self::Refuse(text.into())
    }
}

/// A call that is about to run. A review can read the settings and the stores of the call, has no other handle, little
/// time and little memory; a panic in it refuses the call. The host may also review a call that it only explains.
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

    /// What the policy sets for the plugin under a key of `config`.
    #[must_use]
    pub fn setting(&self, key: &str) -> Option<String> {
        self.host.setting(key)
    }

    /// The store of the call that the policy bound to a key of the manifest. It can be read, and not changed.
    ///
    /// # Errors
    /// The manifest does not ask for the key, or the policy binds nothing to it.
    pub fn store(&self, key: &str) -> Result<Store, Failure> {
        self.host.store(key).map(Store::new)
    }

    /// Whether the policy names the host of a URL in what it binds to an HTTP key. False for what is no URL.
    ///
    /// # Errors
    /// The manifest asks for no HTTP client under the key, or the policy binds nothing to it.
    pub fn names_host(&self, key: &str, url: &str) -> Result<bool, Failure> {
        self.host.names_host(key, url)
    }
}
