//! The arguments of one call: read as the host reads them, and held to the authoritative schema.

use super::mend::{self, Effort};
use crate::format::Format;
use portcullis::plugins::{Tool, VALIDATOR};
use portcullis::policy::Leniency;
use portcullis::provenance::{Repair, Validation};
use portcullis::{Host, parse_json};
use serde_json::Value;
use std::borrow::Cow;
use std::time::Instant;

/// What came of a call.
pub(super) struct Given<'a> {
    pub(super) format: Format,
    /// The arguments as they came.
    pub(super) arguments: Option<Cow<'a, str>>,
    /// Whether there is a point in mending them.
    pub(super) may_be_mended: bool,
}

/// What becomes of them.
pub(super) struct Held {
    /// What the host gets.
    pub(super) arguments: String,
    pub(super) raw: String,
    pub(super) parsed: Option<Value>,
    pub(super) validation: Option<Validation>,
    pub(super) nulls: Vec<String>,
    pub(super) repairs: Vec<Repair>,
    pub(super) attempted: bool,
}

/// Holds arguments to the schema of their tool. Those of a tool that is not there are looked at by nobody.
pub(super) fn hold(given: Given<'_>, tool: Option<&Tool>, host: &Host, effort: &mut Effort) -> Held {
    let raw = given.arguments.map(Cow::into_owned).unwrap_or_default();
    let text = if stands_for_none(given.format, &raw) { "{}" } else { &*raw };
    let mut held = Held {
        arguments: text.to_owned(),
        raw: String::new(),
        parsed: None,
        validation: None,
        nulls: Vec::new(),
        repairs: Vec::new(),
        attempted: false,
    };
    // The host refuses what is larger before it reads it.
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

impl Held {
    /// Whether the host would take them.
    fn is_usable(&self) -> bool {
        self.parsed.as_ref().is_some_and(Value::is_object) && is_match(self.validation.as_ref())
    }

    /// Mends the arguments, without the nulls that were undone, where the policy lets that be tried.
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

/// Whether nothing is known against arguments.
fn is_match(validation: Option<&Validation>) -> bool {
    validation.is_none_or(|validation| validation.mismatches.is_empty())
}

/// The arguments without the nulls that a strict format makes a model write, and where those stood. Nothing where there
/// are none, or the arguments fit with them.
fn without_nulls(tool: &Tool, parsed: &Value, effort: &mut Effort) -> Option<(Value, Vec<String>)> {
    // What this look takes is not counted: the one that follows takes as long again, and is.
    if tool.schema().is_absent() || effort.is_spent() || !has_null(parsed) || tool.schema().is_match(parsed) {
        return None;
    }
    let mut arguments = parsed.clone();
    let nulls = mend::take_nulls(tool, &mut arguments, effort);
    (!nulls.is_empty()).then_some((arguments, nulls))
}

/// Whether there is a null anywhere in a document, which nests no deeper than the host reads.
fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
        Value::Array(items) => items.iter().any(has_null),
        Value::Object(members) => members.values().any(has_null),
    }
}

/// One attempt to make arguments fit: as a text where they are no JSON, and then value by value.
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

/// Whether a text stands for no arguments: providers and the servers that speak like them leave out those of a tool
/// that takes none, or write an empty text. Anthropic and LangChain always write an object.
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

/// Reads arguments as the host does: an object, or a string that holds one.
fn parse(text: &str) -> Option<Value> {
    match parse_json(text) {
        Ok(Value::String(inner)) => parse_json(&inner).ok(),
        Ok(value) => Some(value),
        Err(_) => None,
    }
}

/// Holds arguments to the schema; nothing where there is none. What an answer has spent its time on is left to the
/// host, which holds every call to its schema itself.
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
