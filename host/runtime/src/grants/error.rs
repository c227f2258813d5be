//! The error for a policy that does not fit the plugins, or for a grant that cannot be opened.

use crate::audit::AuditError;
use crate::ledger::LedgerError;
use crate::project_policy::ProjectGrantError;
use portcullis_policy::{DeadRateLimit, DeadRule, DependencyKey, PluginName};
use portcullis_sandbox::{ConfineError, DirectoryError, NetworkError};
use std::path::PathBuf;

/// The error for a policy that does not fit the plugins, or for a grant that cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum GrantError {
    /// A rule that no call can match.
    #[error("{}: {dead}; {}", path.display(), .dead.remedy())]
    DeadRule {
        /// The policy's file.
        path: PathBuf,
        /// The rule, and why no call can match it.
        dead: Box<DeadRule>,
    },
    /// A rate limit that cannot count any call.
    #[error("{}: {dead}; {}", path.display(), .dead.remedy())]
    DeadRateLimit {
        /// The policy's file.
        path: PathBuf,
        /// The rate limit.
        dead: Box<DeadRateLimit>,
    },
    /// The policy binds a key that the plugin does not ask for.
    #[error("the policy binds the key `{key}` of the plugin `{plugin}`, which only has {asks}: correct the key")]
    UnknownKey {
        /// The plugin.
        plugin: PluginName,
        /// The key.
        key: DependencyKey,
        /// The keys that it asks for.
        asks: String,
    },
    /// A grant cannot be opened.
    #[error("the grant {plugin}.{key} cannot be used")]
    Grant {
        /// The plugin.
        plugin: PluginName,
        /// The key.
        key: DependencyKey,
        /// The reason.
        #[source]
        error: DirectoryError,
    },
    /// A grant would include the host's own plugins, state or policy.
    #[error(
        "the grant {plugin}.{key} ({path}) contains {what}, where a plugin could change its own rights. Grant another \
         directory, or move {what} out of it (--plugins, --policy, --state, XDG_CACHE_HOME)"
    )]
    Covers {
        /// The plugin.
        plugin: PluginName,
        /// The key.
        key: DependencyKey,
        /// The path in the policy.
        path: String,
        /// What it covers.
        what: &'static str,
    },
    /// A grant would let a plugin change a place of the host's own, unless a mask protects the place.
    #[error(
        "the grant {plugin}.{key} ({path}) contains {what}, where a plugin could change its own rights. Add {mask:?} to \
         `read-only` or `hidden` of the grant, or grant another directory"
    )]
    Unmasked {
        /// The plugin.
        plugin: PluginName,
        /// The key.
        key: DependencyKey,
        /// The path in the policy.
        path: String,
        /// What it covers.
        what: &'static str,
        /// The mask that protects it.
        mask: String,
    },
    /// A grant of a project's policy does not lead to the place that was trusted.
    #[error(transparent)]
    ProjectGrant(#[from] ProjectGrantError),
    /// An HTTP client cannot be created.
    #[error("the grant {plugin}.{key} cannot be used")]
    Client {
        /// The plugin.
        plugin: PluginName,
        /// The key.
        key: DependencyKey,
        /// The reason.
        #[source]
        error: NetworkError,
    },
    /// A store is granted, and the program has no database to keep it in.
    #[error("the grant {plugin}.{key} cannot be used: this program was built without the feature `sqlite`")]
    NoStores {
        /// The plugin.
        plugin: PluginName,
        /// The key.
        key: DependencyKey,
    },
    /// A program cannot be opened.
    #[error("the grant {plugin}.{key} cannot be used")]
    Program {
        /// The plugin.
        plugin: PluginName,
        /// The key.
        key: DependencyKey,
        /// The reason.
        #[source]
        error: ConfineError,
    },
    /// A program needs another grant.
    #[error("the grant {plugin}.{key} cannot be used: the program needs {needs}")]
    ProgramNeeds {
        /// The plugin.
        plugin: PluginName,
        /// The key.
        key: DependencyKey,
        /// What it needs.
        needs: String,
    },
    /// A grant is narrowed by something that is not an argument.
    #[error(
        "the grant {plugin}.{key} is narrowed by {narrow}, but no tool of the plugin has such an argument: correct \
         `narrow`, or remove it"
    )]
    DeadNarrow {
        /// The plugin.
        plugin: PluginName,
        /// The key.
        key: DependencyKey,
        /// The pointer.
        narrow: String,
    },
    /// A key is bound to a service that the application does not have.
    #[error(
        "the policy binds {plugin}.{key} to the service `{service}`, but the application has {has}: correct the name"
    )]
    UnknownService {
        /// The plugin.
        plugin: PluginName,
        /// The key.
        key: DependencyKey,
        /// The name in the policy.
        service: String,
        /// The services that exist.
        has: String,
    },
    /// The audit log cannot be used.
    #[error(transparent)]
    Audit(#[from] AuditError),
    /// The ledger cannot be used.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}
