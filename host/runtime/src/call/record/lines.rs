//! The audit entries about calls, as they are written.

use super::payload::RecordedOutput;
use super::source::SourceLine;
use super::traffic::TrafficLine;
use crate::audit::PreparedEntry;
use crate::call::effects::EffectsLine;
use crate::catalog::Tool;
use crate::events::EventPayload;
use crate::inject::Uses;
use crate::metrics::StepTimes;
use crate::text::is_zero;
use portcullis_policy::{Decision, Layer, Targets};
use portcullis_sandbox::{Effects, Traffic};
use serde::{Serialize, Serializer};
use std::sync::Arc;

/// The facts about a call that are known so far.
#[derive(Clone, Default, Serialize)]
pub(super) struct Facts {
    pub(super) session: String,
    pub(super) principal: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) agent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "shared")]
    pub(super) trace: Option<Arc<str>>,
    /// The id of the call whose tool made this call.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "shared")]
    pub(super) parent: Option<Arc<str>>,
    pub(super) tool: String,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "shared")]
    pub(super) plugin_sha256: Option<Arc<str>>,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "shared")]
    pub(super) definition_sha256: Option<Arc<str>>,
    pub(super) arguments_bytes: usize,
    pub(super) arguments_sha256: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) stringified: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) arguments: Option<String>,
    /// The places that the arguments name, unless the policy drops them.
    #[serde(skip_serializing_if = "Targets::is_empty", serialize_with = "Targets::serialize")]
    pub(super) targets: Arc<Targets>,
    /// The model's message that the arguments came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) source: Option<SourceLine>,
    /// The id of the call that a caller made, and that led to this one.
    #[serde(skip)]
    pub(super) first_call: Option<Arc<str>>,
    /// The tool, once the call is validated.
    #[serde(skip)]
    pub(super) known_tool: Option<Arc<Tool>>,
    /// What the policy decided.
    #[serde(skip)]
    pub(super) answer: Option<Decision>,
    #[serde(skip)]
    pub(super) times: StepTimes,
    #[serde(skip)]
    pub(super) decided: bool,
    /// The entry of a denial. It is written together with the outcome that follows.
    #[serde(skip)]
    pub(super) denial: Option<PreparedEntry>,
    #[serde(skip)]
    pub(super) running: bool,
    #[serde(skip)]
    pub(super) waiting: bool,
    /// Whether the end of the call was published.
    #[serde(skip)]
    pub(super) ended: bool,
    #[serde(skip)]
    pub(super) detail: Option<String>,
    #[serde(skip)]
    pub(super) printed: Option<String>,
    #[serde(skip)]
    pub(super) traffic: Traffic,
    #[serde(skip)]
    pub(super) effects: Effects,
    #[serde(skip)]
    pub(super) uses: Option<Uses>,
    #[serde(skip)]
    pub(super) earlier_calls: u64,
    /// The arguments, if a subscriber receives them.
    #[serde(skip)]
    pub(super) event_arguments: Option<Arc<EventPayload>>,
    /// The result, if a subscriber receives it.
    #[serde(skip)]
    pub(super) event_result: Option<Arc<EventPayload>>,
}

/// The entry of a decision. It is written before the decision takes effect.
#[derive(Serialize)]
pub(super) struct DecisionLine<'a> {
    pub(super) call: &'a str,
    pub(super) decision: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) rule: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) layer: Option<Layer>,
    pub(super) reason: &'a str,
    pub(super) policy_sha256: &'a str,
    /// The id of the process that runs the call.
    pub(super) owner: &'a str,
}

/// The entry of a hook's answer. It is written before the answer takes effect.
#[derive(Serialize)]
pub(super) struct HookLine<'a> {
    pub(super) call: &'a str,
    pub(super) stage: &'a str,
    /// The hook's position, from 1.
    pub(super) hook: u32,
    pub(super) answer: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub(super) notes: &'a [(String, String)],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) notes_dropped: Option<usize>,
}

/// The entry of a call's outcome.
#[derive(Serialize)]
pub(super) struct OutcomeLine<'a> {
    pub(super) call: &'a str,
    pub(super) outcome: &'a str,
    pub(super) code: &'a str,
    pub(super) wall_us: u64,
    pub(super) cpu_us: u64,
    pub(super) memory_bytes: u64,
    /// The calls that the plugin's instance ran before this one. A fresh sandbox has run none.
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) earlier_calls: u64,
    pub(super) bytes_in: u64,
    pub(super) bytes_out: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) detail: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) printed: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) http: Option<TrafficLine>,
    /// What the tool did in its directories.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) files: Option<EffectsLine>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) services: Option<&'a Uses>,
    /// The tool's proposed wait before a retry, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) retry_after_s: Option<u64>,
    /// The id of the kept output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reference: Option<&'a str>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub(super) output: Option<RecordedOutput>,
}

/// Serializes a text that many calls share.
#[expect(clippy::ref_option, reason = "the signature serde asks for")]
fn shared<S: Serializer>(text: &Option<Arc<str>>, serializer: S) -> Result<S::Ok, S::Error> {
    text.as_deref().serialize(serializer)
}
