//! What each provider that has a dialect of its own takes.

use super::kinds::Kinds;
use serde_json::Value;

/// Formats that OpenAI holds strings to. `uri` is refused.
const OPENAI_FORMATS: [&str; 9] =
    ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

/// Formats that Anthropic holds strings to.
const ANTHROPIC_FORMATS: [&str; 10] =
    ["date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"];

/// Formats of the OpenAPI kind; any other is refused.
const OPENAPI_FORMATS: [&str; 6] = ["date-time", "double", "enum", "float", "int32", "int64"];

/// The longest name of a parameter in a schema of OpenAPI's kind, in bytes.
const OPENAPI_NAME_BYTES_MAX: usize = 64;

/// The longest name of a parameter that Anthropic takes, in bytes.
const ANTHROPIC_NAME_BYTES_MAX: usize = 64;

/// A dialect of JSON Schema.
#[derive(Debug)]
pub(in crate::export) struct Dialect {
    /// Whether arguments are held to it, so that what it cannot say must not be said loosely.
    pub(super) strict: bool,
    /// Whether how large it may be is limited as OpenAI does.
    pub(super) limits: bool,
    /// How a value of several types is said.
    pub(super) types: Types,
    /// Whether what may be left out has to be there as null.
    pub(super) forces_null: bool,
    /// What becomes of references.
    pub(super) references: ReferenceStyle,
    /// Whether alternatives may stand beside other keywords.
    pub(super) alternatives_beside: bool,
    /// Whether it has `prefixItems`.
    pub(super) prefix_items: bool,
    /// Whether `additionalProperties` can be said.
    pub(super) additional: bool,
    /// Whether each schema has to say its type.
    pub(super) typed: bool,
    /// How one of several values is said.
    pub(super) values: EnumStyle,
    /// Whether it takes the name of a parameter, and of one at the root.
    pub(super) names: fn(&str, bool) -> bool,
    /// Whether a keyword with this value is kept as it is.
    pub(super) keeps: fn(&str, &Value) -> bool,
}

/// How a value of several types is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Types {
    /// A list of types.
    List,
    /// Alternatives of one type each.
    Apart,
    /// The same, but for null, which is a flag.
    Nullable,
}

/// What becomes of references.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReferenceStyle {
    /// They refer into `$defs`, or to the root.
    WithRoot,
    /// They refer into `$defs`, and lead back to themselves only through what may be left out.
    Optional,
    /// They refer into `$defs`, and never lead back to themselves.
    Acyclic,
    /// There are none: what they refer to stands in their place.
    Inlined,
}

/// How one of several values is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EnumStyle {
    /// `enum` of null, booleans, numbers and strings, and the type.
    Scalars,
    /// The same or `const`, without a type.
    Untyped,
    /// `enum` of strings, or of numbers.
    Plain,
    /// `enum` of strings.
    Strings,
}

impl EnumStyle {
    /// Whether all values of one kind can be listed.
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
            "minItems" => matches!(value.as_u64(), Some(0 | 1)),
            // Word boundaries are not among the patterns it takes.
            "pattern" => value.as_str().is_some_and(|pattern| !pattern.contains("\\b") && !pattern.contains("\\B")),
            _ => false,
        },
    };

    /// What Gemini takes as `parametersJsonSchema`.
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

    /// What Gemini takes as `parameters`.
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

/// Whether Anthropic takes the name of a parameter; it looks at those of the root.
pub(super) fn anthropic_name(name: &str, root: bool) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    !root || (!name.is_empty() && name.len() <= ANTHROPIC_NAME_BYTES_MAX && name.bytes().all(plain))
}

fn openapi_name(name: &str) -> bool {
    let first = name.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    first && name.len() <= OPENAPI_NAME_BYTES_MAX && name.bytes().all(plain)
}
