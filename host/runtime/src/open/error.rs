//! The errors of opening a host, or of changing its policy while it runs.

use crate::approvals::ApprovalError;
use crate::audit::AuditError;
use crate::catalog::LoadError;
use crate::concurrency::CALLS_MAX;
use crate::ledger::LedgerError;
use crate::outputs::OutputError;
use crate::places::PlaceError;
use crate::project_policy::ProjectGrantError;
use portcullis_policy::{DeadRule, DependencyKey, PluginName, PolicyError};
use portcullis_sandbox::{DirectoryError, EngineError, NetworkError};
use std::path::PathBuf;

/// Why a host cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// One of the host's own places cannot be used.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// The named policy file does not exist.
    #[error("the policy file {} does not exist: create it, or correct the path", .0.display())]
    NoPolicy(PathBuf),
    /// The policy has an error.
    #[error("{}: {error}", path.display())]
    Policy {
        /// The policy's file.
        path: PathBuf,
        /// The error.
        error: Box<PolicyError>,
    },
    /// A rule that no call can match.
    #[error("{}: {dead}; {}", path.display(), .dead.remedy())]
    DeadRule {
        /// The policy's file.
        path: PathBuf,
        /// The rule, and why no call can match it.
        dead: Box<DeadRule>,
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
    #[error("the grant {plugin}.{key}: {error}")]
    Grant {
        /// The plugin.
        plugin: PluginName,
        /// The key.
        key: DependencyKey,
        /// Why.
        error: DirectoryError,
    },
    /// A grant would include the host's own plugins, state or policy.
    #[error(
        "the grant {plugin}.{key} ({path}) contains {what}, where a plugin could change its own rights. Grant another \
         directory, or move {what} out of it (--plugins, --policy, --state)"
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
    /// A grant of a project's policy does not lead to the place that was trusted.
    #[error(transparent)]
    ProjectGrant(#[from] ProjectGrantError),
    /// An HTTP client cannot be created.
    #[error("the grant {plugin}.{key}: {error}")]
    Client {
        /// The plugin.
        plugin: PluginName,
        /// The key.
        key: DependencyKey,
        /// Why.
        error: NetworkError,
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
    /// The name servers cannot be used.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// The engine cannot start.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The audit log cannot be used.
    #[error(transparent)]
    Audit(#[from] AuditError),
    /// The ledger cannot be used.
    #[error(transparent)]
    Approvals(#[from] ApprovalError),
    /// The kept outputs cannot be used.
    #[error(transparent)]
    Outputs(#[from] OutputError),
    /// The plugin directory cannot be listed, or a refusal cannot be recorded.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The file of a secret changed while the host runs, and its new content cannot be used.
    #[error("the secret of the grant {plugin}.{key}: {why}")]
    Secret {
        /// The plugin.
        plugin: PluginName,
        /// The key.
        key: DependencyKey,
        /// Why.
        why: String,
    },
    /// A new policy needs more than was reserved when the host opened.
    #[error("the policy raises {limit} above what the running host reserved: restart the host, or lower the limit")]
    Unreserved {
        /// The limit, as the policy spells it.
        limit: String,
    },
    /// Too many or too few calls at one time.
    #[error("{0} concurrent calls are not possible: choose 1 to {CALLS_MAX}")]
    Calls(u32),
}

impl From<LedgerError> for OpenError {
    fn from(error: LedgerError) -> Self {
        Self::Approvals(error.into())
    }
}
