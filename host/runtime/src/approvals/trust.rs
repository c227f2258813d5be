//! Trust in the policies of projects. Each is identified by its place, its text and the places of its grants.

use super::error::ApprovalError;
use super::line::TrustLine;
use super::shared::Approvals;
use crate::audit::Kind;
use crate::ledger::{Durable, LedgerError, blocking};
use crate::places::{PlaceError, resolve};
use crate::project_policy::{ProjectGrantError, ProjectPolicy};
use std::path::Path;

/// Why a project's policy cannot be trusted, or the trust not be taken back.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// One of its grants leads out of the project.
    #[error(transparent)]
    Grant(#[from] ProjectGrantError),
    /// Its place cannot be used.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// The ledger or the record cannot be used.
    #[error(transparent)]
    Approvals(#[from] ApprovalError),
}

impl From<LedgerError> for TrustError {
    fn from(error: LedgerError) -> Self {
        Self::Approvals(error.into())
    }
}

impl Approvals {
    /// Trusts an identity ([`ProjectPolicy::identity`]). The path is for display, and to remove the trust by path.
    ///
    /// # Errors
    /// The ledger or the audit log cannot be written.
    pub async fn trust(&self, identity: &str, path: &str) -> Result<(), ApprovalError> {
        let (identity, path) = (identity.to_owned(), path.to_owned());
        self.off_worker(move |approvals| approvals.blocking_trust(&identity, &path)).await
    }

    fn blocking_trust(&self, identity: &str, path: &str) -> Result<(), ApprovalError> {
        self.announced(Durable::Machine, |change, announcer| {
            change.trust(identity, path)?;
            Ok(announcer.announce(Kind::Trusted, &TrustLine { sha256: identity, path, trusted: true })?)
        })
    }

    /// Trusts a project's policy as it was read, with the places that its grants lead to. Returns its identity.
    ///
    /// # Errors
    /// A grant leads out of the project, or the ledger or the audit log cannot be written.
    pub async fn trust_policy(&self, policy: &ProjectPolicy) -> Result<String, TrustError> {
        if let Some((grant, fault)) = policy.fault() {
            return Err(ProjectGrantError::Untrustworthy {
                policy: policy.path.clone(),
                plugin: grant.plugin.clone(),
                key: grant.key.clone(),
                path: grant.written.clone(),
                fault: fault.clone(),
            }
            .into());
        }
        let identity = policy.identity();
        self.trust(&identity, &policy.place().to_string_lossy()).await?;
        Ok(identity)
    }

    /// Returns whether the user trusts a project's policy in its current state.
    pub(crate) fn trusts(&self, policy: &ProjectPolicy) -> Result<bool, ApprovalError> {
        Ok(policy.fault().is_none() && self.is_trusted_identity(&policy.identity())?)
    }

    /// Removes the trust in an identity. Returns false if it was not trusted.
    ///
    /// # Errors
    /// The ledger or the audit log cannot be written.
    pub async fn distrust(&self, identity: &str) -> Result<bool, ApprovalError> {
        let identity = identity.to_owned();
        self.off_worker(move |approvals| approvals.blocking_distrust(&identity)).await
    }

    fn blocking_distrust(&self, identity: &str) -> Result<bool, ApprovalError> {
        self.change(Durable::Machine, |change| {
            let was_trusted = change.distrust(identity)?;
            if was_trusted {
                change.post(Kind::Trusted.as_str(), &TrustLine { sha256: identity, path: "", trusted: false })?;
            }
            Ok(was_trusted)
        })
    }

    /// Removes the trust in every policy that was at a path, whatever its text and places were. Returns false if there
    /// was none. The file need not exist any more.
    ///
    /// # Errors
    /// The path cannot be resolved, or the ledger or the audit log cannot be written.
    pub async fn distrust_policy(&self, path: &Path) -> Result<bool, TrustError> {
        let (approvals, path) = (self.clone(), path.to_owned());
        blocking(move || approvals.blocking_distrust_policy(&path)).await
    }

    fn blocking_distrust_policy(&self, path: &Path) -> Result<bool, TrustError> {
        // Only the folder is resolved, as for `ProjectPolicy::place`, and because the file may be gone.
        let folder = resolve(path.parent().unwrap_or(path));
        let folder = folder.map_err(|source| PlaceError::Io { what: "the policy", path: path.to_owned(), source })?;
        let place = folder.join(path.file_name().unwrap_or_default());
        let place = place.to_string_lossy();
        Ok(self.change(Durable::Machine, |change| {
            let was_trusted = change.distrust_path(&place)?;
            if was_trusted {
                change.post(Kind::Trusted.as_str(), &TrustLine { sha256: "", path: &place, trusted: false })?;
            }
            Ok(was_trusted)
        })?)
    }

    /// Returns whether an identity is trusted.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub async fn is_trusted(&self, identity: &str) -> Result<bool, ApprovalError> {
        let identity = identity.to_owned();
        self.off_worker(move |approvals| approvals.is_trusted_identity(&identity)).await
    }

    fn is_trusted_identity(&self, identity: &str) -> Result<bool, ApprovalError> {
        self.shared.ledger.look(|change| Ok(change.is_trusted(identity)?))
    }
}
