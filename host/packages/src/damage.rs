//! How an installed package can differ from what was installed.

use portcullis_definitions::text::OneLine;

use crate::manifest::ManifestError;
use crate::tree::TreeError;

/// How an installed package differs from its manifest.
#[derive(Debug, thiserror::Error)]
pub enum DamageError {
    /// The manifest is missing or is not a manifest.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// A file or link breaks a rule, or cannot be read.
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// A file or link was added, removed or changed.
    #[error("`{}` was {change}", OneLine(path))]
    Changed {
        /// Its path in the folder.
        path: String,
        /// What happened to it.
        change: TreeChange,
    },
}

/// What happened to a file or link since the installation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TreeChange {
    /// It is new.
    #[error("added")]
    Added,
    /// It is gone.
    #[error("removed")]
    Removed,
    /// Its content, its target or its permission to execute is another.
    #[error("changed")]
    Changed,
}
