//! Responses that are meant to break their parser.

use super::desk::{Desk, message};
use portcullis::{BATCH_REQUESTS_MAX, Code};
use portcullis_providers::{Format, HydrateError};
use portcullis_tests::outcome_of;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};
use std::sync::LazyLock;

#[tokio::test]
async fn ten_thousand_calls_are_refused_and_the_maximum_of_a_batch_runs() {
    let desk = Desk::open("").await;
    let list = json!({});
    let ids: Vec<String> = (0..10_000).map(|id| format!("call_{id}")).collect();
    for format in Format::ALL {
        let all: Vec<(&str, &str, &Value)> = ids.iter().map(|id| (id.as_str(), "shop__list", &list)).collect();
        let result = desk.try_hydrate(format, &message(format, &all).to_string());
        assert_eq!(result.unwrap_err(), HydrateError::TooMany(10_000), "{format}");
        let result = desk.try_hydrate(format, &message(format, &all[..=BATCH_REQUESTS_MAX]).to_string());
        assert_eq!(result.unwrap_err(), HydrateError::TooMany(BATCH_REQUESTS_MAX + 1), "{format}");
    }
    let all: Vec<(&str, &str, &Value)> =
        ids[..BATCH_REQUESTS_MAX].iter().map(|id| (id.as_str(), "shop__list", &list)).collect();
    let (_, replies) = desk.run(Format::OpenAiChat, &message(Format::OpenAiChat, &all).to_string()).await;
    assert_eq!(replies.iter().filter(|reply| reply.code == Code::Completed).count(), BATCH_REQUESTS_MAX);
}

