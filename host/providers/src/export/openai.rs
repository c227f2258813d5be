//! OpenAI's Chat Completions and Responses.

use super::notes::Notes;
use super::schema::{Dialect, Touches, copied, rewritten};
use crate::definitions::Defined;
use crate::format::Format;
use serde_json::{Value, json};

/// Maximum tools of one request.
const TOOLS_MAX: usize = 128;

/// Maximum characters of a description that Chat Completions are known to accept for every model.
const CHAT_DESCRIPTION_CHARS_MAX: usize = 1024;

/// Returns whether a request in this format cannot contain this many tools.
pub(super) fn is_beyond(format: Format, tools: usize) -> bool {
    let openai = matches!(
        format,
        Format::OpenAiChat | Format::OpenAiChatStrict | Format::OpenAiResponses | Format::OpenAiResponsesStrict
    );
    openai && tools > TOOLS_MAX
}

/// Exports a tool to Chat Completions, not strict. That is the default there.
pub(super) fn chat(tool: &Defined, notes: &mut Notes) -> Option<Value> {
    let parameters = copied(tool, Touches::OPENAI, notes)?;
    let description = short(tool, notes);
    Some(json!({
        "type": "function",
        "function": { "name": tool.name, "description": description, "parameters": parameters },
    }))
}

/// Exports a tool to Chat Completions, strict if its schema permits it.
pub(super) fn chat_strict(tool: &Defined, notes: &mut Notes) -> Option<Value> {
    let (parameters, strict) = parameters(tool, notes)?;
    let description = short(tool, notes);
    Some(json!({
        "type": "function",
        "function": { "name": tool.name, "description": description, "parameters": parameters, "strict": strict },
    }))
}

/// Exports a tool to Responses. It always sets `strict`, because the provider otherwise makes the schema strict itself.
pub(super) fn responses(tool: &Defined, notes: &mut Notes) -> Option<Value> {
    let parameters = copied(tool, Touches::OPENAI, notes)?;
    Some(flat(tool, &parameters, false))
}

/// Exports a tool to Responses, strict if its schema permits it.
pub(super) fn responses_strict(tool: &Defined, notes: &mut Notes) -> Option<Value> {
    let (parameters, strict) = parameters(tool, notes)?;
    Some(flat(tool, &parameters, strict))
}

fn flat(tool: &Defined, parameters: &Value, strict: bool) -> Value {
    json!({
        "type": "function",
        "name": tool.name,
        "description": tool.offer.tool.description(),
        "parameters": parameters,
        "strict": strict,
    })
}

/// Returns the strict schema. If there is none, notes why and returns the original one.
fn parameters(tool: &Defined, notes: &mut Notes) -> Option<(Value, bool)> {
    match rewritten(tool, &Dialect::OPENAI_STRICT, notes) {
        Ok(parameters) => Some((parameters, true)),
        Err(unfit) => {
            unfit.note(notes);
            Some((copied(tool, Touches::OPENAI, notes)?, false))
        }
    }
}

/// Returns the description, shortened if the provider would refuse the request because of it.
fn short(tool: &Defined, notes: &mut Notes) -> String {
    let description = tool.offer.tool.description();
    let Some((end, _)) = description.char_indices().nth(CHAT_DESCRIPTION_CHARS_MAX) else {
        return description.to_owned();
    };
    notes.add("", "description", format!("cut to {CHAT_DESCRIPTION_CHARS_MAX} characters"));
    // Cut one character more, because the ellipsis takes its place.
    let kept = description[..end].char_indices().next_back().map_or(0, |(last, _)| last);
    format!("{}…", &description[..kept])
}
