//! Parses the arguments of one call as the host does, and validates them against the authoritative schema.

use super::mend::{self, Effort};
use crate::format::Format;
use portcullis::plugins::{Tool, VALIDATOR};
use portcullis::policy::Leniency;
use portcullis::provenance::{Repair, Validation};
use portcullis::{Host, parse_json};
use serde_json::Value;
use std::borrow::Cow;
use std::time::Instant;

/// The received arguments of a call.
pub(super) struct Given<'a> {
    pub(super) format: Format,
    /// The arguments as the model wrote them.
    pub(super) arguments: Option<Cow<'a, str>>,
    /// Whether they may be repaired.
    pub(super) may_be_mended: bool,
}

/// The processed arguments.
pub(super) struct HydratedArguments {
    /// The arguments for the host.
    pub(super) arguments: String,
    pub(super) raw: String,
    pub(super) parsed: Option<Value>,
    pub(super) validation: Option<Validation>,
    pub(super) nulls: Vec<String>,
    pub(super) repairs: Vec<Repair>,
    pub(super) attempted: bool,
}

/// Validates arguments against the schema of their tool. Arguments for an unknown tool are not checked.
pub(super) fn hold(given: Given<'_>, tool: Option<&Tool>, host: &Host, effort: &mut Effort) -> HydratedArguments {
    let raw = given.arguments.map(Cow::into_owned).unwrap_or_default();
    let text = if stands_for_none(given.format, &raw) { "{}" } else { &*raw };
    let mut held = HydratedArguments {
        arguments: text.to_owned(),
        raw: String::new(),
        parsed: None,
        validation: None,
        nulls: Vec::new(),
        repairs: Vec::new(),
        attempted: false,
    };
    // The host refuses larger arguments before it parses them.
    if let Some(tool) = tool.filter(|tool| text.len() <= host.policy().limits(&tool.name().plugin).arguments_bytes) {
        held.parsed = parse(text);
        let forced = held.parsed.as_ref().filter(|_| given.format.is_strict() && given.may_be_mended);
        let undone = forced.and_then(|parsed| without_nulls(tool, parsed, effort)).map(|(arguments, nulls)| {
            (held.arguments, held.nulls) = (arguments.to_string(), nulls);
            arguments
        });
        let current = undone.as_ref().or(held.parsed.as_ref());
        held.validation = current.and_then(|arguments| validate(tool, arguments, effort));
        if !held.is_usable() && given.may_be_mended {
            held.mend(undone, tool, host, effort);
        }
    }
    held.raw = raw;
    held
}

impl HydratedArguments {
    /// Returns whether the host would accept them.
    fn is_usable(&self) -> bool {
        self.parsed.as_ref().is_some_and(Value::is_object) && is_match(self.validation.as_ref())
    }

    /// Repairs the arguments, after forced nulls were removed, if the policy permits an attempt.
    fn mend(&mut self, undone: Option<Value>, tool: &Tool, host: &Host, effort: &mut Effort) {
        if effort.is_spent() || host.policy().repair(&tool.name().plugin) == Leniency::Refuse {
            return;
        }
        self.attempted = true;
        let current = undone.or_else(|| self.parsed.clone());
        let mended = mended(current, &self.arguments, tool, effort);
        if let Some((arguments, repairs)) = mended.filter(|(arguments, _)| arguments.is_object()) {
            let validation = validate(tool, &arguments, effort);
            if is_match(validation.as_ref()) {
                (self.arguments, self.repairs, self.validation) = (arguments.to_string(), repairs, validation);
            }
        }
    }
}

/// Returns whether the arguments have no known mismatch.
fn is_match(validation: Option<&Validation>) -> bool {
    validation.is_none_or(|validation| validation.mismatches.is_empty())
}

/// Returns the arguments without the nulls that a strict format forces a model to write, and the places of these nulls.
/// Returns none if there are no such nulls, or if the arguments match with them.
fn without_nulls(tool: &Tool, parsed: &Value, effort: &mut Effort) -> Option<(Value, Vec<String>)> {
    // Do not count the time of this check. The validation that follows takes as long and is counted.
    if tool.schema().is_absent() || effort.is_spent() || !has_null(parsed) || tool.schema().is_match(parsed) {
        return None;
    }
    let mut arguments = parsed.clone();
    let nulls = mend::take_nulls(tool, &mut arguments, effort);
    (!nulls.is_empty()).then_some((arguments, nulls))
}

/// Returns whether a document contains a null. Its nesting is limited, because the host parsed it.
fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
        Value::Array(items) => items.iter().any(has_null),
        Value::Object(members) => members.values().any(has_null),
    }
}

/// Tries once to repair arguments: first as text if they are not JSON, and then value by value.
fn mended(parsed: Option<Value>, text: &str, tool: &Tool, effort: &mut Effort) -> Option<(Value, Vec<Repair>)> {
    let (mut arguments, mut repairs) = match parsed {
        Some(parsed) => (parsed, Vec::new()),
        None => mend::text(text)?,
    };
    if !tool.schema().is_absent() {
        repairs.extend(mend::values(tool, &mut arguments, effort)?);
    }
    (!repairs.is_empty()).then_some((arguments, repairs))
}

/// Returns whether a text means no arguments. Providers and compatible servers omit the arguments of a tool that takes
/// none, or send an empty text. Anthropic and LangChain always send an object.
fn stands_for_none(format: Format, raw: &str) -> bool {
    match format {
        Format::OpenAiChat
        | Format::OpenAiChatStrict
        | Format::OpenAiResponses
        | Format::OpenAiResponsesStrict
        | Format::Gemini
        | Format::GeminiOpenApi
        | Format::Ollama
        | Format::Mistral => matches!(raw.trim_ascii(), "" | "null"),
        Format::Anthropic | Format::AnthropicStrict | Format::LangChain => false,
    }
}

/// Parses arguments as the host does: an object, or a string that contains one.
pub(super) fn parse(text: &str) -> Option<Value> {
    match parse_json(text) {
        Ok(Value::String(inner)) => parse_json(&inner).ok(),
        Ok(value) => Some(value),
        Err(_) => None,
    }
}

/// Validates arguments against the schema. Returns none if there is no schema, or if the time for this answer is used
/// up. The host validates every call itself anyway.
fn validate(tool: &Tool, arguments: &Value, effort: &mut Effort) -> Option<Validation> {
    if tool.schema().is_absent() || effort.is_spent() {
        return None;
    }
    let began = Instant::now();
    let mismatches = tool.schema().mismatches(arguments);
    let took = began.elapsed();
    effort.validated(took);
    Some(Validation { validator: VALIDATOR, took, mismatches })
}
