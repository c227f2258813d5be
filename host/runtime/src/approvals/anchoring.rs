//! Anchors the audit log of a host in the ledger that it shares with others, and compares the log with its anchors. The
//! log itself never waits for the database.

use super::error::ApprovalError;
use super::known_anchor::KnownAnchor;
use super::shared::Approvals;
use crate::audit::{AnchorFault, AuditError};
use crate::ledger::{AnchorsDamage, AuditAnchor, Durable, LedgerError, LedgerUsers, anchors_damage};
use portcullis_policy::recovery::RecoverMutex;

/// Why the audit log is not anchored, or its anchors are not as they should be.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AnchoringError {
    /// The log is not the one that was anchored. Nothing more is anchored of it.
    #[error("the audit log is not the one that was anchored in the shared ledger: {0}")]
    Log(AnchorFault),
    /// Anchors in the database were changed or removed. The log is anchored all the same.
    #[error(transparent)]
    Anchors(#[from] AnchorsDamage),
    /// The audit log cannot be read.
    #[error(transparent)]
    Audit(#[from] AuditError),
    /// The ledger cannot be used.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

impl Approvals {
    /// Fails if the audit log is older than its newest anchor, or another one.
    pub(super) fn check_anchors(&self) -> Result<(), ApprovalError> {
        if self.shared.ledger.users() == LedgerUsers::OneDirectory {
            return Ok(());
        }
        let audit = &self.shared.audit;
        // Read first, because the log only grows.
        let anchors = self.shared.ledger.look(|change| change.anchors_of(&audit.chain_id()))?;
        match audit.compare_with(&anchors)? {
            None => Ok(()),
            Some(fault) => Err(AuditError::Anchored(fault).into()),
        }
    }

    /// Anchors the head of the audit log, if it has moved. `place` says where the log is. It blocks.
    pub(crate) fn anchor(&self, place: &str) -> Result<(), AnchoringError> {
        // No other thread anchors meanwhile.
        let mut known = self.shared.anchored.lock_recovered();
        let audit = &self.shared.audit;
        let Some(head) = audit.moved_head(known.head.as_ref())? else { return intact(known.damage) };
        let (chain, before) = (audit.chain_id(), known.number);
        let (anchors, number) = self.shared.ledger.note(Durable::Machine, |change| {
            let anchors = change.anchors_of(&chain)?;
            if let Some(fault) = audit.compare_with(&anchors)? {
                return Err(AnchoringError::Log(fault));
            }
            let found = greatest(&anchors);
            // Another process of the state directory can have anchored more.
            if newest(&anchors).is_some_and(|newest| newest.head.entries >= head.entries) {
                return Ok((anchors, Some(found)));
            }
            // If someone removed the newest anchors, their numbers are not used again. So the gap stays visible.
            let number = found.max(before).saturating_add(1);
            let is_added = change.add_anchor(&chain, place, number, &head)?;
            Ok((anchors, is_added.then_some(number)))
        })?;
        // Another process has used the number. The next round tries again.
        let Some(number) = number else { return Ok(()) };
        if before == 0 {
            // The first anchor of this process. If this fails, another process does it.
            let _ = self.shared.ledger.note(Durable::Process, |change| change.remove_ended_anchors());
        }
        let removed = (greatest(&anchors) < before).then_some(AnchorsDamage::Missing(number));
        let damage = removed.or(anchors_damage(&anchors));
        *known = KnownAnchor { head: Some(head), number, damage };
        intact(damage)
    }
}

/// Fails if something is wrong with the anchors.
fn intact(damage: Option<AnchorsDamage>) -> Result<(), AnchoringError> {
    damage.map_or(Ok(()), |damage| Err(damage.into()))
}

/// Returns the newest anchor that a host wrote.
fn newest(anchors: &[AuditAnchor]) -> Option<&AuditAnchor> {
    anchors.iter().filter(|anchor| anchor.is_sealed).max_by_key(|anchor| anchor.head.entries)
}

fn greatest(anchors: &[AuditAnchor]) -> u64 {
    anchors.iter().map(|anchor| anchor.number).max().unwrap_or(0)
}
