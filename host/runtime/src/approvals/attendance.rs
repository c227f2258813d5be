//! The approval requests that calls of this process wait for. When the last waiting call leaves, its request is
//! withdrawn.

use super::shared::Approvals;

/// One call that waits for an approval request. Dropping this ends the wait.
pub(super) struct CallAttendance {
    approvals: Approvals,
    id: String,
}

impl CallAttendance {
    /// Starts to wait. Call this inside the transaction that found or wrote the request, so that no other call
    /// withdraws the request in between.
    pub(super) fn begin(approvals: &Approvals, id: &str) -> Self {
        *approvals.shared.waiters.lock().entry(id.to_owned()).or_default() += 1;
        Self { approvals: approvals.clone(), id: id.to_owned() }
    }
}

impl Drop for CallAttendance {
    fn drop(&mut self) {
        let mut waiters = self.approvals.shared.waiters.lock();
        if let Some(count) = waiters.get_mut(&self.id) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                waiters.remove(&self.id);
            }
        }
    }
}
