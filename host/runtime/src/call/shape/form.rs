//! Whether an answer keeps the contract, and its definition's word. A call asks, and whoever tries a plugin: nothing is
//! kept or shown here.

use super::flaw::{Flaw, broken};
use super::parts;
use crate::json::{self, JsonError};
use crate::schema::Schema;
use crate::text::{OneLine, cut};
use portcullis_sandbox::{Output, Success};
use serde::de::IgnoredAny;
use serde_json::Value;
use std::fmt::Write;

/// A tool's metadata, in bytes: facts about an answer, not the answer.
const METADATA_BYTES_MAX: usize = 16 * 1024;

/// Mismatches of an output that are told.
const MISMATCHES_TOLD_MAX: usize = 3;

/// The metadata of a usable answer. Whether the tool `has_written` text before it returned is one more thing to hold
/// the answer to; `bytes_max` is what may be passed on of it.
pub(crate) fn check<'a>(
    success: &'a Success,
    has_written: bool,
    schema: Option<&Schema>,
    bytes_max: usize,
) -> Result<Option<Value>, Flaw<'a>> {
    let metadata = success.metadata.as_deref().map(check_metadata).transpose()?;
    match &success.output {
        Output::Text(_) | Output::Parts(_) if schema.is_some() => {
            Err(broken("its definition promises JSON, and it answered with something else"))
        }
        Output::Json(_) | Output::Parts(_) if has_written => {
            Err(broken("it wrote text, and then returned something else than the end of that text"))
        }
        Output::Text(_) => Ok(()),
        Output::Json(text) if text.len() > bytes_max => check_large_json(text, schema),
        Output::Json(text) => check_json(text, schema),
        Output::Parts(parts) => parts::check(parts),
    }?;
    Ok(metadata)
}

fn check_metadata(text: &str) -> Result<Value, Flaw<'static>> {
    if text.len() > METADATA_BYTES_MAX {
        return Err(broken(format!("its metadata is larger than {METADATA_BYTES_MAX} bytes")));
    }
    match json::parse(text) {
        Ok(value @ Value::Object(_)) => Ok(value),
        Ok(_) => Err(broken("its metadata is not a JSON object")),
        Err(error @ JsonError::Memory(_)) => Err(Flaw::Memory(error.to_string())),
        Err(error) => Err(broken(format!("its metadata is not JSON ({})", quoted(&error.to_string())))),
    }
}

fn check_json(text: &str, schema: Option<&Schema>) -> Result<(), Flaw<'static>> {
    let value = json::parse(text).map_err(|error| match error {
        JsonError::Memory(_) => Flaw::Memory(error.to_string()),
        JsonError::Syntax(_) | JsonError::Inexact(_) => no_json(&error.to_string()),
    })?;
    let mismatches = schema.map(|schema| schema.mismatches(&value)).unwrap_or_default();
    if mismatches.is_empty() {
        return Ok(());
    }
    let mut why = "it does not match the tool's output schema".to_owned();
    for mismatch in mismatches.iter().take(MISMATCHES_TOLD_MAX) {
        let _ = write!(why, "; {}: {}", quoted(&mismatch.pointer), quoted(&mismatch.message));
    }
    Err(broken(why))
}

/// JSON that is over the size: looked at without a copy of it.
fn check_large_json<'a>(text: &'a str, schema: Option<&Schema>) -> Result<(), Flaw<'a>> {
    serde_json::from_str::<IgnoredAny>(text).map_err(|error| no_json(&error.to_string()))?;
    if schema.is_some() { Err(Flaw::TooLarge(text)) } else { Ok(()) }
}

fn no_json(why: &str) -> Flaw<'static> {
    broken(format!("it is not JSON ({})", quoted(why)))
}

fn quoted(text: &str) -> OneLine<'_> {
    OneLine(cut(text, 200))
}
