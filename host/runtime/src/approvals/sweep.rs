//! Settles what dead processes and expired requests left in the ledger, when a process opens it.

use super::desk::SETTLED_KEPT;
use super::error::ApprovalError;
use super::shared::Approvals;
use crate::audit::{AuditError, DeadCallEnding, LogScan};
use crate::ledger::{Durable, LedgerChange, LedgerError, LedgerUsers, QuestionRow, Status, StatusStep};
use crate::shared_calls;
use std::sync::Arc;
use std::time::Duration;

/// How often a host settles what other hosts leave behind. A dead host is noticed after the 30 s of its lease.
const SETTLE_INTERVAL: Duration = Duration::from_secs(10);

impl Approvals {
    /// Settles what other processes left: a ledger that was rolled back, entries that were not written, and calls that
    /// died with their process. If the audit log does not match its head, it stays as it is. No call is then made, and
    /// each reports why.
    pub(super) fn settle_left(&self) -> Result<(), ApprovalError> {
        let scan = match self.shared.audit.scan() {
            Ok(scan) => Some(scan),
            Err(AuditError::Head | AuditError::Cut { .. }) => None,
            Err(
                error @ (AuditError::Anchored(_)
                | AuditError::Io(_)
                | AuditError::Gone
                | AuditError::LockGone
                | AuditError::Form(_)
                | AuditError::Busy),
            ) => return Err(error.into()),
        };
        if scan.is_some() {
            self.check_anchors()?;
        }
        // The head may name the ledger's generation even if the log cannot be read.
        readable(self.check_rollback(scan.as_ref().map_or(0, LogScan::ledger)))?;
        // If the log cannot be written, the outbox keeps the entries of a dead process.
        readable(self.flush())?;
        if let Some(scan) = &scan {
            // Before the sweep, which settles expired requests. A settled one does not show that its answer was never
            // committed.
            self.undo_announced(&scan.announced())?;
        }
        self.sweep()?;
        scan.map_or(Ok(()), |scan| self.settle_calls(scan))
    }

    /// Settles again and again what hosts on other machines leave behind, while this host is open. Does nothing if all
    /// processes of the ledger use one state directory: each then settles when it opens.
    pub(crate) fn settle_regularly(&self) {
        if self.shared.ledger.users() == LedgerUsers::OneDirectory {
            return;
        }
        // A weak reference, so that this task does not keep the ledger open after the host is dropped.
        let (shared, within) = (Arc::downgrade(&self.shared), self.within.clone());
        drop(tokio::spawn(async move {
            loop {
                tokio::time::sleep(SETTLE_INTERVAL).await;
                let Some(shared) = shared.upgrade() else { return };
                let approvals = Self { shared, within: within.clone(), answerer: None };
                // If the database cannot be reached, the next round tries again.
                let _ = approvals.off_worker(Self::settle_others).await;
            }
        }));
    }

    /// Settles what hosts on other machines leave behind.
    fn settle_others(&self) -> Result<(), ApprovalError> {
        self.flush()?;
        self.sweep()?;
        Ok(shared_calls::settle(&self.shared.ledger)?)
    }

    /// Settles calls that ran when their process died, requests of calls that have ended, and expired requests.
    fn sweep(&self) -> Result<(), ApprovalError> {
        let stale = |change: &LedgerChange<'_>| {
            let mut stale = Vec::new();
            for row in change.perhaps_stale(change.now())? {
                stale.extend(end_of(change, &row)?.map(|step| (step, row)));
            }
            Ok::<_, ApprovalError>(stale)
        };
        // Usually nothing is stale, so look before taking the write lock. Another process may settle rows meanwhile.
        let found = self.shared.ledger.look(stale)?;
        if found.is_empty() {
            return Ok(());
        }
        self.change(Durable::Machine, |change| {
            for (step, row) in stale(change)? {
                let _ = change.step(&row.id, step, None)?;
            }
            Ok(change.prune(SETTLED_KEPT)?)
        })
    }

    /// Records the outcomes of calls that died with their process.
    fn settle_calls(&self, scan: LogScan) -> Result<(), ApprovalError> {
        let ledger = &self.shared.ledger;
        let ending = |call: &str| {
            let is_open = ledger.look(|change| Ok::<_, ApprovalError>(change.is_call_open(call)?))?;
            Ok::<_, ApprovalError>(if is_open { DeadCallEnding::Pending } else { DeadCallEnding::Lost })
        };
        // The sweep has run, so a request that is still open can really be answered later.
        let settled = self.shared.audit.settle(scan, |owner| ledger.is_alive(owner), ending)?;
        self.undo_announced(&settled.announced)?;
        Ok(self.shared.audit.note_settled(&settled)?)
    }
}

/// Ignores errors of an audit log that does not match its head.
fn readable(settled: Result<(), ApprovalError>) -> Result<(), ApprovalError> {
    match settled {
        Err(
            ApprovalError::Audit(AuditError::Head | AuditError::Cut { .. })
            | ApprovalError::Unrecorded(AuditError::Head | AuditError::Cut { .. }),
        ) => Ok(()),
        settled => settled,
    }
}

/// Returns the step that ends an abandoned request, if it is abandoned.
fn end_of(change: &LedgerChange<'_>, row: &QuestionRow) -> Result<Option<StatusStep>, LedgerError> {
    Ok(match row.status {
        Status::Running if !change.is_waited_for(row)? => Some(StatusStep::Lose),
        Status::Pending | Status::Approved if row.expires_at <= change.now() => Some(StatusStep::Expire),
        Status::Pending | Status::Approved
            if row.subject == crate::ledger::QuestionSubject::Resource && !change.is_waited_for(row)? =>
        {
            Some(StatusStep::Withdraw)
        }
        Status::Pending
        | Status::Approved
        | Status::Running
        | Status::Done
        | Status::Rejected
        | Status::Expired
        | Status::Withdrawn
        | Status::Lost => None,
    })
}
