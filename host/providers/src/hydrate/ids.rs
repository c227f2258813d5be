//! The ids that a provider gives calls: what tells the answers to two calls of one message apart.

use super::envelope::RequestedCall;
use crate::format::Format;
use portcullis::text::is_deceptive;
use std::collections::BTreeSet;

/// The longest id, in bytes: as much as the record keeps of one. Those of the providers have some 30.
const ID_BYTES_MAX: usize = 128;

/// The calls that share their id with another, by their place in the message.
pub(super) fn shared(calls: &[RequestedCall<'_>]) -> BTreeSet<usize> {
    let mut ids: Vec<(&str, usize)> = Vec::new();
    if calls.len() > 1 {
        ids.extend(calls.iter().enumerate().filter_map(|(at, asked)| Some((asked.id.as_deref()?, at))));
    }
    ids.sort_unstable();
    let pairs = ids.windows(2).filter(|pair| pair[0].0 == pair[1].0);
    pairs.flat_map(|pair| [pair[0].1, pair[1].1]).collect()
}

/// What is wrong with the id of a call, for the model.
pub(super) fn flaw(format: Format, id: Option<&str>, is_shared: bool) -> Option<String> {
    let Some(id) = id.filter(|id| !id.is_empty()) else {
        let why = "The call has no id that its answer could be given to, so it was not made: make it again.";
        return needs_id(format).then(|| why.to_owned());
    };
    if id.len() > ID_BYTES_MAX {
        return Some(format!("The id of the call is longer than {ID_BYTES_MAX} bytes, so it was not made."));
    }
    let is_plain = id.bytes().all(|byte| byte.is_ascii_graphic());
    if !is_plain && id.chars().any(is_deceptive) {
        return Some("The id of the call has characters in it that cannot be seen, so it was not made.".to_owned());
    }
    let why = "Several calls of this message have one id, so that their answers could not be told apart: none of them \
               was made. Make them again, each with an id of its own.";
    is_shared.then(|| why.to_owned())
}

/// Whether answers to calls find their way back by the id alone.
fn needs_id(format: Format) -> bool {
    match format {
        Format::OpenAiChat
        | Format::OpenAiChatStrict
        | Format::OpenAiResponses
        | Format::OpenAiResponsesStrict
        | Format::Anthropic
        | Format::AnthropicStrict
        | Format::Mistral
        | Format::LangChain => true,
        Format::Gemini | Format::GeminiOpenApi | Format::Ollama => false,
    }
}
