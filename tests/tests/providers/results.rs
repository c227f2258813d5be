//! Results: the replies of a real host to calls in each provider's format, as that provider's messages.

use crate::providers::answers::{asking_for, id};
use portcullis::plugins::Contract;
use portcullis::{Batch, Caller, Code, Host, Reply};
use portcullis_providers::{Definitions, Format, Hydrated};
use portcullis_tests::{Manifest, Site, allow_all, built_guest_of, component, guest, module};
use serde_json::{Value, json};
use std::fmt::Write;

/// The start of an invalid image: a tool can declare any media type for its bytes.
const NO_IMAGE: &[u8] = b"GIF, or so it says";
const GIF: &[u8] = b"GIF89a\x01\0\x01\0\0\0\0;";
const PDF: &[u8] = b"%PDF-1.7\n%%EOF\n";

/// A tool for each kind of part that no other guest returns, and one that needs approval.
const TOOLS: [(&str, u8, &str, &[u8]); 4] = [
    ("gif", 1, "image/gif", GIF),
    ("pdf", 2, "application/pdf", PDF),
    ("forged", 1, "image/png", NO_IMAGE),
    ("bytes", 2, "application/octet-stream", b"\0\x01"),
];

const POLICY: &str = "[approvals]\nrepeats = 1000000\n[limits]\noutput = \"4 KiB\"\n\
    [[rule]]\ntool = \"held.*\"\ndecision = \"ask\"\n[[rule]]\ntool = \"closed.*\"\ndecision = \"deny\"\n\
    [[rule]]\ntool = \"*.*\"\ndecision = \"allow\"\n";

/// Builds a plugin whose only tool returns one part.
fn part(name: &str, kind: u8, media_type: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = vec![kind, 0, 0, 0];
    for word in [2080, media_type.len(), 2208, data.len()] {
        bytes.extend_from_slice(&u32::try_from(word).unwrap().to_le_bytes());
    }
    let mut fields = String::new();
    for (at, bytes) in [(2048, bytes.as_slice()), (2080, media_type.as_bytes()), (2208, data)] {
        let text: String = bytes.iter().map(|byte| format!("\\{byte:02x}")).collect();
        let _ = writeln!(fields, "(data (i32.const {at}) \"{text}\")");
    }
    fields.push_str(
        "(func $execute (param i32 i32 i32 i32) (result i32) \
         (call $answer (i32.const 2) (i32.const 2048) (i32.const 1)))",
    );
    component(&module(&fields, &Manifest::of(name)))
}

async fn host() -> (Site, Host) {
    let site = bare();
    site.warm();
    let host = site.open(POLICY).await;
    (site, host)
}

fn bare() -> Site {
    let site = Site::new();
    for (name, built) in [("conformance", "conformance"), ("json", "json"), ("scribe", "output")] {
        // An image in contract 0.1 has no name, so a guest that returns one cannot be moved back.
        site.plugin(name, &built_guest_of(Contract::V0_2, built));
    }
    for (name, kind, media_type, data) in TOOLS {
        site.plugin(name, &part(name, kind, media_type, data));
    }
    for name in ["held", "closed"] {
        site.plugin(name, &guest("good", &Manifest::of(name)));
    }
    site
}

/// Returns the hydrated calls, and the host's replies.
async fn replied(host: &Host, format: Format, calls: &[(&str, Value)]) -> (Hydrated, Vec<Reply>) {
    let definitions = Definitions::of_host(host).unwrap();
    let calls: Vec<(&str, &Value)> = calls.iter().map(|(name, arguments)| (*name, arguments)).collect();
    let hydrated = definitions.hydrate(format, &asking_for(format, &calls), host).unwrap();
    let replies = host.batch(Batch::new(hydrated.requests(&Caller::new()))).await;
    assert_eq!(replies.len(), calls.len());
    (hydrated, replies)
}

/// Returns the messages for one call.
async fn results(host: &Host, format: Format, tool: &str) -> Vec<Value> {
    let (hydrated, replies) = replied(host, format, &[(tool, json!({}))]).await;
    hydrated.results(&replies)
}

/// Returns the contents of each result in order, however they are spread over messages.
fn contents(format: Format, messages: &[Value]) -> Vec<Value> {
    let list = |value: &Value| value.as_array().unwrap().clone();
    match format {
        Format::OpenAiChat | Format::OpenAiChatStrict | Format::Ollama | Format::Mistral => {
            messages.iter().filter(|message| message["role"] == "tool").cloned().collect()
        }
        Format::OpenAiResponses | Format::OpenAiResponsesStrict | Format::LangChain => messages.to_vec(),
        Format::Anthropic | Format::AnthropicStrict => list(&messages[0]["content"]),
        Format::Gemini | Format::GeminiOpenApi => {
            list(&messages[0]["parts"]).iter().map(|part| part["functionResponse"].clone()).collect()
        }
    }
}

