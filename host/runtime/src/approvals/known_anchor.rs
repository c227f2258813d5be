//! What a process knows of the anchors of its audit log.

use crate::ledger::{AnchorsDamage, ChainHead};

/// What this process knows of the anchors of its audit log.
#[derive(Debug, Default)]
pub(super) struct KnownAnchor {
    /// The newest head that was anchored.
    pub(super) head: Option<ChainHead>,
    /// The greatest number of an anchor.
    pub(super) number: u64,
    /// What was wrong with the anchors when that head was anchored.
    pub(super) damage: Option<AnchorsDamage>,
}
