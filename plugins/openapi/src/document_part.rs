//! Reads the parts of a document that requests need, and skips the others while it parses.
//!
//! Responses and examples are most of a large document. Skipping them keeps a document of 13 MB within the memory of a
//! call.

use std::fmt;

use portcullis_sdk::serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use portcullis_sdk::serde_json::{Map, Number, Value};

/// A keyword of GitHub: the value of a path parameter can have several segments.
pub(crate) const MULTI_SEGMENT: &str = "x-multi-segment";

/// What a value of the document is. It decides which members are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DocumentPart {
    Root,
    Paths,
    PathItem,
    Operation,
    Components,
    /// A list or a map of parameters.
    Parameters,
    Parameter,
    RequestBodies,
    RequestBody,
    MediaTypes,
    MediaType,
    /// A map of schemas.
    Schemas,
    /// A schema, or a list of schemas.
    Schema,
    /// A value of which everything is read.
    Whole,
}

/// Reads one part of a document.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PartReader {
    part: DocumentPart,
    has_schemas: bool,
    has_responses: bool,
}

impl PartReader {
    /// Creates the reader of a whole document. A call needs no shared schemas. A bundled document can refer from one
    /// operation to the responses of another, and needs these.
    pub(crate) fn root(has_schemas: bool, has_responses: bool) -> Self {
        Self { part: DocumentPart::Root, has_schemas, has_responses }
    }

    /// Returns the reader of a member, or `None` if nothing needs it.
    fn member(self, key: &str) -> Option<Self> {
        use DocumentPart::{
            Components, MediaType, MediaTypes, Operation, Parameter, Parameters, PathItem, Paths, RequestBodies,
            RequestBody, Root, Schema, Schemas, Whole,
        };
        let part = match (self.part, key) {
            (Root, "paths") | (Components, "pathItems") => Paths,
            (Root, "components") => Components,
            (Root, "info" | "tags" | "webhooks" | "externalDocs") => return None,
            (Paths, _) => PathItem,
            (PathItem | Operation | Components, "parameters") => Parameters,
            (PathItem, "get" | "put" | "post" | "delete" | "options" | "head" | "patch" | "trace") => Operation,
            (Operation, "requestBody") => RequestBody,
            (Operation, "responses") if self.has_responses => Whole,
            (Operation, "responses" | "callbacks" | "externalDocs" | "security") => return None,
            (Components, "schemas") if self.has_schemas => Schemas,
            (Components, "requestBodies") => RequestBodies,
            (Components, "securitySchemes") => Whole,
            (Components, _) => return None,
            (Parameters, _) => Parameter,
            (RequestBodies, _) => RequestBody,
            (RequestBody | Parameter, "content") => MediaTypes,
            (MediaTypes, _) => MediaType,
            (MediaType | Parameter, "schema") | (Schemas, _) => Schema,
            (MediaType | Parameter | Schema, "example" | "examples") => return None,
            (Parameter, MULTI_SEGMENT) => Whole,
            (Schema, "properties" | "patternProperties" | "$defs" | "definitions") => Schemas,
            (Schema, "items" | "additionalProperties" | "allOf" | "anyOf" | "oneOf") => Schema,
            (Schema, "externalDocs" | "xml" | "title" | "discriminator") => return None,
            (Root | PathItem | Operation | Parameter | RequestBody | MediaType | Schema, _)
                if key.starts_with("x-") =>
            {
                return None;
            }
            (Root | PathItem | Operation | Parameter | RequestBody | MediaType | Schema | Whole, _) => Whole,
        };
        Some(Self { part, ..self })
    }

    /// Returns the reader of the items of a list.
    fn item(self) -> Self {
        match self.part {
            DocumentPart::Parameters => Self { part: DocumentPart::Parameter, ..self },
            _ => self,
        }
    }
}

impl<'de> DeserializeSeed<'de> for PartReader {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for PartReader {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a part of an OpenAPI document")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        // YAML has NaN and infinity, and JSON has no number for them.
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = sequence.next_element_seed(self.item())? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            match self.member(&key) {
                Some(reader) => drop(members.insert(key, map.next_value_seed(reader)?)),
                None => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(Value::Object(members))
    }
}
