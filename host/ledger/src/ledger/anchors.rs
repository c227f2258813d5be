//! Anchors: heads of the audit logs of hosts, in a ledger that they share. A host's log must go on from its newest
//! anchor. So a log that was cut back or replaced, with all that its directory says of it, is detected.
//!
//! Anchors are numbered for each log. A host adds one and never changes one, and their seals show both.

use super::backend::{self, Row, SqlTransaction, params};
use super::database::{LedgerChange, milliseconds};
use super::error::LedgerError;
use super::seal::Seal;
use crate::timestamp::Timestamp;
use std::time::Duration;

/// The table's name in its seals.
const TABLE: &str = "audit_anchor";

/// Anchors that are kept for each audit log. At one every few seconds, they show where a busy log was changed in the
/// last minutes. The newest alone shows that it was.
pub const ANCHORS_KEPT_MAX: u64 = 64;

/// How long the anchors of a log are kept after its newest one. Somebody who looks at the logs of a year finds them.
const ENDED_KEPT: Duration = Duration::from_hours(24 * 400);

/// The head of an audit log at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainHead {
    /// The length of the log, in bytes.
    pub bytes: u64,
    /// The number of entries.
    pub entries: u64,
    /// The MAC of the last entry, as hexadecimal digits.
    pub mac: String,
}

/// A head that a host has written into the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AuditAnchor {
    /// Its number among the anchors of the log, from 1.
    pub number: u64,
    /// The head.
    pub head: ChainHead,
    /// The time, by the clock of the ledger.
    pub at: Timestamp,
    /// Whether a host with the key of the ledger wrote it as it is now.
    pub is_sealed: bool,
}

/// The anchors of one audit log.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AnchoredChain {
    /// What identifies the log: hexadecimal digits that follow from the key of its state directory.
    pub chain: String,
    /// The machine and the state directory that the newest anchor names.
    pub place: String,
    /// The anchors, oldest first. Never empty.
    pub anchors: Vec<AuditAnchor>,
    /// How long ago the newest one was written.
    pub age: Duration,
}

/// What is wrong with the anchors of a log, whatever the log is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnchorsDamage {
    /// This anchor was not written by a host as it is now.
    #[error("anchor {0} in the database was changed, or written with another key")]
    Changed(u64),
    /// Anchors before this one are missing.
    #[error("anchors before number {0} were removed from the database")]
    Missing(u64),
}

/// A row of the table.
struct AnchorRow {
    chain: String,
    place: String,
    anchor: AuditAnchor,
}

#[cfg(test)]
impl AuditAnchor {
    /// Returns an anchor as a host wrote it.
    pub(crate) fn sealed(number: u64, head: ChainHead, at: Timestamp) -> Self {
        Self { number, head, at, is_sealed: true }
    }
}

impl AnchoredChain {
    /// Returns the first thing that is wrong with the anchors themselves.
    pub fn damage(&self) -> Option<AnchorsDamage> {
        anchors_damage(&self.anchors)
    }
}

/// Returns the first thing that is wrong with the anchors of a log, oldest first.
pub fn anchors_damage(anchors: &[AuditAnchor]) -> Option<AnchorsDamage> {
    if let Some(changed) = anchors.iter().find(|anchor| !anchor.is_sealed) {
        return Some(AnchorsDamage::Changed(changed.number));
    }
    let gap = anchors.windows(2).find(|pair| pair[1].number != pair[0].number + 1);
    // Only a full history has lost its beginning.
    let is_full = anchors.len() as u64 >= ANCHORS_KEPT_MAX;
    let first = anchors.first().filter(|first| first.number != 1 && !is_full);
    gap.map(|pair| &pair[1]).or(first).map(|after| AnchorsDamage::Missing(after.number))
}

