//! Checks an answer against the contract and the tool's definition. Calls and conformance trials both use it, so it
//! stores and shows nothing.

use super::flaw::{AnswerFlaw, broken};
use super::parts;
use crate::json::{self, JsonError};
use crate::text::{OneLine, cut};
use portcullis_definitions::manifest::{Output, Success};
use portcullis_definitions::schema::Schema;
use serde::de::IgnoredAny;
use serde_json::Value;
use std::fmt::Write;

/// Maximum length of a tool's metadata, in bytes. Metadata describes an answer and does not contain it.
const METADATA_BYTES_MAX: usize = 16 * 1024;

/// Maximum mismatches with the output schema that an error lists.
const MISMATCHES_TOLD_MAX: usize = 3;

/// Checks an answer and returns its metadata. `has_written` says whether the tool wrote text before it returned.
/// `bytes_max` is the size that may be passed on.
pub(crate) fn check<'a>(
    success: &'a Success,
    has_written: bool,
    schema: Option<&Schema>,
    bytes_max: usize,
) -> Result<Option<Value>, AnswerFlaw<'a>> {
    let metadata = success.metadata.as_deref().map(check_metadata).transpose()?;
    match &success.output {
        Output::Text(_) | Output::Parts(_) if schema.is_some() => {
            Err(broken("its definition promises JSON, but it answered with something else"))
        }
        Output::Json(_) | Output::Parts(_) if has_written => {
            Err(broken("it wrote text, so it must return the end of that text, but it returned something else"))
        }
        Output::Text(_) => Ok(()),
        Output::Json(text) if text.len() > bytes_max => check_large_json(text, schema),
        Output::Json(text) => check_json(text, schema),
        Output::Parts(parts) => parts::check(parts),
    }?;
    Ok(metadata)
}

fn check_metadata(text: &str) -> Result<Value, AnswerFlaw<'static>> {
    if text.len() > METADATA_BYTES_MAX {
        return Err(broken(format!("its metadata is larger than {METADATA_BYTES_MAX} bytes")));
    }
    match json::parse(text) {
        Ok(value @ Value::Object(_)) => Ok(value),
        Ok(_) => Err(broken("its metadata is not a JSON object")),
        Err(error @ JsonError::Memory(_)) => Err(AnswerFlaw::Memory(error.to_string())),
        Err(error) => Err(broken(format!("its metadata is not JSON ({})", quoted(&error.to_string())))),
    }
}

fn check_json(text: &str, schema: Option<&Schema>) -> Result<(), AnswerFlaw<'static>> {
    let value = json::parse(text).map_err(|error| match error {
        JsonError::Memory(_) => AnswerFlaw::Memory(error.to_string()),
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

/// Checks the syntax of JSON that is too large, without copying it.
fn check_large_json<'a>(text: &'a str, schema: Option<&Schema>) -> Result<(), AnswerFlaw<'a>> {
    serde_json::from_str::<IgnoredAny>(text).map_err(|error| no_json(&error.to_string()))?;
    if schema.is_some() { Err(AnswerFlaw::TooLarge(text)) } else { Ok(()) }
}

fn no_json(why: &str) -> AnswerFlaw<'static> {
    broken(format!("it is not JSON ({})", quoted(why)))
}

fn quoted(text: &str) -> OneLine<'_> {
    OneLine(cut(text, 200))
}
