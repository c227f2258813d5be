//! Tools whose schemas say more than most.

use std::borrow::Cow;

use portcullis_sdk::prelude::*;
use portcullis_sdk::schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use portcullis_sdk::serde::Deserialize;
use portcullis_sdk::serde_json::Value;

/// A contact: whatever its schema lets through.
#[derive(Deserialize)]
#[serde(crate = "portcullis_sdk::serde", transparent)]
pub(crate) struct Contact(Value);

impl JsonSchema for Contact {
    fn schema_name() -> Cow<'static, str> {
        "Contact".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "$defs": {
                "address": {
                    "$anchor": "addressDef",
                    "type": "object",
                    "properties": { "street": { "type": "string" }, "city": { "type": "string" } }
                }
            },
            "properties": {
                "name": { "type": "string" },
                "address": { "$ref": "#/$defs/address" },
                "contactMethod": { "type": "string", "enum": ["phone", "email"] },
                "phone": { "type": "string" },
                "email": { "type": "string" }
            },
            "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
            "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
            "then": { "required": ["phone"] },
            "else": { "required": ["email"] },
            "additionalProperties": false
        })
    }
}

/// Takes arguments under every kind of keyword of JSON Schema 2020-12.
#[tool(read_only)]
pub(crate) fn json_schema_2020_12_tool(arguments: Contact) -> Value {
    arguments.0
}

/// Where to look.
#[arguments]
pub(crate) struct Where {
    /// A region, which a client also sends in the header of its request.
    #[schemars(extend("x-mcp-header" = "Region"))]
    region: String,
}

/// Takes an argument that stands in a header as well.
#[tool(read_only)]
pub(crate) fn test_x_mcp_header(arguments: Where) -> String {
    format!("Looked in {}.", arguments.region)
}
