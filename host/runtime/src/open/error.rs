//! The errors of opening a host, or of changing its policy while it runs.

use crate::approvals::ApprovalError;
use crate::audit::AuditError;
use crate::catalog::LoadError;
use crate::concurrency::CALLS_MAX;
use crate::grants::GrantError;
use crate::ledger::LedgerError;
use crate::outputs::OutputError;
use crate::places::PlaceError;
use crate::policy_change::PolicyChangeError;
use crate::policy_text::PolicyReadError;
use portcullis_sandbox::{EngineError, WorkerError};

/// Why a host cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// One of the host's own places cannot be used.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// The policy cannot be read.
    #[error(transparent)]
    Policy(#[from] PolicyReadError),
    /// The policy does not fit the plugins, or what it grants cannot be opened.
    #[error(transparent)]
    Grants(#[from] GrantError),
    /// Plugins cannot be compiled in a child process of this program.
    #[error(transparent)]
    Compiler(#[from] WorkerError),
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
    /// A new policy cannot take effect in the running host.
    #[error(transparent)]
    Change(#[from] PolicyChangeError),
    /// Too many or too few calls at one time.
    #[error("{0} concurrent calls are not possible: choose 1 to {CALLS_MAX}")]
    Calls(u32),
}

impl From<LedgerError> for OpenError {
    fn from(error: LedgerError) -> Self {
        Self::Approvals(error.into())
    }
}
