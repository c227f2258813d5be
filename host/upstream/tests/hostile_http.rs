//! Servers that misbehave over HTTP.

use crate::loopback::{LoopbackExchange, connect_to};
use crate::process::{MEMORY_MARGIN, ServerProcess, command, limits, memory, peak_memory, run, text, within};
use portcullis_upstream::{CloseReason, ConnectError, ServerClient, ServerEra, ServerError};
use serde_json::Map;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

type Connected = (ServerClient, Arc<LoopbackExchange>);

async fn try_hostile(mode: &str) -> (Result<Connected, ConnectError>, ServerProcess) {
    let mut command = command("python3");
    command.arg(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/hostile_http.py")).arg(mode);
    let mut server = ServerProcess::start(command);
    let port = server.first_line().await.parse().unwrap();
    (connect_to(port, limits(), ServerEra::Detect).await, server)
}

async fn hostile(mode: &str) -> (ServerClient, ServerProcess) {
    let (connected, server) = try_hostile(mode).await;
    (connected.unwrap().0, server)
}

#[tokio::test]
async fn a_plain_server_answers() {
    let (client, _server) = hostile("answer").await;
    assert_eq!(text(run(&client).await), "done");
}

#[tokio::test]
async fn an_authorization_that_is_missing_or_has_ended_is_reported() {
    let (connected, _server) = try_hostile("unauthorized").await;
    let Err(ConnectError::Unauthorized { challenge }) = connected else { panic!("it connects") };
    assert_eq!(challenge, r#"Bearer resource_metadata="https://a.example/m""#);

    let (client, _server) = hostile("logged-out").await;
    match run(&client).await {
        Err(ServerError::Unauthorized { challenge }) => assert_eq!(challenge.len(), 4096),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_redirect_is_an_error() {
    let (connected, _server) = try_hostile("redirect").await;
    assert!(matches!(connected, Err(ConnectError::HttpStatus { status: 307, .. })));
}

#[tokio::test]
async fn a_session_with_a_long_id_is_refused() {
    let (connected, _server) = try_hostile("long-session").await;
    assert!(connected.is_err());
}

#[tokio::test]
async fn a_status_and_the_time_to_retry_are_reported() {
    let (client, _server) = hostile("busy").await;
    match run(&client).await {
        Err(ServerError::HttpStatus { status: 503, retry_after }) => assert_eq!(retry_after.as_deref(), Some("17")),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_session_that_has_ended_ends_the_connection() {
    let (client, _server) = hostile("expired").await;
    let answer = run(&client).await;
    assert!(matches!(answer, Err(ServerError::Closed(CloseReason::SessionExpired))), "{answer:?}");
}

#[tokio::test]
async fn bodies_and_events_without_end_end_the_connection() {
    for mode in ["huge-body", "endless-event"] {
        let (client, _server) = hostile(mode).await;
        let before = memory();
        let answer = run(&client).await;
        assert!(matches!(answer, Err(ServerError::Closed(CloseReason::MessageTooLong { .. }))), "{mode}: {answer:?}");
        assert!(peak_memory() < before + MEMORY_MARGIN, "{mode}");
    }
}

#[tokio::test]
async fn a_body_with_too_many_values_is_not_read() {
    let (client, _server) = hostile("values").await;
    let before = memory();
    let answer = run(&client).await;
    assert!(matches!(&answer, Err(ServerError::Malformed { problem }) if problem.contains("500000")), "{answer:?}");
    assert!(peak_memory() < before + MEMORY_MARGIN);
}

#[tokio::test]
async fn bodies_that_are_no_messages_fail_the_call() {
    for mode in ["html", "not-json"] {
        let (client, _server) = hostile(mode).await;
        let answer = run(&client).await;
        assert!(matches!(answer, Err(ServerError::NotSent(_))), "{mode}: {answer:?}");
    }
}

#[tokio::test]
async fn events_that_are_no_messages_end_the_connection() {
    let (client, _server) = hostile("noise-events").await;
    let answer = run(&client).await;
    assert!(matches!(answer, Err(ServerError::Closed(CloseReason::Noise { .. }))), "{answer:?}");
}

#[tokio::test]
async fn messages_without_a_use_are_no_noise() {
    for mode in ["log-flood", "late-answers"] {
        let (client, _server) = hostile(mode).await;
        let before = memory();
        assert_eq!(text(run(&client).await), "done", "{mode}");
        assert!(peak_memory() < before + MEMORY_MARGIN, "{mode}");
    }
}

#[tokio::test]
async fn a_malformed_answer_in_an_event_fails_the_call_at_once() {
    let (client, _server) = hostile("malformed-event").await;
    let answer = run(&client).await;
    assert!(matches!(answer, Err(ServerError::Malformed { .. })), "{answer:?}");
}

#[tokio::test]
async fn a_call_without_an_answer_ends_at_its_deadline() {
    for mode in ["never-answers", "comments", "endless-logs"] {
        let (client, _server) = hostile(mode).await;
        let begun = Instant::now();
        let answer = client.call("run", Map::new(), within(Duration::from_millis(500))).await;
        assert!(matches!(answer, Err(ServerError::Timeout)), "{mode}: {answer:?}");
        assert!(begun.elapsed() < Duration::from_secs(3), "{mode}");
    }
}

#[tokio::test]
async fn a_stream_that_ends_before_the_answer_fails_the_call() {
    let (client, _server) = hostile("ends-early").await;
    let answer = client.call("run", Map::new(), within(Duration::from_secs(20))).await;
    assert!(matches!(answer, Err(ServerError::Refused { .. } | ServerError::Closed(_))), "{answer:?}");
}

#[tokio::test]
async fn a_loop_of_sampling_ends_the_call() {
    let (client, _server) = hostile("sampling").await;
    let answer = run(&client).await;
    assert!(matches!(answer, Err(ServerError::TooManyRequests { max: 32 })), "{answer:?}");
}

#[tokio::test]
async fn other_tools_in_every_list_end_the_connection() {
    let (client, _server) = hostile("other-tools").await;
    let mut lists = 0;
    let error = loop {
        match client.tools().await {
            Ok(_) => lists += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, ServerError::Closed(CloseReason::TooManyTools { .. })), "{error:?}");
    assert_eq!(lists, 16);
}

#[tokio::test]
async fn a_stream_that_breaks_is_not_opened_again_at_once() {
    let (connected, _server) = try_hostile("broken-streams").await;
    let (client, exchange) = connected.unwrap();
    tokio::time::sleep(Duration::from_millis(2500)).await;
    assert_eq!(text(run(&client).await), "done");
    client.shutdown().await;
    let streams = exchange.sent.lock().unwrap().iter().filter(|(method, _)| method == http::Method::GET).count();
    assert!((2..=4).contains(&streams), "{streams}");
}
