//! The audit entries about services: which service was called how often, and details for the operator. They are
//! limited, and contain no payload.

use crate::services::desk::{Answering, Desk, call, request, take};
use portcullis::services::ServiceError;
use portcullis_tests::assert_verifies;
use serde_json::{Value, json};

#[tokio::test]
async fn every_use_of_a_service_is_in_the_outcome_of_its_call() {
    let service = Answering::with(|_, method, _| match method {
        "fail" => Err(ServiceError::failed("sorry").with_detail("disk full")),
        _ => Ok(json!("payload-7f3a")),
    });
    let desk = Desk::binding(
        "service.search = { name = \"index\", methods = [\"query\", \"fail\"] }\nservice.other = { name = \"index\" }",
    )
    .await;
    let host = desk
        .builder()
        .provide(&crate::services::desk::SEARCH, move |_| Ok(std::sync::Arc::new(service.clone()) as std::sync::Arc<_>))
        .service("index", &crate::services::desk::SEARCH)
        .open()
        .await
        .unwrap();
    let (_, outcome) = take(
        &host,
        request(&json!([
            {"key": "search", "method": "query", "input": "\"input-91bc\"", "times": 3},
            call("fail", "1"),
            call("drop", "1"),
            call("query", "{"),
            {"key": "other"},
        ])),
    )
    .await;
    let used =
        json!({"name": "index", "methods": {"fail": 1, "query": 3}, "refused": 2, "failed": 1, "detail": "disk full"});
    assert_eq!(outcome["services"], json!({"search": used, "other": {"name": "index", "methods": {}}}));
    let text = outcome.to_string();
    assert!(!text.contains("payload-7f3a") && !text.contains("input-91bc"), "{text}");
    assert_verifies(&host);
}

#[tokio::test]
async fn the_outcome_of_a_call_without_services_does_not_mention_them() {
    let desk = Desk::new().await;
    let host = desk.serving(Answering::echo()).await;
    let (_, outcome) = take(&host, request(&json!([]))).await;
    assert_eq!(outcome["services"], Value::Null);
}

#[tokio::test]
async fn recorded_details_are_limited_whatever_a_guest_and_a_service_send() {
    let hostile = "\u{1b}[31m\"\\\u{202e}".repeat(1000);
    let service = Answering::with(move |_, _, _| Err(ServiceError::failed("x").with_detail(hostile.clone())));
    let desk = Desk::new().await;
    let host = desk.serving(service).await;
    let mut asked: Vec<Value> = (0..40).map(|number| call(&format!("{number:x>64}"), "1")).collect();
    asked.push(json!({"key": "search", "method": "\n", "input": "1", "times": 500}));
    let (_, outcome) = take(&host, request(&json!(asked))).await;
    let used = &outcome["services"]["search"];
    assert_eq!(used["methods"].as_object().unwrap().len(), 8);
    assert_eq!((&used["more"], &used["failed"], &used["refused"]), (&json!(32), &json!(40), &json!(500)));
    let detail = used["detail"].as_str().unwrap();
    assert!(detail.len() <= 512 && !detail.chars().any(char::is_control), "{detail:?}");
    assert!(used.to_string().len() < 2048, "{used}");
    assert_verifies(&host);
}
