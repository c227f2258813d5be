//! A change of the ledger and its entry in the audit log take effect together.
//!
//! What gives something is announced: its entry is written before the commit, and taken back by another where the
//! commit fails. What takes something away is posted: its entry is committed with the change and written afterwards,
//! so that the log never says that something ended which still holds.

use super::{ApprovalError, Approvals};
use crate::audit::{Announced, AuditError, AuditLog, Kind};
use crate::ledger::{Change, Durable, LedgerError, Status};
use serde::Serialize;
use std::cell::RefCell;

/// Why an announced change was not made.
const NOT_KEPT: &str = "the ledger could not be written";

/// Writes the entries of a change that gives something. Each change is made first and announced last, so that little
/// can go wrong after the entry.
pub(super) struct Announcer<'a> {
    audit: &'a AuditLog,
    /// The places of the entries in the log.
    entries: RefCell<Vec<u64>>,
}

/// An entry that another takes back.
#[derive(Serialize)]
struct UndoneLine<'a> {
    entry: u64,
    why: &'a str,
}

impl Announcer<'_> {
    /// Writes an entry of what is about to be committed.
    pub(super) fn announce(&self, kind: Kind, body: &impl Serialize) -> Result<(), AuditError> {
        let entry = self.audit.enter(kind, None::<&()>, body)?;
        self.entries.borrow_mut().push(entry);
        Ok(())
    }
}

impl Approvals {
    /// Changes the ledger. What the change posted is in the audit log afterwards.
    pub(super) fn change<T>(
        &self,
        durable: Durable,
        work: impl FnOnce(&Change<'_>) -> Result<T, ApprovalError>,
    ) -> Result<T, ApprovalError> {
        let (done, committed) = self.shared.ledger.commit(durable, work)?;
        if let Some(generation) = committed.generation.filter(|_| durable == Durable::Machine) {
            // What is committed holds, whether or not it is noted: the note then follows with the next change.
            let _ = self.shared.audit.note_ledger(generation);
        }
        if committed.posted {
            self.flush()?;
        }
        Ok(done)
    }

    /// Changes the ledger, where the change is announced.
    pub(super) fn announced<T>(
        &self,
        durable: Durable,
        work: impl FnOnce(&Change<'_>, &Announcer<'_>) -> Result<T, ApprovalError>,
    ) -> Result<T, ApprovalError> {
        // The log keeps the order in which things happened.
        if self.shared.ledger.look(|change| change.has_posted())? {
            self.flush().map_err(|error| match error {
                ApprovalError::Unrecorded(error) => ApprovalError::Audit(error),
                error => error,
            })?;
        }
        let announcer = Announcer { audit: &self.shared.audit, entries: RefCell::default() };
        let done = self.change(durable, |change| work(change, &announcer));
        match &done {
            // These two come after the commit, or before anything was announced.
            Ok(_) | Err(ApprovalError::Unrecorded(_)) => {}
            Err(_) => announcer.entries.take().into_iter().try_for_each(|entry| self.undo(entry))?,
        }
        done
    }

    fn undo(&self, entry: u64) -> Result<(), AuditError> {
        self.shared.audit.append(Kind::Undone, None::<&()>, &UndoneLine { entry, why: NOT_KEPT })
    }

    /// Writes what is in the outbox into the audit log. A kill between the two leaves an entry that is written again.
    pub(super) fn flush(&self) -> Result<(), ApprovalError> {
        loop {
            let flushed = self.shared.ledger.change(Durable::Process, |change| {
                let rows = change.posted()?;
                for row in &rows {
                    let written =
                        Kind::of(&row.kind).map(|kind| self.shared.audit.append(kind, None::<&()>, &row.body));
                    if let Some(Err(error)) = written {
                        // The entries before it were written, and are committed as such.
                        return Ok(Err(ApprovalError::Unrecorded(error)));
                    }
                    change.unpost(row.position)?;
                }
                Ok::<_, ApprovalError>(Ok(!rows.is_empty()))
            })??;
            if !flushed {
                return Ok(());
            }
        }
    }

    /// Takes back what was announced by a process that died before it had committed it.
    pub(super) fn undo_announced(&self, announced: &[Announced]) -> Result<(), ApprovalError> {
        let is_pending = |change: &Change<'_>, announced: &Announced| -> Result<bool, LedgerError> {
            Ok(change.question(&announced.question)?.is_some_and(|row| row.status == Status::Pending))
        };
        for announced in announced {
            if !self.shared.ledger.look(|change| is_pending(change, announced))? {
                continue;
            }
            // A process that is about to commit holds the lock that this takes.
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
