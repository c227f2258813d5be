//! Decides again, under each new policy, on a call with an open approval request. The call is refused if the policy now
//! denies it, and needs no approval if the policy now allows it. If its grants changed, its approval does not apply.
//!
//! A waiting call does this itself. The host does it for a request that was left behind.

use super::decided_requests::DecidedRequests;
use super::question;
use super::record::CallRecord;
use super::rejection::Rejection;
use super::validate::is_callable;
use super::verdict_text::verdict_text;
use crate::approvals::{ApprovalBinding, ApprovalError, LeftCall, Observed};
use crate::catalog::Catalog;
use crate::inner::HostState;
use crate::ledger::{QuestionSubject, blocking};
use crate::origin::RequestOrigin;
use crate::reply::Code;
use crate::request::Request;
use crate::valid_call::ValidCall;
use portcullis_definitions::tool;
use portcullis_policy::recovery::RecoverMutex;
use portcullis_policy::{Decision, ToolName};
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::sync::Arc;

/// A call with an open approval request, and everything that a new policy needs to decide on it.
struct AskedCall<'a> {
    origin: &'a RequestOrigin,
    tool: &'a ToolName,
    arguments: &'a Map<String, Value>,
    canonical: &'a str,
    /// The binding of an approval of it.
    binding: ApprovalBinding,
}

impl AskedCall<'_> {
    /// Returns why the policy of a catalog does not ask for this approval, or `None` if it does.
    fn obsolete(&self, catalog: &Catalog, observed: &Observed) -> Option<String> {
        let call = match self.under(catalog) {
            Ok(call) => call,
            Err(why) => return Some(why),
        };
        // A pause denies no request that is already open: the approver can still answer after it.
        let verdict = call.policy.policy.decide_unpaused(&call.question(self.origin));
        if verdict.decision == Decision::Deny {
            return Some(format!("the call is denied: {}", verdict_text(&verdict)));
        }
        if call.check_repair(observed.repaired.is_some()).is_err() {
            return Some("its arguments were repaired, which is no longer allowed".to_owned());
        }
        let asks = call.reasons(&verdict, observed).is_some();
        (!asks).then(|| "the call no longer needs approval".to_owned())
    }

    /// Returns the same call under the policy of a catalog.
    ///
    /// # Errors
    /// An approval of it would be bound to something else. The text says what changed.
    fn under(&self, catalog: &Catalog) -> Result<Arc<ValidCall>, String> {
        let found = catalog.find(self.tool).filter(|(_, tool)| is_callable(&catalog.policy.policy, tool));
        let (plugin, tool) = found.ok_or("its tool is no longer callable")?;
        let call = ValidCall {
            policy: Arc::clone(&catalog.policy),
            plugin: Arc::clone(plugin),
            tool: Arc::clone(tool),
            arguments: self.arguments.clone(),
            canonical: self.canonical.to_owned(),
        };
        let now = question::binding_of_call(self.origin, &call, QuestionSubject::Call);
        match self.binding.changed(&now) {
            Some(changed) => Err(changed),
            None => Ok(Arc::new(call)),
        }
    }
}

impl ValidCall {
    /// Waits for a policy under which the call need not wait any longer: it is denied, it needs no approval, or its
    /// approval would be bound to something else.
    pub(super) async fn redecided(&self, host: &HostState, request: &Request, observed: &Observed) {
        let mut changes = host.catalog.subscribe();
        loop {
            let catalog = Arc::clone(&changes.borrow_and_update());
            if !self.still_waits(&catalog, request, observed) {
                return;
            }
            if changes.changed().await.is_err() {
                // The host was dropped, so no new policy can come.
                return std::future::pending().await;
            }
        }
    }

    /// Returns whether the policy of a catalog still asks for the same approval.
    pub(super) fn still_waits(&self, catalog: &Catalog, request: &Request, observed: &Observed) -> bool {
        Arc::ptr_eq(&catalog.policy, &self.policy)
            || self.parent_refusal(catalog, request).is_none()
                && self.asked(&request.origin).obsolete(catalog, observed).is_none()
    }

