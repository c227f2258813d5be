//! What the hosts of a shared ledger write into it about themselves, for operators.

use crate::audit::AnchoredChain;
use crate::ledger::{LedgerError, LedgerPeek, PoliciesInForce, blocking};
use crate::open::OpenError;
use std::fmt;
use std::sync::Arc;

/// What the hosts of a shared ledger write into it about themselves.
#[derive(Clone)]
pub struct SharedLedger(Arc<LedgerPeek>);

impl fmt::Debug for SharedLedger {
    /// Leaves out the key of the ledger.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("SharedLedger").finish_non_exhaustive()
    }
}

impl SharedLedger {
    pub(crate) fn new(peek: LedgerPeek) -> Self {
        Self(Arc::new(peek))
    }

    /// Returns the anchors of the audit logs of all hosts. `None` if the ledger is not shared.
    ///
    /// # Errors
    /// They cannot be read.
    pub async fn anchors(&self) -> Result<Option<Vec<AnchoredChain>>, OpenError> {
        self.read(|peek| peek.anchors()).await
    }

    /// Returns the policies of the hosts that run now, by their SHA-256, with the number of hosts that have each.
    /// `None` if the ledger is not shared.
    ///
    /// # Errors
    /// They cannot be read.
    pub async fn policies(&self) -> Result<Option<PoliciesInForce>, OpenError> {
        self.read(|peek| peek.policies()).await
    }

    async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&LedgerPeek) -> Result<T, LedgerError> + Send + 'static,
    ) -> Result<T, OpenError> {
        let peek = Arc::clone(&self.0);
        Ok(blocking(move || read(&peek)).await?)
    }
}
