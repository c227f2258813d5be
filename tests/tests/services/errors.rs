//! Handles that cannot be opened: each reason has its own error.

use crate::services::desk::{Answering, Desk, SEARCH, request, steps, take};
use portcullis::OpenError;
use portcullis::policy_files::GrantError;
use portcullis::services::{Key, Service};
use portcullis_tests::assert_verifies;
use serde_json::json;
use std::sync::Arc;

#[tokio::test]
async fn every_reason_for_a_missing_handle_has_its_own_error() {
    let desk = Desk::binding("service.search = { name = \"search\" }\nservice.other = { name = \"broken\" }").await;
    const BROKEN: Key<dyn Service> = Key::new("broken");
    let host = desk
        .builder()
        .provide(&SEARCH, |_| Ok(Arc::new(Answering::echo()) as Arc<dyn Service>))
        .provide(&BROKEN, |_| Err::<Arc<dyn Service>, _>("the database is at /srv/secret".into()))
        .service("search", &SEARCH)
        .service("broken", &BROKEN)
        .open()
        .await
        .unwrap();
    let (found, outcome) = take(
        &host,
        request(&json!([
            {"key": "search"},
            {"key": "nonsense"},
            {"key": ""},
            {"key": "../search"},
            {"key": "forgotten"},
            {"key": "folder"},
            {"key": "search", "kind": "directory"},
            {"key": "search", "kind": "client"},
            {"key": "other"},
        ])),
    )
    .await;
    let expected = [
        "open",
        "unknown-key",
        "unknown-key",
        "unknown-key",
        "not-granted",
        "wrong-kind",
        "wrong-kind",
        "wrong-kind",
        "failed",
    ];
    let found: Vec<_> =
        found.iter().map(|result| result["unavailable"].as_str().or(result.as_str()).unwrap()).collect();
    assert_eq!(found, expected);
    // The reason for the failure is for the operator.
    let detail = "`broken` could not be created: the database is at /srv/secret";
    assert_eq!(outcome["services"]["other"], json!({"name": "broken", "methods": {}, "failed": 1, "detail": detail}));
}

#[tokio::test]
async fn a_provider_that_panics_fails_and_the_host_keeps_running() {
    let desk = Desk::new().await;
    let host = desk
        .builder()
        .provide(&SEARCH, |injector| match injector.call().session() {
            "broken" => panic!("a bug\u{1b}[31m of the application"),
            _ => Ok(Arc::new(Answering::echo()) as Arc<dyn Service>),
        })
        .service("search", &SEARCH)
        .open()
        .await
        .unwrap();
    let asked = request(&json!([{"key": "search"}]));
    let (found, outcome) = take(&host, asked.clone().session("broken")).await;
    assert_eq!(found, [json!({"unavailable": "failed"})]);
    let detail = outcome["services"]["search"]["detail"].as_str().unwrap();
    assert!(detail.ends_with("it panicked: a bug\\u{1b}[31m of the application"), "{detail}");
    assert_eq!(take(&host, asked).await.0, [json!("open")]);
    assert_verifies(&host);
}

#[tokio::test]
async fn a_policy_that_names_an_unknown_service_does_not_open() {
    let desk = Desk::binding("service.search = { name = \"serach\" }").await;
    for (builder, has) in [(desk.builder().service("search", &SEARCH), "search"), (desk.builder(), "none")] {
        let refused = builder.open().await.map(|_| ()).unwrap_err();
        assert!(matches!(refused, OpenError::Grants(GrantError::UnknownService { .. })), "{refused}");
        let text = refused.to_string();
        assert!(text.contains("service.search") && text.contains("serach") && text.contains(has), "{text}");
    }
}

#[tokio::test]
async fn listings_for_people_name_the_service_and_its_methods() {
    let desk = Desk::binding("service.search = { name = \"index\", methods = [\"query\"], calls = 3 }").await;
    let host = desk.builder().service("index", &SEARCH).open().await.unwrap();
    let catalog = host.catalog();
    let plugin = catalog.plugin("service").unwrap();
    let (_, handles) = host.handles(plugin).remove(0);
    let line = handles.iter().find(|line| line.starts_with("service search: ")).unwrap();
    assert!(["index", "query", "3"].iter().all(|word| line.contains(word)), "{line}");
    let forgotten = handles.iter().find(|line| line.starts_with("service forgotten: ")).unwrap();
    assert!(forgotten.contains("none"), "{forgotten}");
}

#[tokio::test]
async fn a_tool_cannot_reach_a_service_of_another_plugins_grant() {
    // The same component under a policy that grants nothing to it.
    let desk = Desk::binding("limits = {}").await;
    let host = desk.serving(Answering::echo()).await;
    let found = steps(&host, json!([{"key": "search"}, {"key": "other"}])).await;
    assert_eq!(found, [json!({"unavailable": "not-granted"}), json!({"unavailable": "not-granted"})]);
}
