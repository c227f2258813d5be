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
use std::sync::OnceLock;

/// Maximum compiled size of one regular expression, in bytes. It is enough for any pattern that a person would write.
const PATTERN_BYTES_MAX: usize = 1 << 20;

/// Maximum errors that are listed. More do not help to correct a call.
const ERRORS_TOLD_MAX: usize = 32;

/// The validator library and its version.
pub const VALIDATOR: &str = "jsonschema 0.60.2";

/// A schema. It is compiled when it is made, or on first use if it passed all checks before.
#[derive(Debug)]
pub struct Schema {
    document: Value,
    /// `None` inside if a schema that passed before does not compile now. Then nothing matches it.
    compiled: OnceLock<Option<CompiledSchema>>,
    /// Whether it stands in for a missing schema.
    absent: bool,
}

/// What checks a document.
#[derive(Debug)]
struct CompiledSchema {
    validator: Validator,
    cost: EvaluationCost,
}

impl CompiledSchema {
    fn of(document: &Value) -> Result<Self, SchemaError> {
        let cost = EvaluationCost::of(document)?;
        let validator = jsonschema::options()
            .with_draft(Draft::Draft202012)
            // The library's default engine backtracks, and could take exponential time for a plugin's pattern.
            .with_pattern_options(PatternOptions::regex().size_limit(PATTERN_BYTES_MAX))
            // A schema of a plugin must not make the host read a file or connect to an address.
            .offline()
            .build(document)
            .map_err(|error| SchemaError::Invalid(mismatch::shortened(error.to_string(), ERROR_BYTES_MAX)))?;
        Ok(Self { validator, cost })
    }
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
        let compiled = OnceLock::from(Some(CompiledSchema::of(&document)?));
        Ok(Self { document, compiled, absent: false })
    }

    /// Returns a schema whose text passed all checks before, under the same version of this crate. It is compiled on
    /// first use.
    ///
    /// # Errors
    /// The text is not JSON.
    pub(crate) fn of_checked(text: &str) -> Result<Self, SchemaError> {
        let document = json::parse(text).map_err(|error| SchemaError::NotJson(error.to_string()))?;
        Ok(Self { document, compiled: OnceLock::new(), absent: false })
    }

    /// Returns whether the schema is compiled, so that a check does not have to.
    pub fn is_compiled(&self) -> bool {
        self.compiled.get().is_some()
    }

    pub(crate) fn compile(&self) {
        self.compiled();
    }

    fn compiled(&self) -> Option<&CompiledSchema> {
        self.compiled.get_or_init(|| CompiledSchema::of(&self.document).ok()).as_ref()
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
        self.compiled().is_some_and(|CompiledSchema { validator, cost }| {
            cost.allows(values, depth) && validator.is_valid(document)
        })
    }

    /// Returns the mismatches of a document, or none if it matches. Describes the first 32 and counts the rest. A
    /// document that would cost too much to check does not match. If its errors could take too much memory, there is
    /// one mismatch for the whole document.
    pub fn mismatches(&self, document: &Value) -> Vec<Mismatch> {
        let Some(CompiledSchema { validator, cost }) = self.compiled() else {
            return vec![Mismatch::new("", "cannot be checked, because the schema of the tool is invalid".to_owned())];
        };
        let (values, depth) = json::extent(document);
        if !cost.allows(values, depth) {
            let message = "nests too deep, or has too many values, to be checked with this schema".to_owned();
            return vec![Mismatch::new("", message)];
        }
        // Most documents match. They make no errors, so the memory of errors is computed only for the others.
        if validator.is_valid(document) {
            return Vec::new();
        }
        if !cost.allows_errors(document, values, depth) {
            let message = "does not match the schema, and is too large to list what is wrong: make it smaller";
            return vec![Mismatch::new("", message.to_owned())];
        }
        let mut errors = validator.iter_errors(document);
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