    /// Decides the call again by the policy in force now, and returns the call under it. Returns the call unchanged if
    /// the policy was not reloaded.
    pub(super) async fn under_policy_now(
        self: &Arc<Self>,
        host: &HostState,
        request: &Request,
        record: &mut CallRecord,
        observed: &Observed,
        by_a_person: bool,
    ) -> Result<Arc<Self>, Rejection> {
        let catalog = host.catalog();
        if Arc::ptr_eq(&catalog.policy, &self.policy) {
            return Ok(Arc::clone(self));
        }
        if let Some(why) = self.parent_refusal(&catalog, request) {
            return Err(self.withdrawn(&why));
        }
        let call = self.asked(&request.origin).under(&catalog).map_err(|why| self.withdrawn(&why))?;
        record.valid(&call);
        let verdict = call.decide(host, request, record).await?;
        call.check_repair(request.is_repaired())?;
        match call.reasons(&verdict, observed) {
            // Another reload happened after the policy that needed no approval.
            Some(_) if !by_a_person => Err(self.withdrawn("the call needs approval again")),
            Some(_) | None => Ok(call),
        }
    }

    /// Returns why the policy of a catalog no longer lets the tools above make the call.
    fn parent_refusal(&self, catalog: &Catalog, request: &Request) -> Option<String> {
        request.parent.as_ref()?.refusal(catalog, self.tool.name())
    }

    fn asked<'a>(&'a self, origin: &'a RequestOrigin) -> AskedCall<'a> {
        let binding = question::binding_of_call(origin, self, QuestionSubject::Call);
        let (tool, arguments, canonical) = (self.tool.name(), &self.arguments, &*self.canonical);
        AskedCall { origin, tool, arguments, canonical, binding }
    }

    fn withdrawn(&self, why: &str) -> Rejection {
        let message = format!(
            "The call of {} was not run. Its approval request was withdrawn, because the policy was reloaded. Make the \
             call again if it is still needed.",
            self.tool.name()
        );
        Rejection::new(Code::ApprovalDenied, message).with_detail(format!("after the policy was reloaded, {why}"))
    }
}

/// Decides again, under the policy in force, on every approval request that no call waits for and that was made under
/// an earlier version of this policy. Withdraws the requests that the policy does not ask for.
///
/// # Errors
/// The ledger or the audit log cannot be used. Every call is still decided again before it runs.
pub(crate) async fn redecide_left(host: &Arc<HostState>) -> Result<(), ApprovalError> {
    let host = Arc::clone(host);
    blocking(move || {
        // Read the catalog under this lock. So after several reloads, the newest policy decides last.
        let mut decided = host.decided_left.lock_recovered();
        let catalog = host.catalog();
        // The weak reference keeps the allocation, so an equal address is the same catalog and no later one.
        if !std::ptr::eq(decided.under.as_ptr(), Arc::as_ptr(&catalog)) {
            *decided = DecidedRequests { under: Arc::downgrade(&catalog), ids: HashSet::new() };
        }
        let obsolete = |left: &LeftCall| obsolete(&catalog, left);
        decided.ids = host.approvals.withdraw_left(&catalog.policy.source, &decided.ids, obsolete)?;
        Ok(())
    })
    .await
}

fn obsolete(catalog: &Catalog, left: &LeftCall) -> Option<String> {
    // A changed or missing plugin has nothing to do with the policy, and the same plugin may be installed again.
    let (plugin, tool) = catalog.find(&left.question.tool)?;
    if *plugin.sha256_hex != *left.binding.plugin_sha256 {
        return None;
    }
    let asked = AskedCall {
        origin: &left.origin,
        tool: &left.question.tool,
        arguments: &left.arguments,
        canonical: &left.question.arguments,
        binding: ApprovalBinding {
            subject: QuestionSubject::Call.as_str().to_owned(),
            // A description file beside the plugin has nothing to do with the policy either.
            definition_sha256: tool::sha256_hex(tool).to_string(),
            ..left.binding.clone()
        },
    };
    let why = asked.obsolete(catalog, &left.observed)?;
    Some(format!("the policy has changed: {why}"))
}
