//! Model responses with calls, in each provider's format.

use portcullis_providers::Format;
use serde_json::{Value, json};

/// Returns the ID of the call at an index: nine letters and digits, which is the only form that one provider accepts.
pub(crate) fn id(place: usize) -> String {
    format!("call{place:05}")
}

/// Builds a response with these calls, each a name and arguments.
pub(crate) fn asking_for(format: Format, calls: &[(&str, &Value)]) -> String {
    let each = |call: fn(usize, &str, &Value) -> Value| -> Vec<Value> {
        calls.iter().enumerate().map(|(place, (name, arguments))| call(place, name, arguments)).collect()
    };
    let answer = match format {
        Format::OpenAiChat | Format::OpenAiChatStrict | Format::Mistral => {
            json!({"role": "assistant", "content": null, "tool_calls": each(in_chat)})
        }
        Format::OpenAiResponses | Format::OpenAiResponsesStrict => json!({"output": each(in_responses)}),
        Format::Anthropic | Format::AnthropicStrict => json!({"role": "assistant", "content": each(in_messages)}),
        Format::Gemini | Format::GeminiOpenApi => {
            json!({"candidates": [{"content": {"role": "model", "parts": each(in_parts)}}]})
        }
        Format::Ollama => json!({"message": {"role": "assistant", "content": "", "tool_calls": each(in_ollama)}}),
        Format::LangChain => json!({"type": "ai", "content": "", "tool_calls": each(in_langchain)}),
    };
    answer.to_string()
}

fn in_chat(place: usize, name: &str, arguments: &Value) -> Value {
    let function = json!({"name": name, "arguments": arguments.to_string()});
    json!({"id": id(place), "type": "function", "function": function})
}

fn in_responses(place: usize, name: &str, arguments: &Value) -> Value {
    json!({"type": "function_call", "call_id": id(place), "name": name, "arguments": arguments.to_string()})
}

fn in_messages(place: usize, name: &str, arguments: &Value) -> Value {
    json!({"type": "tool_use", "id": id(place), "name": name, "input": arguments})
}

fn in_parts(_: usize, name: &str, arguments: &Value) -> Value {
    json!({"functionCall": {"name": name, "args": arguments}})
}

fn in_ollama(_: usize, name: &str, arguments: &Value) -> Value {
    json!({"function": {"name": name, "arguments": arguments}})
}

fn in_langchain(place: usize, name: &str, arguments: &Value) -> Value {
    json!({"name": name, "args": arguments, "id": id(place), "type": "tool_call"})
}
