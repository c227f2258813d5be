//! The JSON Schema dialects of the providers that have one.

use super::kinds::Kinds;
use serde_json::Value;

/// Formats that OpenAI enforces for strings. It refuses `uri`.
const OPENAI_FORMATS: [&str; 9] =
    ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

/// Formats that Anthropic enforces for strings.
const ANTHROPIC_FORMATS: [&str; 10] =
    ["date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"];

/// Formats of OpenAPI schemas. Any other is refused.
const OPENAPI_FORMATS: [&str; 6] = ["date-time", "double", "enum", "float", "int32", "int64"];

/// Maximum bytes of a parameter's name in an OpenAPI schema.
const OPENAPI_NAME_BYTES_MAX: usize = 64;

/// Maximum bytes of a parameter's name that Anthropic accepts.
const ANTHROPIC_NAME_BYTES_MAX: usize = 64;

/// A dialect of JSON Schema.
#[derive(Debug)]
pub(in crate::export) struct Dialect {
    /// Whether the provider enforces the schema. Then the export must not be more permissive than the original.
    pub(super) strict: bool,
    /// Whether OpenAI's limits on the size of a schema apply.
    pub(super) limits: bool,
    /// How a value with several types is expressed.
    pub(super) types: Types,
    /// Whether optional members must be present as null.
    pub(super) forces_null: bool,
    /// How references are exported.
    pub(super) references: ReferenceStyle,
    /// Whether alternatives may be combined with other keywords.
    pub(super) alternatives_beside: bool,
    /// Whether `prefixItems` is available.
    pub(super) prefix_items: bool,
    /// Whether `additionalProperties` is available.
    pub(super) additional: bool,
    /// Whether each schema must have a type.
    pub(super) typed: bool,
    /// How a list of values is expressed.
    pub(super) values: EnumStyle,
    /// Whether the provider accepts the name of a parameter. The flag is true at the root.
    pub(super) names: fn(&str, bool) -> bool,
    /// Whether a keyword with this value is kept unchanged.
    pub(super) keeps: fn(&str, &Value) -> bool,
}

/// How a value with several types is expressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Types {
    /// A list of types.
    List,
    /// Alternatives with one type each.
    Apart,
    /// The same, except that null is a flag.
    Nullable,
}

/// How references are exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReferenceStyle {
    /// They point into `$defs`, or to the root.
    WithRoot,
    /// They point into `$defs`, and may be recursive only through optional members.
    Optional,
    /// They point into `$defs`, and are never recursive.
    Acyclic,
    /// They are replaced with their targets.
    Inlined,
}

/// How a list of values is expressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EnumStyle {
    /// `enum` of null, booleans, numbers and strings, together with the type.
    Scalars,
    /// The same or `const`, without a type.
    Untyped,
    /// `enum` of strings, or of numbers.
    Plain,
    /// `enum` of strings.
    Strings,
}

impl EnumStyle {
    /// Returns whether values of these kinds can be listed.
    pub(super) fn takes(self, kinds: Kinds) -> bool {
        let taken = match self {
            Self::Scalars | Self::Untyped => Kinds::ALL.without(Kinds::ARRAY).without(Kinds::OBJECT),
            Self::Plain => Kinds::STRING.or(Kinds::NUMBER),
            Self::Strings => Kinds::STRING,
        };
        kinds.without(taken).is_empty()
    }
}

impl Dialect {
    /// OpenAI's Structured Outputs.
    pub(in crate::export) const OPENAI_STRICT: Self = Self {
        strict: true,
        limits: true,
        types: Types::List,
        forces_null: true,
        references: ReferenceStyle::WithRoot,
        alternatives_beside: false,
        prefix_items: false,
        additional: true,
        typed: true,
        values: EnumStyle::Scalars,
        names: |_, _| true,
        keeps: |keyword, value| match keyword {
            "title" | "pattern" | "multipleOf" | "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum"
            | "minItems" | "maxItems" => true,
            "format" => listed(&OPENAI_FORMATS, value),
            _ => false,
        },
    };

    /// Anthropic's strict tools.
    pub(in crate::export) const ANTHROPIC_STRICT: Self = Self {
        strict: true,
        limits: false,
        types: Types::Apart,
        forces_null: false,
        references: ReferenceStyle::Acyclic,
        alternatives_beside: false,
        prefix_items: false,
        additional: true,
        typed: true,
        values: EnumStyle::Untyped,
        names: anthropic_name,
        keeps: |keyword, value| match keyword {
            "title" | "default" => true,
            "format" => listed(&ANTHROPIC_FORMATS, value),
            // Anthropic supports no other values of `minItems`.
            "minItems" => matches!(value.as_u64(), Some(0 | 1)),
            // Anthropic does not support word boundaries in patterns.
            "pattern" => value.as_str().is_some_and(|pattern| !pattern.contains("\\b") && !pattern.contains("\\B")),
            _ => false,
        },
    };

    /// Gemini's `parametersJsonSchema`.
    pub(in crate::export) const GEMINI: Self = Self {
        strict: false,
        limits: false,
        types: Types::List,
        forces_null: false,
        references: ReferenceStyle::Optional,
        alternatives_beside: true,
        prefix_items: true,
        additional: true,
        typed: false,
        values: EnumStyle::Plain,
        names: |_, _| true,
        keeps: |keyword, _| matches!(keyword, "title" | "format" | "minItems" | "maxItems" | "minimum" | "maximum"),
    };

    /// Gemini's `parameters`.
    pub(in crate::export) const GEMINI_OPENAPI: Self = Self {
        strict: false,
        limits: false,
        types: Types::Nullable,
        forces_null: false,
        references: ReferenceStyle::Inlined,
        alternatives_beside: false,
        prefix_items: false,
        additional: false,
        typed: true,
        values: EnumStyle::Strings,
        names: |name, _| openapi_name(name),
        keeps: |keyword, value| match keyword {
            "title" | "minItems" | "maxItems" | "minProperties" | "maxProperties" | "minLength" | "maxLength"
            | "pattern" | "minimum" | "maximum" => true,
            // The SDK drops a default of null.
            "default" => !value.is_null(),
            "format" => listed(&OPENAPI_FORMATS, value),
            _ => false,
        },
    };
}

fn listed(known: &[&str], value: &Value) -> bool {
    value.as_str().is_some_and(|format| known.contains(&format))
}

/// Returns whether Anthropic accepts the name of a parameter. It checks those at the root.
pub(super) fn anthropic_name(name: &str, root: bool) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    !root || (!name.is_empty() && name.len() <= ANTHROPIC_NAME_BYTES_MAX && name.bytes().all(plain))
}

fn openapi_name(name: &str) -> bool {
    let first = name.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    first && name.len() <= OPENAPI_NAME_BYTES_MAX && name.bytes().all(plain)
}
