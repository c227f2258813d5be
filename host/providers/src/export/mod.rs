//! Exports the authoritative definitions to a provider's format, with a list of what is lost.
//!
//! A model does not need a tool's title and output schema to call it. They are left out, and that is not a loss.

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
    /// What the format cannot express or the provider does not accept. It is empty if nothing is lost.
    pub losses: Vec<Loss>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
fn word<S: serde::Serializer>(format: &Format, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(format.as_str())
}

impl Definitions {
    /// Returns the tools in a provider's format. The definitions do not change, and the same definitions always give
    /// the same export.
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

    /// Applies an exporter to each tool. The exporter omits tools that it cannot express at all.
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
                notes.add("", "tools", "there are more tools than the provider accepts in one request");
            }
            losses.extend(notes.of_tool(&tool.name));
        }
        tools
    }
}
