//! The checks between a guest and a service: the granted methods and number of calls, the call's size limits, strict
//! JSON, and a service that panics.

use crate::services::desk::{Answering, Desk, answered, call, request, steps, take};
use portcullis::BoxFuture;
use portcullis::services::{CallFacts, SERVICE_TEXT_BYTES_MAX, Service, ServiceError};
use portcullis_tests::assert_verifies;
use serde_json::{Value, json};

#[tokio::test]
async fn a_method_that_is_not_granted_is_not_called() {
    let service = Answering::echo();
    let granted = Desk::binding("service.search = { name = \"search\", methods = [\"query\", \"count\"] }").await;
    let host = granted.serving(service.clone()).await;
    for method in ["drop", "Query", "quer", "query.", "queryy"] {
        let found = steps(&host, json!([call(method, "1")])).await;
        let expected = format!("the policy does not grant the method `{method}`; it grants query, count");
        assert_eq!(found, [json!({ "error": expected })]);
    }
    for method in ["", " query", "query\n", "query\0", "a/b", &"q".repeat(65), "\u{1b}[31m", "q\u{202e}"] {
        let found = steps(&host, json!([call(method, "1")])).await;
        let error = found[0]["error"].as_str().unwrap();
        assert!(error.ends_with("is not a valid method name"), "{error}");
        assert!(!error.chars().any(|character| character.is_control() || character == '\u{202e}'), "{error:?}");
    }
    assert_eq!(service.times(), 0);
    assert_eq!(answered(&steps(&host, json!([call("query", "1")])).await[0]), json!({"method": "query", "input": 1}));
}

#[tokio::test]
async fn without_methods_in_the_policy_all_valid_names_are_granted() {
    let service = Answering::echo();
    let desk = Desk::new().await;
    let host = desk.serving(service.clone()).await;
    let found = steps(&host, json!([call("any.thing-at_all", "1"), call("no name", "1"), call("\u{7f}", "1")])).await;
    assert_eq!(answered(&found[0])["method"], "any.thing-at_all");
    assert!(found[1]["error"].is_string() && found[2]["error"].is_string());
    assert_eq!(service.times(), 1);
}

#[tokio::test]
async fn calls_of_a_service_are_limited_per_call() {
    let service = Answering::echo();
    let desk =
        Desk::binding("service.search = { name = \"search\", calls = 3 }\nservice.other = { name = \"search\" }").await;
    let host = desk.serving(service.clone()).await;
    let used_up = json!({"error": "this call has used all 3 calls of the service that the policy grants to one call"});
    for round in 1..=2 {
        let found = steps(
            &host,
            json!([
                {"key": "search", "method": "a", "input": "1", "times": 2},
                {"key": "search", "method": "b", "input": "1"},
                {"key": "search", "method": "a", "input": "1"},
                // Another handle of the same key shares the limit.
                {"key": "search", "method": "a", "input": "1", "again": true, "times": 3},
                // Another key has its own limit.
                {"key": "other", "method": "a", "input": "1"},
            ]),
        )
        .await;
        assert!(found[0]["ok"].is_string() && found[1]["ok"].is_string() && found[4]["ok"].is_string());
        assert_eq!(found[2..4], [used_up.clone(), used_up.clone()]);
        assert_eq!(service.times(), 4 * round);
    }
}

#[tokio::test]
async fn a_rejected_call_does_not_count() {
    let desk = Desk::binding("service.search = { name = \"search\", methods = [\"a\"], calls = 1 }").await;
    let host = desk.serving(Answering::echo()).await;
    let found = steps(&host, json!([call("b", "1"), call("a", "{"), call("a", "1"), call("a", "1")])).await;
    let fate: Vec<bool> = found.iter().map(|result| result["ok"].is_string()).collect();
    assert_eq!(fate, [false, false, true, false]);
}

#[tokio::test]
async fn an_input_is_at_most_as_long_as_the_arguments_of_a_call() {
    let service = Answering::with(|_, _, input| Ok(json!(input.as_str().unwrap().len())));
    let desk = Desk::binding("limits.arguments = \"1 KiB\"\nservice.search = { name = \"search\" }").await;
    let host = desk.serving(service.clone()).await;
    let input = |copies: u32| json!([{"key": "search", "method": "a", "input": "x", "copies": copies}]);
    // Two of the bytes are the quotes.
    assert_eq!(answered(&steps(&host, input(1022)).await[0]), json!(1022));
    let refused = json!({"error": "the input is larger than 1024 bytes"});
    for copies in [1023, 2_000_000] {
        assert_eq!(steps(&host, input(copies)).await[0], refused);
    }
    assert_eq!(service.times(), 1);
}

