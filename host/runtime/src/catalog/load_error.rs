//! Why a file of the plugin directory is not loaded.

use super::beside::DescriptionError;
use super::file::FileError;
use super::generated_change::GeneratedChange;
use super::generation_error::GenerationError;
use crate::audit::AuditError;
use crate::grants::GrantError;
use crate::servers::ServerFault;
use portcullis_definitions::definition::DefinitionError;
use portcullis_sandbox::{CompileError, Refusal};

/// Why a file was not loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file cannot be read, or must not be.
    #[error(transparent)]
    File(#[from] FileError),
    /// The content is not an acceptable plugin.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The compiler failed.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// The plugin could not describe itself.
    #[error("it could not describe itself: {}", .0)]
    Describe(String),
    /// The description differs from one run to the next.
    #[error("its description differs from one run to the next")]
    Unstable,
    /// The description is invalid.
    #[error("{}", list(.0))]
    Definition(Vec<DefinitionError>),
    /// A description file next to the plugin is invalid.
    #[error("{}", list(.0))]
    Descriptions(Vec<DescriptionError>),
    /// The tools that the plugin generates are not used.
    #[error(transparent)]
    Generation(#[from] GenerationError),
    /// The MCP server cannot be used.
    #[error(transparent)]
    Server(Box<ServerFault>),
    /// The plugin could not say what it offers a caller, or its answer is invalid. A host loads the plugin, but offers
    /// none of its tools. Only a check reports this.
    #[error("{}", .0)]
    Preparation(String),
    /// The file has changed since it was loaded.
    #[error("its file has changed since it was loaded")]
    Changed,
    /// The bytes of the file are not those that it had, although its size and times are the same.
    #[error(
        "its bytes changed, but its size and times did not, so someone may have tampered with it: compare it with its \
         source, then run `touch` on it to load it again"
    )]
    Altered,
    /// A binding of the policy cannot be opened, or is not what the plugin asks for. When a host opens, this is the
    /// host's error instead.
    #[error(transparent)]
    Grants(Box<GrantError>),
    /// The audit log cannot be used.
    #[error(transparent)]
    Audit(#[from] AuditError),
}

impl LoadError {
    /// Returns the change of generated tools that waits to be accepted.
    pub(crate) fn generated_change(&self) -> Option<&GeneratedChange> {
        match self {
            Self::Generation(GenerationError::Changed(change)) => Some(change),
            Self::Generation(_) | Self::File(_) | Self::Refused(_) | Self::Compile(_) | Self::Describe(_) => None,
            Self::Unstable | Self::Definition(_) | Self::Descriptions(_) | Self::Changed => None,
            Self::Altered => None,
            Self::Preparation(_) | Self::Server(_) => None,
            Self::Grants(_) | Self::Audit(_) => None,
        }
    }

    /// Returns whether another attempt to load the same file could succeed.
    pub(crate) fn may_pass(&self) -> bool {
        match self {
            // What they are generated from may have changed.
            Self::Generation(_) | Self::Preparation(_) | Self::Server(_) => true,
            Self::File(_) | Self::Changed | Self::Grants(_) | Self::Audit(_) => true,
            Self::Compile(CompileError::Worker(_) | CompileError::NoWorker(_) | CompileError::NoCompiler) => true,
            Self::Compile(CompileError::Refused(_) | CompileError::Exhausted) | Self::Refused(_) => false,
            // Changed description files count as a changed plugin, which is loaded anew.
            Self::Describe(_) | Self::Unstable | Self::Definition(_) | Self::Descriptions(_) => false,
            // Until someone has looked at it and touches the file.
            Self::Altered => false,
        }
    }
}

fn list(problems: &[impl ToString]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}
