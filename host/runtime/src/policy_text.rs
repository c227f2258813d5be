//! Parses the text of one policy.

use crate::approvals::ApprovalError;
use crate::ledger::LedgerError;
use crate::places::PlaceError;
use portcullis_policy::{Policy, PolicyError};
use std::path::{Path, PathBuf};

/// The error for a policy that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum PolicyReadError {
    /// Its file cannot be used.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// The named policy file does not exist.
    #[error("the policy file {} does not exist: create it, or correct the path", .0.display())]
    NoPolicy(PathBuf),
    /// The policy has an error.
    #[error("the policy {} is not valid", path.display())]
    Policy {
        /// The policy's file.
        path: PathBuf,
        /// The problem.
        #[source]
        error: Box<PolicyError>,
    },
    /// A path begins with the home directory, which is not known.
    #[error(
        "the policy {} has the path {written}, but the home directory is not known: set HOME, or write an absolute path",
        path.display()
    )]
    NoHome {
        /// The policy's file.
        path: PathBuf,
        /// The path in the policy.
        written: String,
    },
    /// The ledger cannot be used, so it is not known whether the policy is trusted.
    #[error(transparent)]
    Approvals(#[from] ApprovalError),
}

impl From<LedgerError> for PolicyReadError {
    fn from(error: LedgerError) -> Self {
        Self::Approvals(error.into())
    }
}

/// Parses one policy, to report its errors early.
pub(crate) fn parse(text: &str, path: &Path) -> Result<Policy, PolicyReadError> {
    Policy::parse(text).map_err(|error| PolicyReadError::Policy { path: path.to_owned(), error: Box::new(error) })
}
