//! OpenAI's Chat Completions and Responses.

use super::notes::Notes;
use super::schema::{Dialect, Touches, copied, rewritten};
use crate::definitions::Defined;
use crate::format::Format;
use serde_json::{Value, json};

/// Tools of one request.
const TOOLS_MAX: usize = 128;

/// The longest description that Chat Completions are known to take for every model, in characters.
const CHAT_DESCRIPTION_CHARS_MAX: usize = 1024;

/// Whether a request of this format cannot hold so many tools.
pub(super) fn is_beyond(format: Format, tools: usize) -> bool {
    let openai = matches!(
        format,
        Format::OpenAiChat | Format::OpenAiChatStrict | Format::OpenAiResponses | Format::OpenAiResponsesStrict
    );
    openai && tools > TOOLS_MAX
}

/// Chat Completions, whose arguments are held to nothing. What is not said to be strict is not.
pub(super) fn chat(tool: &Defined, notes: &mut Notes) -> Option<Value> {
    let parameters = copied(tool, Touches::OPENAI, notes)?;
    let description = short(tool, notes);
    Some(json!({
        "type": "function",
        "function": { "name": tool.name, "description": description, "parameters": parameters },
    }))
}

/// Chat Completions, strict where the schema can be.
pub(super) fn chat_strict(tool: &Defined, notes: &mut Notes) -> Option<Value> {
    let (parameters, strict) = parameters(tool, notes)?;
    let description = short(tool, notes);
    Some(json!({
        "type": "function",
        "function": { "name": tool.name, "description": description, "parameters": parameters, "strict": strict },
    }))
}

/// Responses. Where `strict` is left out, the provider makes the schema strict by itself, so it is always said.
pub(super) fn responses(tool: &Defined, notes: &mut Notes) -> Option<Value> {
    let parameters = copied(tool, Touches::OPENAI, notes)?;
    Some(flat(tool, &parameters, false))
}

/// Responses, strict where the schema can be.
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

/// The strict schema, or the original and why it is that.
fn parameters(tool: &Defined, notes: &mut Notes) -> Option<(Value, bool)> {
    match rewritten(tool, &Dialect::OPENAI_STRICT, notes) {
        Ok(parameters) => Some((parameters, true)),
        Err(unfit) => {
            unfit.note(notes);
            Some((copied(tool, Touches::OPENAI, notes)?, false))
        }
    }
}

/// The description, cut where the provider would refuse the request for it.
fn short(tool: &Defined, notes: &mut Notes) -> String {
    let description = tool.offer.tool.description();
    let Some((end, _)) = description.char_indices().nth(CHAT_DESCRIPTION_CHARS_MAX) else {
        return description.to_owned();
    };
    notes.add("", "description", format!("cut to {CHAT_DESCRIPTION_CHARS_MAX} characters"));
    let kept = description[..end].char_indices().next_back().map_or(0, |(last, _)| last);
    format!("{}…", &description[..kept])
}
