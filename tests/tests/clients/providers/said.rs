//! Model responses with tool calls, as each provider sends them: a whole response with many calls, and a message with
//! one.
//! with one.

use portcullis_providers::Format;
use serde_json::{Value, json};

/// A call as the model means it: its ID, the tool, and the arguments.
struct Call {
    id: &'static str,
    tool: &'static str,
    arguments: Value,
}

impl Call {
    fn of(id: &'static str, tool: &'static str, arguments: Value) -> Self {
        Self { id, tool, arguments }
    }

    /// Returns the arguments as text.
    fn text(&self) -> String {
        self.arguments.to_string()
    }
}

/// Calls with these results: a text, structured output, pictures and files, failures of the tool and of the caller, and
/// an unknown tool.
fn many() -> Vec<Call> {
    vec![
        Call::of("a1B2c3D4e", "clerk__echo", json!({ "text": "as it is" })),
        Call::of("f5G6h7I8j", "clerk__add", json!({ "numbers": [1, 2, 39] })),
        Call::of("k9L0m1N2o", "conformance__test_multiple_content_types", json!({})),
        Call::of("p3Q4r5S6t", "clerk__fail", json!({})),
        Call::of("u7V8w9X0y", "clerk__echo", json!({ "text": 7 })),
        Call::of("z1A2b3C4d", "clerk__nothing", json!({})),
    ]
}

/// Returns one call of a tool whose result is text.
fn one() -> Vec<Call> {
    vec![Call::of("e5F6g7H8i", "clerk__echo", json!({ "text": "" }))]
}

/// Returns a model's response in a format.
pub(super) fn answers(format: Format) -> [Value; 2] {
    match format {
        Format::OpenAiChat | Format::OpenAiChatStrict => [chat_response(&many()), chat(&one())],
        Format::OpenAiResponses | Format::OpenAiResponsesStrict => [responses(&many()), items(&one())],
        Format::Anthropic | Format::AnthropicStrict => [anthropic_response(&many()), anthropic(&one())],
        Format::Gemini | Format::GeminiOpenApi => [gemini_response(&many()), gemini(&one())],
        Format::Ollama => [ollama_response(&many()), ollama(&one())],
        Format::Mistral => [mistral_response(&many()), chat(&one())],
        Format::LangChain => [langchain(&many()), langchain(&one())],
    }
}

fn each(calls: &[Call], write: impl FnMut(&Call) -> Value) -> Vec<Value> {
    calls.iter().map(write).collect()
}

fn chat(calls: &[Call]) -> Value {
    let call = |call: &Call| {
        let function = json!({ "name": call.tool, "arguments": call.text() });
        json!({ "id": call.id, "type": "function", "function": function })
    };
    json!({ "role": "assistant", "content": null, "tool_calls": each(calls, call) })
}

fn chat_response(calls: &[Call]) -> Value {
    let choice = json!({ "index": 0, "finish_reason": "tool_calls", "logprobs": null, "message": chat(calls) });
    json!({ "id": "chat-1", "object": "chat.completion", "created": 1, "model": "model", "choices": [choice] })
}

fn mistral_response(calls: &[Call]) -> Value {
    let mut response = chat_response(calls);
    response["usage"] = json!({ "prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2 });
    response
}

fn items(calls: &[Call]) -> Value {
    let item = |call: &Call| {
        let (id, arguments) = (call.id, call.text());
        json!({ "type": "function_call", "call_id": id, "name": call.tool, "arguments": arguments })
    };
    each(calls, item).into()
}

fn responses(calls: &[Call]) -> Value {
    let mut response = json!({ "parallel_tool_calls": true, "tool_choice": "auto", "tools": [] });
    response["id"] = json!("resp_1");
    response["object"] = json!("response");
    response["created_at"] = json!(1);
    response["model"] = json!("model");
    response["output"] = items(calls);
    response
}

fn anthropic(calls: &[Call]) -> Value {
    let block = |call: &Call| json!({ "type": "tool_use", "id": call.id, "name": call.tool, "input": call.arguments });
    let words = json!({ "type": "text", "text": "I look." });
    let content: Vec<Value> = [words].into_iter().chain(each(calls, block)).collect();
    json!({ "role": "assistant", "content": content })
}

fn anthropic_response(calls: &[Call]) -> Value {
    let mut response = anthropic(calls);
    response["id"] = json!("msg_1");
    response["type"] = json!("message");
    response["model"] = json!("model");
    response["stop_reason"] = json!("tool_use");
    response["stop_sequence"] = Value::Null;
    response["usage"] = json!({ "input_tokens": 1, "output_tokens": 1 });
    response
}

fn gemini(calls: &[Call]) -> Value {
    let part = |call: &Call| json!({ "functionCall": { "name": call.tool, "args": call.arguments } });
    json!({ "role": "model", "parts": each(calls, part) })
}

fn gemini_response(calls: &[Call]) -> Value {
    let mut content = gemini(calls);
    for (part, call) in content["parts"].as_array_mut().unwrap().iter_mut().zip(calls) {
        part["functionCall"]["id"] = json!(call.id);
    }
    json!({ "candidates": [{ "index": 0, "finishReason": "STOP", "content": content }] })
}

fn ollama(calls: &[Call]) -> Value {
    let call = |call: &Call| json!({ "function": { "name": call.tool, "arguments": call.arguments } });
    json!({ "role": "assistant", "content": "", "tool_calls": each(calls, call) })
}

fn ollama_response(calls: &[Call]) -> Value {
    json!({ "model": "model", "created_at": "2026-11-22T12:00:00Z", "done": true, "message": ollama(calls) })
}

fn langchain(calls: &[Call]) -> Value {
    let call = |call: &Call| json!({ "type": "tool_call", "id": call.id, "name": call.tool, "args": call.arguments });
    json!({ "type": "ai", "content": "", "tool_calls": each(calls, call) })
}
