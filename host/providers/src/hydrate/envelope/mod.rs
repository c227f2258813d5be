//! Parses the envelope of calls: a whole response, the message in it, or only the list of its parts.

mod anthropic;
mod chat;
mod gemini;
mod langchain;
mod responses;

use super::HydrateError;
use super::cursor::{Cursor, Flaw};
use crate::format::Format;
use portcullis::BATCH_REQUESTS_MAX;
use std::borrow::Cow;

/// Maximum bytes of an answer. A model writes at most about 128,000 tokens of a few bytes each, and an image in the
/// answer may have a few million bytes.
const ANSWER_BYTES_MAX: usize = 16 << 20;

/// The error for a call that may be incomplete.
const CUT_OFF: &str = "The answer was cut off in or right after this call, so the call may be incomplete. Repeat it.";

/// The providers' stop reasons for a model that was not finished.
const CUT_OFF_REASONS: [&str; 7] =
    ["length", "max_tokens", "MAX_TOKENS", "incomplete", "content_filter", "model_length", "refusal"];

/// A call as the model wrote it.
#[derive(Debug, Default)]
pub(super) struct Asked<'a> {
    /// The id from the provider.
    pub(super) id: Option<Cow<'a, str>>,
    /// The name of the tool.
    pub(super) name: Option<Cow<'a, str>>,
    /// The arguments: the content of a string, or an object as it is written. `None` if there are none.
    pub(super) arguments: Option<Cow<'a, str>>,
    /// Why it is not a call of a tool, for the model.
    pub(super) flaw: Option<&'static str>,
}

/// The calls of an answer.
#[derive(Debug, Default)]
pub(super) struct Message<'a> {
    pub(super) calls: Vec<Asked<'a>>,
    /// Number of calls, including those that are not kept.
    count: usize,
    /// Whether the last part of the message is a call.
    ends_in_call: bool,
    /// The indexes of the last calls of each list, if lists are out of order.
    last_of_lists: Vec<usize>,
    /// Whether the provider says that the model was cut off.
    cut_off: bool,
    /// Whether a place for calls was found.
    found: bool,
}

impl<'a> Message<'a> {
    /// Adds a call. Calls beyond the maximum of a batch are only counted.
    fn push(&mut self, asked: Asked<'a>) {
        self.count += 1;
        self.ends_in_call = true;
        if self.calls.len() < BATCH_REQUESTS_MAX {
            self.calls.push(asked);
        }
    }

    /// Notes that one of several lists of calls ends here.
    fn list_ends(&mut self) {
        self.last_of_lists.extend(self.calls.len().checked_sub(1));
    }

    /// Marks calls that may be incomplete: the last one, if the model was cut off in it or right after it.
    fn mark_cut_off(&mut self) {
        let last = self.calls.len().checked_sub(1).filter(|_| self.ends_in_call);
        for at in self.last_of_lists.drain(..).chain(last) {
            self.calls[at].flaw = Some(CUT_OFF);
        }
    }

    /// Notes a place for calls. There must be only one. If there were two, another parser might use the other one.
    fn found(&mut self) -> Result<(), Flaw> {
        match std::mem::replace(&mut self.found, true) {
            false => Ok(()),
            true => Err(Flaw("it has two places for calls")),
        }
    }

    /// Parses the stop reason.
    fn stopped(&mut self, cursor: &mut Cursor<'a>) -> Result<(), Flaw> {
        let why = cursor.text(Flaw("its stop reason is not a string"))?;
        self.cut_off |= why.is_some_and(|why| CUT_OFF_REASONS.contains(&&*why));
        Ok(())
    }
}

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
    read(&mut message, &mut cursor).and_then(|()| cursor.end()).map_err(|Flaw(why)| form(why.to_owned()))?;
    if message.count > BATCH_REQUESTS_MAX {
        return Err(HydrateError::TooMany(message.count));
    }
    if message.cut_off {
        message.mark_cut_off();
    }
    Ok(message)
}

/// Sets a value that is not set yet.
fn once<T>(slot: &mut Option<T>, value: Option<T>, twice: Flaw) -> Result<(), Flaw> {
    if slot.is_some() {
        return Err(twice);
    }
    *slot = value;
    Ok(())
}

/// Parses one member of a call if the key is one of `keys`, and skips others.
fn call_member<'a>(asked: &mut Asked<'a>, keys: Keys, key: &str, cursor: &mut Cursor<'a>) -> Result<(), Flaw> {
    if key == keys.id {
        once(&mut asked.id, cursor.text(Flaw("the id of a call is not a string"))?, Flaw("a call has two ids"))
    } else if key == keys.name {
        once(&mut asked.name, cursor.text(Flaw("the name of a call is not a string"))?, Flaw("a call has two names"))
    } else if key == keys.arguments {
        once(&mut asked.arguments, Some(cursor.arguments()?), Flaw("a call has its arguments twice"))
    } else {
        cursor.skip().map(drop)
    }
}

/// The names of the members of a call.
#[derive(Clone, Copy)]
struct Keys {
    id: &'static str,
    name: &'static str,
    arguments: &'static str,
}
