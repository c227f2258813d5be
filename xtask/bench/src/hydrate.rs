//! The cost of parsing a model's response before its calls reach the host, compared with a governed call.

use crate::governed::Governed;
use crate::rounds::{Block, Row, block, paired, row, through};
use crate::work::Work;
use anyhow::{Context, Result, ensure};
use portcullis::{Caller, parse_json};
use portcullis_providers::{Definitions, Format};
use serde_json::{Value, json};
use std::hint::black_box;

/// Operations of one variant per round, as many as governed calls.
const CALLS_PER_BLOCK: usize = 300;

/// The tool's name, and the name that models see.
const TOOL: (&str, &str) = ("json.summarize", "json__summarize");

/// A tool with optional members, and a call of it as a model writes it in a strict format.
const WITH_NULLS: (&str, &str) = ("files__read", r#"{"path":"a.txt","offset":null,"limit":null}"#);

/// Measures argument validation alone, and the hydration of whole responses that contain the call, up to the requests
/// that the host gets.
pub(crate) fn measure(governed: &Governed, work: &Work, show: &mut impl FnMut(Row)) -> Result<()> {
    let (host, arguments) = (governed.host(), work.arguments.as_str());
    let definitions = Definitions::of_host(host)?;
    let catalog = host.catalog();
    let tools = catalog.offers().map(|offer| offer.tool);
    let tool = tools.into_iter().find(|tool| tool.name().to_string() == TOOL.0).context("the tool is missing")?;
    let parsed = parse_json(arguments)?;
    let call = || through(governed, work);
    let gate = || -> Result<Block> {
        block(CALLS_PER_BLOCK, || {
            ensure!(black_box(tool.schema()).mismatches(black_box(&parsed)).is_empty(), "the arguments do not match");
            Ok(())
        })
    };
    let [floor, ours] = paired([&call, &gate])?;
    show(row("schema gate / governed call".to_owned(), &floor, &ours));
    let caller = Caller::new();
    let asked = (TOOL.1, arguments);
    for (format, (name, arguments), what) in [
        (Format::OpenAiChat, asked, ""),
        (Format::OpenAiChatStrict, asked, ""),
        (Format::OpenAiChatStrict, WITH_NULLS, ", 2 nulls"),
        (Format::Anthropic, asked, ""),
        (Format::Gemini, asked, ""),
    ] {
        let answer = answer(format, name, arguments)?;
        let hydrate = || -> Result<Block> {
            block(CALLS_PER_BLOCK, || {
                let hydrated = definitions.hydrate(format, black_box(&answer), host)?;
                let requests = black_box(hydrated.requests(&caller));
                ensure!(requests.len() == 1 && hydrated.calls[0].refused.is_none(), "{hydrated:?}");
                Ok(())
            })
        };
        let [floor, ours] = paired([&call, &hydrate])?;
        show(row(format!("hydrate {format}{what} / governed call"), &floor, &ours));
    }
    Ok(())
}

/// Returns a whole provider response with one call, in the provider's format.
fn answer(format: Format, name: &str, arguments: &str) -> Result<String> {
    let object: Value = serde_json::from_str(arguments)?;
    let answer = match format {
        Format::OpenAiChat | Format::OpenAiChatStrict => json!({
            "id": "chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT", "object": "chat.completion", "created": 1_741_569_952,
            "model": "gpt-5.4-2026-03-05",
            "choices": [{
                "index": 0,
                "message": {
                    "role": "assistant", "content": null, "refusal": null, "annotations": [],
                    "tool_calls": [{
                        "id": "call_DdmO9pD3xa9XTPNJ32zg2hcA", "type": "function",
                        "function": { "name": name, "arguments": arguments },
                    }],
                },
                "logprobs": null, "finish_reason": "tool_calls",
            }],
            "usage": {
                "prompt_tokens": 82, "completion_tokens": 17, "total_tokens": 99,
                "prompt_tokens_details": { "cached_tokens": 0, "audio_tokens": 0 },
                "completion_tokens_details": { "reasoning_tokens": 0, "audio_tokens": 0 },
            },
            "service_tier": "default", "system_fingerprint": null,
        }),
        Format::Anthropic => json!({
            "id": "msg_01Aq9w938a90dw8q", "type": "message", "role": "assistant", "model": "claude-opus-5",
            "content": [
                { "type": "text", "text": "I'll sum these orders up." },
                { "type": "tool_use", "id": "toolu_01A09q90qw90lq917835lq9", "name": name, "input": object },
            ],
            "stop_reason": "tool_use", "stop_sequence": null, "usage": { "input_tokens": 472, "output_tokens": 91 },
        }),
        Format::Gemini => json!({
            "candidates": [{
                "content": {
                    "role": "model",
                    "parts": [{ "functionCall": { "id": "8f2b1a3c", "name": name, "args": object } }],
                },
                "finishReason": "STOP", "index": 0,
            }],
            "usageMetadata": { "promptTokenCount": 57, "candidatesTokenCount": 9, "totalTokenCount": 66 },
            "modelVersion": "gemini-3-pro", "responseId": "jQ8faN2pL5mXvdIP",
        }),
        _ => anyhow::bail!("no response in the format {format} is measured"),
    };
    Ok(answer.to_string())
}
