//! Foresees the calls that a running tool plans to make, and asks an approver about all of them at once. Each call then
//! takes all its steps, and spends what the approver decided about exactly this call.

use super::caller::GuestLink;
use super::foresee::{Foresight, foresight};
use super::inner_calls::failure;
use super::question;
use super::record::CallRecord;
use super::rejection::Rejection;
use crate::approvals::{ApprovalCase, ApproverChannel, AskOutcome, CallPreview, Concern};
use crate::approver::PlannedCall;
use crate::call_plan::PlanDecision;
use crate::inner::HostState;
use crate::parent_call::ParentCall;
use crate::policy_in_force::PolicyInForce;
use crate::request::Request;
use crate::valid_call::ValidCall;
use portcullis_definitions::manifest::Failure;
use portcullis_sandbox::{ApprovedCalls, InnerCall, InnerOutlook};
use std::future::pending;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Maximum length of the arguments of one request about several calls, in bytes. A person would not read more. The
/// calls beyond it ask by themselves.
const PLAN_BYTES_MAX: usize = 256 * 1024;

/// Maximum different reasons of one request about several calls. A person would not read more. The calls beyond it ask
/// by themselves.
const PLAN_REASONS_MAX: usize = 8;

/// Maximum length of all texts after the calls, in bytes, which the ledger keeps with the request.
const PLAN_TEXTS_BYTES_MAX: usize = crate::approvals::PREVIEW_TEXTS_BYTES_MAX;

/// A planned call that needs approval.
struct AskingCall {
    /// Its position in the guest's list.
    position: usize,
    call: Arc<ValidCall>,
    request: Request,
    case: Box<ApprovalCase>,
    /// The call as the approver reads it.
    planned: PlannedCall,
}

/// The calls of a guest that need approval, and those that do not.
#[derive(Default)]
struct CallsToAsk {
    asking: Vec<AskingCall>,
    /// Whether each call of the guest needs no approval.
    runs: Vec<bool>,
}

impl GuestLink {
    /// Says what the host would do with each call.
    pub(super) async fn foresee_others(&self, key: &str, calls: Vec<InnerCall>) -> Vec<InnerOutlook> {
        let parent = match self.parent_call(key) {
            Ok(parent) => parent,
            Err(why) => return calls.iter().map(|_| InnerOutlook::Fails(Failure::Denied(why.clone()))).collect(),
        };
        let mut outlooks = Vec::with_capacity(calls.len());
        for call in calls {
            let request = self.inner_request(&parent, call);
            outlooks.push(match foresight(&self.host, &request).await {
                Ok((_, Foresight::Runs { .. })) => InnerOutlook::Runs,
                Ok((_, Foresight::Asks { .. })) => InnerOutlook::NeedsApproval,
                Err(Rejection { code, message, retry_after, .. }) => {
                    InnerOutlook::Fails(failure(code, message, retry_after))
                }
            });
        }
        outlooks
    }

    /// Asks an approver about all calls that need one. A new policy decides the calls again.
    pub(super) async fn approve_others(&self, key: &str, calls: Vec<InnerCall>) -> ApprovedCalls {
        let mut spent = Duration::ZERO;
        let none = |spent| ApprovedCalls { approved: vec![false; calls.len()], spent };
        let Ok(parent) = self.parent_call(key) else { return none(spent) };
        loop {
            let began = Instant::now();
            let policy = self.host.policy();
            let CallsToAsk { asking, mut runs } = self.calls_to_ask(&parent, &calls).await;
            let channel = self.host.channel_of(&self.request, &policy.policy);
            // Stop counting here: the time of the approver is not the time of the call.
            spent += began.elapsed();
            // A person sees more of a single call, and can let it be remembered. A running call cannot leave its
            // request open, but the calls that it makes can.
            if asking.len() < 2 || matches!(channel, ApproverChannel::NoApprover(_)) {
                return ApprovedCalls { approved: runs, spent };
            }
            let Ok(case) = self.case_of_calls(&asking) else { return none(spent) };
            let question: Arc<str> = Arc::from(&*case.question.id);
            let preview = || preview_of_calls(&self.host, &self.call, &asking);
            let asked = self.ask_in_the_middle(&channel, case, preview, self.policy_changed(&policy)).await;
            let count = asking.len();
            let (approved, note) = match asked {
                Ok(AskOutcome::Redecided) => continue,
                Ok(AskOutcome::Yes(_)) => (vec![true; count], None),
                Ok(AskOutcome::Part { calls, note }) => ((0..count).map(|at| calls.contains(at)).collect(), note),
                Ok(AskOutcome::No { note, detail }) => {
                    detail.into_iter().for_each(|detail| self.note_detail(detail));
                    (vec![false; count], note)
                }
                Ok(AskOutcome::Pending { .. }) | Err(_) => return ApprovedCalls { approved: runs, spent },
            };
            let note: Option<Arc<str>> = note.map(Arc::from);
            for (asking, approved) in asking.iter().zip(approved) {
                let decision = match approved {
                    true => PlanDecision::Approved { question: Arc::clone(&question), seen: asking.seen() },
                    false => PlanDecision::Declined { note: note.clone() },
                };
                let kept = parent.plan.add(asking.case.digest(), decision);
                // A call whose decision found no room asks by itself.
                if let Some(runs) = runs.get_mut(asking.position) {
                    *runs = approved && kept;
                }
            }
            return ApprovedCalls { approved: runs, spent };
        }
    }

