//! Every provider's response, as the whole response, as its message, and as the list of its parts.

use super::desk::{Desk, message};
use portcullis::plugins::VALIDATOR;
use portcullis::{Code, Output};
use portcullis_providers::{Format, HydrateError};
use serde_json::{Value, json};

const ARGUMENTS: &str = r#"{"item":"apple","count":2}"#;

/// Builds a whole response of the provider around its message.
fn response(format: Format, message: &Value, ended: &str) -> Value {
    match format {
        Format::OpenAiChat | Format::OpenAiChatStrict | Format::Mistral => json!({
            "id": "chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT", "object": "chat.completion", "created": 1_741_569_952,
            "model": "gpt-5.4-2026-03-05",
            "choices": [{ "index": 0, "message": message, "logprobs": null, "finish_reason": ended }],
            "usage": { "prompt_tokens": 82, "completion_tokens": 17, "total_tokens": 99,
                "prompt_tokens_details": { "cached_tokens": 0, "audio_tokens": 0 } },
            "service_tier": "default", "system_fingerprint": null
        }),
        Format::OpenAiResponses | Format::OpenAiResponsesStrict => {
            let mut output = vec![json!({ "id": "rs_1", "type": "reasoning", "summary": [], "status": null })];
            output.extend(message.as_array().unwrap().iter().cloned());
            json!({ "id": "resp_67ca09c5efe0819096d0511c92b8c890096610f474011cc0", "object": "response",
                "status": ended,
                "error": null, "model": "gpt-5.4", "output": output, "parallel_tool_calls": true, "tools": [] })
        }
        Format::Anthropic | Format::AnthropicStrict => {
            let mut content = vec![
                json!({ "type": "thinking", "thinking": "They want fruit.", "signature": "Ep4BCkgIARABGAI=" }),
                json!({ "type": "text", "text": "I'll order that \"now\" \u{1f34e}." }),
                json!({ "type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search",
                    "input": { "query": "x" } }),
            ];
            content.extend(message["content"].as_array().unwrap().iter().cloned());
            json!({ "id": "msg_01Aq9w938a90dw8q", "type": "message", "role": "assistant", "model": "claude-opus-5",
                "content": content, "stop_reason": ended, "stop_sequence": null,
                "usage": { "input_tokens": 472, "output_tokens": 91 } })
        }
        Format::Gemini | Format::GeminiOpenApi => json!({
            "candidates": [{ "content": message, "finishReason": ended, "index": 0, "avgLogprobs": -0.01 }],
            "usageMetadata": { "promptTokenCount": 57, "candidatesTokenCount": 9 }, "modelVersion": "gemini-3-pro"
        }),
        Format::Ollama => json!({
            "model": "qwen3", "created_at": "2026-07-28T14:33:27.123456Z", "message": message, "done": true,
            "done_reason": ended, "total_duration": 4_883_583_458_i64, "eval_count": 26
        }),
        Format::LangChain => {
            let mut data = message.clone();
            data["response_metadata"] = json!({ "finish_reason": ended, "model_name": "gpt-5.4" });
            json!({ "type": "ai", "data": data })
        }
    }
}

/// Returns only the list of parts.
fn parts(format: Format, message: &Value) -> Value {
    match format {
        Format::OpenAiResponses | Format::OpenAiResponsesStrict => message.clone(),
        Format::Anthropic | Format::AnthropicStrict => message["content"].clone(),
        Format::Gemini | Format::GeminiOpenApi => message["parts"].clone(),
        Format::OpenAiChat | Format::OpenAiChatStrict | Format::Mistral | Format::Ollama | Format::LangChain => {
            message["tool_calls"].clone()
        }
    }
}

/// The provider's values for a message that is complete, and for one that was cut off.
fn endings(format: Format) -> (&'static str, &'static str) {
    match format {
        Format::OpenAiChat | Format::OpenAiChatStrict | Format::Mistral | Format::LangChain => ("tool_calls", "length"),
        Format::OpenAiResponses | Format::OpenAiResponsesStrict => ("completed", "incomplete"),
        Format::Anthropic | Format::AnthropicStrict => ("tool_use", "max_tokens"),
        Format::Gemini | Format::GeminiOpenApi => ("STOP", "MAX_TOKENS"),
        Format::Ollama => ("stop", "length"),
    }
}

