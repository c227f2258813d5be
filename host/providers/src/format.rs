//! The tool formats of the providers.

use std::fmt;
use std::str::FromStr;

/// A provider's format for tools, calls and results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// OpenAI's Chat Completions, and compatible servers.
    OpenAiChat,
    /// The same, with a schema that the provider enforces.
    OpenAiChatStrict,
    /// OpenAI's Responses.
    OpenAiResponses,
    /// The same, with a schema that the provider enforces.
    OpenAiResponsesStrict,
    /// Anthropic's Messages.
    Anthropic,
    /// The same, with a schema that the provider enforces.
    AnthropicStrict,
    /// Gemini's generateContent with `parametersJsonSchema`.
    Gemini,
    /// The same with `parameters`, an OpenAPI schema.
    GeminiOpenApi,
    /// Ollama's chat.
    Ollama,
    /// Mistral's chat completions.
    Mistral,
    /// LangChain's tool format.
    LangChain,
}

/// The error for an unknown format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown format; the formats are: {}", Format::ALL.map(Format::as_str).join(", "))]
pub struct UnknownFormat;

impl Format {
    /// Every format.
    pub const ALL: [Self; 11] = [
        Self::OpenAiChat,
        Self::OpenAiChatStrict,
        Self::OpenAiResponses,
        Self::OpenAiResponsesStrict,
        Self::Anthropic,
        Self::AnthropicStrict,
        Self::Gemini,
        Self::GeminiOpenApi,
        Self::Ollama,
        Self::Mistral,
        Self::LangChain,
    ];

    /// Returns the name of the format.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OpenAiChat => "openai-chat",
            Self::OpenAiChatStrict => "openai-chat-strict",
            Self::OpenAiResponses => "openai-responses",
            Self::OpenAiResponsesStrict => "openai-responses-strict",
            Self::Anthropic => "anthropic",
            Self::AnthropicStrict => "anthropic-strict",
            Self::Gemini => "gemini",
            Self::GeminiOpenApi => "gemini-openapi",
            Self::Ollama => "ollama",
            Self::Mistral => "mistral",
            Self::LangChain => "langchain",
        }
    }

    /// Returns whether the provider enforces the exported schema. Models then write null for optional members.
    pub const fn is_strict(self) -> bool {
        matches!(self, Self::OpenAiChatStrict | Self::OpenAiResponsesStrict | Self::AnthropicStrict)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(text: &str) -> Result<Self, UnknownFormat> {
        Self::ALL.into_iter().find(|format| format.as_str() == text).ok_or(UnknownFormat)
    }
}
