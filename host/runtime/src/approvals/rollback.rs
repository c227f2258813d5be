//! Detects a ledger that is older than the audit log says, or missing: someone restored an older copy or removed it.
//! Nothing in it counts, because it may lack a revocation or the spending of an approval. A host does not open with a
//! shared ledger that is older.

use super::error::ApprovalError;
use super::line::RollbackLine;
use super::rolled_back::RolledBack;
use super::shared::Approvals;
use crate::audit::{Kind, LedgerMark};
use crate::ledger::{Durable, FIRST_GENERATION, Forgotten, LedgerError, LedgerUsers};

/// Compares the ledger with the audit log. Read the log's mark before the ledger, because a process commits to the
/// ledger first.
fn compare(mark: LedgerMark, evidence: u64, found: u64, used_by: LedgerUsers) -> Result<(), u64> {
    let expected = match mark {
        LedgerMark::Unknown => evidence,
        LedgerMark::Generation(generation) => generation.max(evidence),
    };
    // A new log next to a used ledger does not know what was revoked there. A host that joins others has a new log.
    let is_new = mark == LedgerMark::Generation(0) && found > FIRST_GENERATION;
    let is_unknown = is_new && used_by == LedgerUsers::OneDirectory;
    if is_unknown || found < expected { Err(expected) } else { Ok(()) }
}

impl Approvals {
    /// Checks whether the ledger was rolled back, and revokes everything in it if so. `evidence` is the newest
    /// generation that an entry of the log names.
    pub(super) fn check_rollback(&self, evidence: u64) -> Result<(), ApprovalError> {
        let mut mark = self.shared.audit.ledger_mark()?;
        loop {
            let found = self.shared.ledger.look(|change| change.generation())?;
            let Err(known) = compare(mark, evidence, found, self.ledger_users()) else {
                self.shared.ledger.has_seen(found);
                return match mark {
                    LedgerMark::Unknown | LedgerMark::Generation(0) => Ok(self.shared.audit.note_ledger(found)?),
                    // A newer generation may not be on disk yet. The process that commits it notes it.
                    LedgerMark::Generation(_) => Ok(()),
                };
            };
            // Another process may have created the ledger between the two reads. The mark has then changed.
            let again = self.shared.audit.ledger_mark()?;
            if again == mark {
                return match self.ledger_users() {
                    LedgerUsers::OneDirectory => self.forget(mark, evidence),
                    // This host may have used another ledger before. It must not revoke what other hosts rely on.
                    LedgerUsers::ManyDirectories => Err(LedgerError::Older { found, known }.into()),
                };
            }
            mark = again;
        }
    }

    fn ledger_users(&self) -> LedgerUsers {
        self.shared.ledger.users()
    }

    /// Revokes everything in the ledger that gives a right.
    fn forget(&self, mark: LedgerMark, evidence: u64) -> Result<(), ApprovalError> {
        self.change(Durable::Machine, |change| {
            let found = change.generation()?;
            // Another process may have done this in the meantime.
            let Err(expected) = compare(mark, evidence, found, self.ledger_users()) else { return Ok(()) };
            let Forgotten { approvals, requests, trusted } = change.forget(found.max(expected))?;
            let rolled_back = RolledBack { found, expected, approvals, requests, trusted };
            change.post(Kind::Ledger.as_str(), &RollbackLine::of(&rolled_back))?;
            let _ = self.shared.rolled_back.set(rolled_back);
            Ok(())
        })
    }

    /// Returns what was revoked, if this process found that the ledger was rolled back.
    pub fn rolled_back(&self) -> Option<&RolledBack> {
        self.shared.rolled_back.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ledger_counts_that_is_at_least_as_new_as_the_log_knows() {
        let known = LedgerMark::Generation;
        for (mark, evidence, found, expected) in [
            (known(0), 0, 1, Ok(())),
            (known(5), 0, 5, Ok(())),
            (known(5), 5, 6, Ok(())),
            (known(5), 0, 4, Err(5)),
            (known(5), 7, 6, Err(7)),
            (known(5), 0, 0, Err(5)),
            // A new log next to a used ledger.
            (known(0), 0, 2, Err(0)),
            (known(0), 2, 2, Err(2)),
            // A log of an earlier version.
            (LedgerMark::Unknown, 0, 1, Ok(())),
            (LedgerMark::Unknown, 0, 9, Ok(())),
            (LedgerMark::Unknown, 9, 8, Err(9)),
        ] {
            let compared = compare(mark, evidence, found, LedgerUsers::OneDirectory);
            assert_eq!(compared, expected, "{mark:?} {evidence} {found}");
        }
    }

    #[test]
    fn a_new_host_may_join_a_ledger_that_others_use_and_none_may_use_an_older_one() {
        let known = LedgerMark::Generation;
        assert_eq!(compare(known(0), 0, 9, LedgerUsers::ManyDirectories), Ok(()));
        assert_eq!(compare(known(5), 0, 4, LedgerUsers::ManyDirectories), Err(5));
    }
}
