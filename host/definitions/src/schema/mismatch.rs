//! Describes the mismatches of a document: where it is wrong, and what to write instead.
//!
//! The validator only reports that no alternative of a union matches. A caller needs to know the alternative that was
//! probably meant, and the member in it that is wrong.

use super::error::ERROR_BYTES_MAX;
use crate::nearest::nearest;
use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use serde_json::Value;
use std::collections::HashSet;

/// Maximum length of a quoted wrong value, in bytes. It is enough to recognise the value.
const VALUE_BYTES_MAX: usize = 80;

/// Maximum allowed values or unknown names that one error lists.
const LISTED_MAX: usize = 16;

/// Maximum errors of one alternative in an answer. A caller corrects these and tries again.
const ALTERNATIVE_ERRORS_MAX: usize = 8;

/// Maximum depth of unions in unions that are followed. People do not write schemas that nest deeper.
const UNION_DEPTH_MAX: usize = 8;

/// One way in which a document does not match.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mismatch {
    /// The place in the document, as a JSON Pointer. Empty for the document itself.
    pub pointer: String,
    /// What is wrong.
    pub message: String,
}

impl Mismatch {
    pub(super) fn new(pointer: impl Into<String>, message: String) -> Self {
        Self { pointer: pointer.into(), message: shortened(message, ERROR_BYTES_MAX) }
    }
}

/// Describes one error of the validator. Returns several mismatches if the nearest alternative of a union has several.
pub(super) fn tell(error: &ValidationError<'_>, schema: &Value) -> Vec<Mismatch> {
    tell_within(error, schema, 0)
}

fn tell_within(error: &ValidationError<'_>, schema: &Value, depth: usize) -> Vec<Mismatch> {
    let one = |message: String| vec![Mismatch::new(error.instance_path().as_str(), message)];
    match error.kind() {
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context }
            if depth < UNION_DEPTH_MAX =>
        {
            Union { error, alternatives: context, schema, depth }.tell()
        }
        ValidationErrorKind::Enum { .. } | ValidationErrorKind::Constant { .. } => {
            one(not_allowed(error.instance(), &allowed(error)))
        }
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => one(unknown(unexpected, error, schema)),
        _ => one(error.to_string()),
    }
}

/// A value that matches no alternative of `anyOf` or `oneOf`.
struct Union<'a, 'v> {
    error: &'a ValidationError<'v>,
    /// The errors of the value under each alternative.
    alternatives: &'a [Vec<ValidationError<'static>>],
    schema: &'a Value,
    depth: usize,
}

/// Whether and why an alternative is ruled out as the one that was meant.
enum Ruled {
    /// It is not ruled out. The value is of this kind and has a mistake.
    Meant,
    /// The value that distinguishes the alternatives differs, at this place.
    ByValue(String),
    /// The value is of another type.
    ByType,
}

impl Union<'_, '_> {
    fn tell(&self) -> Vec<Mismatch> {
        let ruled: Vec<Ruled> = self.alternatives.iter().map(|errors| self.rule(errors)).collect();
        let meant = ruled.iter().enumerate().filter(|(_, ruled)| matches!(ruled, Ruled::Meant));
        // The alternative with the fewest mistakes was probably meant.
        if let Some((index, _)) = meant.min_by_key(|(index, _)| self.alternatives[*index].len()) {
            let others = ruled.iter().enumerate().filter(|(other, _)| *other != index);
            let is_only_one = others.map(|(_, ruled)| ruled).all(|ruled| matches!(ruled, Ruled::ByType));
            return self.tell_alternative(index, is_only_one);
        }
        let place = ruled.iter().find_map(|ruled| match ruled {
            Ruled::ByValue(place) => Some(place.clone()),
            Ruled::Meant | Ruled::ByType => None,
        });
        match place {
            Some(place) => vec![self.tell_values(&place)],
            None => vec![self.tell_types()],
        }
    }

    fn rule(&self, errors: &[ValidationError<'static>]) -> Ruled {
        let here = self.error.instance_path().as_str();
        let is_here = |error: &&ValidationError<'static>| error.instance_path().as_str() == here;
        if errors.iter().filter(is_here).any(|error| matches!(error.kind(), ValidationErrorKind::Type { .. })) {
            return Ruled::ByType;
        }
        let is_member = |error: &ValidationError<'static>| {
            let below = error.instance_path().as_str().strip_prefix(here);
            below.is_some_and(|below| below.matches('/').count() <= 1)
        };
        // A constant distinguishes alternatives. A list of values does so only if it is the whole alternative.
        let by_value = errors.iter().find(|error| match error.kind() {
            ValidationErrorKind::Constant { .. } => is_member(error),
            ValidationErrorKind::Enum { .. } => error.instance_path().as_str() == here,
            _ => false,
        });
        by_value.map_or(Ruled::Meant, |error| Ruled::ByValue(error.instance_path().as_str().to_owned()))
    }

    /// Describes the errors under one alternative. Adds its name, unless no other alternative accepts values of the
    /// type.
    fn tell_alternative(&self, index: usize, is_only_one: bool) -> Vec<Mismatch> {
        let name = if is_only_one { String::new() } else { format!(" ({})", self.name(index)) };
        let errors = self.alternatives[index].iter().take(ALTERNATIVE_ERRORS_MAX);
        let told = errors.flat_map(|error| tell_within(error, self.schema, self.depth + 1));
        told.map(|told| Mismatch::new(told.pointer, format!("{}{name}", told.message))).collect()
    }

