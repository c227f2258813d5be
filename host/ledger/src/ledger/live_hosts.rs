//! The hosts that use a shared ledger now, and the policies that they decide by.

use super::backend::{SqlTransaction, params};
use super::database::LedgerChange;
use super::error::LedgerError;
use super::owner::{IS_LEASED, Owner, lease_times};
use std::collections::BTreeMap;

/// The policies in force, by their SHA-256, with the number of hosts that have each.
pub type PoliciesInForce = BTreeMap<String, u64>;

impl LedgerChange<'_> {
    /// Returns the number of processes that use the ledger now.
    pub fn live_hosts(&self) -> Result<u32, LedgerError> {
        let select = format!("SELECT count(*) FROM host WHERE {IS_LEASED}");
        let [now, lease_ago, gap_ago] = lease_times(self.now());
        let count: i64 = self.transaction.only(&select, params![now, lease_ago, gap_ago], |row| row.get(0))?;
        Ok(u32::try_from(count).unwrap_or(u32::MAX))
    }

    /// Notes the policy of a process that has a lease.
    pub fn note_policy(&self, owner: &Owner, sha256: &str) -> Result<(), LedgerError> {
        let update = "UPDATE host SET policy_sha256 = ?2 WHERE id = ?1";
        self.transaction.execute(update, params![owner.id(), sha256])?;
        Ok(())
    }

    /// Returns the policies of the hosts that run now.
    pub fn policies(&self) -> Result<PoliciesInForce, LedgerError> {
        policies(self.transaction)
    }
}

/// Returns the policies of the hosts that run now.
pub(super) fn policies(transaction: &dyn SqlTransaction) -> Result<PoliciesInForce, LedgerError> {
    let select = format!(
        "SELECT policy_sha256, count(*) FROM host WHERE {IS_LEASED} AND policy_sha256 IS NOT NULL \
         GROUP BY policy_sha256"
    );
    let [now, lease_ago, gap_ago] = lease_times(transaction.now());
    let values = params![now, lease_ago, gap_ago];
    let rows = transaction.rows(&select, values, |row| Ok((row.get(0)?, row.get::<i64>(1)?)))?;
    Ok(rows.into_iter().map(|(sha256, hosts)| (sha256, u64::try_from(hosts).unwrap_or(0))).collect())
}
