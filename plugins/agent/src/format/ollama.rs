//! `/api/chat` of Ollama.

use portcullis_sdk::prelude::*;
use portcullis_sdk::serde_json::{Map, Value};

use super::member::{Malformed, malformed, object, optional_list, optional_text, required_text};
use super::openai;
use crate::message::{AnswerEnd, CallResult, ModelAnswer, ModelCall, ModelRequest, Usage};

pub(super) fn body(request: &ModelRequest<'_>) -> Value {
    let mut body = openai::conversation(request, call, result);
    body["stream"] = false.into();
    body["options"] = json!({ "num_predict": request.tokens_max });
    body
}

fn result(result: &CallResult) -> Value {
    json!({ "role": "tool", "tool_name": result.name, "content": result.text })
}

fn call(call: &ModelCall) -> Value {
    // The server accepts only an object. The result of the call says that the model's arguments were none.
    let arguments = call.arguments.clone().unwrap_or_else(|_| Value::Object(Map::new()));
    json!({ "function": { "name": call.name, "arguments": arguments } })
}

/// Reads an answer. Its calls have no ids, so they get their positions.
pub(super) fn read(answer: &Value) -> Result<ModelAnswer, Malformed> {
    let message = answer.get("message").filter(|message| message.is_object());
    let message = message.ok_or_else(|| malformed("it has no message"))?;
    let mut calls = Vec::new();
    for (index, call) in optional_list(message.get("tool_calls"), "tool_calls")?.iter().enumerate() {
        calls.push(ModelCall {
            id: format!("call-{}", index + 1),
            name: required_text(call.pointer("/function/name"), "the name of a call")?,
            arguments: object(call.pointer("/function/arguments")),
        });
    }
    let end = match answer.get("done_reason").and_then(Value::as_str) {
        Some("length") => AnswerEnd::Cut,
        _ => AnswerEnd::Whole,
    };
    let tokens = |name: &str| answer.get(name).and_then(Value::as_u64);
    let usage = match (tokens("prompt_eval_count"), tokens("eval_count")) {
        (Some(input), Some(output)) => Some(Usage { input, output }),
        _ => None,
    };
    Ok(ModelAnswer { text: optional_text(message.get("content"), "content")?, calls, end, usage })
}
