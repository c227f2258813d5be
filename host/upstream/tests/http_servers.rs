//! Servers that others wrote, over Streamable HTTP.

use crate::loopback::{connect_for, connect_to, free_port, wait_for};
use crate::process::{AskedUser, ServerProcess, arguments, command, grow, installed, limits, text, within};
use portcullis_upstream::{CloseReason, ServerCall, ServerEra, ServerError, ServerProgress, ServerRequests};
use serde_json::{Map, json};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

fn soon() -> ServerCall {
    within(Duration::from_secs(30))
}

async fn everything() -> (ServerProcess, u16) {
    let port = free_port().await;
    let modules = installed("PORTCULLIS_TEST_SERVER_MODULES");
    let mut command = command(installed("PORTCULLIS_TEST_NODE"));
    command.arg(modules.join("@modelcontextprotocol/server-everything/dist/index.js")).arg("streamableHttp");
    command.env("PORT", port.to_string());
    let server = ServerProcess::start(command);
    wait_for(port).await;
    (server, port)
}

async fn modern() -> (ServerProcess, u16) {
    let port = free_port().await;
    let mut command = command(installed("PORTCULLIS_TEST_PYTHON_MODERN"));
    command.arg(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/modern.py")).arg(port.to_string());
    let server = ServerProcess::start(command);
    wait_for(port).await;
    (server, port)
}

#[tokio::test]
async fn the_everything_server_is_called_in_a_session() {
    let (_server, port) = everything().await;
    let (client, exchange) = connect_to(port, limits(), ServerEra::Detect).await.unwrap();
    assert_eq!(client.identity().protocol, "2025-11-25");
    assert!(client.tools().await.unwrap().iter().any(|tool| tool.name == "echo"));
    let reports = Arc::new(Mutex::new(0));
    let heard = Arc::clone(&reports);
    let listener = Box::new(move |_: ServerProgress| *heard.lock().unwrap() += 1);
    let call = ServerCall { on_progress: Some(listener), ..soon() };
    let given = arguments(json!({"duration": 1, "steps": 4}));
    text(client.call("trigger-long-running-operation", given, call).await);
    assert!(*reports.lock().unwrap() >= 2);
    let begun = Instant::now();
    let given = arguments(json!({"duration": 60, "steps": 5}));
    let answer = client.call("trigger-long-running-operation", given, within(Duration::from_millis(300))).await;
    assert!(matches!(answer, Err(ServerError::Timeout)) && begun.elapsed() < Duration::from_secs(5), "{answer:?}");
    client.shutdown().await;
    let sent = exchange.sent.lock().unwrap();
    let (method, headers) = sent.last().unwrap();
    assert_eq!(method, http::Method::DELETE);
    assert!(headers.contains_key("mcp-session-id"));
}

#[tokio::test]
async fn a_server_of_the_modern_era_is_called_without_a_session() {
    let (_server, port) = modern().await;
    let user = Arc::new(AskedUser::default());
    let requests = Arc::clone(&user) as Arc<dyn ServerRequests>;
    let (client, exchange) = connect_for(port, limits(), ServerEra::Detect, requests).await.unwrap();
    assert_eq!(client.identity().protocol, "2026-07-28");
    let before = client.tools().await.unwrap().len();
    assert_eq!(text(client.call("greet", Map::new(), soon()).await), "accept Ada");
    let answer = client.call("sleep", Map::new(), within(Duration::from_millis(300))).await;
    assert!(matches!(answer, Err(ServerError::Timeout)), "{answer:?}");
    grow(&client).await;
    assert_eq!(client.tools().await.unwrap().len(), before + 1);
    let sent = exchange.sent.lock().unwrap();
    assert!(
        sent.iter().all(|(method, headers)| method == http::Method::POST && !headers.contains_key("mcp-session-id"))
    );
    assert!(sent.iter().any(|(_, headers)| headers.get("mcp-name").is_some_and(|name| name == "greet")));
}

#[tokio::test]
async fn a_server_that_has_exited_refuses_calls() {
    let (server, port) = everything().await;
    let (client, _) = connect_to(port, limits(), ServerEra::Handshake).await.unwrap();
    drop(server);
    let answer = client.call("echo", arguments(json!({"message": "hello"})), soon()).await;
    assert!(matches!(answer, Err(ServerError::NotSent(_))), "{answer:?}");
    client.shutdown().await;
    assert!(matches!(client.closed().await, CloseReason::Shutdown));
}
