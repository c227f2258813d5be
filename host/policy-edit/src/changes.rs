//! The decisions that differ between two policies.
//!
//! This file must not know how an edit is written.

use portcullis_policy::{Caller, Decision, KnownTool, Policy, Principal, Question, ToolName, Verdict};
use serde::Serialize;
use serde_json::{Map, Value};

/// The session of a call that names none.
const SESSION_DEFAULT: &str = "default";

/// Arguments for which two policies are compared.
#[derive(Debug, Clone, PartialEq)]
pub struct ArgumentSample {
    /// What the arguments stand for, such as `path "src/**"`. None for a call without arguments that a rule names.
    pub shown: Option<String>,
    /// The arguments.
    pub arguments: Map<String, Value>,
}

impl ArgumentSample {
    /// A call without arguments, for which no rule with a `when` matches.
    pub fn plain() -> Self {
        Self { shown: None, arguments: Map::new() }
    }
}

/// A decision on a tool that differs between two policies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DecisionChange {
    /// The tool.
    pub tool: ToolName,
    /// The arguments for which it differs, or none for a call without arguments that a rule names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// The decision of the old policy.
    pub before: Decision,
    /// The decision of the new policy.
    pub after: Decision,
}

/// Returns the decisions that differ between two policies for the local user's calls of these tools. A pause of either
/// policy is ignored.
pub fn decision_changes(
    old: &Policy,
    new: &Policy,
    tools: &[KnownTool<'_>],
    samples: &[ArgumentSample],
) -> Vec<DecisionChange> {
    let mut changes: Vec<DecisionChange> = Vec::new();
    for tool in tools {
        for ArgumentSample { shown, arguments } in samples {
            let decide = |policy: &Policy| decide(policy, tool, arguments).decision;
            let (before, after) = (decide(old), decide(new));
            if before != after {
                changes.push(DecisionChange { tool: tool.name.clone(), when: shown.clone(), before, after });
            }
        }
    }
    changes
}

/// Decides on a call of the local user.
pub(crate) fn decide(policy: &Policy, tool: &KnownTool<'_>, arguments: &Map<String, Value>) -> Verdict {
    let principal = Principal::default();
    // A pause denies every call, so it would hide what the rules change.
    policy.decide_unpaused(&Question {
        tool: tool.name,
        permissions: tool.permissions,
        hints: tool.hints,
        arguments,
        caller: Caller { session: SESSION_DEFAULT, principal: &principal, automated: false },
    })
}
