//! The bodies of requests, and how answers are read.

use portcullis_sdk::prelude::*;
use portcullis_sdk::serde_json::Value;

use super::Format;
use crate::message::{AnswerEnd, CallResult, Message, ModelCall, ModelRequest, ModelTool, Usage};

fn body(format: Format) -> Value {
    let call =
        |id: &str, arguments: Value| ModelCall { id: id.into(), name: "files__read".into(), arguments: Ok(arguments) };
    let result = |id: &str, text: &str, is_error| CallResult {
        id: id.into(),
        name: "files__read".into(),
        text: text.into(),
        is_error,
    };
    let messages = [
        Message::User("the task".to_owned()),
        Message::Assistant {
            text: "I read.".to_owned(),
            calls: vec![call("a", json!({ "path": "x" })), call("b", json!({ "path": "y" }))],
        },
        Message::Results(vec![result("a", "text", false), result("b", "denied", true)]),
    ];
    let tools =
        [ModelTool { name: "files__read".into(), description: "Reads.".into(), schema: json!({ "type": "object" }) }];
    format.body(&ModelRequest { model: "m", system: "be brief", messages: &messages, tools: &tools, tokens_max: 99 })
}

#[test]
fn a_conversation_for_chat_completions() {
    let function = json!({ "name": "files__read", "description": "Reads.", "parameters": { "type": "object" } });
    let call = |id: &str, arguments: &str| json!({ "id": id, "type": "function", "function": { "name": "files__read", "arguments": arguments } });
    assert_eq!(
        body(Format::OpenAi),
        json!({
            "model": "m",
            "max_completion_tokens": 99,
            "messages": [
                { "role": "system", "content": "be brief" },
                { "role": "user", "content": "the task" },
                { "role": "assistant", "content": "I read.",
                  "tool_calls": [call("a", r#"{"path":"x"}"#), call("b", r#"{"path":"y"}"#)] },
                { "role": "tool", "tool_call_id": "a", "content": "text" },
                { "role": "tool", "tool_call_id": "b", "content": "denied" },
            ],
            "tools": [{ "type": "function", "function": function }],
        })
    );
}

#[test]
fn a_conversation_for_messages() {
    assert_eq!(
        body(Format::Anthropic),
        json!({
            "model": "m",
            "max_tokens": 99,
            "system": "be brief",
            "messages": [
                { "role": "user", "content": "the task" },
                { "role": "assistant", "content": [
                    { "type": "text", "text": "I read." },
                    { "type": "tool_use", "id": "a", "name": "files__read", "input": { "path": "x" } },
                    { "type": "tool_use", "id": "b", "name": "files__read", "input": { "path": "y" } },
                ] },
                { "role": "user", "content": [
                    { "type": "tool_result", "tool_use_id": "a", "content": "text", "is_error": false },
                    { "type": "tool_result", "tool_use_id": "b", "content": "denied", "is_error": true },
                ] },
            ],
            "tools": [{ "name": "files__read", "description": "Reads.", "input_schema": { "type": "object" } }],
        })
    );
}

#[test]
fn a_conversation_for_ollama() {
    let body = body(Format::Ollama);
    assert_eq!(body["stream"], false);
    assert_eq!(body["options"], json!({ "num_predict": 99 }));
    assert_eq!(body["messages"][2]["tool_calls"][1]["function"]["arguments"], json!({ "path": "y" }));
    assert_eq!(body["messages"][3], json!({ "role": "tool", "tool_name": "files__read", "content": "text" }));
}

#[test]
fn answers_are_read() {
    let usage = Some(Usage { input: 7, output: 3 });
    let openai = json!({
        "choices": [{ "finish_reason": "tool_calls", "message": { "content": null, "tool_calls": [
            { "id": "a", "type": "function", "function": { "name": "files__read", "arguments": "{\"path\":\"x\"}" } },
            { "id": "b", "type": "function", "function": { "name": "files__read", "arguments": "not JSON" } },
        ] } }],
        "usage": { "prompt_tokens": 7, "completion_tokens": 3 },
    });
    let anthropic = json!({
        "content": [
            { "type": "thinking", "thinking": "hm" },
            { "type": "text", "text": "" },
            { "type": "tool_use", "id": "a", "name": "files__read", "input": { "path": "x" } },
            { "type": "tool_use", "id": "b", "name": "files__read", "input": "not JSON" },
        ],
        "stop_reason": "tool_use",
        "usage": { "input_tokens": 4, "output_tokens": 3, "cache_read_input_tokens": 3 },
    });
    let ollama = json!({
        "message": { "role": "assistant", "content": "", "tool_calls": [
            { "function": { "name": "files__read", "arguments": { "path": "x" } } },
            { "function": { "name": "files__read", "arguments": "not JSON" } },
        ] },
        "done_reason": "stop", "prompt_eval_count": 7, "eval_count": 3,
    });
    for (format, answer) in [(Format::OpenAi, openai), (Format::Anthropic, anthropic), (Format::Ollama, ollama)] {
        let answer = format.read(&answer).unwrap();
        assert_eq!((answer.text.as_str(), &answer.end, answer.usage), ("", &AnswerEnd::Whole, usage), "{format:?}");
        assert_eq!(answer.calls.len(), 2, "{format:?}");
        assert_eq!(answer.calls[0].arguments, Ok(json!({ "path": "x" })), "{format:?}");
        assert!(answer.calls[1].arguments.is_err(), "{format:?}");
    }
}

#[test]
fn ends_are_told_apart() {
    let openai = |reason: &str| json!({ "choices": [{ "finish_reason": reason, "message": { "content": "x" } }] });
    let anthropic = |reason: &str| json!({ "content": [], "stop_reason": reason });
    for (format, answer, end) in [
        (Format::OpenAi, openai("stop"), AnswerEnd::Whole),
        (Format::OpenAi, openai("length"), AnswerEnd::Cut),
        (Format::OpenAi, openai("content_filter"), AnswerEnd::Refused),
        (Format::Anthropic, anthropic("end_turn"), AnswerEnd::Whole),
        (Format::Anthropic, anthropic("max_tokens"), AnswerEnd::Cut),
        (Format::Anthropic, anthropic("refusal"), AnswerEnd::Refused),
        (Format::Ollama, json!({ "message": { "content": "x" }, "done_reason": "length" }), AnswerEnd::Cut),
    ] {
        assert_eq!(format.read(&answer).unwrap().end, end, "{answer}");
    }
}

#[test]
fn what_is_no_answer_is_refused() {
    let call = |call: Value| json!({ "choices": [{ "message": { "tool_calls": [call] } }] });
    for answer in [
        json!(null),
        json!([]),
        json!({ "error": "no" }),
        json!({ "choices": [] }),
        json!({ "choices": [{ "message": "text" }] }),
        json!({ "choices": [{ "message": { "content": 3 } }] }),
        json!({ "choices": [{ "message": { "tool_calls": {} } }] }),
        call(json!({})),
        call(json!({ "function": { "name": "x", "arguments": "{}" } })),
        call(json!({ "id": "a", "function": { "name": "", "arguments": "{}" } })),
    ] {
        assert!(Format::OpenAi.read(&answer).is_err(), "{answer}");
    }
    let twice = json!({ "type": "tool_use", "id": "a", "name": "x", "input": {} });
    for answer in [
        json!({ "content": [twice, twice] }),
        json!({}),
        json!({ "content": "text" }),
        json!({ "content": [{}] }),
        json!({ "content": [{ "type": "tool_use" }] }),
    ] {
        assert!(Format::Anthropic.read(&answer).is_err(), "{answer}");
    }
    for answer in [json!({}), json!({ "message": [] }), json!({ "message": { "tool_calls": [{}] } })] {
        assert!(Format::Ollama.read(&answer).is_err(), "{answer}");
    }
}
