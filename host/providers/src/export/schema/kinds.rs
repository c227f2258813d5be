//! Sets of kinds of JSON values.

use serde_json::Value;

/// A set of kinds of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kinds(u8);

impl Kinds {
    pub(super) const NONE: Self = Self(0);
    pub(super) const NULL: Self = Self(1);
    pub(super) const BOOLEAN: Self = Self(2);
    pub(super) const INTEGER: Self = Self(4);
    /// Numbers, including integers.
    pub(super) const NUMBER: Self = Self(12);
    pub(super) const STRING: Self = Self(16);
    pub(super) const ARRAY: Self = Self(32);
    pub(super) const OBJECT: Self = Self(64);
    pub(super) const ALL: Self = Self(127);

    /// The words for kinds, and the sets that they denote.
    const WORDS: [(&'static str, Self); 7] = [
        ("array", Self::ARRAY),
        ("boolean", Self::BOOLEAN),
        ("integer", Self::INTEGER),
        ("null", Self::NULL),
        ("number", Self::NUMBER),
        ("object", Self::OBJECT),
        ("string", Self::STRING),
    ];

    /// Returns the kinds of a `type` keyword.
    pub(super) fn of_type(value: &Value) -> Self {
        match value {
            Value::String(word) => {
                Self::WORDS.iter().find(|(known, _)| known == word).map_or(Self::NONE, |(_, set)| *set)
            }
            Value::Array(words) => words.iter().fold(Self::NONE, |set, word| set.or(Self::of_type(word))),
            _ => Self::ALL,
        }
    }

    /// Returns the kind of a value.
    pub(super) fn of_value(value: &Value) -> Self {
        match value {
            Value::Null => Self::NULL,
            Value::Bool(_) => Self::BOOLEAN,
            // 1.0 is an integer to JSON Schema.
            Value::Number(number) if number.as_f64().is_some_and(|number| number.fract() != 0.0) => Self(8),
            Value::Number(_) => Self::INTEGER,
            Value::String(_) => Self::STRING,
            Value::Array(_) => Self::ARRAY,
            Value::Object(_) => Self::OBJECT,
        }
    }

    /// Returns the kinds that a keyword applies to. Values of other kinds always pass it.
    pub(super) fn of_keyword(keyword: &str) -> Self {
        match keyword {
            "properties"
            | "required"
            | "additionalProperties"
            | "patternProperties"
            | "propertyNames"
            | "minProperties"
            | "maxProperties"
            | "dependentRequired"
            | "dependentSchemas"
            | "unevaluatedProperties" => Self::OBJECT,
            "items" | "prefixItems" | "contains" | "minContains" | "maxContains" | "minItems" | "maxItems"
            | "uniqueItems" | "unevaluatedItems" => Self::ARRAY,
            "minLength" | "maxLength" | "pattern" | "contentEncoding" | "contentMediaType" | "contentSchema" => {
                Self::STRING
            }
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => Self::NUMBER,
            _ => Self::ALL,
        }
    }

    pub(super) fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(super) fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Returns whether the sets have a kind in common.
    pub(super) fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the words for the kinds in the set, each with its own set.
    pub(super) fn words(self) -> Vec<(&'static str, Self)> {
        let fits = |word: &str, set: Self| match word {
            // There is no word for only the numbers that are not integers.
            "number" => self.meets(Self(8)),
            "integer" => self.meets(set) && !self.meets(Self(8)),
            _ => self.meets(set),
        };
        Self::WORDS.into_iter().filter(|(word, set)| fits(word, *set)).collect()
    }
}
