//! What a host finds about the ledger that it shares with other hosts: whether its audit log is anchored there, and
//! whether all hosts decide by one policy.

#[doc(inline)]
pub use crate::ledger::PoliciesInForce;

/// What a host finds about the ledger that it shares with other hosts. Its default is that of a ledger of one host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LedgerStanding {
    /// Whether the audit log is anchored in the ledger.
    pub anchoring: Anchoring,
    /// The policies of the hosts that run now, by their SHA-256, with the number of hosts that have each. One policy if
    /// all is well.
    pub policies: PoliciesInForce,
}

/// Whether the audit log is anchored in the shared ledger.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Anchoring {
    /// It is, or the ledger is not shared.
    #[default]
    Works,
    /// The database cannot be used. The log is anchored when it can.
    Waits(String),
    /// Anchors in the database were changed or removed.
    Damaged(String),
    /// The audit log is not the one that was anchored, because it was replaced, or two hosts have one state directory.
    /// Nothing more is anchored.
    OtherLog(String),
}