    /// Describes the wrong value that should have selected an alternative, with all allowed values.
    fn tell_values(&self, place: &str) -> Mismatch {
        let at_place = self.alternatives.iter().flatten().filter(|error| error.instance_path().as_str() == place);
        let at_place = at_place.map(|error| (error, allowed(error))).filter(|(_, values)| !values.is_empty());
        let (errors, values): (Vec<_>, Vec<_>) = at_place.unzip();
        let wrong = errors.last().map_or(&Value::Null, |error| error.instance().as_ref());
        Mismatch::new(place, not_allowed(wrong, &distinct(values.into_iter().flatten())))
    }

    fn tell_types(&self) -> Mismatch {
        let types = self.alternatives.iter().flatten().flat_map(|error| match error.kind() {
            ValidationErrorKind::Type { kind: TypeKind::Single(kind) } => vec![kind.to_string()],
            ValidationErrorKind::Type { kind: TypeKind::Multiple(kinds) } => {
                (*kinds).into_iter().map(|kind| kind.to_string()).collect()
            }
            _ => Vec::new(),
        });
        let types = distinct(types).join(" or ");
        let message = format!("{} is not of type {types}", quoted(self.error.instance()));
        Mismatch::new(self.error.instance_path().as_str(), message)
    }

    /// Returns the name of an alternative: its position, and its title or the name of its definition.
    fn name(&self, index: usize) -> String {
        let place = format!("alternative {} of {}", index + 1, self.alternatives.len());
        let pointer = format!("{}/{index}", self.error.schema_path().as_str());
        let alternative = self.schema.pointer(&pointer);
        let title = alternative.and_then(|schema| schema.get("title")).and_then(Value::as_str);
        let reference = alternative.and_then(|schema| schema.get("$ref")).and_then(Value::as_str);
        match title.or_else(|| reference?.rsplit('/').next()) {
            Some(name) => format!("{place}, {name}"),
            None => place,
        }
    }
}

/// Returns the allowed values that an error names, as JSON.
fn allowed(error: &ValidationError<'_>) -> Vec<String> {
    match error.kind() {
        ValidationErrorKind::Constant { expected_value } => vec![expected_value.to_string()],
        ValidationErrorKind::Enum { options } => {
            options.as_array().into_iter().flatten().map(ToString::to_string).collect()
        }
        _ => Vec::new(),
    }
}

/// Removes duplicates.
fn distinct(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut known = HashSet::new();
    texts.filter(|text| known.insert(text.clone())).collect()
}

fn not_allowed(wrong: &Value, values: &[String]) -> String {
    let wrong_text = quoted(wrong);
    if let Some(meant) = wrong.as_str().and_then(|wrong| nearest_value(wrong, values)) {
        return format!("{wrong_text} is not allowed; use {meant} (all: {})", listed(values));
    }
    format!("{wrong_text} is not allowed; use {}", listed(values))
}

/// Returns the allowed text that is spelt almost like the wrong one, as JSON. A short list needs no suggestion.
fn nearest_value<'a>(wrong: &str, values: &'a [String]) -> Option<&'a String> {
    if values.len() <= 3 {
        return None;
    }
    let bare = |value: &'a String| value.trim_matches('"');
    let meant = nearest(wrong, values.iter().map(bare))?;
    values.iter().find(|value| bare(value) == meant)
}

/// Lists the unknown names, each with the known name that is spelt almost like it.
fn unknown(unexpected: &[String], error: &ValidationError<'_>, schema: &Value) -> String {
    let parent = error.schema_path().as_str().rsplit_once('/').map_or("", |(parent, _)| parent);
    let known = schema.pointer(parent).and_then(|schema| schema.get("properties")).and_then(Value::as_object);
    let present = error.instance().as_object();
    let known = || {
        let names = known.into_iter().flatten().map(|(name, _)| name.as_str());
        // A member that is present was not meant by another name.
        names.filter(|name| !present.is_some_and(|present| present.contains_key(*name)))
    };
    let mut texts: Vec<String> = Vec::new();
    for name in unexpected.iter().take(LISTED_MAX) {
        let text = quoted(&Value::String(name.clone()));
        texts.push(match nearest(name, known()) {
            Some(meant) => format!("{text} is unknown; did you mean {}?", Value::String(meant.to_owned())),
            None => format!("{text} is unknown"),
        });
    }
    if unexpected.len() > LISTED_MAX {
        texts.push(format!("and {} more are unknown", unexpected.len() - LISTED_MAX));
    }
    texts.join("; ")
}

fn listed(values: &[String]) -> String {
    match values {
        [] => "another value".to_owned(),
        [one] => one.clone(),
        [first @ .., last] if values.len() <= LISTED_MAX => format!("{} or {last}", first.join(", ")),
        _ => format!("{}, and {} more", values[..LISTED_MAX].join(", "), values.len() - LISTED_MAX),
    }
}

/// Returns the beginning of a value as JSON.
fn quoted(value: &Value) -> String {
    shortened(value.to_string(), VALUE_BYTES_MAX)
}

/// Cuts a text that is too long, and adds an ellipsis.
pub(super) fn shortened(mut text: String, bytes_max: usize) -> String {
    if text.len() > bytes_max {
        text.truncate(text.floor_char_boundary(bytes_max));
        text.push('…');
    }
    text
}
