//! Collects the metrics of a host.

use crate::host::Host;
use crate::ledger::{LedgerUsers, Status};
use crate::ledger_standing::Anchoring;
use crate::metrics::HostMetrics;

impl Host {
    /// Returns the metrics at this moment. Reads the open requests of the ledger.
    pub async fn metrics(&self) -> HostMetrics {
        let state = &self.0;
        let listing = self.approvals().list().await;
        let pending =
            listing.map(|listing| listing.questions.iter().filter(|one| one.status == Status::Pending).count());
        let (run_slots_used, run_slots) = state.admissions.slot_usage();
        let (instances_used, instances) = state.loader.engine.pool_usage();
        let catalog = self.catalog();
        let standing = self.0.storage.ledger.borrow().clone();
        let is_shared = state.approvals.ledger().users() == LedgerUsers::ManyDirectories;
        HostMetrics {
            is_audit_anchored: is_shared.then_some(standing.anchoring == Anchoring::Works),
            ledger_policies: Some(standing.policies.len() as u64).filter(|policies| *policies > 0),
            calls_under_way: self.calls_under_way() as u64,
            run_slots_used: run_slots_used.into(),
            run_slots: run_slots.into(),
            instances_used,
            session_instances: state.instances.idle() as u64,
            instances,
            approval_requests_open: pending.ok().map(|count| count as u64),
            plugins_ready: catalog.plugins().count() as u64,
            plugins_loading: self.loading().len() as u64,
            plugins_refused: catalog.refused().len() as u64,
            is_policy_current: state.policy_status.borrow().fault.is_none(),
            ..state.metrics.snapshot(&state.loader.code_cache)
        }
    }
}
