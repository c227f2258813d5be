//! Messages of Anthropic.

use portcullis_sdk::prelude::*;
use portcullis_sdk::serde_json::{Map, Value};

use super::member::{Malformed, malformed, object, optional_text, required_text};
use crate::message::{AnswerEnd, CallResult, Message, ModelAnswer, ModelCall, ModelRequest, Usage};

pub(super) fn body(request: &ModelRequest<'_>) -> Value {
    let messages: Vec<Value> = request.messages.iter().map(written).collect();
    let mut body = json!({
        "model": request.model,
        "max_tokens": request.tokens_max,
        "system": request.system,
        "messages": messages,
    });
    if !request.tools.is_empty() {
        let tools = request.tools.iter();
        body["tools"] = tools
            .map(|tool| json!({ "name": tool.name, "description": tool.description, "input_schema": tool.schema }))
            .collect();
    }
    body
}

fn written(message: &Message) -> Value {
    match message {
        Message::User(text) => json!({ "role": "user", "content": text }),
        Message::Assistant { text, calls } => {
            let mut blocks = Vec::new();
            // The server refuses an empty text, and a message without blocks.
            if !text.trim().is_empty() || calls.is_empty() {
                let text = if text.trim().is_empty() { "(no text)" } else { text };
                blocks.push(json!({ "type": "text", "text": text }));
            }
            blocks.extend(calls.iter().map(call));
            json!({ "role": "assistant", "content": blocks })
        }
        Message::Results(results) => {
            json!({ "role": "user", "content": results.iter().map(result).collect::<Vec<_>>() })
        }
    }
}

fn call(call: &ModelCall) -> Value {
    // The server accepts only an object. The result of the call says that the model's arguments were none.
    let input = call.arguments.clone().unwrap_or_else(|_| Value::Object(Map::new()));
    json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": input })
}

fn result(result: &CallResult) -> Value {
    json!({ "type": "tool_result", "tool_use_id": result.id, "content": result.text, "is_error": result.is_error })
}

pub(super) fn read(answer: &Value) -> Result<ModelAnswer, Malformed> {
    let blocks = answer.get("content").and_then(Value::as_array).ok_or_else(|| malformed("it has no content"))?;
    let (mut texts, mut calls) = (Vec::new(), Vec::new());
    for block in blocks {
        match block.get("type").and_then(Value::as_str) {
            Some("text") => texts.push(optional_text(block.get("text"), "a text block")?),
            Some("tool_use") => calls.push(ModelCall {
                id: required_text(block.get("id"), "the id of a call")?,
                name: required_text(block.get("name"), "the name of a call")?,
                arguments: object(block.get("input")),
            }),
            // Thinking and other kinds are not for the conversation of a sub-agent.
            Some(_) => {}
            None => return Err(malformed("a block has no type")),
        }
    }
    let end = match answer.get("stop_reason").and_then(Value::as_str) {
        Some("max_tokens" | "model_context_window_exceeded") => AnswerEnd::Cut,
        Some("refusal") => AnswerEnd::Refused,
        _ => AnswerEnd::Whole,
    };
    let tokens = |name: &str| answer.get("usage").and_then(|usage| usage.get(name)).and_then(Value::as_u64);
    // `input_tokens` leaves out what was written to the server's cache or read from it, which the operator pays for
    // too.
    let cached = ["cache_creation_input_tokens", "cache_read_input_tokens"].into_iter().filter_map(tokens);
    let usage = match (tokens("input_tokens"), tokens("output_tokens")) {
        (Some(input), Some(output)) => Some(Usage { input: cached.fold(input, u64::saturating_add), output }),
        _ => None,
    };
    Ok(ModelAnswer { text: texts.join("\n"), calls, end, usage })
}
