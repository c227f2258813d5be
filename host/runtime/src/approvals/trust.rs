//! Files that a person trusts, known by their content.

use super::line::TrustLine;
use super::{ApprovalError, Approvals};
use crate::audit::Kind;
use crate::ledger::Durable;
use crate::open::OpenError;
use crate::policy_source;
use crate::text::sha256;
use std::path::Path;

impl Approvals {
    /// Trusts a content by its hash. The path is for people.
    ///
    /// # Errors
    /// The ledger or the record cannot be written.
    pub fn trust(&self, sha256: &str, path: &str) -> Result<(), ApprovalError> {
        self.announced(Durable::Machine, |change, announcer| {
            change.trust(sha256, path)?;
            Ok(announcer.announce(Kind::Trusted, &TrustLine { sha256, path, trusted: true })?)
        })
    }

    /// Trusts a policy as it is now. Answers its hash.
    ///
    /// # Errors
    /// It is no policy, or the ledger or the record cannot be written.
    pub fn trust_policy(&self, text: &str, path: &Path) -> Result<String, OpenError> {
        policy_source::parse(text, path)?;
        let sha256 = sha256(text);
        self.trust(&sha256, &path.to_string_lossy())?;
        Ok(sha256)
    }

    /// Takes the trust in a content back; false where there was none.
    ///
    /// # Errors
    /// The ledger or the record cannot be written.
    pub fn distrust(&self, sha256: &str) -> Result<bool, ApprovalError> {
        self.change(Durable::Machine, |change| {
            let was_trusted = change.distrust(sha256)?;
            if was_trusted {
                change.post(Kind::Trusted.as_str(), &TrustLine { sha256, path: "", trusted: false })?;
            }
            Ok(was_trusted)
        })
    }

    /// Whether a content is trusted.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn is_trusted(&self, sha256: &str) -> Result<bool, ApprovalError> {
        self.shared.ledger.look(|change| Ok(change.is_trusted(sha256)?))
    }
}
