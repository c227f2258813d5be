//! Parses the envelope of calls: a whole response, the message in it, or only the list of its parts.

mod anthropic;
mod chat;
mod gemini;
mod langchain;
mod message;
mod responses;

pub(super) use message::{Message, RequestedCall};

use super::cursor::{Cursor, FormFlaw};
use super::error::HydrateError;
use crate::format::Format;
use portcullis::BATCH_REQUESTS_MAX;

/// Maximum bytes of an answer. A model writes at most about 128,000 tokens of a few bytes each, and an image in the
/// answer may have a few million bytes.
const ANSWER_BYTES_MAX: usize = 16 << 20;

/// Parses an answer.
pub(super) fn read(format: Format, answer: &str) -> Result<Message<'_>, HydrateError> {
    if answer.len() > ANSWER_BYTES_MAX {
        return Err(HydrateError::TooLarge(ANSWER_BYTES_MAX));
    }
    let form = |why: String| HydrateError::Form { format, why };
    let mut message = Message::default();
    let mut cursor = Cursor::new(answer);
    let read = match format {
        Format::OpenAiChat | Format::OpenAiChatStrict | Format::Ollama | Format::Mistral => chat::read,
        Format::OpenAiResponses | Format::OpenAiResponsesStrict => responses::read,
        Format::Anthropic | Format::AnthropicStrict => anthropic::read,
        Format::Gemini | Format::GeminiOpenApi => gemini::read,
        Format::LangChain => langchain::read,
    };
    read(&mut message, &mut cursor).and_then(|()| cursor.end()).map_err(|FormFlaw(why)| form(why.to_owned()))?;
    if message.count > BATCH_REQUESTS_MAX {
        return Err(HydrateError::TooMany(message.count));
    }
    if message.cut_off {
        message.mark_cut_off();
    }
    Ok(message)
}
