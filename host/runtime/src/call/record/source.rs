//! The audit log's part about the model's message that arguments came from: a digest, because the policy may keep
//! payloads out of the log, and the changes that were made to them.

use crate::provenance::Provenance;
use crate::text::{cut, is_zero, sha256};
use serde::Serialize;

/// Maximum length of a provider's call id that is stored, in bytes. Real ids have a tenth of that.
const ID_BYTES_MAX: usize = 128;

/// Maximum length of the pointer or text of one change that is stored, in bytes.
const CHANGE_BYTES_MAX: usize = 160;

/// Maximum changes of one kind that are listed.
const CHANGES_MAX: usize = 8;

/// The origin of the arguments.
#[derive(Clone, Serialize)]
pub(super) struct SourceLine {
    format: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    raw_bytes: usize,
    raw_sha256: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    validator: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    validated_us: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    nulls: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    repairs: Vec<String>,
    /// Whether a repair of the arguments was tried without success.
    #[serde(skip_serializing_if = "is_zero")]
    repair_failed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    changes_dropped: Option<usize>,
}

impl SourceLine {
    pub(super) fn of(from: &Provenance) -> Self {
        let kept = |text: &str| cut(text, CHANGE_BYTES_MAX).to_owned();
        let repairs = from.repairs.iter().map(|repair| kept(&format!("{}: {}", repair.pointer, repair.what)));
        let dropped = from.nulls.len().saturating_sub(CHANGES_MAX) + from.repairs.len().saturating_sub(CHANGES_MAX);
        let validation = from.validation.as_ref();
        Self {
            format: from.format,
            id: from.id.as_deref().map(|id| cut(id, ID_BYTES_MAX).to_owned()),
            raw_bytes: from.raw.len(),
            raw_sha256: sha256(&from.raw),
            validator: validation.map(|validation| validation.validator),
            validated_us: validation.map(|it| u64::try_from(it.took.as_micros()).unwrap_or(u64::MAX)),
            nulls: from.nulls.iter().take(CHANGES_MAX).map(|pointer| kept(pointer)).collect(),
            repairs: repairs.take(CHANGES_MAX).collect(),
            repair_failed: from.attempted && !from.is_repaired(),
            changes_dropped: (dropped > 0).then_some(dropped),
        }
    }
}
