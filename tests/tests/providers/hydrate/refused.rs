//! Invalid calls: each stays a call, is refused by the host, is recorded, and gets a helpful message.

use super::desk::{ALLOW, Desk, message, shop};
use portcullis::{Code, Compiler, Host};
use portcullis_providers::{Definitions, Format};
use portcullis_tests::{assert_verifies, guest, outcome_of, outcomes};
use serde_json::{Value, json};

#[tokio::test]
async fn an_invalid_call_keeps_its_text_and_the_host_refuses_and_records_it() {
    let desk = Desk::open("").await;
    let wrong = [
        ("shop__order", r#"{"item":"apple","count":"#, Code::MalformedArguments, "not usable"),
        ("shop__order", r#"{"item":"apple","count":2,"count":3}"#, Code::MalformedArguments, "twice"),
        ("shop__order", r#"{"item":"apple","count":10000000000000000000000}"#, Code::MalformedArguments, "too large"),
        ("shop__order", "[1]", Code::MalformedArguments, "one JSON object"),
        ("shop__order", "\\u0000", Code::MalformedArguments, "not usable"),
        ("shop__order", r#"{"item":"apple","count":"2"}"#, Code::InvalidArguments, "/count"),
        ("shop__order", r#"{"item":"apple"}"#, Code::InvalidArguments, "count"),
        ("shop__order", r#"{"item":"apple","count":2,"colour":"red"}"#, Code::InvalidArguments, "colour"),
        ("shop__order", r#"{"item":"apple","count":2,"note":null}"#, Code::InvalidArguments, "/note"),
        ("shop__sell", "{}", Code::UnknownTool, "shop__order"),
        ("", "{}", Code::UnknownTool, "names no tool"),
    ];
    for (name, arguments, code, says) in wrong {
        let (call, reply) = desk.chat(name, arguments).await;
        assert_eq!((reply.code, call.provenance.raw.as_str()), (code, arguments), "{}", reply.message);
        assert_eq!(call.arguments, arguments);
        assert!(reply.message.contains(says), "{arguments}: {}", reply.message);
        let outcome = outcome_of(&desk.host, &reply.id);
        assert_eq!(
            (outcome["code"].as_str(), outcome["source"]["format"].as_str()),
            (Some(code.as_str()), Some("openai-chat"))
        );
        assert_eq!(outcome["source"]["raw_bytes"], arguments.len());
        assert!(!call.provenance.attempted && call.provenance.repairs.is_empty());
    }
    assert_verifies(&desk.host);
}

#[tokio::test]
async fn a_call_that_does_not_match_gets_the_mismatches() {
    let desk = Desk::open("").await;
    let call =
        desk.call(Format::Anthropic, "shop__order", &json!({ "item": "apple", "count": 0, "to": { "floor": "x" } }));
    let pointers: Vec<&str> = call
        .provenance
        .validation
        .as_ref()
        .unwrap()
        .mismatches
        .iter()
        .map(|mismatch| mismatch.pointer.as_str())
        .collect();
    assert!(["/count", "/to", "/to/floor"].iter().all(|pointer| pointers.contains(pointer)), "{pointers:?}");
}

/// A tool that was not offered is not called, although the host has it and the policy allows it.
#[tokio::test]
async fn a_tool_that_was_not_offered_is_unknown() {
    let desk = Desk::open("").await;
    for name in ["secret__run", "secret.run", "secret", "output__read", "output.read", "good.run"] {
        let (call, reply) = desk.chat(name, "{}").await;
        assert_eq!((reply.code, call.definition), (Code::UnknownTool, None), "{name}");
        assert!(!reply.message.contains("secret__") || name == "secret__run", "{}", reply.message);
    }
    let all = Definitions::of_host(&desk.host).unwrap();
    let answer = message(Format::OpenAiChat, &[("a", "secret__run", &json!({}))]).to_string();
    let call = &all.hydrate(Format::OpenAiChat, &answer, &desk.host).unwrap().calls[0];
    assert_eq!((call.tool.as_str(), &call.refused), ("secret.run", &None));
}

/// An explanation requires the right to call the tool, so tools that the model cannot call are not explained.
#[tokio::test]
async fn a_tool_that_was_not_offered_is_not_explained() {
    let desk = Desk::open("").await;
    for (name, code) in [
        ("secret__run", Code::UnknownTool),
        ("secret.run", Code::UnknownTool),
        ("shop__list", Code::Completed),
        ("shop.list", Code::Completed),
    ] {
        let (_, reply) = desk.chat("tools__explain", &json!({ "tool": name }).to_string()).await;
        assert_eq!(reply.code, code, "{name}: {}", reply.message);
    }
}

/// A batch makes only calls that the model could make itself, however its arguments are written.
#[tokio::test]
async fn a_batch_calls_no_tool_that_was_not_offered() {
    let desk = Desk::open("").await;
    let call = |name: &str| json!({ "tool": name, "arguments": {} });
    let names = ["shop__list", "shop.list", "secret__run", "secret.run", "secret", "output__read", "tools__batch"];
    let arguments = json!({ "calls": names.map(call) }).to_string();
    for arguments in [arguments.clone(), json!(arguments).to_string()] {
        let (call, reply) = desk.chat("tools__batch", &arguments).await;
        assert_eq!(
            (reply.code, call.batched.map(|known| known.len())),
            (Code::Completed, Some(7)),
            "{}",
            reply.message
        );
        let facts = reply.metadata.unwrap()["results"].as_array().unwrap().clone();
        let unknown = "unknown-tool";
        let codes: Vec<&str> = facts.iter().map(|facts| facts["code"].as_str().unwrap()).collect();
        assert_eq!(codes, ["completed", "completed", unknown, unknown, unknown, unknown, "caller-refused"]);
        let named: Vec<&str> = facts.iter().map(|facts| facts["tool"].as_str().unwrap()).collect();
        assert_eq!(named, names, "the results have the names that the model wrote");
        assert!(!reply.message.contains("Available tools include: secret"), "{}", reply.message);
    }
    let ran = outcomes(&desk.host).iter().filter(|outcome| outcome["outcome"] == "completed").count();
    assert_eq!(ran, 2 * 3, "only the batches and the two offered calls of each run");
    assert_verifies(&desk.host);
}

/// An explanation does not depend on how the arguments are written either.
#[tokio::test]
async fn a_tool_that_was_not_offered_is_not_explained_for_arguments_in_a_string() {
    let desk = Desk::open("").await;
    let arguments = json!(json!({ "tool": "secret__run" }).to_string()).to_string();
    let (_, reply) = desk.chat("tools__explain", &arguments).await;
    assert_eq!(reply.code, Code::UnknownTool, "{}", reply.message);
}

/// The calls in a batch are for the definitions that were offered, as single calls are.
#[tokio::test]
async fn a_batch_calls_no_definition_that_has_changed_since_the_offer() {
    let desk = Desk::open("").await;
    let order = json!({ "tool": "shop__order", "arguments": { "item": "apple", "count": 1 } });
    let arguments = json!({ "calls": [order] });
    let answer = message(Format::Anthropic, &[("a", "tools__batch", &arguments)]).to_string();
    let code = |reply: &portcullis::Reply| reply.metadata.as_ref().unwrap()["results"][0]["code"].clone();
    assert_eq!(code(&desk.run(Format::Anthropic, &answer).await.1[0]), "completed");
    let other = shop(r#"{"type":"object","properties":{"item":{},"count":{"description":"of boxes, each of 1000"}}}"#);
    desk.site.plugin("shop", &guest("good", &other));
    desk.host.reload().await.unwrap();
    assert_eq!(code(&desk.run(Format::Anthropic, &answer).await.1[0]), "definition-changed");
}

/// Only the policy for the plugin of a call decides whether its arguments may come out of a repair.
#[tokio::test]
async fn the_calls_of_a_repaired_batch_count_as_repaired() {
    let desk = Desk::open("[plugin.tools]\nrepair = \"ask\"\n").await;
    *desk.person.answer.lock().unwrap() = portcullis::Answer::Yes;
    let torn = r#"{"calls":[{"tool":"shop__order","arguments":{"item":"apple","count":1}}]"#;
    let (call, reply) = desk.chat("tools__batch", torn).await;
    assert!(!call.provenance.repairs.is_empty(), "{:?}", call.provenance);
    let facts = &reply.metadata.as_ref().unwrap_or_else(|| panic!("{}", reply.message))["results"][0];
    assert_eq!(facts["code"], "policy-denied", "{}", reply.message);
    assert!(reply.message.contains("were repaired"), "{}", reply.message);
}

#[tokio::test]
async fn a_tool_can_be_called_by_its_full_name() {
    let desk = Desk::open("").await;
    let (call, reply) = desk.chat("shop.list", "{}").await;
    assert_eq!((call.tool.as_str(), reply.code), ("shop.list", Code::Completed));
    assert_eq!(call.provenance.name, "shop.list");
}

#[tokio::test]
async fn the_error_for_an_unknown_tool_lists_similar_names() {
    let desk = Desk::open("").await;
    for name in ["shop_list", "Shop__List", "shop-list", "shoplist", "functions.shop__list", "list"] {
        let (_, reply) = desk.chat(name, "{}").await;
        let there = reply.message.split("tools include: ").nth(1).unwrap_or_default();
        assert!(there.starts_with("shop__list"), "{name}: {}", reply.message);
    }
}

#[tokio::test]
async fn calls_with_the_same_id_are_all_refused() {
    let desk = Desk::open("").await;
    for format in Format::ALL {
        let list = json!({});
        let calls = ["a", "b", "a", "c", "a"].map(|id| (id, "shop__list", &list));
        let before = outcomes(&desk.host).len();
        let (_, replies) = desk.run(format, &message(format, &calls).to_string()).await;
        let codes: Vec<Code> = replies.iter().map(|reply| reply.code).collect();
        let (done, refused) = (Code::Completed, Code::CallerRefused);
        assert_eq!(codes, [refused, done, refused, done, refused], "{format}");
        assert!(replies[0].message.contains("have the same id"), "{}", replies[0].message);
        assert_eq!(outcomes(&desk.host).len(), before + 5, "each call must be recorded");
    }
}

#[tokio::test]
async fn an_id_that_cannot_be_answered_is_refused() {
    let desk = Desk::open("").await;
    for id in ["", &"i".repeat(129), "a\u{0}b", "a\nb", "\u{1b}[2J", "a\u{202e}b", "a\u{200b}"] {
        for format in Format::ALL {
            let (calls, replies) =
                desk.run(format, &message(format, &[(id, "shop__list", &json!({}))]).to_string()).await;
            // Gemini and Ollama need no ID.
            let optional = matches!(format, Format::Gemini | Format::GeminiOpenApi | Format::Ollama);
            let expected = if id.is_empty() && optional { Code::Completed } else { Code::CallerRefused };
            assert_eq!(replies[0].code, expected, "{format} {id:?}");
            assert_eq!(calls[0].provenance.id.as_deref(), Some(id));
            assert!(!replies[0].message.chars().any(portcullis::text::is_deceptive), "{:?}", replies[0].message);
        }
    }
    let longest = "i".repeat(128);
    let (_, replies) = desk
        .run(Format::OpenAiChat, &message(Format::OpenAiChat, &[(&longest, "shop__list", &json!({}))]).to_string())
        .await;
    assert_eq!(replies[0].code, Code::Completed);
}

#[tokio::test]
async fn a_call_that_is_not_a_function_call_is_refused() {
    let desk = Desk::open("").await;
    let chat = json!([{ "id": "a", "type": "custom", "custom": { "name": "shop__list", "input": "{}" } }]);
    let item = json!([{ "type": "custom_tool_call", "call_id": "a", "name": "shop__list", "input": "{}" }]);
    for (format, answer) in [(Format::OpenAiChat, chat), (Format::OpenAiResponses, item)] {
        let (_, replies) = desk.run(format, &answer.to_string()).await;
        assert_eq!(replies[0].code, Code::CallerRefused, "{format}");
    }
}

/// The arguments were made for one definition, and are not valid for another.
#[tokio::test]
async fn a_definition_that_has_changed_since_the_offer_is_not_called() {
    let desk = Desk::open("").await;
    let answer =
        message(Format::OpenAiChat, &[("a", "shop__order", &json!({ "item": "apple", "count": 1 }))]).to_string();
    assert_eq!(desk.run(Format::OpenAiChat, &answer).await.1[0].code, Code::Completed);
    let other = shop(r#"{"type":"object","properties":{"item":{},"count":{"description":"of boxes, each of 1000"}}}"#);
    desk.site.plugin("shop", &guest("good", &other));
    desk.host.reload().await.unwrap();
    let (_, replies) = desk.run(Format::OpenAiChat, &answer).await;
    assert_eq!(replies[0].code, Code::DefinitionChanged, "{}", replies[0].message);
    let again = Definitions::of_host(&desk.host).unwrap();
    let call = &again.hydrate(Format::OpenAiChat, &answer, &desk.host).unwrap().calls[0];
    assert!(call.refused.is_none());
}

/// A refused call runs nothing, under any policy.
#[tokio::test]
async fn the_policy_decides_about_hydrated_calls_like_others() {
    let desk = Desk::open("[[rule]]\ntool = \"shop.list\"\ndecision = \"deny\"\n").await;
    let (_, reply) = desk.chat("shop__list", "{}").await;
    assert_eq!(reply.code, Code::PolicyDenied);
    let closed = Host::builder(desk.site.plugins(), desk.site.path("other")).compiler(Compiler::InProcess);
    let closed = closed.policy_text(&ALLOW.replace("allow", "deny"), desk.site.path("")).open().await.unwrap();
    let offered = Definitions::of(closed.catalog().offers().collect::<Vec<_>>()).unwrap();
    let answer = message(Format::OpenAiChat, &[("a", "good__run", &Value::from("{}"))]).to_string();
    let hydrated = offered.hydrate(Format::OpenAiChat, &answer, &closed).unwrap();
    let request = hydrated.requests(&portcullis::Caller::new().session("s")).remove(0);
    assert_eq!(closed.call(request).await.code, Code::PolicyDenied);
}
