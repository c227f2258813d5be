//! From replies to the messages in which a provider takes what became of its calls.
//!
//! What a tool wrote goes in the fields that a provider has for it. What a message cannot carry leaves a line of the
//! host's in its place, so that the model knows that there was something.

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
    /// The messages to add to the conversation after the model's own, for the replies to these calls in their order.
    ///
    /// Every call is answered exactly once, and a call without a reply with an error that says so. How many messages
    /// there are depends on the provider: some take all results in one. A call that came without an id, where the
    /// provider wants one, is answered under `none00000` with its place in the digits; whoever keeps the conversation
    /// has to give the call in the model's message that id too.
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
