//! What the host knows of its audit log and of a shared ledger between two checks of its storage.

use crate::audit::AuditError;
use crate::ledger_standing::LedgerStanding;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use tokio::sync::watch;

/// What the host knows of its audit log and of a shared ledger between two checks.
#[derive(Debug, Default)]
pub(crate) struct StorageHealth {
    /// Whether the last entry could not be written because of what the log is, and not because of the disk.
    is_damaged: AtomicBool,
    /// The greatest length of the log that a check has seen, in bytes. The log only grows.
    audit_bytes: AtomicU64,
    /// What the host finds about the ledger that it shares with other hosts.
    pub(crate) ledger: watch::Sender<LedgerStanding>,
}

impl StorageHealth {
    /// Notes whether an entry was written.
    pub(crate) fn note(&self, written: &Result<(), AuditError>) {
        let is_damaged = match written {
            Ok(()) => false,
            Err(AuditError::Head | AuditError::Cut { .. } | AuditError::Anchored(_) | AuditError::Gone) => true,
            // The disk, which the check tries, or one entry.
            Err(AuditError::Io(_) | AuditError::Form(_) | AuditError::Busy | AuditError::LockGone) => return,
        };
        // Reads first, so that calls on several cores do not contend for the flag.
        if self.is_damaged.load(Ordering::Relaxed) != is_damaged {
            self.is_damaged.store(is_damaged, Ordering::Relaxed);
        }
    }

    /// Returns whether the last entry could not be written because of what the log is.
    pub(crate) fn is_damaged(&self) -> bool {
        self.is_damaged.load(Ordering::Relaxed)
    }

    /// Returns whether the log is not shorter than at any earlier check.
    pub(crate) fn has_only_grown(&self, bytes: u64) -> bool {
        self.audit_bytes.fetch_max(bytes, Ordering::Relaxed) <= bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    #[test]
    fn only_a_damaged_log_is_noted_until_an_entry_is_written() {
        let health = StorageHealth::default();
        let is_damaged = || health.is_damaged();
        health.note(&Err(AuditError::Io(io::ErrorKind::StorageFull.into())));
        assert!(!is_damaged());
        for error in [AuditError::Head, AuditError::Gone, AuditError::Cut { found: 1, expected: 2 }] {
            health.note(&Err(error));
            assert!(is_damaged());
            health.note(&Err(AuditError::Busy));
            assert!(is_damaged());
            health.note(&Ok(()));
            assert!(!is_damaged());
        }
    }

    #[test]
    fn a_log_that_became_shorter_is_damaged() {
        let health = StorageHealth::default();
        for (bytes, is_intact) in [(0, true), (10, true), (10, true), (9, false), (11, true)] {
            assert_eq!(health.has_only_grown(bytes), is_intact, "{bytes}");
        }
    }
}
