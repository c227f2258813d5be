//! The calls of the audit log, one row each, of its last part. The index follows the log without reading it again.

mod filter;
mod row;

pub(crate) use filter::LogFilter;
#[cfg(test)]
pub(crate) use row::CallOutcome;
pub(crate) use row::CallRow;

use portcullis::AuditReader;
use portcullis::audit::{AuditError, Entry, Fault, LogPlace};
use portcullis::policy::recovery::RecoverMutex;
use row::of_entry;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

/// Calls that the index keeps, the last ones. With texts of at most a few hundred bytes each, it takes a few megabytes.
pub(crate) const CALLS_KEPT: usize = 10_000;

/// The index.
pub(crate) struct CallLog {
    audit: AuditReader,
    /// The place up to which the log was read. One reader at a time.
    place: tokio::sync::Mutex<LogPlace>,
    table: Mutex<CallTable>,
}

#[derive(Default)]
struct CallTable {
    rows: VecDeque<Arc<CallRow>>,
    /// Rows that were dropped from the front, so that a number stays the same.
    dropped: usize,
    numbers: HashMap<String, usize>,
    entries: u64,
    fault: Option<Fault>,
}

impl CallLog {
    pub(crate) fn new(audit: AuditReader) -> Self {
        Self { audit, place: tokio::sync::Mutex::default(), table: Mutex::default() }
    }

    /// Reads what was added to the log. Returns the number of entries.
    ///
    /// # Errors
    /// The log cannot be read.
    pub(crate) async fn refresh(&self) -> Result<u64, AuditError> {
        let mut place = self.place.lock().await;
        let verified = self
            .audit
            .read_after(&mut place, |entry| {
                // Take the lock for one entry at a time, because pages read the table meanwhile.
                self.table.lock_recovered().add(&entry);
                Ok(())
            })
            .await?;
        let mut table = self.table.lock_recovered();
        table.entries = verified.lines;
        table.fault = verified.fault;
        Ok(table.entries)
    }

    /// Returns the rows that a filter accepts, the newest first, and the fault of the log, if it has one.
    pub(crate) fn rows(&self, filter: &LogFilter) -> (Vec<Arc<CallRow>>, Option<String>) {
        let table = self.table.lock_recovered();
        let rows = table.rows.iter().rev().filter(|row| filter.accepts(row)).map(Arc::clone).collect();
        (rows, table.fault.as_ref().map(ToString::to_string))
    }

    /// Returns the row of a call.
    pub(crate) fn row(&self, call: &str) -> Option<Arc<CallRow>> {
        let table = self.table.lock_recovered();
        let number = *table.numbers.get(call)?;
        table.rows.get(number.checked_sub(table.dropped)?).map(Arc::clone)
    }

    /// Returns every entry of a call, from the whole log.
    ///
    /// # Errors
    /// The log cannot be read.
    pub(crate) async fn entries(&self, call: &str) -> Result<Vec<Entry>, AuditError> {
        let mut entries = Vec::new();
        let each = |entry: Entry| {
            if entry.document.get("call").and_then(serde_json::Value::as_str) == Some(call) {
                entries.push(entry);
            }
            Ok(())
        };
        self.audit.read(each).await?;
        Ok(entries)
    }
}

impl CallTable {
    fn add(&mut self, entry: &Entry) {
        let Some(call) = row::call(entry) else { return };
        let number = match self.numbers.get(call) {
            Some(number) => *number,
            None => {
                let number = self.dropped + self.rows.len();
                self.numbers.insert(call.to_owned(), number);
                self.rows.push_back(Arc::new(CallRow::new(call)));
                number
            }
        };
        // A later entry of a call that was dropped already changes nothing.
        if let Some(row) = number.checked_sub(self.dropped).and_then(|place| self.rows.get_mut(place)) {
            // A page may still hold the row. It then keeps the row as it was.
            of_entry(Arc::make_mut(row), entry);
        }
        while self.rows.len() > CALLS_KEPT {
            if let Some(row) = self.rows.pop_front() {
                self.numbers.remove(&row.call);
            }
            self.dropped += 1;
        }
    }
}
