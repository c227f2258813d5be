//! Counts of rate limits that the hosts of a ledger share. A row says until when the calls of all hosts use up a rate,
//! if they were spread evenly. Rows give no right and have no seal.
//!
//! This file must not know which limits there are, or what a call is.

use super::backend::params;
use super::database::LedgerChange;
use super::error::{LedgerError, form_error};
use serde::Serialize;

/// Maximum rows. A caller can make principals without end, and each has rows of its own. More than all counts of
/// several hosts, and some megabytes.
const RATE_ROWS_MAX: i64 = 65_536;

/// How long an unused row stays, in microseconds. Its count is as if it had never been used.
const UNUSED_KEPT_MICROSECONDS: i64 = 60_000_000;

/// Calls of one count that a host has not reported yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RateUse {
    /// What identifies the count on every host: hexadecimal digits.
    pub key: String,
    /// The number of calls.
    pub calls: u32,
    /// The time in which one more call becomes possible, in microseconds.
    pub step: i64,
    /// How long ago the first of the calls began, in microseconds.
    pub age: i64,
}

/// What the hosts have used together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RatesUsed {
    /// The number of processes that use the ledger now.
    pub hosts: u32,
    /// For each reported key, how long the calls of all hosts use up the rate, in microseconds from now. Negative if
    /// they do no more.
    pub ahead: Vec<(String, i64)>,
}

impl LedgerChange<'_> {
    /// Adds calls to the shared counts, and returns what all hosts have used.
    pub fn share_rates(&self, uses: &[RateUse]) -> Result<RatesUsed, LedgerError> {
        let hosts = self.live_hosts()?;
        if uses.is_empty() {
            return Ok(RatesUsed { hosts, ahead: Vec::new() });
        }
        let json = serde_json::to_string(uses).map_err(|error| form_error("rate", error))?;
        // Locks the rows in one order, so that two hosts cannot wait for each other.
        // The inner cast makes the parameter a text. PostgreSQL would otherwise expect a value of type JSON.
        let lock = "INSERT INTO rate (key, paced_until) SELECT key, 0 \
                    FROM json_to_recordset(CAST(CAST(?1 AS text) AS json)) AS used (key text) ORDER BY key \
                    ON CONFLICT (key) DO UPDATE SET paced_until = rate.paced_until";
        self.transaction.execute(lock, params![&json])?;
        let now = self.now().saturating_mul(1000);
        let add = "UPDATE rate SET paced_until = \
                       greatest(rate.paced_until, CAST(?2 AS bigint) - used.age) + used.calls * used.step \
                   FROM json_to_recordset(CAST(CAST(?1 AS text) AS json)) \
                       AS used (key text, calls bigint, step bigint, age bigint) \
                   WHERE rate.key = used.key RETURNING rate.key, rate.paced_until";
        let ahead = self
            .transaction
            .rows(add, params![&json, now], |row| Ok((row.get(0)?, row.get::<i64>(1)?.saturating_sub(now))))?;
        Ok(RatesUsed { hosts, ahead })
    }

    /// Removes rows of counts that are not used, and the least used ones if there are too many. Leaves rows that
    /// another host changes at the moment.
    pub fn remove_unused_rates(&self) -> Result<(), LedgerError> {
        let unused = self.now().saturating_mul(1000) - UNUSED_KEPT_MICROSECONDS;
        let delete = "DELETE FROM rate WHERE key IN \
                      (SELECT key FROM rate WHERE paced_until < ?1 FOR UPDATE SKIP LOCKED)";
        self.transaction.execute(delete, params![unused])?;
        // Not with the offset in the locking query, which would lock the rows that stay too.
        let delete = "DELETE FROM rate WHERE key IN (SELECT key FROM rate WHERE paced_until <= \
                      (SELECT paced_until FROM rate ORDER BY paced_until DESC OFFSET ?1 LIMIT 1) \
                      FOR UPDATE SKIP LOCKED)";
        self.transaction.execute(delete, params![RATE_ROWS_MAX])?;
        Ok(())
    }
}