#[tokio::test]
async fn an_output_is_at_most_as_long_as_the_output_of_a_call() {
    let service =
        Answering::with(|_, _, input| Ok("x".repeat(usize::try_from(input.as_u64().unwrap()).unwrap()).into()));
    let desk = Desk::binding("limits.output = \"64 KiB\"\nservice.search = { name = \"search\" }").await;
    let host = desk.serving(service).await;
    let found =
        steps(&host, json!([call("a", "65534"), call("a", "65535"), call("a", "50000000"), call("a", "1")])).await;
    let too_large = json!({"error": "the output is larger than 65536 bytes; request less per call"});
    assert_eq!(found, [json!({"bytes": 65536}), too_large.clone(), too_large, json!({"ok": "\"x\""})]);
}

#[tokio::test]
async fn an_input_that_is_not_one_json_document_is_rejected() {
    let service = Answering::echo();
    let desk = Desk::new().await;
    let host = desk.serving(service.clone()).await;
    let deep = "[".repeat(65) + &"]".repeat(65);
    for input in [
        "",
        " ",
        "{",
        "nul",
        "NaN",
        "1e999",
        "'a'",
        "{a:1}",
        "1 2",
        "[1,]",
        "\"\u{1}\"",
        "{\"a\":1,\"a\":2}",
        "{\"a\":{\"b\":1,\"b\":1}}",
        "123456789012345678901234567890",
        "\"\\ud800\"",
        &deep,
    ] {
        let found = steps(&host, json!([call("a", input)])).await;
        let error = found[0]["error"].as_str().unwrap_or_else(|| panic!("{input:?}: {found:?}"));
        assert!(error.starts_with("the input is not JSON: "), "{input:?}: {error}");
    }
    assert_eq!(service.times(), 0);
    let found = steps(&host, json!([call("a", " {\"b\" : [1.0, null, \"\\u00e9\"]} ")])).await;
    assert_eq!(answered(&found[0])["input"], json!({"b": [1, null, "é"]}));
}

#[tokio::test]
async fn a_service_error_has_a_text_for_the_model_and_a_detail_for_the_operator() {
    let service = Answering::with(|_, method, _| {
        Err(match method {
            "invalid" => ServiceError::invalid_input("pass a name"),
            "unavailable" => ServiceError::unavailable("try later").with_detail("10.0.0.7 does not answer"),
            "long" => ServiceError::failed("é".repeat(SERVICE_TEXT_BYTES_MAX)),
            "hostile" => ServiceError::failed("\u{1b}[31mred\u{202e}\0"),
            _ => ServiceError::unknown_method(method),
        })
    });
    let desk = Desk::new().await;
    let host = desk.serving(service).await;
    let asked = ["invalid", "unavailable", "none", "hostile", "long"].map(|method| call(method, "1"));
    let (found, outcome) = take(&host, request(&json!(asked))).await;
    let errors: Vec<&str> = found.iter().map(|result| result["error"].as_str().unwrap()).collect();
    assert_eq!(
        errors[..4],
        [
            "the input is not valid: pass a name",
            "the service is not available: try later",
            "the input is not valid: the service has no method `none`",
            "the service failed: \\u{1b}[31mred\\u{202e}\\u{0}",
        ]
    );
    assert_eq!(errors[4].len(), "the service failed: ".len() + SERVICE_TEXT_BYTES_MAX);
    assert_eq!(outcome["services"]["search"]["failed"], 5);
    assert_eq!(outcome["services"]["search"]["detail"], "10.0.0.7 does not answer");
}

/// Panics before it has a future, in its first poll, or after a wait.
struct Panicking;

impl Service for Panicking {
    fn call<'a>(&'a self, _: &'a CallFacts, method: &'a str, _: Value) -> BoxFuture<'a, Result<Value, ServiceError>> {
        assert_ne!(method, "at-once", "a bug at once");
        Box::pin(async move {
            if method == "later" {
                tokio::task::yield_now().await;
            }
            assert_eq!(method, "fine", "a bug in the middle");
            Ok(Value::Null)
        })
    }
}

#[tokio::test]
async fn a_service_that_panics_fails_and_the_call_continues() {
    let desk = Desk::new().await;
    let host = desk.serving(Panicking).await;
    let asked = ["at-once", "in-a-poll", "later", "fine"].map(|method| call(method, "1"));
    let (found, outcome) = take(&host, request(&json!(asked))).await;
    let failed = json!({"error": "the service failed"});
    assert_eq!(found, [failed.clone(), failed.clone(), failed, json!({"ok": "null"})]);
    assert_eq!(outcome["services"]["search"]["failed"], 3);
    let detail = outcome["services"]["search"]["detail"].as_str().unwrap();
    assert!(detail.starts_with("it panicked: ") && detail.contains("a bug at once"), "{detail}");
    assert_verifies(&host);
}