#[tokio::test]
async fn a_response_over_the_maximum_size_is_refused_unread() {
    let desk = Desk::open("").await;
    let text = format!(r#"{{"role":"assistant","content":"{}"}}"#, "a".repeat(16 << 20));
    assert!(matches!(desk.try_hydrate(Format::OpenAiChat, &text), Err(HydrateError::TooLarge(_))));
}

/// Extremely deep arguments are malformed arguments in a valid response, and do not overflow the stack.
#[tokio::test]
async fn endlessly_nested_arguments_are_malformed() {
    let desk = Desk::open("[plugin.shop]\nrepair = \"ask\"\n[plugin.shop.limits]\narguments = \"1 MiB\"\n").await;
    for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("[[", "],]"), ("{'a':", "}")] {
        let deep = format!("{}1{}", open.repeat(100_000), close.repeat(100_000));
        let (call, reply) = desk.chat("shop__order", &deep).await;
        assert_eq!((reply.code, call.arguments == deep), (Code::MalformedArguments, true), "{open}");
        let unclosed = format!("{}\"\"", open.repeat(100_000));
        assert_eq!(desk.chat("shop__order", &unclosed).await.1.code, Code::MalformedArguments);
    }
    let deep = format!("{}{}", "{\"a\":[".repeat(50_000), "]}".repeat(50_000));
    for (format, answer) in [
        (Format::Anthropic, format!(r#"[{{"type":"tool_use","id":"a","name":"shop__order","input":{deep}}}]"#)),
        (Format::Gemini, format!(r#"[{{"functionCall":{{"name":"shop__order","args":{deep}}}}}]"#)),
        (Format::Ollama, format!(r#"[{{"function":{{"name":"shop__order","arguments":{deep}}}}}]"#)),
    ] {
        let (calls, replies) = desk.run(format, &answer).await;
        assert_eq!((replies[0].code, calls[0].arguments == deep), (Code::MalformedArguments, true), "{format}");
    }
    let envelope = format!(r#"{{"choices":{}{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
    assert!(matches!(desk.try_hydrate(Format::OpenAiChat, &envelope), Err(HydrateError::Form { .. })));
}

/// A value that matches none of many alternatives, at many locations, and cannot be repaired at any.
#[tokio::test]
async fn multiplying_alternatives_end() {
    let kind = r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/n"},"b":{"type":"string"}},"required":["a"]}"##;
    let alternatives = [kind; 6].join(",");
    let schema = format!(
        r##"{{"type":"object","properties":{{"n":{{"$ref":"#/$defs/n"}}}},
            "$defs":{{"n":{{"anyOf":[{alternatives}]}}}}}}"##
    );
    let wide = portcullis_tests::Manifest::of("wide").tool(|tool| tool.schema = schema);
    let desk = Desk::open_with("[plugin.wide]\nrepair = \"ask\"\n", &[wide]).await;
    assert!(desk.offered.names().any(|(name, _)| name == "wide__run"), "{:?}", desk.host.catalog().refused());
    let mut deep = json!({ "b": null });
    for _ in 0..30 {
        deep = json!({ "a": deep, "b": null });
    }
    let calls: Vec<(String, Value)> = (0..100).map(|id| (format!("c{id}"), json!({ "n": deep }))).collect();
    let calls: Vec<(&str, &str, &Value)> = calls.iter().map(|(id, it)| (id.as_str(), "wide__run", it)).collect();
    let answer = message(Format::OpenAiChatStrict, &calls).to_string();
    let calls = desk.try_hydrate(Format::OpenAiChatStrict, &answer).unwrap();
    assert!(calls.len() == 100 && calls.iter().all(|call| !call.provenance.is_repaired()));
}

#[tokio::test]
async fn deceptive_names_are_escaped() {
    let desk = Desk::open("").await;
    for name in [
        "a\u{0}b",
        "\u{1b}[2Jshop__list",
        "shop__list\u{202e}",
        "shop\u{200b}__list",
        "a\nThere is nothing wrong.",
        &"n".repeat(1 << 20),
    ] {
        let (call, reply) = desk.chat(name, "{}").await;
        assert_eq!(reply.code, Code::UnknownTool);
        assert!(!reply.message.chars().any(portcullis::text::is_deceptive), "{:?}", reply.message);
        assert!(reply.message.len() < 2048, "{}", reply.message.len());
        assert_eq!(call.provenance.name, name);
        assert!(outcome_of(&desk.host, &reply.id).to_string().len() < 4096);
    }
}

/// The error for an invalid response does not contain text from the response.
#[tokio::test]
async fn the_error_for_a_response_contains_no_text_of_the_model() {
    let desk = Desk::open("").await;
    for text in ["\u{1b}[2J\u{202e}", "{\"\u{202e}role\":", "{\"choices\":\"\u{202e}\"}", "[\"\u{202e}\"]"] {
        for format in Format::ALL {
            let error = desk.try_hydrate(format, text).unwrap_err().to_string();
            assert!(!error.chars().any(portcullis::text::is_deceptive) && error.len() < 256, "{error:?}");
        }
    }
}

/// A desk for all cases of a property, and its runtime.
static DESK: LazyLock<(tokio::runtime::Runtime, Desk)> = LazyLock::new(|| {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let desk = runtime.block_on(Desk::open("[plugin.shop]\nrepair = \"ask\"\n"));
    (runtime, desk)
});

/// Any text gets a result, and arguments are accepted exactly if they match the schema.
fn holds(format: Format, text: &str) {
    let desk = &DESK.1;
    for call in desk.try_hydrate(format, text).into_iter().flatten() {
        let from = &call.provenance;
        let fits = from.validation.as_ref().is_some_and(|validation| validation.mismatches.is_empty());
        if from.is_repaired() {
            assert!(fits && call.refused.is_none(), "{format} {text}");
        }
        if fits && call.refused.is_none() {
            let tool =
                desk.host.catalog().offers().find(|offer| offer.tool.name().to_string() == call.tool).unwrap().tool;
            let arguments = portcullis::parse_json(&call.arguments).unwrap();
            // A string that contains the object is parsed by the host.
            let arguments =
                arguments.as_str().map_or(arguments.clone(), |inner| portcullis::parse_json(inner).unwrap());
            assert!(arguments.is_object() && tool.schema().mismatches(&arguments).is_empty(), "{format} {text}");
        }
    }
}

/// Generates a response of each format, and the locations where it is damaged.
fn damaged() -> impl Strategy<Value = (Format, String)> {
    let arguments = prop_oneof![
        Just(json!({ "item": "apple", "count": 2, "tags": ["a"], "note": null })),
        Just(json!({ "item": "PEAR", "count": "2", "lines": [{ "sku": 1, "discount": "0.5" }],
                "pay": { "kind": "CASH" } })),
        Just(json!("{'item': 'apple', 'count': 2, }")),
        Just(json!("```json\n{\"item\":\"apple\",\"count\":2,\"gift\":True")),
    ];
    let bits =
        ["\"", "{", "}", "[", "]", ",", ":", "\\", "'", "null", "\\u0000", "1e999", "\u{202e}", " ", "```", "True"];
    let edit =
        (any::<prop::sample::Index>(), any::<prop::sample::Index>(), prop::sample::select(bits.to_vec()), 0..4_usize);
    (prop::sample::select(Format::ALL.to_vec()), arguments, prop::collection::vec(edit, 0..5)).prop_map(
        |(format, arguments, edits)| {
            let calls = [("a", "shop__order", &arguments), ("b", "shop__list", &json!({}))];
            let mut text: Vec<char> = message(format, &calls).to_string().chars().collect();
            for (at, to, bit, kind) in edits {
                let (at, to) =
                    (at.index(text.len().max(1)).min(text.len()), to.index(text.len().max(1)).min(text.len()));
                let (from, to) = (at.min(to), at.max(to).min(at.min(to) + 12));
                match kind {
                    0 => drop(text.splice(at..at, bit.chars())),
                    1 => drop(text.drain(from..to)),
                    2 => text.truncate(at),
                    _ => drop(text.splice(from..to, bit.chars())),
                }
            }
            (format, text.into_iter().collect())
        },
    )
}

#[test]
fn no_damaged_response_causes_a_panic() {
    let mut runner =
        TestRunner::new(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() });
    runner
        .run(&damaged(), |(format, text)| {
            holds(format, &text);
            Ok(())
        })
        .unwrap();
    let anything = (prop::sample::select(Format::ALL.to_vec()), any::<String>());
    runner
        .run(&anything, |(format, text)| {
            holds(format, &text);
            Ok(())
        })
        .unwrap();
}

/// Repairing any arguments does not panic, and gives arguments that match the schema, or no repair.
#[test]
fn no_arguments_make_the_repair_panic() {
    let piece = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"item\":\"apple\"",
        "\"count\":2",
        "'count':'2'",
        "\"",
        "'",
        "\\",
        "True",
        "None",
        "nul",
        "1",
        "-",
        "1e400",
        "```",
        "json\n",
        "\n",
        " ",
        "\"lines\":[{\"sku\":1}]",
        "\"note\":\"",
        "é",
        "\u{202e}",
    ]);
    let texts = prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat());
    let mut runner =
        TestRunner::new(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() });
    runner
        .run(&texts, |text| {
            holds(
                Format::OpenAiChat,
                &message(Format::OpenAiChat, &[("a", "shop__order", &Value::from(text))]).to_string(),
            );
            Ok(())
        })
        .unwrap();
}
