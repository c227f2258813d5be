//! What an edit changes for remembered approvals.

use portcullis::Host;
use portcullis::approvals::{ApprovalError, HeldAnswer};
use portcullis::plugins::Catalog;
use portcullis::policy::Decision;
use portcullis_policy_edit::DecisionChange;
use serde::Serialize;
use std::collections::HashMap;

/// A remembered approval that stops counting, or starts to.
#[derive(Debug, Clone, Serialize)]
pub(super) struct ApprovalEffect {
    pub(super) id: String,
    pub(super) tool: String,
    pub(super) covers: String,
    /// What changes. One sentence.
    pub(super) effect: String,
}

/// Returns the effects on the approvals that are remembered now.
///
/// # Errors
/// The ledger cannot be read.
pub(super) async fn of_edit(
    (old, new): (&Host, &Host),
    changes: &[DecisionChange],
) -> Result<Vec<ApprovalEffect>, ApprovalError> {
    let answers = old.approvals().list().await?.answers;
    let (before, after) = (handles(old), handles(new));
    let effect = |answer: &HeldAnswer| {
        let effect = by_decision(answer, changes).or_else(|| by_handles(answer, &before, &after))?;
        let HeldAnswer { id, tool, covers, .. } = answer;
        Some(ApprovalEffect { id: id.clone(), tool: tool.clone(), covers: covers.clone(), effect: effect.to_owned() })
    };
    Ok(answers.iter().filter_map(effect).collect())
}

/// Returns what a changed decision means for an approval.
fn by_decision(answer: &HeldAnswer, changes: &[DecisionChange]) -> Option<&'static str> {
    let change = changes.iter().find(|change| change.tool.to_string() == answer.tool)?;
    Some(match (change.when.is_some(), change.before, change.after) {
        (false, _, Decision::Deny) => "stops counting, because the policy denies the call",
        (false, Decision::Deny, _) => "counts again, because the policy no longer denies the call",
        (false, _, Decision::Allow) => "is no longer needed, because the policy allows the call",
        (false, Decision::Allow, Decision::Ask) => "counts again, because the policy asks about the call",
        (false, Decision::Ask, Decision::Ask) => return None,
        (true, _, Decision::Deny) => "stops counting for the calls that the policy now denies",
        (true, Decision::Deny, _) => "counts again for the calls that the policy no longer denies",
        (true, _, Decision::Allow) => "is no longer needed for the calls that the policy now allows",
        (true, _, Decision::Ask) => "counts again for the calls that the policy now asks about",
    })
}

fn by_handles(answer: &HeldAnswer, before: &Handles, after: &Handles) -> Option<&'static str> {
    let differs = before.get(&answer.tool) != after.get(&answer.tool);
    differs.then_some("stops counting, because the tool gets other handles than the approver saw")
}

/// The handles of each tool, one line each.
type Handles = HashMap<String, Vec<String>>;

fn handles(host: &Host) -> Handles {
    let catalog = host.catalog();
    let of = |catalog: &Catalog| catalog.plugins().flat_map(|plugin| host.handles(plugin)).collect();
    of(&catalog)
}
