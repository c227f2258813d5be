//! A plugin's review of a call, before the call runs.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::host;
use crate::{Failure, Store};

/// The result of a review. It can only tighten what the policy decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The plugin has no objection.
    Clear,
    /// The call needs approval; the text tells the approver why. A remembered approval counts only if the approver saw
    /// the same text, so mention what is new about this call.
    Ask(String),
    /// The call must not run; the text says why.
    Refuse(String),
    /// The call needs approval, with patterns that a remembered approval may cover.
    Request(ApprovalRequest),
}

/// A reviewer's approval request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalRequest {
    /// What the approver should check.
    pub reason: String,
    /// What a remembered approval may cover: at most 4 patterns, the narrowest first.
    pub patterns: Vec<Pattern>,
}

/// Which later calls a remembered approval may cover. Every other argument must be the same as in this call.
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
    /// The directory in which it may name any path, such as `src/**`. If none, it may have any value.
    pub within: Option<String>,
}

impl Pattern {
    /// Creates a pattern in which nothing may differ. The host offers only patterns in which something may differ.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets an argument have any value. The host refuses this for an argument that names a file or a resource.
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
    /// Requests approval, for this reason.
    pub fn ask(text: impl Into<String>) -> Self {
        Self::Ask(text.into())
    }

    /// Requests approval, and proposes patterns that a remembered approval may cover. An approved pattern answers later
    /// requests of this plugin while it proposes the same pattern. It never answers requests of the policy.
    pub fn request(reason: impl Into<String>, patterns: impl IntoIterator<Item = Pattern>) -> Self {
        Self::Request(ApprovalRequest { reason: reason.into(), patterns: patterns.into_iter().collect() })
    }

    /// Refuses the call, for this reason.
    pub fn refuse(text: impl Into<String>) -> Self {
        Self::Refuse(text.into())
    }
}

/// A call that is about to run. A review can read the settings and the stores of the call. It has no other handle, and
/// low limits for time and memory. A panic in it refuses the call. The host may also review a call that it only
/// explains.
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

    /// Returns the name of the tool, without the name of the plugin.
    #[must_use]
    pub fn tool(&self) -> &str {
        self.tool
    }

    /// Returns the arguments: an object that is valid for the tool's schema.
    #[must_use]
    pub fn arguments(&self) -> &Value {
        &self.arguments
    }

    /// Parses the arguments into the type that the tool takes.
    ///
    /// # Errors
    /// `InvalidArguments`: they do not match the type.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        crate::arguments::parse(&self.arguments.to_string())
    }

    /// Returns a setting of the policy's `config` for this plugin.
    #[must_use]
    pub fn setting(&self, key: &str) -> Option<String> {
        self.host.setting(key)
    }

    /// Returns the store that the policy binds to a key of the manifest, read-only.
    ///
    /// # Errors
    /// The manifest does not ask for the key, or the policy does not bind it.
    pub fn store(&self, key: &str) -> Result<Store, Failure> {
        self.host.store(key).map(Store::new)
    }

    /// Returns whether the policy's binding of an HTTP key names the host of a URL. False for an invalid URL.
    ///
    /// # Errors
    /// The manifest asks for no HTTP client with the key, or the policy does not bind it.
    pub fn names_host(&self, key: &str, url: &str) -> Result<bool, Failure> {
        self.host.names_host(key, url)
    }
}
