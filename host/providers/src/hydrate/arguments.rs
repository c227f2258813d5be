//! The arguments of one call: read as the host reads them, and held to the authoritative schema.

use super::mend::{self, Effort};
use crate::format::Format;
use portcullis::policy::Leniency;
use portcullis::{Host, Repair, Tool, VALIDATOR, Validation, parse_json};
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
        held.validation = held.parsed.as_ref().and_then(|parsed| validate(tool, parsed, effort));
        if !held.is_usable() && given.may_be_mended {
            held.make_usable(given.format, tool, host, effort);
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

    /// Undoes what a strict format does to arguments, and mends them where the policy lets that be tried.
    fn make_usable(&mut self, format: Format, tool: &Tool, host: &Host, effort: &mut Effort) {
        let mut current = self.parsed.clone();
        if let Some(arguments) = current.as_mut().filter(|_| format.is_strict()) {
            self.nulls = mend::take_nulls(tool, arguments, effort);
            if !self.nulls.is_empty() {
                self.arguments = arguments.to_string();
                self.validation = validate(tool, arguments, effort);
                if arguments.is_object() && is_match(self.validation.as_ref()) {
                    return;
                }
            }
        }
        if effort.is_spent() || host.policy().repair(&tool.name().plugin) == Leniency::Refuse {
            return;
        }
        self.attempted = true;
        if let Some((arguments, repairs)) =
            mended(current, &self.arguments, tool, effort).filter(|(it, _)| it.is_object())
        {
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
