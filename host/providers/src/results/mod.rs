//! Converts replies to messages in the provider's format.
//!
//! A tool's output goes into the provider's own fields. If a message cannot contain a part, a line from the host
//! replaces it, so that the model knows about it.

mod answer;
mod media;

mod anthropic;
mod gemini;
mod langchain;
mod mistral;
mod ollama;
mod openai_chat;
mod openai_responses;

use crate::format::Format;
use crate::hydrate::Hydrated;
use answer::CallAnswer;
use portcullis::Reply;
use serde_json::Value;

impl Hydrated {
    /// Returns the messages to add to the conversation after the model's own, for the replies to these calls, in order.
    ///
    /// Every call gets exactly one result. A call without a reply gets an error. The number of messages depends on the
    /// provider: some put all results into one. If the provider requires an id and a call has none, its result has the
    /// id `none00000`, with the index of the call in the digits. The caller must then add that id to the call in the
    /// model's message.
    pub fn results(&self, replies: &[Reply]) -> Vec<Value> {
        let answer = |(place, call)| CallAnswer::of(place, call, replies.get(place));
        let answers: Vec<CallAnswer<'_>> = self.calls.iter().enumerate().map(answer).collect();
        if answers.is_empty() {
            return Vec::new();
        }
        match self.format {
            Format::OpenAiChat | Format::OpenAiChatStrict => openai_chat::messages(&answers),
            Format::OpenAiResponses | Format::OpenAiResponsesStrict => openai_responses::items(&answers),
            Format::Anthropic | Format::AnthropicStrict => vec![anthropic::message(&answers)],
            Format::Gemini | Format::GeminiOpenApi => vec![gemini::content(&answers)],
            Format::Ollama => answers.iter().map(ollama::message).collect(),
            Format::Mistral => answers.iter().map(mistral::message).collect(),
            Format::LangChain => answers.iter().map(langchain::message).collect(),
        }
    }
}
