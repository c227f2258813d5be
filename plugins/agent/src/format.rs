//! What goes over the wire, in the format of each kind of server.

mod anthropic;
mod member;
mod ollama;
mod openai;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use portcullis_sdk::serde_json::Value;

use self::member::malformed;
use crate::message::{ModelAnswer, ModelRequest};

pub(crate) use self::member::Malformed;

/// A format of requests and answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// Chat Completions of `OpenAI`, and of the many servers that speak it.
    OpenAi,
    /// Messages of Anthropic.
    Anthropic,
    /// `/api/chat` of Ollama.
    Ollama,
}

impl Format {
    pub(crate) const ALL: [Self; 3] = [Self::OpenAi, Self::Anthropic, Self::Ollama];

    /// Returns the name in the settings.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Ollama => "ollama",
        }
    }

    /// Returns the headers of a request besides its content type. The host adds the key.
    pub(crate) fn headers(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::OpenAi | Self::Ollama => &[],
            Self::Anthropic => &[("anthropic-version", "2023-06-01")],
        }
    }

    /// Returns the body of a request.
    pub(crate) fn body(self, request: &ModelRequest<'_>) -> Value {
        match self {
            Self::OpenAi => openai::body(request),
            Self::Anthropic => anthropic::body(request),
            Self::Ollama => ollama::body(request),
        }
    }

    /// Reads an answer.
    pub(crate) fn read(self, answer: &Value) -> Result<ModelAnswer, Malformed> {
        let answer = match self {
            Self::OpenAi => openai::read(answer),
            Self::Anthropic => anthropic::read(answer),
            Self::Ollama => ollama::read(answer),
        }?;
        let ids: BTreeSet<&str> = answer.calls.iter().map(|call| call.id.as_str()).collect();
        match ids.len() == answer.calls.len() {
            true => Ok(answer),
            // No result could be told from another one.
            false => Err(malformed("two calls have the same id")),
        }
    }
}