/// Returns the text of a result, if it is a string.
fn text(format: Format, result: &Value) -> &str {
    let text = match format {
        Format::OpenAiResponses | Format::OpenAiResponsesStrict => &result["output"],
        Format::Gemini | Format::GeminiOpenApi => match &result["response"]["error"] {
            Value::Null => &result["response"]["output"],
            error => error,
        },
        _ => &result["content"],
    };
    text.as_str().unwrap_or_else(|| panic!("{format}: no text in {result}"))
}

/// Returns whether a result is marked as an error in the format's own way.
fn is_failure(format: Format, result: &Value) -> bool {
    match format {
        Format::Anthropic | Format::AnthropicStrict => result["is_error"] == true,
        Format::Gemini | Format::GeminiOpenApi => result["response"].get("error").is_some(),
        Format::LangChain => result["status"] == "error",
        _ => text(format, result).starts_with("Error"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_call_gets_one_result_in_order() {
    let (_site, host) = host().await;
    let orders = json!({"orders": [{"item": "nail", "count": 2}]});
    let calls = [
        ("conformance__test_simple_text", json!({})),
        ("json__summarize", orders),
        ("conformance__test_error_handling", json!({})),
        ("no__such_tool", json!({})),
        ("json__echo", json!({"text": 7})),
        ("closed__run", json!({})),
        ("held__run", json!({})),
    ];
    let codes = [
        Code::Completed,
        Code::Completed,
        Code::ToolFailed,
        Code::UnknownTool,
        Code::InvalidArguments,
        Code::PolicyDenied,
        Code::ApprovalPending,
    ];
    for format in Format::ALL {
        let (hydrated, replies) = replied(&host, format, &calls).await;
        assert_eq!(replies.iter().map(|reply| reply.code).collect::<Vec<_>>(), codes, "{format}");
        let results = contents(format, &hydrated.results(&replies));
        assert_eq!(results.len(), calls.len(), "{format}: {results:?}");
        for (place, ((name, _), result)) in calls.iter().zip(&results).enumerate() {
            let key = ["tool_call_id", "call_id", "tool_use_id"].into_iter().find(|key| result.get(key).is_some());
            match key {
                Some(key) => assert_eq!(result[key], id(place), "{format}"),
                None => assert!(result["name"] == *name || result["tool_name"] == *name, "{format}: {result}"),
            }
            assert_eq!(is_failure(format, result), place >= 2, "{format}: {result}");
        }
        assert_eq!(text(format, &results[0]), "This is a simple text response for testing.");
        for (result, says) in results[2..].iter().zip(["returns an error", "no__such_tool", "/text", "denies", "waits"])
        {
            let text = text(format, result);
            assert!(text.contains(says), "{format}: {text}");
            assert!(text.matches("Error").count() <= 1, "{format}: {text}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_without_a_reply_gets_an_error() {
    let (_site, host) = host().await;
    let calls = [("json__echo", json!({"text": "a"})), ("json__echo", json!({"text": "b"}))];
    for format in Format::ALL {
        let (hydrated, mut replies) = replied(&host, format, &calls).await;
        replies.truncate(1);
        let results = contents(format, &hydrated.results(&replies));
        assert_eq!(results.len(), 2, "{format}");
        assert_eq!(text(format, &results[0]), "a", "{format}");
        assert!(is_failure(format, &results[1]), "{format}: {}", results[1]);
        assert!(text(format, &results[1]).contains("unknown whether it ran"), "{format}");
        assert!(Hydrated { calls: Vec::new(), ..hydrated }.results(&replies).is_empty(), "{format}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn json_keeps_its_structure_if_the_format_supports_it() {
    let (_site, host) = host().await;
    let calls = [("json__summarize", json!({"orders": [{"item": "a \"b\" \\", "count": 2}]}))];
    let structure = json!({"orders": 1, "items": {"a \"b\" \\": 2}, "text": "1 orders, 1 kinds"});
    for format in Format::ALL {
        let (hydrated, replies) = replied(&host, format, &calls).await;
        let result = contents(format, &hydrated.results(&replies)).remove(0);
        if matches!(format, Format::Gemini | Format::GeminiOpenApi) {
            assert_eq!(result["response"]["output"], structure, "{format}");
            continue;
        }
        let parsed: Value = serde_json::from_str(text(format, &result)).unwrap();
        assert_eq!(parsed, structure, "{format}");
        if format == Format::LangChain {
            assert_eq!(result["artifact"]["structured_content"], structure);
            assert_eq!(result["artifact"]["call"], replies[0].id);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn images_are_sent_if_the_format_supports_them() {
    let (_site, host) = host().await;
    let tool = "conformance__test_multiple_content_types";
    for format in Format::ALL {
        let messages = results(&host, format, tool).await;
        let all = Value::from(messages.clone()).to_string();
        assert!(all.contains("iVBORw0KGgo"), "{format}: the image is lost: {all}");
        let first = contents(format, &messages).remove(0).to_string();
        assert!(first.contains("Multiple content types test:"), "{format}: {all}");
        assert!(first.contains(r#"\"test\""#), "{format}: the file is lost: {all}");
    }
    let place = |format, pointer: &'static str| (format, pointer);
    let url = "data:image/png;base64,iVBORw0KGgo";
    let places = [
        (place(Format::OpenAiChat, "/1/content/2/image_url/url"), url),
        (place(Format::OpenAiResponses, "/0/output/1/image_url"), url),
        (place(Format::Anthropic, "/0/content/0/content/1/source/data"), "iVBORw0KGgo"),
        (place(Format::Gemini, "/0/parts/0/functionResponse/parts/0/inlineData/data"), "iVBORw0KGgo"),
        (place(Format::Ollama, "/0/images/0"), "iVBORw0KGgo"),
        (place(Format::Mistral, "/0/content/1/image_url"), url),
        (place(Format::LangChain, "/0/content/1/base64"), "iVBORw0KGgo"),
    ];
    for ((format, pointer), begins) in places {
        let messages = Value::from(results(&host, format, tool).await);
        let found = messages.pointer(pointer).and_then(Value::as_str);
        assert!(found.is_some_and(|found| found.starts_with(begins)), "{format}: {pointer} in {messages}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn images_in_a_user_message_are_labelled_as_a_tools() {
    let (_site, host) = host().await;
    let calls = [
        ("conformance__test_image_content", json!({})),
        ("conformance__test_simple_text", json!({})),
        ("gif__run", json!({})),
    ];
    let (hydrated, replies) = replied(&host, Format::OpenAiChat, &calls).await;
    let messages = hydrated.results(&replies);
    let roles: Vec<&Value> = messages.iter().map(|message| &message["role"]).collect();
    assert_eq!(roles, ["tool", "tool", "tool", "user"], "images must follow all results: {messages:?}");
    assert!(messages[0]["content"].as_str().unwrap().contains("image 1 of the message after the results"));
    assert!(messages[2]["content"].as_str().unwrap().contains("image 2 of the message after the results"));
    let content = messages[3]["content"].as_array().unwrap();
    assert!(content[0]["text"].as_str().unwrap().contains("The user did not send them"));
    assert!(content[1]["text"].as_str().unwrap().contains("from conformance__test_image_content"));
    assert_eq!(content[2]["type"], "image_url");
    assert!(content[3]["text"].as_str().unwrap().contains("image 2, from gif__run"));
    assert!(content[4]["image_url"]["url"].as_str().unwrap().starts_with("data:image/gif;base64,R0lGODlh"));
    assert_eq!(content.len(), 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn content_that_a_message_cannot_contain_is_replaced_with_a_line() {
    let (_site, host) = host().await;
    let (images, documents) = ("R0lGODlh", "JVBERi0xLjc");
    for format in Format::ALL {
        for (tool, begins, says) in [
            ("gif__run", images, "image/gif"),
            ("pdf__run", documents, "application/pdf"),
            ("forged__run", "\u{0}", "image/png"),
            ("bytes__run", "\u{0}", "application/octet-stream"),
            ("conformance__test_audio_content", "\u{0}", "audio/wav"),
        ] {
            let messages = Value::from(results(&host, format, tool).await).to_string();
            assert!(
                messages.contains(begins) || messages.contains("is not shown") && messages.contains(says),
                "{format}: the answer of {tool} is lost: {messages}"
            );
            assert!(!messages.contains("Error"), "{format}: {messages}");
        }
        // Bytes that are not an image are not sent as one, whatever the tool declares.
        let forged = Value::from(results(&host, format, "forged__run").await).to_string();
        assert!(forged.contains("[Portcullis: this image is not shown"), "{format}: {forged}");
    }
    let carried = [
        (Format::OpenAiResponses, "pdf__run", "/0/output/0/file_data"),
        (Format::Anthropic, "pdf__run", "/0/content/0/content/0/source/data"),
        (Format::Anthropic, "gif__run", "/0/content/0/content/0/source/data"),
        (Format::Gemini, "pdf__run", "/0/parts/0/functionResponse/parts/0/inlineData/data"),
        (Format::LangChain, "pdf__run", "/0/content/0/base64"),
    ];
    for (format, tool, pointer) in carried {
        let messages = Value::from(results(&host, format, tool).await);
        assert!(messages.pointer(pointer).is_some(), "{format}: {pointer} in {messages}");
    }
    let document = Value::from(results(&host, Format::Anthropic, "conformance__test_embedded_resource").await);
    let source = &document[0]["content"][0]["content"][0]["source"];
    assert_eq!(source["data"], "This is an embedded resource content.", "{document}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kept_image_is_read_in_the_providers_form() {
    let (_site, host) = host().await;
    let part = json!({ "media_type": "image/gif", "begins": GIF, "bytes": 9000 });
    for (format, place) in [
        (Format::Anthropic, "/0/content/0/content/0/source/data"),
        (Format::OpenAiChat, "/1/content/2/image_url/url"),
        (Format::OpenAiResponses, "/0/output/0/image_url"),
        // Gemini accepts no GIF.
    ] {
        let (_, replies) = replied(&host, format, &[("scribe__parts", json!({ "parts": [part] }))]).await;
        assert!(replies[0].message.contains("this image is not shown"), "{format}: {}", replies[0].message);
        let reference = replies[0].reference.as_ref().unwrap().id.clone();
        let (hydrated, replies) = replied(&host, format, &[("output__read", json!({ "reference": reference }))]).await;
        let messages = Value::from(hydrated.results(&replies));
        let image =
            messages.pointer(place).and_then(Value::as_str).unwrap_or_else(|| panic!("{format}: {messages:.500}"));
        assert!(image.contains("R0lGODlh") && image.len() >= 12_000, "{format}: {} {image:.60}", image.len());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_image_over_the_providers_limit_is_replaced_with_a_line() {
    let site = Site::new();
    // A megabyte over the limit, as base64. The guest's memory has space for it at its end.
    let bytes = 4 << 20;
    let fields = "(memory $memory 80)\n\
         (data (i32.const 2048) \"\\01\\00\\00\\00\\20\\08\\00\\00\\09\\00\\00\\00\\00\\00\\01\\00\
         \\00\\00\\40\\00\")\n(data (i32.const 2080) \"image/gif\")\n(data (i32.const 65536) \"GIF89a\")\n\
         (func $execute (param i32 i32 i32 i32) (result i32) \
         (call $answer (i32.const 2) (i32.const 2048) (i32.const 1)))";
    site.plugin("large", &component(&module(fields, &Manifest::of("large"))));
    let host = site.open(&allow_all("output = \"8 MiB\"\ntransfer = \"32 MiB\"")).await;
    let messages = Value::from(results(&host, Format::Anthropic, "large__run").await).to_string();
    assert!(messages.contains("is not shown") && messages.contains(&format!("{bytes} bytes")), "{messages:.300}");
    let messages = Value::from(results(&host, Format::LangChain, "large__run").await).to_string();
    assert!(messages.len() > bytes, "{messages:.300}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_notice_contains_the_tool_name_that_the_model_uses() {
    let (_site, host) = host().await;
    let calls = [("scribe__returned", json!({"bytes": 20_000})), ("scribe__promised", json!({"bytes": 1}))];
    for format in Format::ALL {
        let (hydrated, replies) = replied(&host, format, &calls).await;
        let results = contents(format, &hydrated.results(&replies));
        let cut = text(format, &results[0]);
        assert!(cut.contains("output__read") && cut.contains("output__grep"), "{format}: {cut}");
        assert!(!cut.contains("output.read"), "{format}: {cut}");
        assert!(!text(format, &results[1]).contains("output.read"), "{format}");
        let arguments = json!({ "reference": replies[0].reference.as_ref().unwrap().id, "limit": 1 });
        let (hydrated, replies) = replied(&host, format, &[("output__read", arguments)]).await;
        let results = contents(format, &hydrated.results(&replies));
        let page = text(format, &results[0]);
        assert!(page.contains("Continue with output__read {") && !page.contains("output.read"), "{format}: {page}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_result_is_sent() {
    let (_site, host) = host().await;
    let calls = [("json__echo", json!({"text": ""}))];
    for format in Format::ALL {
        let (hydrated, replies) = replied(&host, format, &calls).await;
        let result = contents(format, &hydrated.results(&replies)).remove(0);
        assert!(!result.to_string().contains("rror\":\""), "{format}: {result}");
        // The API rejects an empty block, but accepts a result without content.
        let has_content = result.get("content").is_some();
        assert!(!has_content || !matches!(format, Format::Anthropic | Format::AnthropicStrict), "{format}: {result}");
    }
}