impl LedgerChange<'_> {
    /// Returns the anchors of an audit log, oldest first.
    pub fn anchors_of(&self, chain: &str) -> Result<Vec<AuditAnchor>, LedgerError> {
        let select = "SELECT chain, place, number, bytes, entries, mac, at, seal FROM audit_anchor \
                      WHERE chain = ?1 ORDER BY number";
        let rows = self.transaction.rows(select, params![chain], |row| read(row, self.seal))?;
        Ok(rows.into_iter().map(|row| row.anchor).collect())
    }

    /// Adds an anchor, and removes the oldest ones. Returns false if another process has added one with this number.
    pub fn add_anchor(&self, chain: &str, place: &str, number: u64, head: &ChainHead) -> Result<bool, LedgerError> {
        let at = self.now();
        let seal = seal_of(self.seal, chain, place, number, head, at);
        let insert = "INSERT INTO audit_anchor (chain, place, number, bytes, entries, mac, at, seal) \
                      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT (chain, number) DO NOTHING";
        let (signed, bytes, entries) = (signed(number), signed(head.bytes), signed(head.entries));
        let values = params![chain, place, signed, bytes, entries, &head.mac, at, seal.as_slice()];
        let added = self.transaction.execute(insert, values)?;
        let delete = "DELETE FROM audit_anchor WHERE chain = ?1 AND number <= ?2";
        self.transaction.execute(delete, params![chain, signed - ANCHORS_KEPT_MAX.cast_signed()])?;
        Ok(added == 1)
    }

    /// Removes the anchors of logs that ended long ago.
    pub fn remove_ended_anchors(&self) -> Result<(), LedgerError> {
        let delete = "DELETE FROM audit_anchor WHERE chain IN \
                      (SELECT chain FROM audit_anchor GROUP BY chain HAVING max(at) < ?1)";
        self.transaction.execute(delete, params![self.now() - milliseconds(ENDED_KEPT)])?;
        Ok(())
    }
}

/// Returns the anchors of all logs.
pub(super) fn all(transaction: &dyn SqlTransaction, seal: &Seal) -> Result<Vec<AnchoredChain>, LedgerError> {
    let select = "SELECT chain, place, number, bytes, entries, mac, at, seal FROM audit_anchor ORDER BY chain, number";
    let now = transaction.now();
    let mut chains: Vec<AnchoredChain> = Vec::new();
    for AnchorRow { chain, place, anchor } in transaction.rows(select, params![], |row| read(row, seal))? {
        let age = Duration::from_millis(u64::try_from(now - anchor.at.as_millisecond()).unwrap_or(0));
        match chains.last_mut().filter(|last| last.chain == chain) {
            Some(last) => {
                (last.place, last.age) = (place, age);
                last.anchors.push(anchor);
            }
            None => chains.push(AnchoredChain { chain, place, anchors: vec![anchor], age }),
        }
    }
    Ok(chains)
}

fn read(row: &Row<'_>, seal: &Seal) -> backend::Result<AnchorRow> {
    let (chain, place): (String, String) = (row.get(0)?, row.get(1)?);
    // A negative number has no valid seal.
    let number = |column| row.get::<i64>(column).map(|number| u64::try_from(number).unwrap_or(0));
    let (number, bytes, entries) = (number(2)?, number(3)?, number(4)?);
    let head = ChainHead { bytes, entries, mac: row.get(5)? };
    let (at, sealed): (i64, Vec<u8>) = (row.get(6)?, row.get(7)?);
    let members = [chain.as_str(), &place, &number.to_string(), &bytes.to_string(), &entries.to_string(), &head.mac];
    let is_sealed = seal.holds(TABLE, &[members.as_slice(), &[&at.to_string()]].concat(), &sealed);
    let anchor = AuditAnchor { number, head, at: Timestamp::from_row(at), is_sealed };
    Ok(AnchorRow { chain, place, anchor })
}

fn seal_of(seal: &Seal, chain: &str, place: &str, number: u64, head: &ChainHead, at: i64) -> [u8; 32] {
    let ChainHead { bytes, entries, mac } = head;
    let (number, bytes, entries, at) = (number.to_string(), bytes.to_string(), entries.to_string(), at.to_string());
    seal.of(TABLE, &[chain, place, &number, &bytes, &entries, mac, &at])
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn anchor(number: u64) -> AuditAnchor {
        let head = ChainHead { bytes: number, entries: number, mac: String::new() };
        AuditAnchor::sealed(number, head, Timestamp::default())
    }

    #[test]
    fn anchors_that_are_missing_or_changed_are_found() {
        let of = |numbers: &[u64]| anchors_damage(&numbers.iter().copied().map(anchor).collect::<Vec<_>>());
        assert_eq!(of(&[1, 2, 3]), None);
        assert_eq!(of(&[1, 3]), Some(AnchorsDamage::Missing(3)));
        assert_eq!(of(&[2, 3]), Some(AnchorsDamage::Missing(2)));
        let full: Vec<u64> = (7..7 + ANCHORS_KEPT_MAX).collect();
        assert_eq!(of(&full), None);
        assert_eq!(of(&full[1..]), Some(AnchorsDamage::Missing(8)));
        let changed = AuditAnchor { is_sealed: false, ..anchor(2) };
        assert_eq!(anchors_damage(&[anchor(1), changed]), Some(AnchorsDamage::Changed(2)));
    }
}