#[tokio::test]
async fn every_form_of_every_format_becomes_calls_that_run() {
    let desk = Desk::open("").await;
    let order: Value = serde_json::from_str(ARGUMENTS).unwrap();
    for format in Format::ALL {
        let calls = [("call_a", "shop__order", &order), ("call_b", "shop__list", &json!({}))];
        let message = message(format, &calls);
        for answer in [response(format, &message, endings(format).0), message.clone(), parts(format, &message)] {
            let (calls, replies) = desk.run(format, &answer.to_string()).await;
            assert_eq!(calls.len(), 2, "{format} {answer:#}");
            let call = &calls[0];
            assert_eq!((call.tool.as_str(), &call.refused), ("shop.order", &None), "{format}");
            let parsed: Value = serde_json::from_str(&call.arguments).unwrap();
            assert_eq!(parsed, order, "{format}");
            let from = &call.provenance;
            assert_eq!(
                (from.format, from.id.as_deref(), &*from.name),
                (format.as_str(), Some("call_a"), "shop__order")
            );
            assert_eq!(
                (serde_json::from_str::<Value>(&from.raw).unwrap(), from.parsed.as_ref()),
                (order.clone(), Some(&order))
            );
            let validation = from.validation.as_ref().unwrap();
            assert_eq!((validation.validator, &validation.mismatches), (VALIDATOR, &vec![]));
            assert!(from.nulls.is_empty() && !from.is_repaired() && !from.attempted);
            assert_eq!(calls[1].tool, "shop.list");
            assert_eq!(replies[0].output, Some(Output::Text(r#"{"count":2,"item":"apple"}"#.to_owned())), "{format}");
            assert_eq!(replies[1].code, Code::Completed, "{format}: {}", replies[1].message);
        }
    }
}

#[tokio::test]
async fn the_audit_log_says_where_the_arguments_came_from() {
    let desk = Desk::open("").await;
    let (_, reply) = desk.chat("shop__order", "{\"item\": \"apple\",  \"count\": 2.0}").await;
    let line = desk.recorded(&reply);
    let source = &line["source"];
    assert_eq!((source["format"].as_str(), source["id"].as_str()), (Some("openai-chat"), Some("call_1")), "{line:#}");
    assert_eq!((source["raw_bytes"].as_u64(), source["validator"].as_str()), (Some(32), Some(VALIDATOR)));
    assert_eq!(source["raw_sha256"].as_str().map(str::len), Some(64));
    assert!(source["validated_us"].is_u64() && source["repairs"].is_null() && source["repair_failed"].is_null());
}

#[tokio::test]
async fn a_response_without_calls_is_empty() {
    let desk = Desk::open("").await;
    let answers = [
        (Format::OpenAiChat, json!({ "role": "assistant", "content": "Hello" })),
        (Format::OpenAiChat, json!({ "role": "assistant", "content": "Hello", "tool_calls": null })),
        (Format::OpenAiChat, json!({ "choices": [{ "message": { "content": "Hello" }, "finish_reason": "length" }] })),
        (Format::Mistral, json!({ "choices": [{ "message": { "content": [], "tool_calls": [] } }] })),
        (Format::Ollama, json!({ "message": { "role": "assistant", "content": "Hello" }, "done": true })),
        (Format::OpenAiResponses, json!({ "output": [{ "type": "message", "content": [] }], "status": "completed" })),
        (Format::Anthropic, json!({ "content": [{ "type": "text", "text": "Hello" }], "stop_reason": "end_turn" })),
        (Format::Anthropic, json!({ "role": "assistant", "content": "Hello" })),
        (Format::Gemini, json!({ "candidates": [{ "content": { "parts": [{ "text": "Hello" }] } }] })),
        (Format::Gemini, json!({ "candidates": [{ "finishReason": "SAFETY" }] })),
        (Format::Gemini, json!({ "promptFeedback": { "blockReason": "SAFETY" } })),
        (Format::LangChain, json!({ "type": "ai", "content": "Hello" })),
        (Format::OpenAiChat, json!([])),
    ];
    for (format, answer) in answers {
        assert!(desk.calls(format, &answer).is_empty(), "{format} {answer}");
    }
}

#[tokio::test]
async fn a_response_of_another_format_is_an_error() {
    let desk = Desk::open("").await;
    let texts = [
        "",
        " ",
        "hello",
        "null",
        "1",
        "\"{}\"",
        "{",
        "[",
        "{}",
        "{}{}",
        "[1]",
        "[null]",
        "[[]]",
        "{\"error\":{\"message\":\"no\"}}",
        "{\"a\":1,}",
        "\u{feff}{\"role\":\"assistant\"}",
        "{\"choices\":null}",
        "{\"output\":{}}",
        "{\"content\":{}}",
        "{\"content\":1}",
        "{\"candidates\":[1]}",
        "{\"tool_calls\":{}}",
        "{\"message\":[]}",
        "{\"parts\":1}",
    ];
    for format in Format::ALL {
        for text in texts {
            let result = desk.try_hydrate(format, text);
            assert!(matches!(result, Err(HydrateError::Form { .. })), "{format} {text:?}: {result:?}");
        }
    }
}

#[tokio::test]
async fn an_invalid_part_of_a_response_is_an_error() {
    let desk = Desk::open("").await;
    for (format, text) in [
        (Format::Anthropic, r#"{"content":[1]}"#),
        (Format::Anthropic, r#"{"content":[{"type":1}]}"#),
        (Format::OpenAiChat, r#"{"choices":[]}"#),
        (Format::OpenAiChat, r#"{"choices":[{"finish_reason":"stop"}]}"#),
        (Format::OpenAiChat, r#"[{"id":1,"function":{"name":"shop__list"}}]"#),
        (Format::OpenAiChat, r#"[{"id":"a","function":{"name":["shop__list"]}}]"#),
        (Format::OpenAiChat, r#"[{"id":"a\ud800","function":{"name":"shop__list"}}]"#),
        (Format::OpenAiResponses, r#"{"output":["function_call"]}"#),
        (Format::Gemini, r#"{"candidates":[{"content":[]}]}"#),
        (Format::Gemini, r#"[{"functionCall":"shop__list"}]"#),
        (Format::LangChain, r#"{"content":"","tool_calls":{"name":"shop__list"}}"#),
    ] {
        let result = desk.try_hydrate(format, text);
        assert!(matches!(result, Err(HydrateError::Form { .. })), "{format} {text:?}: {result:?}");
    }
}

/// Parsers of one response must not see two different calls.
#[tokio::test]
async fn an_ambiguous_response_is_an_error() {
    let desk = Desk::open("").await;
    let call = r#"{"id":"a","function":{"name":"shop__list","arguments":"{}"}}"#;
    let choice = format!(r#"{{"message":{{"tool_calls":[{call}]}}}}"#);
    let block = r#"{"type":"tool_use","id":"a","name":"shop__list","input":{}}"#;
    let candidate = r#"{"content":{"parts":[{"functionCall":{"name":"shop__list","args":{}}}]}}"#;
    let texts = [
        (Format::OpenAiChat, format!(r#"{{"choices":[{choice},{choice}]}}"#)),
        (Format::OpenAiChat, format!(r#"{{"choices":[{choice}],"tool_calls":[{call}]}}"#)),
        (Format::OpenAiChat, format!(r#"{{"tool_calls":[{call}],"tool_calls":[]}}"#)),
        (Format::OpenAiChat, format!(r#"{{"message":{{"tool_calls":[{call}],"tool\u005fcalls":[]}}}}"#)),
        (Format::OpenAiChat, r#"[{"id":"a","id":"b","function":{"name":"shop__list"}}]"#.to_owned()),
        (Format::OpenAiChat, r#"[{"id":"a","function":{"name":"shop__list"},"function":{"name":"x"}}]"#.to_owned()),
        (Format::Mistral, r#"[{"id":"a","function":{"name":"shop__list","name":"x"}}]"#.to_owned()),
        (Format::Ollama, r#"[{"function":{"name":"shop__list","arguments":{},"arguments":{"a":1}}}]"#.to_owned()),
        (Format::OpenAiResponses, r#"{"output":[],"output":[]}"#.to_owned()),
        (Format::OpenAiResponses, r#"[{"type":"message","type":"function_call","name":"shop__list"}]"#.to_owned()),
        (Format::Anthropic, format!(r#"{{"content":[{block}],"content":[]}}"#)),
        (Format::Anthropic, r#"[{"type":"tool_use","id":"a","name":"x","input":{},"input":{"a":1}}]"#.to_owned()),
        (Format::Gemini, format!(r#"{{"candidates":[{candidate},{candidate}]}}"#)),
        (Format::Gemini, r#"[{"functionCall":{"name":"a"},"function_call":{"name":"b"}}]"#.to_owned()),
        (Format::LangChain, format!(r#"{{"content":"","tool_calls":[],"data":{{"tool_calls":[{call}]}}}}"#)),
    ];
    for (format, text) in texts {
        let result = desk.try_hydrate(format, &text);
        assert!(matches!(result, Err(HydrateError::Form { .. })), "{format} {text}: {result:?}");
    }
}

/// If the model was cut off at the end of a call, the call may be incomplete. An earlier call is complete.
#[tokio::test]
async fn the_last_call_of_a_truncated_response_is_refused() {
    let desk = Desk::open("[plugin.shop]\nrepair = \"ask\"\n").await;
    for format in Format::ALL {
        let calls = [("a", "shop__list", &json!({})), ("b", "shop__list", &json!({}))];
        let answer = response(format, &message(format, &calls), endings(format).1);
        let (_, replies) = desk.run(format, &answer.to_string()).await;
        assert_eq!([replies[0].code, replies[1].code], [Code::Completed, Code::CallerRefused], "{format}");
        assert!(replies[1].message.contains("cut off"), "{}", replies[1].message);
    }
    let content =
        json!([{ "type": "tool_use", "id": "a", "name": "shop__list", "input": {} }, { "type": "text", "text": "An" }]);
    let answer = json!({ "content": content, "stop_reason": "max_tokens" });
    let (_, replies) = desk.run(Format::Anthropic, &answer.to_string()).await;
    assert_eq!(replies[0].code, Code::Completed);
    let mut item = message(Format::OpenAiResponses, &[("a", "shop__list", &json!({}))]);
    item[0]["status"] = "incomplete".into();
    let (_, replies) = desk.run(Format::OpenAiResponses, &item.to_string()).await;
    assert_eq!(replies[0].code, Code::CallerRefused);
}

/// Each provider has its own form for the arguments of a tool without parameters.
#[tokio::test]
async fn missing_arguments_are_an_empty_object_if_the_format_writes_them_so() {
    let desk = Desk::open("").await;
    let chat = |arguments: &str| format!(r#"[{{"id":"a","function":{{"name":"shop__list"{arguments}}}}}]"#);
    let item =
        |arguments: &str| format!(r#"[{{"type":"function_call","call_id":"a","name":"shop__list"{arguments}}}]"#);
    let part = |arguments: &str| format!(r#"[{{"functionCall":{{"name":"shop__list"{arguments}}}}}]"#);
    let block = |arguments: &str| format!(r#"[{{"type":"tool_use","id":"a","name":"shop__list"{arguments}}}]"#);
    let chain = |arguments: &str| format!(r#"[{{"id":"a","name":"shop__list"{arguments}}}]"#);
    for (key, written) in [("", ""), ("arguments", "\"\""), ("arguments", "null"), ("arguments", "\" \\n\"")] {
        let member = |name: &str| if key.is_empty() { String::new() } else { format!(",\"{name}\":{written}") };
        for (format, answer) in [
            (Format::OpenAiChat, chat(&member("arguments"))),
            (Format::OpenAiChatStrict, chat(&member("arguments"))),
            (Format::Mistral, chat(&member("arguments"))),
            (Format::Ollama, chat(&member("arguments"))),
            (Format::OpenAiResponses, item(&member("arguments"))),
            (Format::Gemini, part(&member("args"))),
        ] {
            let (calls, replies) = desk.run(format, &answer).await;
            assert_eq!((calls[0].arguments.as_str(), replies[0].code), ("{}", Code::Completed), "{format} {answer}");
            assert_eq!(calls[0].provenance.parsed, Some(json!({})), "{format}");
            assert_eq!(
                calls[0].provenance.raw.trim(),
                written.trim_matches(['"', ' ', 'n', '\\']).replace("ull", "null")
            );
        }
        for (format, answer) in
            [(Format::Anthropic, block(&member("input"))), (Format::LangChain, chain(&member("args")))]
        {
            let (calls, replies) = desk.run(format, &answer).await;
            assert_eq!(replies[0].outcome().as_str(), "invalid", "{format} {answer}");
            assert_eq!(calls[0].provenance.validation.as_ref().map(|it| it.mismatches.len()).unwrap_or(1), 1);
        }
    }
}

#[tokio::test]
async fn the_exact_text_of_the_arguments_is_kept() {
    let desk = Desk::open("").await;
    let written = r#"{ "count" : 2.0,"item": "\u0061pple" }"#;
    for (format, answer) in [
        (
            Format::OpenAiChat,
            json!([{ "id": "a", "function": { "name": "shop__order", "arguments": written } }]).to_string(),
        ),
        (Format::Ollama, format!(r#"[{{"function":{{"arguments":{written},"name":"shop__order"}}}}]"#)),
        (Format::Anthropic, format!(r#"[{{"input":{written} ,"type":"tool_use","name":"shop__order","id":"a"}}]"#)),
        (
            Format::Gemini,
            format!(r#"[{{"functionCall":{{"name":"shop__order","args": {written}}},"thoughtSignature":"eA=="}}]"#),
        ),
    ] {
        let call = &desk.try_hydrate(format, &answer).unwrap()[0];
        assert_eq!((call.provenance.raw.as_str(), call.arguments.as_str()), (written, written), "{format}");
        assert_eq!(call.provenance.parsed, Some(json!({ "count": 2, "item": "apple" })), "{format}");
    }
}

/// A call that LangChain could not parse is hydrated like any other.
#[tokio::test]
async fn a_call_that_langchain_could_not_parse_is_refused_by_the_host() {
    let desk = Desk::open("").await;
    let answer = json!({
        "lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "AIMessage"],
        "kwargs": {
            "content": "", "type": "ai",
            "tool_calls": [{ "name": "shop__list", "args": {}, "id": "a", "type": "tool_call" }],
            "invalid_tool_calls": [
                { "name": "shop__order", "args": "{\"item\": \"ap", "id": "b", "error": "no JSON",
                    "type": "invalid_tool_call" },
                { "name": null, "args": null, "id": "c", "error": null, "type": "invalid_tool_call" },
            ]
        }
    });
    let (calls, replies) = desk.run(Format::LangChain, &answer.to_string()).await;
    let found = |id: &str| calls.iter().position(|call| call.provenance.id.as_deref() == Some(id)).unwrap();
    let codes = ["a", "b", "c"].map(|id| replies[found(id)].code);
    assert_eq!(codes, [Code::Completed, Code::MalformedArguments, Code::UnknownTool]);
    let invalid = &calls[found("b")];
    assert_eq!((invalid.provenance.raw.as_str(), &invalid.provenance.parsed), ("{\"item\": \"ap", &None));
    assert!(invalid.refused.is_none(), "the host must report the error");
}

/// LangChain parses partial JSON leniently, so a truncated call can be among those that it parsed.
#[tokio::test]
async fn the_last_call_of_each_langchain_list_is_refused_after_a_truncation() {
    let desk = Desk::open("").await;
    let call = |id: &str| json!({ "name": "shop__list", "args": {}, "id": id });
    let answer = json!({
        "content": "", "response_metadata": { "stop_reason": "max_tokens" },
        "tool_calls": [call("a"), call("b")], "invalid_tool_calls": [call("c"), call("d")]
    });
    let (calls, replies) = desk.run(Format::LangChain, &answer.to_string()).await;
    for (call, reply) in calls.iter().zip(&replies) {
        let last = ["b", "d"].contains(&call.provenance.id.as_deref().unwrap());
        assert_eq!(reply.code == Code::CallerRefused, last, "{:?}", call.provenance.id);
    }
}
