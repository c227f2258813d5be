//! Chat Completions of `OpenAI`.

use portcullis_sdk::prelude::*;
use portcullis_sdk::serde_json::{self, Value};

use super::member::{Malformed, malformed, object, optional_list, optional_text, required_text};
use crate::message::{AnswerEnd, CallResult, Message, ModelAnswer, ModelCall, ModelRequest, ModelTool, Usage};

pub(super) fn body(request: &ModelRequest<'_>) -> Value {
    let mut body = conversation(request, call, result);
    // OpenAI's reasoning models refuse the older `max_tokens`.
    body["max_completion_tokens"] = request.tokens_max.into();
    body
}

/// Writes what this format and Ollama's share: they differ only in the form of a call and of its result.
pub(super) fn conversation(
    request: &ModelRequest<'_>,
    call: fn(&ModelCall) -> Value,
    result: fn(&CallResult) -> Value,
) -> Value {
    let mut messages = vec![json!({ "role": "system", "content": request.system })];
    for message in request.messages {
        match message {
            Message::User(text) => messages.push(json!({ "role": "user", "content": text })),
            Message::Assistant { text, calls } => {
                let mut written = json!({ "role": "assistant", "content": text });
                if !calls.is_empty() {
                    written["tool_calls"] = calls.iter().map(call).collect();
                }
                messages.push(written);
            }
            Message::Results(results) => messages.extend(results.iter().map(result)),
        }
    }
    let mut body = json!({ "model": request.model, "messages": messages });
    if !request.tools.is_empty() {
        body["tools"] = request.tools.iter().map(tool).collect();
    }
    body
}

fn tool(tool: &ModelTool) -> Value {
    let function = json!({ "name": tool.name, "description": tool.description, "parameters": tool.schema });
    json!({ "type": "function", "function": function })
}

fn result(result: &CallResult) -> Value {
    json!({ "role": "tool", "tool_call_id": result.id, "content": result.text })
}

fn call(call: &ModelCall) -> Value {
    let arguments = match &call.arguments {
        Ok(arguments) => arguments.to_string(),
        Err(written) => written.clone(),
    };
    json!({ "id": call.id, "type": "function", "function": { "name": call.name, "arguments": arguments } })
}

pub(super) fn read(answer: &Value) -> Result<ModelAnswer, Malformed> {
    let choice = answer.pointer("/choices/0").ok_or_else(|| malformed("it has no choice"))?;
    let message = choice.get("message").filter(|message| message.is_object());
    let message = message.ok_or_else(|| malformed("its choice has no message"))?;
    let mut calls = Vec::new();
    for call in optional_list(message.get("tool_calls"), "tool_calls")? {
        let written = required_text(call.pointer("/function/arguments"), "the arguments of a call");
        let arguments = match written {
            // Some servers send an object instead of its text.
            Err(_) => object(call.pointer("/function/arguments")),
            Ok(text) => match serde_json::from_str::<Value>(&text) {
                Ok(value @ Value::Object(_)) => Ok(value),
                Ok(_) | Err(_) => Err(text),
            },
        };
        calls.push(ModelCall {
            id: required_text(call.get("id"), "the id of a call")?,
            name: required_text(call.pointer("/function/name"), "the name of a call")?,
            arguments,
        });
    }
    let refusal = optional_text(message.get("refusal"), "refusal")?;
    let text = optional_text(message.get("content"), "content")?;
    let end = match choice.get("finish_reason").and_then(Value::as_str) {
        Some("length") => AnswerEnd::Cut,
        Some("content_filter") => AnswerEnd::Refused,
        _ if !refusal.is_empty() => AnswerEnd::Refused,
        _ => AnswerEnd::Whole,
    };
    let tokens = |pointer: &str| answer.pointer(pointer).and_then(Value::as_u64);
    let usage = match (tokens("/usage/prompt_tokens"), tokens("/usage/completion_tokens")) {
        (Some(input), Some(output)) => Some(Usage { input, output }),
        _ => None,
    };
    Ok(ModelAnswer { text: if refusal.is_empty() { text } else { refusal }, calls, end, usage })
}
