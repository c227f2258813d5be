//! Makes a change of the ledger and its entry in the audit log take effect together.
//!
//! A change that grants a right is announced: its entry is written before the commit, and an entry `undone` takes it
//! back if the commit fails. A change that removes a right is posted: its entry is committed with the change and
//! written afterwards. So the log never says that a right ended which still applies.

use super::error::ApprovalError;
use super::shared::Approvals;
use crate::audit::{Announced, AuditError, AuditWriter, Kind, kind_of};
use crate::ledger::{Durable, LedgerChange, LedgerError, Status};
use serde::Serialize;
use std::cell::RefCell;

/// Why an announced change was not made.
const NOT_KEPT: &str = "the ledger could not be written";

/// Writes the entries of a change that grants a right. Announce last within a change, so that little can fail after the
/// entry.
pub(super) struct GrantAnnouncer<'a> {
    audit: &'a AuditWriter,
    /// The sequence numbers of the entries.
    entries: RefCell<Vec<u64>>,
}

/// The body of an entry that takes another entry back.
#[derive(Serialize)]
struct UndoneLine<'a> {
    entry: u64,
    why: &'a str,
}

impl GrantAnnouncer<'_> {
    /// Writes the entry of a change that is about to be committed.
    pub(super) fn announce(&self, kind: Kind, body: &impl Serialize) -> Result<(), AuditError> {
        let entry = self.audit.enter(kind, None::<&()>, body)?;
        self.entries.borrow_mut().push(entry);
        Ok(())
    }
}

impl Approvals {
    /// Changes the ledger. When this returns, the posted entries are in the audit log.
    pub(super) fn change<T>(
        &self,
        durable: Durable,
        work: impl FnOnce(&LedgerChange<'_>) -> Result<T, ApprovalError>,
    ) -> Result<T, ApprovalError> {
        let (done, committed) = self.shared.ledger.commit(durable, work)?;
        // A crash of the machine can undo other commits. If the log named them, the ledger would look rolled back.
        if let Some(generation) = committed.generation.filter(|_| durable == Durable::Machine) {
            // The committed change is valid even if this note fails. The next change notes the generation again.
            let _ = self.shared.audit.note_ledger(generation);
        }
        if committed.posted {
            self.flush()?;
        }
        Ok(done)
    }

    /// Changes the ledger with a change that is announced.
    pub(super) fn announced<T>(
        &self,
        durable: Durable,
        work: impl FnOnce(&LedgerChange<'_>, &GrantAnnouncer<'_>) -> Result<T, ApprovalError>,
    ) -> Result<T, ApprovalError> {
        // Flush first, so that the log has the order of the changes.
        if self.shared.ledger.look(|change| change.has_posted())? {
            self.flush().map_err(|error| match error {
                // The entries are of earlier changes. Nothing of this change has taken effect.
                ApprovalError::Unrecorded(error) => ApprovalError::Audit(error),
                error => error,
            })?;
        }
        let announcer = GrantAnnouncer { audit: &self.shared.audit, entries: RefCell::default() };
        let done = self.change(durable, |change| work(change, &announcer));
        match &done {
            // These happen after the commit, or before anything was announced.
            Ok(_) | Err(ApprovalError::Unrecorded(_)) => {}
            Err(_) => announcer.entries.take().into_iter().try_for_each(|entry| self.undo(entry))?,
        }
        done
    }

    fn undo(&self, entry: u64) -> Result<(), AuditError> {
        self.shared.audit.append(Kind::Undone, None::<&()>, &UndoneLine { entry, why: NOT_KEPT })
    }

    /// Writes the entries of the outbox into the audit log. If the process is killed in between, an entry is written
    /// again.
    pub(super) fn flush(&self) -> Result<(), ApprovalError> {
        loop {
            let flushed = self.shared.ledger.change(Durable::Process, |change| {
                let mut flushed = false;
                for row in &change.posted()? {
                    // A newer version that shares this ledger has posted it, and writes it itself.
                    let Some(kind) = kind_of(&row.kind) else { continue };
                    if let Err(error) = self.shared.audit.append(kind, None::<&()>, &row.body) {
                        // The earlier entries were written, and are committed as written.
                        return Ok(Err(ApprovalError::Unrecorded(error)));
                    }
                    change.unpost(row.position)?;
                    flushed = true;
                }
                Ok::<_, ApprovalError>(Ok(flushed))
            })??;
            if !flushed {
                return Ok(());
            }
        }
    }

    /// Takes back the entries that a process announced before it died without a commit.
    pub(super) fn undo_announced(&self, announced: &[Announced]) -> Result<(), ApprovalError> {
        let is_pending = |change: &LedgerChange<'_>, announced: &Announced| -> Result<bool, LedgerError> {
            Ok(change.question(&announced.question)?.is_some_and(|row| row.status == Status::Pending))
        };
        for announced in announced {
            // Most announced answers were committed, so look before taking the write lock.
            if !self.shared.ledger.look(|change| is_pending(change, announced))? {
                continue;
            }
            // This waits for the lock of a process that is about to commit.
            self.shared.ledger.change(Durable::Process, |change| {
                if is_pending(change, announced)? {
                    self.undo(announced.entry)?;
                }
                Ok::<_, ApprovalError>(())
            })?;
        }
        Ok(())
    }
}
