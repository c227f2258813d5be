//! Sessions of the legacy era: who owns them, how many there are, and how long they last.

use crate::guard::service::{GOOD, MODERN, OTHER_TOKEN, SLEEP, Service, TOKEN, legacy_call, modern};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;

#[tokio::test]
async fn a_session_of_another_principal_does_not_exist() {
    let service = Service::open().await;
    let (own, other) = (service.session(TOKEN).await, service.session(OTHER_TOKEN).await);
    let bearer = |token| format!("Bearer {token}");
    for (session, token) in [(&own, OTHER_TOKEN), (&other, TOKEN)] {
        let ask = service.of_session(session, &legacy_call(1, GOOD)).having("Authorization", &bearer(token));
        let unknown = service.of_session("0", &legacy_call(1, GOOD)).having("Authorization", &bearer(token));
        let (answer, unknown) = (service.send(&ask).await.is(404), service.send(&unknown).await.is(404));
        assert_eq!(answer.body, unknown.body);
        for method in ["GET", "DELETE"] {
            let ask = service.ask(method).having("Authorization", &bearer(token)).with("Mcp-Session-Id", session);
            service.send(&ask).await.is(404);
        }
        // Nor through a request that claims the version without sessions.
        let initialize = service.initialize().with("Mcp-Session-Id", session).with("MCP-Protocol-Version", MODERN);
        let answer = service.send(&initialize.having("Authorization", &bearer(token))).await;
        assert_ne!(answer.header("Mcp-Session-Id"), Some(session.as_str()), "{answer:?}");
    }
    for (session, token) in [(&own, TOKEN), (&other, OTHER_TOKEN)] {
        let ask = service.of_session(session, &legacy_call(2, GOOD)).having("Authorization", &bearer(token));
        service.send(&ask).await.is(200);
    }
    let two = service.of_session(&own, &legacy_call(3, GOOD)).with("Mcp-Session-Id", &other);
    service.send(&two).await.is(400);
}

#[tokio::test]
async fn the_version_without_sessions_has_no_sessions() {
    let service = Service::open().await;
    let other = service.session(OTHER_TOKEN).await;
    let list = service.modern(&modern("tools/list", json!({}))).with("Mcp-Session-Id", &other);
    let answer = service.send(&list).await.is(200);
    assert!(answer.header("Mcp-Session-Id").is_none());
    assert!(answer.last()["result"]["tools"].is_array());
}

#[tokio::test]
async fn clients_without_sessions_share_nothing_with_another_principal_or_an_earlier_server() {
    let mut sessions = BTreeSet::new();
    for _server in 0..2 {
        let service = Service::open().await;
        for token in [TOKEN, TOKEN, OTHER_TOKEN] {
            let call = service.call(GOOD).having("Authorization", &format!("Bearer {token}"));
            service.send(&call).await.is(200);
        }
        let Service { host, running, site } = service;
        running.stop().await;
        drop(host);
        let log = std::fs::read_to_string(site.state().join("audit.jsonl")).unwrap();
        let entries = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        sessions.extend(entries.filter_map(|entry| find(&entry, "session")));
    }
    assert_eq!(sessions.len(), 4, "{sessions:?}");
    assert!(sessions.iter().all(|session| session.starts_with("http-") && session.len() > 32), "{sessions:?}");
}

/// Returns the first text member with that name in a document.
fn find(document: &Value, name: &str) -> Option<String> {
    match document {
        Value::Object(members) => {
            let own = members.get(name).and_then(Value::as_str).map(str::to_owned);
            own.or_else(|| members.values().find_map(|value| find(value, name)))
        }
        Value::Array(items) => items.iter().find_map(|value| find(value, name)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

#[tokio::test]
async fn a_flood_of_sessions_ends_only_the_oldest_of_its_own_principal() {
    let service = Service::with(|options| options.limits.sessions_per_principal = 3).await;
    let other = service.session(OTHER_TOKEN).await;
    let mut sessions = Vec::new();
    for _ in 0..10 {
        sessions.push(service.session(TOKEN).await);
    }
    for (index, session) in sessions.iter().enumerate() {
        let status = if index < 7 { 404 } else { 200 };
        service.send(&service.of_session(session, &legacy_call(1, GOOD))).await.is(status);
    }
    let ask = service.of_session(&other, &legacy_call(1, GOOD));
    service.send(&ask.having("Authorization", &format!("Bearer {OTHER_TOKEN}"))).await.is(200);
}

#[tokio::test]
async fn a_session_in_use_is_never_ended_to_make_room() {
    let service = Service::with(|options| options.limits.sessions_per_principal = 1).await;
    let session = service.session(TOKEN).await;
    let (_, calling) = service.of_session(&session, &legacy_call(1, SLEEP)).open(service.address()).await;
    let answer = service.send(&service.initialize()).await.is(429);
    assert!(answer.header("retry-after").is_some());
    drop(calling);
}

#[tokio::test]
async fn a_quiet_call_outlasts_the_idle_timeout_and_keeps_its_session() {
    let idle = Duration::from_secs(2);
    let policy = "[limits]\ntime = \"5 s\"\n[[rule]]\ntool = \"*.*\"\ndecision = \"allow\"\n";
    let service = Service::under(policy, |options| options.limits.session_idle_time = idle).await;
    let session = service.session(TOKEN).await;
    // The call reports nothing until its time limit.
    let answer = service.send(&service.of_session(&session, &legacy_call(1, SLEEP))).await.is(200);
    assert_eq!(answer.last()["result"]["isError"], true, "{answer:?}");
    service.send(&service.of_session(&session, &legacy_call(2, GOOD))).await.is(200);
    // Nothing is open any more, so the session expires.
    let ended = async {
        loop {
            tokio::time::sleep(idle * 2).await;
            if service.send(&service.of_session(&session, &legacy_call(3, GOOD))).await.status == 404 {
                break;
            }
        }
    };
    tokio::time::timeout(crate::guard::ask::PATIENCE, ended).await.unwrap();
}

#[tokio::test]
async fn a_client_ends_its_session() {
    let service = Service::open().await;
    let session = service.session(TOKEN).await;
    let delete = service.ask("DELETE").with("Mcp-Session-Id", &session);
    let ended = service.send(&delete).await.is(204);
    assert!(ended.body.is_empty(), "{ended:?}");
    service.send(&service.of_session(&session, &legacy_call(1, GOOD))).await.is(404);
}
