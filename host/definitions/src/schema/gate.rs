//! Checks a schema before it is compiled, because a schema is a program of the plugin's author that the host runs.

use super::error::SchemaError;
use super::parts::children;
use serde_json::{Map, Value};

/// Maximum length of a schema, in bytes. The largest schemas of common tools are a tenth of that.
const SCHEMA_BYTES_MAX: usize = 64 * 1024;

/// Maximum nesting of a schema. The validator recurses over it on the host's stack.
const SCHEMA_DEPTH_MAX: usize = 48;

/// Maximum subschemas of one schema. They determine the cost of compiling it.
const SUBSCHEMAS_MAX: usize = 2000;

/// Maximum references of one schema.
const REFERENCES_MAX: usize = 256;

/// Maximum regular expressions of one schema. Each takes up to a millisecond to compile.
const PATTERNS_MAX: usize = 64;

/// The only supported dialect.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// Checks the text before it is parsed.
pub(super) fn check_text(text: &str) -> Result<(), SchemaError> {
    if text.len() > SCHEMA_BYTES_MAX {
        return refuse(format!("it is longer than {} KiB", SCHEMA_BYTES_MAX / 1024));
    }
    Ok(())
}

/// Checks the parsed schema before it is compiled.
pub(super) fn check(schema: &Value) -> Result<(), SchemaError> {
    let mut census = SchemaCensus::default();
    census.visit(schema, 0)
}

pub(super) fn refuse<T>(text: String) -> Result<T, SchemaError> {
    Err(SchemaError::Gate(text))
}

/// The counts so far.
#[derive(Default)]
struct SchemaCensus {
    subschemas: usize,
    references: usize,
    patterns: usize,
}

impl SchemaCensus {
    fn visit(&mut self, schema: &Value, depth: usize) -> Result<(), SchemaError> {
        if depth > SCHEMA_DEPTH_MAX {
            return refuse(format!("it nests deeper than {SCHEMA_DEPTH_MAX} subschemas"));
        }
        self.subschemas += 1;
        let Value::Object(members) = schema else { return Ok(()) };
        self.count(members, depth)?;
        for (_, _, child) in children(members) {
            self.visit(child, depth + 1)?;
        }
        Ok(())
    }

    fn count(&mut self, members: &Map<String, Value>, depth: usize) -> Result<(), SchemaError> {
        check_keywords(members, depth)?;
        self.references += usize::from(members.contains_key("$ref"));
        self.patterns += usize::from(members.contains_key("pattern"));
        self.patterns += members.get("patternProperties").and_then(Value::as_object).map_or(0, Map::len);
        for (count, most, what) in [
            (self.subschemas, SUBSCHEMAS_MAX, "subschemas"),
            (self.references, REFERENCES_MAX, "references"),
            (self.patterns, PATTERNS_MAX, "regular expressions"),
        ] {
            if count > most {
                return refuse(format!("it has more than {most} {what}"));
            }
        }
        Ok(())
    }
}

/// Refuses keywords that refer outside of the schema or select another dialect.
fn check_keywords(members: &Map<String, Value>, depth: usize) -> Result<(), SchemaError> {
    // What these refer to depends on the path of the evaluation or on the dialect. The analysis of the cost follows
    // only `$ref`.
    for keyword in ["$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor", "$vocabulary"] {
        if members.contains_key(keyword) {
            return refuse(format!("it uses {keyword}, which this host does not support: use $ref to refer to $defs"));
        }
    }
    // Below such an `$id`, a reference would lead to another place for the validator than for this host.
    if depth > 0 && members.contains_key("$id") {
        return refuse("it embeds a schema with an $id of its own: move it to $defs".to_owned());
    }
    match members.get("$schema").map(|dialect| dialect.as_str().unwrap_or_default()) {
        // An empty fragment names the same dialect.
        Some(dialect) if dialect.trim_end_matches('#') != DIALECT => {
            refuse(format!("its $schema is not {DIALECT}, the only dialect that this host supports"))
        }
        _ => Ok(()),
    }
}
