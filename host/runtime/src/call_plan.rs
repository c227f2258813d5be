//! What an approver decided about the calls of a running tool before the tool makes them. Each decision counts once.

use portcullis_policy::recovery::RecoverMutex;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// Maximum decisions that a call holds. Only a person's answer adds some. Each takes about 250 bytes, so all take
/// 250 kB.
const DECISIONS_MAX: usize = 1_000;

/// What an approver decided about one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PlanDecision {
    /// It may run once.
    Approved {
        /// The id of the request.
        question: Arc<str>,
        /// The digests of what reviewers and hooks asked, which the approver saw.
        seen: Arc<[String]>,
    },
    /// It may not run.
    Declined {
        /// A note for the model.
        note: Option<Arc<str>>,
    },
}

/// The decisions that are not used yet, by the digest of what an approval of the call is bound to.
#[derive(Default)]
pub(crate) struct CallPlan(Mutex<Decisions>);

#[derive(Default)]
struct Decisions {
    by_digest: HashMap<String, Vec<PlanDecision>>,
    count: usize,
}

impl CallPlan {
    /// Adds a decision. Returns false if there is no room for it.
    pub(crate) fn add(&self, digest: String, decision: PlanDecision) -> bool {
        let mut decisions = self.0.lock_recovered();
        if decisions.count == DECISIONS_MAX {
            return false;
        }
        decisions.count += 1;
        decisions.by_digest.entry(digest).or_default().push(decision);
        true
    }

    /// Spends the decision about a call. A call that reviewers or hooks ask more about than the approver saw has none,
    /// so it asks again.
    pub(crate) fn spend(&self, digest: &str, concerns: &[String]) -> Option<PlanDecision> {
        let mut decisions = self.0.lock_recovered();
        let left = decisions.by_digest.get_mut(digest)?;
        let place = left.iter().position(|decision| match decision {
            PlanDecision::Approved { seen, .. } => concerns.iter().all(|concern| seen.contains(concern)),
            // A denial applies whatever else a reviewer or a hook asks now.
            PlanDecision::Declined { .. } => true,
        })?;
        let decision = left.remove(place);
        if left.is_empty() {
            decisions.by_digest.remove(digest);
        }
        decisions.count -= 1;
        Some(decision)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn approved(seen: &[&str]) -> PlanDecision {
        PlanDecision::Approved { question: "q".into(), seen: seen.iter().map(|seen| (*seen).to_owned()).collect() }
    }

    #[test]
    fn each_decision_counts_once_and_for_its_call_only() {
        let plan = CallPlan::default();
        assert!(plan.add("a".to_owned(), approved(&[])) && plan.add("a".to_owned(), approved(&[])));
        assert_eq!(plan.spend("b", &[]), None);
        assert_eq!(plan.spend("a", &[]), Some(approved(&[])));
        assert_eq!(plan.spend("a", &[]), Some(approved(&[])));
        assert_eq!(plan.spend("a", &[]), None);
    }

    #[test]
    fn what_the_approver_did_not_see_is_not_approved() {
        let plan = CallPlan::default();
        plan.add("a".to_owned(), approved(&["seen"]));
        assert_eq!(plan.spend("a", &["new".to_owned()]), None);
        assert_eq!(plan.spend("a", &["seen".to_owned()]), Some(approved(&["seen"])));
    }

    #[test]
    fn decisions_are_limited() {
        let plan = CallPlan::default();
        assert!((0..DECISIONS_MAX).all(|number| plan.add(number.to_string(), approved(&[]))));
        assert!(!plan.add("more".to_owned(), approved(&[])));
        assert!(plan.spend("0", &[]).is_some());
        assert!(plan.add("more".to_owned(), approved(&[])));
    }
}
