//! A handle to the approval requests and approvals of a state directory.

use super::error::ApprovalError;
use super::known_anchor::KnownAnchor;
use super::left_requests::LeftRequests;
use super::notify::RequestNotifier;
use super::repetition::{Attention, Refusals};
use super::rolled_back::RolledBack;
use super::waiters::Waiters;
use crate::audit::AuditWriter;
use crate::ledger::{CallLedger, Owner, blocking};
use portcullis_policy::Principal;
use portcullis_policy::recovery::RecoverMutex;
use std::sync::{Arc, Mutex, OnceLock};
use tokio::sync::Notify;

/// A handle to the approval requests and approvals of a state directory. Clones share them. Code that holds this handle
/// can answer as an approver.
#[derive(Clone)]
pub struct Approvals {
    pub(super) shared: Arc<ApprovalsState>,
    /// If set, only requests of this principal and of its sub-agents are visible.
    pub(super) within: Option<Principal>,
    /// Who answers through this handle, if it is known. The audit log names them.
    pub(super) answerer: Option<Principal>,
}

pub(super) struct ApprovalsState {
    pub(super) ledger: Arc<CallLedger>,
    pub(super) audit: Arc<AuditWriter>,
    owner: Mutex<Option<Arc<Owner>>>,
    /// Notified when a request is answered in this process.
    pub(super) answered: Notify,
    pub(super) rolled_back: OnceLock<RolledBack>,
    pub(super) refusals: Refusals,
    pub(super) attention: Attention,
    /// Tells people of new requests.
    pub(super) notifier: RequestNotifier,
    /// How many calls of this process wait for each approval request.
    pub(super) waiters: Waiters,
    /// Approval requests whose calls have left, by their binding.
    pub(super) left: LeftRequests,
    /// What this process has anchored of the audit log.
    pub(super) anchored: Mutex<KnownAnchor>,
}

impl Approvals {
    pub(crate) fn new(ledger: Arc<CallLedger>, audit: Arc<AuditWriter>) -> Result<Self, ApprovalError> {
        let shared = ApprovalsState {
            ledger,
            audit,
            owner: Mutex::new(None),
            answered: Notify::new(),
            rolled_back: OnceLock::new(),
            refusals: Refusals::default(),
            attention: Attention::default(),
            notifier: RequestNotifier::default(),
            waiters: Waiters::default(),
            left: LeftRequests::default(),
            anchored: Mutex::default(),
        };
        let approvals = Self { shared: Arc::new(shared), within: None, answerer: None };
        approvals.settle_left()?;
        Ok(approvals)
    }

    /// Runs work on a thread that may block. Work that has begun is finished, even if this future is dropped.
    pub(super) async fn off_worker<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, ApprovalError> + Send + 'static,
    ) -> Result<T, ApprovalError> {
        let approvals = self.clone();
        blocking(move || work(&approvals)).await
    }

    /// Waits until every command of `[approvals] notify` that this process has begun is over. A process that makes one
    /// call ends with this, because its commands end with it.
    pub async fn notices_sent(&self) {
        self.shared.notifier.settled().await;
    }

    /// Returns a handle that is restricted to this principal and its sub-agents. All other ids are unknown to it.
    #[must_use]
    pub fn within(&self, principal: &Principal) -> Self {
        Self { within: Some(principal.clone()), ..self.clone() }
    }

    /// Returns a handle whose answers and revocations the audit log records as those of this principal. Use it where
    /// several people can answer and each has signed in.
    ///
    /// ```
    /// # use portcullis::{Answer, Host};
    /// # async fn example(host: &Host, id: &str) -> Result<(), Box<dyn std::error::Error>> {
    /// let alice = "mcp.alice".parse()?;
    /// host.approvals().answering_as(&alice).answer(id, &Answer::Yes).await?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn answering_as(&self, principal: &Principal) -> Self {
        Self { answerer: Some(principal.clone()), ..self.clone() }
    }

    /// Returns who answers through this handle, as the audit log names them.
    pub(super) fn answerer(&self) -> Option<&str> {
        self.answerer.as_ref().map(Principal::as_str)
    }

    /// Returns whether this handle may see requests and approvals of a principal.
    pub(super) fn may_know(&self, principal: &str) -> bool {
        let Some(within) = &self.within else { return true };
        let below = principal.strip_prefix(within.as_str());
        // The slash matters: `alice-2` is not a sub-agent of `alice`.
        below.is_some_and(|below| below.is_empty() || below.starts_with('/'))
    }

    /// Returns the ledger.
    pub(crate) fn ledger(&self) -> &Arc<CallLedger> {
        &self.shared.ledger
    }

    /// Returns the ports to which the process connects for the ledger.
    pub(crate) fn ledger_ports(&self) -> Vec<u16> {
        self.shared.ledger.ports()
    }

    /// Returns this process as an owner of requests. It is created when the process first runs or waits for a call.
    pub(crate) fn owner(&self) -> Result<Arc<Owner>, ApprovalError> {
        let mut owner = self.shared.owner.lock_recovered();
        if let Some(owner) = &*owner {
            return Ok(Arc::clone(owner));
        }
        let new = Arc::new(self.shared.ledger.owner()?);
        *owner = Some(Arc::clone(&new));
        Ok(new)
    }
}

impl std::fmt::Debug for Approvals {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Approvals").field("within", &self.within).finish_non_exhaustive()
    }
}
