//! From the authoritative definitions to a provider's: a copy, and a list of what it lost.
//!
//! A tool's title and the schema of its answers are no part of what a model is told to write, so they are left out and
//! that is no loss.

mod anthropic;
mod gemini;
mod langchain;
mod mistral;
mod notes;
mod ollama;
mod openai;
mod schema;

use crate::definitions::{Defined, Definitions};
use crate::format::Format;
pub use notes::Loss;
use notes::Notes;
use serde::Serialize;
use serde_json::Value;

/// Tools in a provider's format.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Export {
    /// The format.
    #[serde(serialize_with = "word")]
    pub format: Format,
    /// The array that goes into a request under `tools`.
    pub tools: Value,
    /// What the format cannot say, or the provider would not take. Empty where nothing was lost.
    pub losses: Vec<Loss>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
fn word<S: serde::Serializer>(format: &Format, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(format.as_str())
}

impl Definitions {
    /// The tools as a provider takes them. The definitions stay as they are, and the same ones give the same export.
    pub fn export(&self, format: Format) -> Export {
        let mut losses = Vec::new();
        let tools = match format {
            Format::OpenAiChat => self.each(format, &mut losses, openai::chat),
            Format::OpenAiChatStrict => self.each(format, &mut losses, openai::chat_strict),
            Format::OpenAiResponses => self.each(format, &mut losses, openai::responses),
            Format::OpenAiResponsesStrict => self.each(format, &mut losses, openai::responses_strict),
            Format::Anthropic => self.each(format, &mut losses, anthropic::tool),
            Format::AnthropicStrict => {
                let mut budget = anthropic::Budget::default();
                self.each(format, &mut losses, |tool, notes| anthropic::tool_strict(tool, &mut budget, notes))
            }
            Format::Gemini => gemini::together(&self.each(format, &mut losses, gemini::declaration)),
            Format::GeminiOpenApi => gemini::together(&self.each(format, &mut losses, gemini::openapi_declaration)),
            Format::Ollama => self.each(format, &mut losses, ollama::tool),
            Format::Mistral => self.each(format, &mut losses, mistral::tool),
            Format::LangChain => self.each(format, &mut losses, langchain::tool),
        };
        losses.sort();
        Export { format, tools: Value::Array(tools), losses }
    }

    /// Each tool by one exporter, which leaves out those that it cannot say at all.
    fn each(
        &self,
        format: Format,
        losses: &mut Vec<Loss>,
        mut exporter: impl FnMut(&Defined, &mut Notes) -> Option<Value>,
    ) -> Vec<Value> {
        let mut tools = Vec::with_capacity(self.tools().len());
        for tool in self.tools() {
            let mut notes = Notes::default();
            tools.extend(exporter(tool, &mut notes));
            if openai::is_beyond(format, tools.len()) {
                notes.add("", "tools", "there are more tools than the provider takes in one request");
            }
            losses.extend(notes.of_tool(&tool.name));
        }
        tools
    }
}
