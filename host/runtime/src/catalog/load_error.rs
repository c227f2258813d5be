//! Why a file of the plugin directory is not loaded.

use super::beside::DescriptionError;
use super::definition::DefinitionError;
use super::file::FileError;
use crate::audit::AuditError;
use crate::grants::GrantError;
use portcullis_sandbox::{CompileError, Refusal};

/// Why a file was not loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file.
    #[error(transparent)]
    File(#[from] FileError),
    /// The bytes.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The compiler.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// The description did not come.
    #[error("it could not describe itself: {}", .0)]
    Describe(String),
    /// The description is not always the same.
    #[error("it describes itself differently each time it is asked")]
    Unstable,
    /// The description says what it must not.
    #[error("{}", list(.0))]
    Definition(Vec<DefinitionError>),
    /// A description file beside it is wrong.
    #[error("{}", list(.0))]
    Descriptions(Vec<DescriptionError>),
    /// The file is another than at load.
    #[error("its file was changed since it was loaded")]
    Changed,
    /// What the policy binds to it cannot be opened, or is not what it asks for. When a host opens, this is its error.
    #[error(transparent)]
    Grants(Box<GrantError>),
    /// The record.
    #[error(transparent)]
    Audit(#[from] AuditError),
}

impl LoadError {
    /// Whether the same file could be loaded another time.
    pub(crate) fn may_pass(&self) -> bool {
        match self {
            Self::File(_) | Self::Changed | Self::Grants(_) | Self::Audit(_) => true,
            Self::Compile(CompileError::Worker(_)) => true,
            Self::Compile(CompileError::Refused(_) | CompileError::Exhausted) | Self::Refused(_) => false,
            // Other description files make another plugin.
            Self::Describe(_) | Self::Unstable | Self::Definition(_) | Self::Descriptions(_) => false,
        }
    }
}

fn list(problems: &[impl ToString]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}
