//! A plugin's manifest as plain data, without behaviour and independent of the version of the contract.

use serde_json::Value;

/// A permission that a tool may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Permission {
    /// Reading what is granted.
    Read,
    /// Changing what is granted.
    Write,
    /// Running something outside the sandbox.
    Execute,
    /// Reaching the network.
    Network,
}

impl Permission {
    /// Returns the name in policies.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Execute => "execute",
            Self::Network => "network",
        }
    }
}

/// What the author claims about a tool's behaviour. The host shows a claim, but never trusts it in the tool's favour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hint {
    /// Changes nothing outside the sandbox.
    ReadOnly,
    /// May destroy or overwrite something.
    Destructive,
    /// The same call twice has the effect of one.
    Idempotent,
    /// Reaches things outside the host's control.
    OpenWorld,
    /// Must not run at the same time as another call of the same session.
    Sequential,
}

/// One tool, as the host and the model see it.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    /// Unique within the plugin.
    pub name: &'static str,
    /// A few words for people.
    pub title: Option<&'static str>,
    /// What the tool does, for a model.
    pub description: &'static str,
    /// JSON Schema 2020-12 of the arguments.
    pub schema: Value,
    /// JSON Schema 2020-12 of a JSON output.
    pub output_schema: Option<Value>,
    /// Permissions that the tool needs.
    pub required: &'static [Permission],
    /// Permissions that the tool can use but does not need.
    pub optional: &'static [Permission],
    /// What the author claims.
    pub hints: &'static [Hint],
}

/// The kind of handle behind a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DependencyKind {
    /// A directory, also preopened as `/<key>`.
    Directory,
    /// An HTTP client.
    Http,
    /// A key-value store.
    Store,
    /// A service of the application that embeds the host.
    Service,
    /// A program of the system, confined by the operating system.
    Process,
    /// Tools of other plugins.
    Tools,
}

/// A handle that the plugin asks for. Asking grants nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dependency {
    /// Unique within the plugin.
    pub key: &'static str,
    /// The kind of handle.
    pub kind: DependencyKind,
    /// Whether the plugin works without it.
    pub optional: bool,
    /// Why, for the person who writes the policy.
    pub reason: &'static str,
}

/// A plugin's description of itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Manifest {
    /// Also the name of the file, without `.wasm`.
    pub name: &'static str,
    /// The version of the plugin's crate.
    pub version: &'static str,
    /// What the plugin is for.
    pub description: &'static str,
    /// The tools, in the order of their declaration.
    pub tools: Vec<Definition>,
    /// The handles that the plugin asks for.
    pub dependencies: &'static [Dependency],
}
