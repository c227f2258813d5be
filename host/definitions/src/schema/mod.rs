//! JSON Schemas of definitions. They are checked and compiled once when a plugin is loaded, and describe mismatches so
//! that a model can correct them.

mod cost;
mod earlier_draft;
mod error;
mod gate;
mod mismatch;
pub mod parts;

use cost::EvaluationCost;
pub use earlier_draft::from_earlier_draft;
use error::ERROR_BYTES_MAX;
pub use error::SchemaError;
use jsonschema::{Draft, PatternOptions, Validator};
pub use mismatch::Mismatch;
use portcullis_policy::json;
use serde_json::Value;

/// Maximum compiled size of one regular expression, in bytes. It is enough for any pattern that a person would write.
const PATTERN_BYTES_MAX: usize = 1 << 20;

/// Maximum errors that are listed. More do not help to correct a call.
const ERRORS_TOLD_MAX: usize = 32;

/// The validator library and its version.
pub const VALIDATOR: &str = "jsonschema 0.60.2";

/// A compiled schema.
#[derive(Debug)]
pub struct Schema {
    document: Value,
    validator: Validator,
    cost: EvaluationCost,
    /// Whether it stands in for a missing schema.
    absent: bool,
}

impl Schema {
    /// Compiles the schema of a tool's arguments. Its root must describe an object.
    ///
    /// # Errors
    /// The schema exceeds a limit, uses an unsupported keyword, or is not valid.
    pub fn of_arguments(text: &str) -> Result<Self, SchemaError> {
        let schema = Self::of_document(text)?;
        if schema.document.get("type").and_then(Value::as_str) != Some("object") {
            return Err(SchemaError::Gate("its root must have \"type\": \"object\"".to_owned()));
        }
        Ok(schema)
    }

    /// Compiles any schema.
    ///
    /// # Errors
    /// The schema exceeds a limit, uses an unsupported keyword, or is not valid.
    pub fn of_document(text: &str) -> Result<Self, SchemaError> {
        gate::check_text(text)?;
        let document = json::parse(text).map_err(|error| SchemaError::NotJson(error.to_string()))?;
        gate::check(&document)?;
        let cost = EvaluationCost::of(&document)?;
        let validator = jsonschema::options()
            .with_draft(Draft::Draft202012)
            .with_pattern_options(PatternOptions::regex().size_limit(PATTERN_BYTES_MAX))
            .offline()
            .build(&document)
            .map_err(|error| SchemaError::Invalid(mismatch::shortened(error.to_string(), ERROR_BYTES_MAX)))?;
        Ok(Self { document, validator, cost, absent: false })
    }

    /// Returns whether the tool has no schema, so that its arguments are not checked.
    pub fn is_absent(&self) -> bool {
        self.absent
    }

    /// Returns the schema document.
    pub fn document(&self) -> &Value {
        &self.document
    }

    /// Returns whether a document matches, without the mismatches. A document that would cost too much to check does
    /// not match.
    pub fn is_match(&self, document: &Value) -> bool {
        let (values, depth) = json::extent(document);
        self.cost.allows(values, depth) && self.validator.is_valid(document)
    }

    /// Returns the mismatches of a document, or none if it matches. Describes the first 32 and counts the rest. A
    /// document that would cost too much to check does not match. If its errors could take too much memory, there is
    /// one mismatch for the whole document.
    pub fn mismatches(&self, document: &Value) -> Vec<Mismatch> {
        let (values, depth) = json::extent(document);
        if !self.cost.allows(values, depth) {
            let message = "nests too deep, or has too many values, to be checked with this schema".to_owned();
            return vec![Mismatch::new("", message)];
        }
        if self.validator.is_valid(document) {
            return Vec::new();
        }
        if !self.cost.allows_errors(document, values, depth) {
            let message = "does not match the schema, and is too large to list what is wrong: make it smaller";
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

/// Returns the stand-in for a missing schema, which allows any object.
///
/// # Errors
/// None in practice, because the stand-in is a valid schema.
pub fn absent() -> Result<Schema, SchemaError> {
    Ok(Schema { absent: true, ..Schema::of_document(r#"{"type":"object"}"#)? })
}

/// Returns whether the schema of an object names this member.
pub fn declares(schema: &Schema, member: &str) -> bool {
    schema.document.get("properties").and_then(Value::as_object).is_some_and(|named| named.contains_key(member))
}

/// Returns the names of all members that an object can have. Returns `None` if the schema allows others.
pub fn closed_names(schema: &Schema) -> Option<Vec<&str>> {
    let closed = schema.document.get("additionalProperties") == Some(&Value::Bool(false));
    let named = schema.document.get("properties").and_then(Value::as_object);
    let names = named.map(|named| named.keys().map(String::as_str).collect()).unwrap_or_default();
    (closed && schema.document.get("patternProperties").is_none()).then_some(names)
}
