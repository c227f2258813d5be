//! The edits of a policy.
//!
//! This file must not know how an edit is written.

use crate::server_edit::ServerEdit;
use portcullis_policy::{Access, Decision, DependencyKey, Permission, PluginName, StoreScope};

/// An edit of the user's policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PolicyEdit {
    /// Adds a rule, or replaces the decision of the rule for exactly the same calls.
    Rule(RuleEdit),
    /// Binds a dependency key of a plugin.
    Grant(GrantEdit),
    /// Hides or protects places of a directory that is already bound.
    Masks(MaskEdit),
    /// Adds the section of a server.
    AddServer(ServerEdit),
    /// Removes the section of a server.
    RemoveServer {
        /// The server.
        name: PluginName,
    },
    /// Starts a server from another version of its package.
    SetPackage {
        /// The server.
        name: PluginName,
        /// The package in one exact version.
        spec: String,
    },
    /// Pauses the policy, so that every call is refused. If it is paused, replaces the reason.
    Pause {
        /// The reason. One line.
        reason: String,
    },
    /// Ends the pause.
    Resume,
}

/// A rule to add.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleEdit {
    /// The decision.
    pub decision: Decision,
    /// The tools, as a pattern such as `files.*`.
    pub tool: String,
    /// The permission that it applies to. Without one, it applies to the whole call.
    pub permission: Option<Permission>,
    /// The arguments that it applies to: a name or JSON Pointer, and the values that it may have.
    pub when: Vec<(String, Vec<WhenValue>)>,
    /// The reason that replies give. If a rule is replaced and this is none, the rule keeps its reason.
    pub reason: Option<String>,
    /// Whether an allow rule wins over the ask rules of the policy (`over = "ask"`). [`apply`](crate::apply) adds it where
    /// the rule would have no effect otherwise.
    pub over_ask: bool,
}

/// A value of a `when`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WhenValue {
    /// A pattern such as `src/**`.
    Text(String),
    /// A number.
    Integer(i64),
    /// A boolean.
    Boolean(bool),
}

impl RuleEdit {
    /// Returns a rule for all calls of the tools.
    pub fn new(decision: Decision, tool: impl Into<String>) -> Self {
        Self { decision, tool: tool.into(), permission: None, when: Vec::new(), reason: None, over_ask: false }
    }

    /// Limits the rule to calls whose argument matches one of these patterns.
    #[must_use]
    pub fn when(mut self, argument: impl Into<String>, patterns: impl IntoIterator<Item = String>) -> Self {
        self.when.push((argument.into(), patterns.into_iter().map(WhenValue::Text).collect()));
        self
    }
}

/// A binding to add to a plugin's section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantEdit {
    /// The plugin.
    pub plugin: PluginName,
    /// The dependency key.
    pub key: DependencyKey,
    /// What it is bound to.
    pub binding: GrantBinding,
}

/// What a grant binds a key to. Everything that it does not name has its default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GrantBinding {
    /// A directory.
    Directory {
        /// The path, relative to the policy's directory.
        path: String,
        /// Whether the plugin may write.
        access: Access,
        /// Patterns of places that do not exist for the plugin.
        hidden: Vec<String>,
        /// Patterns of places that the plugin cannot change.
        read_only: Vec<String>,
    },
    /// An HTTP client.
    Http {
        /// The hosts, each a name, a pattern or an address.
        hosts: Vec<String>,
    },
    /// A store.
    Store {
        /// Who shares it.
        scope: StoreScope,
    },
    /// A service of the application.
    Service {
        /// Its name.
        name: String,
    },
    /// A program of the system.
    Process {
        /// The path, which must be absolute or begin with `~/`.
        program: String,
        /// The keys of the directories that it gets.
        directories: Vec<String>,
    },
    /// Tools of other plugins.
    Tools {
        /// Patterns such as `files.read` or `web.*`.
        tools: Vec<String>,
    },
}

/// Masks to add to a bound directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MaskEdit {
    /// The plugin.
    pub plugin: PluginName,
    /// The key of the directory. Without one, the masks are added to every directory of the plugin.
    pub key: Option<DependencyKey>,
    /// Patterns of places that do not exist for the plugin.
    pub hidden: Vec<String>,
    /// Patterns of places that the plugin cannot change.
    pub read_only: Vec<String>,
}
