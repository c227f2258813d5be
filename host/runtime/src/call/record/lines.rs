//! The lines of the record that are about calls, as they are written.

use super::payload::KeptOutput;
use super::source::SourceLine;
use super::traffic::TrafficLine;
use crate::call::effects::EffectsLine;
use crate::inject::Uses;
use portcullis_policy::Layer;
use portcullis_sandbox::{Effects, Traffic};
use serde::{Serialize, Serializer};
use std::sync::Arc;

/// What is known of a call so far.
#[derive(Clone, Default, Serialize)]
pub(super) struct Facts {
    pub(super) session: String,
    pub(super) principal: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) agent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "shared")]
    pub(super) trace: Option<Arc<str>>,
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
    /// The message of a model that the arguments came in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) source: Option<SourceLine>,
    #[serde(skip)]
    pub(super) decided: bool,
    #[serde(skip)]
    pub(super) running: bool,
    #[serde(skip)]
    pub(super) waiting: bool,
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
}

/// A decision, before it takes effect.
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
    /// The process that runs the call. The call ends with it.
    pub(super) owner: &'a str,
}

/// What a hook said, before it takes effect.
#[derive(Serialize)]
pub(super) struct HookLine<'a> {
    pub(super) call: &'a str,
    pub(super) stage: &'a str,
    /// Its place among the hooks, from 1.
    pub(super) hook: u32,
    pub(super) answer: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub(super) notes: &'a [(String, String)],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) notes_dropped: Option<usize>,
}

/// How a call ended.
#[derive(Serialize)]
pub(super) struct OutcomeLine<'a> {
    pub(super) call: &'a str,
    pub(super) outcome: &'a str,
    pub(super) code: &'a str,
    pub(super) wall_us: u64,
    pub(super) cpu_us: u64,
    pub(super) memory_bytes: u64,
    pub(super) bytes_in: u64,
    pub(super) bytes_out: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) detail: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) printed: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) http: Option<TrafficLine>,
    /// What it did to its directories.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) files: Option<EffectsLine>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) services: Option<&'a Uses>,
    /// When another try may help, as the tool says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) retry_after_s: Option<u64>,
    /// Where the whole of the answer is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reference: Option<&'a str>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub(super) output: Option<KeptOutput>,
}

/// Serializes what many calls share.
#[expect(clippy::ref_option, reason = "the signature serde asks for")]
fn shared<S: Serializer>(text: &Option<Arc<str>>, serializer: S) -> Result<S::Ok, S::Error> {
    text.as_deref().serialize(serializer)
}
