//! The error for a new policy that cannot take effect in a running host.

use portcullis_policy::{DependencyKey, PluginName};

/// The error for a new policy that cannot take effect in a running host.
#[derive(Debug, thiserror::Error)]
pub enum PolicyChangeError {
    /// The file of a secret changed while the host runs, and its new content cannot be used.
    #[error("the secret of the grant {plugin}.{key}: {why}")]
    Secret {
        /// The plugin.
        plugin: PluginName,
        /// The key.
        key: DependencyKey,
        /// The reason.
        why: String,
    },
    /// A new policy needs more than was reserved when the host opened.
    #[error("the policy raises {limit} above what the running host reserved: restart the host, or lower the limit")]
    Unreserved {
        /// The limit, as the policy spells it.
        limit: String,
    },
}
