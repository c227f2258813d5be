//! Anchors the audit log in the ledger that a host shares with others, again and again, and compares their policies.

use crate::approvals::AnchoringError;
use crate::host::Host;
use crate::inner::HostState;
use crate::ledger::{Durable, LedgerError, LedgerUsers, PoliciesInForce, blocking};
use crate::ledger_standing::{Anchoring, LedgerStanding};
use crate::text::WithCauses;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// How often a host anchors its audit log, if the log has grown. Entries of the last seconds can be cut off without a
/// trace in the database, but not those before.
const ANCHOR_INTERVAL: Duration = Duration::from_secs(5);

/// How long a host that ends tries to anchor its log. The process manager waits for it.
const LAST_ANCHOR_TIME: Duration = Duration::from_secs(3);

impl Host {
    /// Returns what the host finds about the ledger that it shares with other hosts, and follows it.
    pub fn ledger_standing(&self) -> watch::Receiver<LedgerStanding> {
        self.0.storage.ledger.subscribe()
    }

    /// Anchors the audit log in the shared ledger now, for a process that is about to end. Does nothing if the ledger
    /// is not shared. Gives up after three seconds.
    pub async fn anchor_audit(&self) {
        if is_shared(&self.0) {
            let _ = tokio::time::timeout(LAST_ANCHOR_TIME, anchor(&self.0)).await;
        }
    }
}

/// Anchors the audit log again and again, and compares the policies of the hosts, while the host is open. Does nothing
/// if the ledger is not shared.
pub(crate) fn follow(host: &Arc<HostState>) {
    if !is_shared(host) {
        return;
    }
    let host = Arc::downgrade(host);
    drop(tokio::spawn(async move {
        loop {
            let Some(host) = host.upgrade() else { return };
            round(&host).await;
            // The task must not keep the host open while it sleeps.
            drop(host);
            tokio::time::sleep(ANCHOR_INTERVAL).await;
        }
    }));
}

fn is_shared(host: &HostState) -> bool {
    host.approvals.ledger().users() == LedgerUsers::ManyDirectories
}

async fn round(host: &Arc<HostState>) {
    let anchoring = match anchor(host).await {
        Ok(()) => Anchoring::Works,
        Err(error @ AnchoringError::Log(_)) => Anchoring::OtherLog(WithCauses(&error).to_string()),
        Err(error @ AnchoringError::Anchors(_)) => Anchoring::Damaged(WithCauses(&error).to_string()),
        Err(error @ (AnchoringError::Audit(_) | AnchoringError::Ledger(_))) => {
            Anchoring::Waits(WithCauses(&error).to_string())
        }
    };
    let policies = policies(host).await;
    host.storage.ledger.send_if_modified(|standing| {
        // If the database cannot be asked, the other hosts may still have what they had.
        let policies = policies.unwrap_or_else(|_| standing.policies.clone());
        // The text has a time that changes with each attempt.
        let is_same = std::mem::discriminant(&anchoring) == std::mem::discriminant(&standing.anchoring);
        let is_modified = !is_same || policies != standing.policies;
        *standing = LedgerStanding { anchoring, policies };
        is_modified
    });
}

/// Anchors the audit log. The work goes on if the future is dropped.
async fn anchor(host: &Arc<HostState>) -> Result<(), AnchoringError> {
    let (approvals, place) = (host.approvals.clone(), host.state.named.clone());
    blocking(move || approvals.anchor(&place)).await
}

/// Notes the policy of this host in the ledger, and returns those of all.
async fn policies(host: &Arc<HostState>) -> Result<PoliciesInForce, LedgerError> {
    let (ledger, owner) = (Arc::clone(host.approvals.ledger()), Arc::clone(&host.owner));
    let sha256 = host.policy().sha256.clone();
    blocking(move || {
        // The next round notes it again, so it need not survive a crash of the machine.
        ledger.note(Durable::Process, |change| {
            change.note_policy(&owner, &sha256)?;
            change.policies()
        })
    })
    .await
}
