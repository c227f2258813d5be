//! JSON Schemas of definitions: gated, compiled once at load, and their verdicts in words a model can act on.

mod cost;
mod error;
mod gate;
mod mismatch;
pub mod parts;

use crate::json;
use cost::Cost;
use error::ERROR_BYTES_MAX;
pub use error::SchemaError;
use jsonschema::{Draft, PatternOptions, Validator};
pub use mismatch::Mismatch;
use serde_json::Value;

/// Compiled size of one regular expression, in bytes. Enough for any pattern a person would write.
const PATTERN_BYTES_MAX: usize = 1 << 20;

/// The most errors that are told at once: more do not help to correct a call.
const ERRORS_TOLD_MAX: usize = 32;

/// What schemas are checked with, and its version.
pub const VALIDATOR: &str = "jsonschema 0.60.2";

/// A compiled schema.
#[derive(Debug)]
pub struct Schema {
    document: Value,
    validator: Validator,
    cost: Cost,
    /// Whether it stands for a schema that there is not.
    absent: bool,
}

impl Schema {
    /// Compiles the schema of a tool's arguments: the root must describe an object.
    ///
    /// # Errors
    /// It does not pass the gate, or is no schema.
    pub fn of_arguments(text: &str) -> Result<Self, SchemaError> {
        let schema = Self::of_document(text)?;
        if schema.document.get("type").and_then(Value::as_str) != Some("object") {
            return Err(SchemaError::Gate("its root does not say \"type\": \"object\"".to_owned()));
        }
        Ok(schema)
    }

    /// Compiles any schema.
    ///
    /// # Errors
    /// It does not pass the gate, or is no schema.
    pub fn of_document(text: &str) -> Result<Self, SchemaError> {
        gate::check_text(text)?;
        let document = json::parse(text).map_err(|error| SchemaError::NotJson(error.to_string()))?;
        gate::check(&document)?;
        let cost = Cost::of(&document)?;
        let validator = jsonschema::options()
            .with_draft(Draft::Draft202012)
            .with_pattern_options(PatternOptions::regex().size_limit(PATTERN_BYTES_MAX))
            .offline()
            .build(&document)
            .map_err(|error| SchemaError::Invalid(mismatch::shortened(error.to_string(), ERROR_BYTES_MAX)))?;
        Ok(Self { document, validator, cost, absent: false })
    }

    /// What stands for the schema of a tool that has none: any object.
    ///
    /// # Errors
    /// None, as long as an object is a schema.
    pub(crate) fn absent() -> Result<Self, SchemaError> {
        Ok(Self { absent: true, ..Self::of_document(r#"{"type":"object"}"#)? })
    }

    /// Whether the tool came without a schema, so that its arguments are held to nothing.
    pub fn is_absent(&self) -> bool {
        self.absent
    }

    /// The schema itself.
    pub fn document(&self) -> &Value {
        &self.document
    }

    /// Whether the schema of an object names this member.
    pub(crate) fn declares(&self, member: &str) -> bool {
        self.document.get("properties").and_then(Value::as_object).is_some_and(|named| named.contains_key(member))
    }

    /// The members an object can have at all, where the schema closes it; nothing where it may have others.
    pub(crate) fn closed_names(&self) -> Option<Vec<&str>> {
        let closed = self.document.get("additionalProperties") == Some(&Value::Bool(false));
        let named = self.document.get("properties").and_then(Value::as_object);
        let names = named.map(|named| named.keys().map(String::as_str).collect()).unwrap_or_default();
        (closed && self.document.get("patternProperties").is_none()).then_some(names)
    }

    /// Whether a document matches, for whoever need not know in what it does not. One that would cost too much to check
    /// does not.
    pub fn is_match(&self, document: &Value) -> bool {
        let (values, depth) = json::extent(document);
        self.cost.allows(values, depth) && self.validator.is_valid(document)
    }

    /// Returns every way in which a document does not match, the first few in words; none if it matches. A document
    /// that would cost too much to check does not match. If its errors could take too much memory, there is one for
    /// all of it.
    pub fn mismatches(&self, document: &Value) -> Vec<Mismatch> {
        let (values, depth) = json::extent(document);
        if !self.cost.allows(values, depth) {
            let message = "nests too deep, or holds too many values, for this schema to be checked".to_owned();
            return vec![Mismatch::new("", message)];
        }
        if self.validator.is_valid(document) {
            return Vec::new();
        }
        if !self.cost.allows_errors(document, values, depth) {
            let message = "does not match the schema, and is too large to list what is wrong: pass less at once";
            return vec![Mismatch::new("", message.to_owned())];
        }
        let mut errors = self.validator.iter_errors(document);
        let mut told: Vec<Mismatch> =
            errors.by_ref().take(ERRORS_TOLD_MAX).flat_map(|error| mismatch::tell(&error, &self.document)).collect();
        let more = errors.count() + told.len().saturating_sub(ERRORS_TOLD_MAX);
        told.truncate(ERRORS_TOLD_MAX);
        if more > 0 {
            told.push(Mismatch::new("", format!("and {more} more errors")));
        }
        told
    }
}
