//! The outbox: entries of the audit log that are committed with a change and written to the log afterwards.

use super::backend::{self, Row, params};
use super::database::LedgerChange;
use super::error::{LedgerError, form_error};
use serde::Serialize;
use serde_json::Value;

/// The table's name in its seals.
const TABLE: &str = "outbox";

/// Maximum entries of one flush. The log is locked while they are written.
const FLUSH_MAX: i64 = 256;

/// An entry that is not in the audit log yet.
#[derive(Debug)]
pub struct OutboxRow {
    /// The place in the outbox.
    pub position: i64,
    /// The word of the entry's kind.
    pub kind: String,
    /// The members of the entry.
    pub body: Value,
}

impl LedgerChange<'_> {
    /// Posts an entry to the outbox.
    pub fn post(&self, kind: &str, body: &impl Serialize) -> Result<(), LedgerError> {
        let body = serde_json::to_string(body).map_err(|error| form_error(TABLE, error))?;
        let seal = self.seal.of(TABLE, &[kind, &body]);
        let insert = "INSERT INTO outbox (kind, body, seal) VALUES (?1, ?2, ?3)";
        self.transaction.execute(insert, params![kind, &body, seal.as_slice()])?;
        self.posted.set(true);
        Ok(())
    }

    /// Returns whether the outbox has an entry.
    pub fn has_posted(&self) -> Result<bool, LedgerError> {
        Ok(self.transaction.exists("SELECT 1 FROM outbox LIMIT 1", params![])?)
    }

    /// Returns the oldest entries of the outbox. Removes an entry without a valid seal, because this host did not post
    /// it.
    pub fn posted(&self) -> Result<Vec<OutboxRow>, LedgerError> {
        let select = "SELECT position, kind, body, seal FROM outbox ORDER BY position LIMIT ?1";
        let found = self.transaction.rows(select, params![FLUSH_MAX], read)?;
        let mut rows = Vec::with_capacity(found.len());
        for (position, kind, body, seal) in found {
            let holds = self.seal.holds(TABLE, &[&kind, &body], &seal);
            match serde_json::from_str(&body) {
                Ok(body) if holds => rows.push(OutboxRow { position, kind, body }),
                Ok(_) | Err(_) => self.unpost(position)?,
            }
        }
        Ok(rows)
    }

    /// Removes an entry that is in the audit log.
    pub fn unpost(&self, position: i64) -> Result<(), LedgerError> {
        self.transaction.execute("DELETE FROM outbox WHERE position = ?1", params![position])?;
        Ok(())
    }
}

fn read(row: &Row<'_>) -> backend::Result<(i64, String, String, Vec<u8>)> {
    Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
}
