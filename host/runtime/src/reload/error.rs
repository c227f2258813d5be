//! Why a reload changed nothing.

use crate::audit::AuditError;
use crate::open::OpenError;
use crate::places::PlaceError;
use portcullis_policy::{DependencyKey, PluginName};

/// Why the plugin directory cannot be looked at again. Everything is then as it was.
#[derive(Debug, thiserror::Error)]
pub enum ReloadError {
    /// The directory.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// Another directory lies where the plugins were, and a plugin can reach it.
    #[error(
        "the grant {plugin}.{key} covers the directory that now is the plugin directory: a plugin could change its own \
         rights there. Grant another directory, or put the plugins elsewhere"
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
