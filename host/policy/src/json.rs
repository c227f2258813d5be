//! Parses JSON strictly and writes it in one canonical form. The host validates, decides, approves, hashes and runs the
//! same text.
//!
//! RFC 8259 does not define a duplicate key or a number past 2^53. A reader with another interpretation would bypass
//! the decision. Here both are errors. The canonical form has sorted keys, no white space, and whole numbers without a
//! point or an exponent.

mod memory;

use memory::DocumentMemory;
use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::map::Entry;
use serde_json::{Map, Number, Value};
use std::fmt;

/// Maximum nesting of a document. The parser itself stops at twice this depth, and no tool needs as much.
pub const JSON_DEPTH_MAX: usize = 64;

/// Whole numbers below this are the same as a float and as an integer. At 2^53 a float may represent its neighbour.
const EXACT_FLOAT_MAX: f64 = 9_007_199_254_740_992.0;

/// Why a text is not a document.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JsonError {
    /// It is not JSON, repeats a key, or nests too deep.
    #[error("{0}")]
    Syntax(String),
    /// It has too many values for its length.
    #[error("it has too many values: parsing it would take more memory than the host allows for a text of {0} bytes")]
    Memory(usize),
    /// A number would be rounded.
    #[error("the number {0} is too large to be represented exactly; pass it as a string")]
    Inexact(String),
}

/// Parses one document. A duplicate key, or a number that would be rounded, is an error.
///
/// # Errors
/// The text is not a document.
pub fn parse(text: &str) -> Result<Value, JsonError> {
    // On the text, because the parser has already rounded a number when a visitor gets it.
    check_numbers(text)?;
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let memory = DocumentMemory::of(text.len());
    let syntax = |error: serde_json::Error| match memory.is_spent() {
        true => JsonError::Memory(text.len()),
        false => JsonError::Syntax(error.to_string()),
    };
    let value = Strict { depth: 0, memory: &memory }.deserialize(&mut deserializer).map_err(syntax)?;
    deserializer.end().map_err(syntax)?;
    Ok(value)
}

/// Writes a document in the canonical form.
pub fn canonical(value: &Map<String, Value>) -> String {
    // Serializing a map with string keys cannot fail. If it did, every tool refuses the empty object first.
    // The keys are sorted, because the feature `preserve_order` of serde_json is off.
    serde_json::to_string(value).unwrap_or_else(|_| "{}".to_owned())
}

/// Returns whether [`parse`] reads the canonical text of an object back as the same object: whole numbers are no
/// floats, and it is within the limits of depth and memory. `canonical` is that text.
pub fn reads_back(object: &Map<String, Value>, canonical: &str) -> bool {
    is_within(object, 1, &DocumentMemory::of(canonical.len()))
}

fn is_within(members: &Map<String, Value>, depth: usize, memory: &DocumentMemory) -> bool {
    let is_kept = |(index, (key, value)): (usize, (&String, &Value))| {
        memory.take_member(index, key) && is_value_within(value, depth, memory)
    };
    depth <= JSON_DEPTH_MAX && members.iter().enumerate().all(is_kept)
}

fn is_value_within(value: &Value, depth: usize, memory: &DocumentMemory) -> bool {
    match value {
        Value::Null | Value::Bool(_) => true,
        Value::Number(number) => !number.is_f64() || number.as_f64().is_some_and(|float| !is_exact_whole(float)),
        Value::String(text) => memory.take_text(text),
        Value::Array(items) => {
            let is_kept =
                |(index, item): (usize, &Value)| memory.take_item(index) && is_value_within(item, depth + 1, memory);
            depth < JSON_DEPTH_MAX && items.iter().enumerate().all(is_kept)
        }
        Value::Object(members) => is_within(members, depth + 1, memory),
    }
}

/// Returns whether the canonical form writes a float as an integer.
fn is_exact_whole(value: f64) -> bool {
    value.fract() == 0.0 && value.abs() < EXACT_FLOAT_MAX
}

/// Returns the number of values in a document, and their depth. A scalar has depth 0.
pub fn extent(value: &Value) -> (usize, usize) {
    let children: &mut dyn Iterator<Item = &Value> = match value {
        Value::Array(items) => &mut items.iter(),
        Value::Object(members) => &mut members.values(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return (1, 0),
    };
    children.map(extent).fold((1, 1), |(values, depth), (more, below)| (values + more, depth.max(below + 1)))
}

/// Refuses integers that do not fit in 64 bits. The parser would silently round them to a float.
fn check_numbers(text: &str) -> Result<(), JsonError> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => at = end_of_string(bytes, at + 1),
            b'-' | b'0'..=b'9' => {
                let end = at + bytes[at..].iter().take_while(|byte| is_number(**byte)).count();
                check_number(&text[at..end])?;
                at = end;
            }
            _ => at += 1,
        }
    }
    Ok(())
}

fn end_of_string(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() {
        match bytes[at] {
            b'"' => return at + 1,
            // This may step over the end. The parser then refuses the text.
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    at
}

fn is_number(byte: u8) -> bool {
    matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9')
}

fn check_number(token: &str) -> Result<(), JsonError> {
    let whole = !token.contains(['.', 'e', 'E']);
    // A number of 18 characters always fits. The sender chooses the length, so the error has only the beginning.
    if whole && token.len() > 18 && token.parse::<i64>().is_err() && token.parse::<u64>().is_err() {
        return Err(JsonError::Inexact(token.chars().take(40).collect()));
    }
    Ok(())
}

/// A deserializer of values that refuses what `serde_json::Value` would accept silently.
#[derive(Clone, Copy)]
struct Strict<'m> {
    depth: usize,
    memory: &'m DocumentMemory,
}

/// Returns a placeholder error. [`DocumentMemory`] records the real cause.
fn spent<E: Error>() -> E {
    E::custom("too many values")
}

impl Strict<'_> {
    fn deeper<E: Error>(self) -> Result<Self, E> {
        if self.depth >= JSON_DEPTH_MAX {
            return Err(E::custom(format_args!("nested deeper than {JSON_DEPTH_MAX} levels")));
        }
        Ok(Self { depth: self.depth + 1, ..self })
    }
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
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

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        if is_exact_whole(value) {
            #[expect(clippy::cast_possible_truncation, reason = "whole, and within 2^53")]
            return Ok(Value::Number((value as i64).into()));
        }
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("a number out of range"))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        if self.memory.take_text(value) { Ok(Value::String(value.to_owned())) } else { Err(spent()) }
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Value, E> {
        if self.memory.take_text(&value) { Ok(Value::String(value)) } else { Err(spent()) }
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut items = Vec::new();
        while let Some(item) = sequence.next_element_seed(inner)? {
            if !self.memory.take_item(items.len()) {
                return Err(spent());
            }
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut members = Map::new();
        while let Some(key) = map.next_key_seed(MemberKey)? {
            if !self.memory.take_member(members.len(), &key) {
                return Err(spent());
            }
            match members.entry(key) {
                Entry::Vacant(place) => {
                    place.insert(map.next_value_seed(inner)?);
                }
                Entry::Occupied(taken) => {
                    let key = taken.key();
                    return Err(A::Error::custom(format_args!("the key {key:?} appears twice in one object")));
                }
            }
        }
        Ok(Value::Object(members))
    }
}

struct MemberKey;

impl<'de> DeserializeSeed<'de> for MemberKey {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
        String::deserialize(deserializer)
    }
}
