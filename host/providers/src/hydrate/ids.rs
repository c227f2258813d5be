//! The providers' ids of calls, which match results to calls of one message.

use super::envelope::RequestedCall;
use crate::format::Format;
use portcullis::text::is_deceptive;
use std::collections::BTreeSet;

/// Maximum bytes of an id, as in the audit log. Ids of the providers have about 30 bytes.
const ID_BYTES_MAX: usize = 128;

/// Returns the indexes of calls that share their id with another call.
pub(super) fn shared(calls: &[RequestedCall<'_>]) -> BTreeSet<usize> {
    let mut ids: Vec<(&str, usize)> = Vec::new();
    if calls.len() > 1 {
        ids.extend(calls.iter().enumerate().filter_map(|(at, asked)| Some((asked.id.as_deref()?, at))));
    }
    ids.sort_unstable();
    let pairs = ids.windows(2).filter(|pair| pair[0].0 == pair[1].0);
    pairs.flat_map(|pair| [pair[0].1, pair[1].1]).collect()
}

/// Returns what is wrong with the id of a call, for the model.
pub(super) fn flaw(format: Format, id: Option<&str>, is_shared: bool) -> Option<String> {
    let Some(id) = id.filter(|id| !id.is_empty()) else {
        let why = "Not run: the call has no id, so its result could not be returned. Repeat it.";
        return needs_id(format).then(|| why.to_owned());
    };
    if id.len() > ID_BYTES_MAX {
        return Some(format!("Not run: the id of the call is longer than {ID_BYTES_MAX} bytes."));
    }
    let is_plain = id.bytes().all(|byte| byte.is_ascii_graphic());
    if !is_plain && id.chars().any(is_deceptive) {
        return Some("Not run: the id of the call contains invisible characters.".to_owned());
    }
    let why = "Not run: several calls of this message have the same id, so their results could not be distinguished. \
               Repeat them, each with its own id.";
    is_shared.then(|| why.to_owned())
}

/// Returns whether results are matched to calls only by the id.
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