    /// Finds the calls that need approval, as far as one request can show them.
    async fn calls_to_ask(&self, parent: &Arc<ParentCall>, calls: &[InnerCall]) -> CallsToAsk {
        let mut found = CallsToAsk::default();
        let (mut bytes, mut reasons) = (0, Vec::new());
        for (position, call) in calls.iter().enumerate() {
            let request = self.inner_request(parent, call.clone());
            let foreseen = foresight(&self.host, &request).await;
            found.runs.push(matches!(foreseen, Ok((_, Foresight::Runs { .. }))));
            let Ok((call, Foresight::Asks { case, .. })) = foreseen else { continue };
            bytes += call.canonical.len();
            if !reasons.contains(&case.question.reason) {
                reasons.push(case.question.reason.clone());
            }
            // A repetition has a warning of its own, so it asks by itself.
            if bytes <= PLAN_BYTES_MAX && reasons.len() <= PLAN_REASONS_MAX && !case.is_repetition() {
                let planned = planned(&call, &case);
                found.asking.push(AskingCall { position, call, request, case, planned });
            }
        }
        found
    }

    fn case_of_calls(&self, asking: &[AskingCall]) -> Result<ApprovalCase, Rejection> {
        let planned = asking.iter().map(|asking| asking.planned.clone()).collect();
        let handles = distinct(asking.iter().flat_map(|asking| &asking.case.question.handles));
        let reason = distinct(asking.iter().map(|asking| &asking.case.question.reason)).join("; ");
        let shown = (handles, reason);
        question::about_calls(&self.request.origin, &self.call, self.record_id(), planned, shown)
    }

    /// Waits until another policy is in force.
    async fn policy_changed(&self, asking: &Arc<PolicyInForce>) {
        let mut changes = self.host.catalog.subscribe();
        while Arc::ptr_eq(&changes.borrow_and_update().policy, asking) {
            if changes.changed().await.is_err() {
                return pending().await;
            }
        }
    }
}

fn distinct<'a>(texts: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for text in texts {
        if !found.contains(text) {
            found.push(text.clone());
        }
    }
    found
}

fn planned(call: &ValidCall, case: &ApprovalCase) -> PlannedCall {
    PlannedCall {
        tool: call.tool.name().clone(),
        arguments: call.canonical.clone(),
        targets: case.question.targets.clone(),
        reason: case.question.reason.clone(),
    }
}

impl AskingCall {
    /// Returns the digests of what reviewers and hooks ask, which the approver sees.
    fn seen(&self) -> Arc<[String]> {
        self.case.concerns.iter().map(Concern::digest).collect()
    }
}

/// Computes what the calls would change, for the approver. Calls that can change no file are left out.
async fn preview_of_calls(host: &Arc<HostState>, outer: &ValidCall, asking: &[AskingCall]) -> Option<CallPreview> {
    let mut previews = Vec::new();
    let mut bytes = 0;
    for (number, asking) in asking.iter().enumerate() {
        let name = format!("call {}: {}", number + 1, asking.planned.name());
        let record = CallRecord::rehearsal(host, &asking.request);
        let Some(preview) = asking.call.preview(host, &asking.request, &record).await else { continue };
        bytes += preview.text_bytes();
        let preview = match bytes <= PLAN_TEXTS_BYTES_MAX {
            true => preview,
            false => CallPreview::failed(&asking.call.plugin.name, "the changes of all calls are too long to show"),
        };
        previews.push((name, preview));
    }
    (!previews.is_empty()).then(|| CallPreview::of_calls(&outer.plugin.name, previews))
}
