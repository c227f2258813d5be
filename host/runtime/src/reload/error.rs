//! The error for a reload that failed and changed nothing.

use crate::audit::AuditError;
use crate::open::OpenError;
use crate::places::PlaceError;
use portcullis_policy::{DependencyKey, PluginName};

/// The error for a reload that failed. Such a reload changes nothing.
#[derive(Debug, thiserror::Error)]
pub enum ReloadError {
    /// The plugin directory cannot be used.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// There is a new directory at the path of the plugins, and a plugin can reach it.
    #[error(
        "the grant {plugin}.{key} overlaps with the new plugin directory, where a plugin could change its own rights. \
         Grant another directory, or put the plugins elsewhere"
    )]
    Covered {
        /// The plugin.
        plugin: PluginName,
        /// The key.
        key: DependencyKey,
    },
    /// A change cannot be recorded.
    #[error(transparent)]
    Audit(#[from] AuditError),
    /// The policy in force cannot be used with the changed plugins.
    #[error(transparent)]
    Policy(Box<OpenError>),
}
