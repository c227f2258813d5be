//! A call that waits for a person, decided again under each new policy: what the policy now denies is not run, what it
//! now allows need not wait, and an approval of other grants than the call would get is none.

use super::Rejection;
use super::authorize::Observed;
use super::question;
use super::record::CallRecord;
use super::validate::{ValidCall, is_callable};
use crate::catalog::Catalog;
use crate::host::Inner;
use crate::ledger::Subject;
use crate::reply::Code;
use crate::request::Request;
use portcullis_policy::Decision;
use std::sync::Arc;

impl ValidCall {
    /// Waits until a policy is in force under which the call need not wait any longer, one way or the other.
    pub(super) async fn redecided(self: &Arc<Self>, host: &Inner, request: &Request, observed: &Observed) {
        let mut changes = host.catalog.subscribe();
        loop {
            let catalog = Arc::clone(&changes.borrow_and_update());
            if !Arc::ptr_eq(&catalog.policy, &self.policy) && !self.still_waits(&catalog, request, observed) {
                return;
            }
            if changes.changed().await.is_err() {
                // The host is gone, and no policy comes after it.
                return std::future::pending().await;
            }
        }
    }

    /// Whether the same approval request is still what a policy wants.
    fn still_waits(self: &Arc<Self>, catalog: &Catalog, request: &Request, observed: &Observed) -> bool {
        let Ok(call) = self.renewed(catalog, request) else { return false };
        let verdict = call.policy.policy.decide(&call.question(&request.origin));
        verdict.decision != Decision::Deny
            && call.check_repair(request).is_ok()
            && call.reasons(request, &verdict, observed).is_some()
    }

    /// The call under the policy in force now, which has decided on it. Where nothing was reloaded, it is as it was.
    pub(super) async fn under_policy_now(
        self: &Arc<Self>,
        host: &Inner,
        request: &Request,
        record: &mut CallRecord,
        observed: &Observed,
        by_a_person: bool,
    ) -> Result<Arc<Self>, Rejection> {
        let catalog = host.catalog();
        if Arc::ptr_eq(&catalog.policy, &self.policy) {
            return Ok(Arc::clone(self));
        }
        let call = self.renewed(&catalog, request)?;
        record.valid(&call);
        let verdict = call.decide(host, request, record).await?;
        call.check_repair(request)?;
        match call.reasons(request, &verdict, observed) {
            // Another policy came between the one that needed nobody and this one.
            Some(_) if !by_a_person => Err(self.withdrawn("another policy asks for an approval again")),
            Some(_) | None => Ok(call),
        }
    }

    /// The same call under the policy of a catalog, where a person would be shown the same.
    fn renewed(&self, catalog: &Catalog, request: &Request) -> Result<Arc<Self>, Rejection> {
        let found = catalog.find(&self.tool.name).filter(|(_, tool)| is_callable(&catalog.policy.policy, tool));
        let (plugin, tool) = found.ok_or_else(|| self.withdrawn("its tool can no longer be called"))?;
        let call = Self {
            policy: Arc::clone(&catalog.policy),
            plugin: Arc::clone(plugin),
            tool: Arc::clone(tool),
            arguments: self.arguments.clone(),
            canonical: self.canonical.clone(),
        };
        let bound = |call: &Self| question::binding_of_call(&request.origin, call, Subject::Call);
        match bound(self).changed(&bound(&call)) {
            Some(changed) => Err(self.withdrawn(&changed)),
            None => Ok(Arc::new(call)),
        }
    }

    fn withdrawn(&self, why: &str) -> Rejection {
        let message = format!(
            "The call of {} was not run. Its approval request was withdrawn, because the policy was reloaded. Make the \
             call again if it is still needed.",
            self.tool.name
        );
        Rejection::new(Code::ApprovalDenied, message).with_detail(format!("after the policy was reloaded, {why}"))
    }
}
