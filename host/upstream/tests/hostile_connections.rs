//! Servers that misbehave before they are connected, and connections that end.

use crate::process::{MEMORY_MARGIN, ServerProcess, hostile, limits, memory, peak_memory, run, text};
use portcullis_upstream::{CloseReason, ConnectError, ServerError, ServerLimits};
use std::time::{Duration, Instant};

/// Connects to the hostile server, which must fail.
async fn failure(mode: &str, limits: ServerLimits) -> ConnectError {
    ServerProcess::hostile(mode).connect_error(limits).await
}

impl ServerProcess {
    async fn connect_error(&mut self, limits: ServerLimits) -> ConnectError {
        self.connect(limits).await.expect_err("it does not connect")
    }
}

#[tokio::test]
async fn a_banner_is_skipped() {
    let (client, _server) = hostile("banner").await;
    assert_eq!(client.identity().name.as_deref(), Some("hostile"));
    assert_eq!(text(run(&client).await), "done");
}

#[tokio::test]
async fn endless_noise_ends_the_connection() {
    let before = memory();
    let error = failure("noise", limits()).await;
    assert!(matches!(error, ConnectError::Closed(CloseReason::Noise { max: 65536 })), "{error:?}");
    assert!(peak_memory() < before + MEMORY_MARGIN);
}

#[tokio::test]
async fn a_line_without_end_ends_the_connection() {
    let before = memory();
    let error = failure("endless-line", limits()).await;
    assert!(matches!(error, ConnectError::Closed(CloseReason::MessageTooLong { .. })), "{error:?}");
    assert!(peak_memory() < before + MEMORY_MARGIN);
}

#[tokio::test]
async fn a_silent_server_is_given_up_after_the_limit() {
    let short = ServerLimits { connect_time: Duration::from_millis(500), ..limits() };
    let begun = Instant::now();
    let error = failure("silent", short).await;
    assert!(matches!(error, ConnectError::Timeout { .. }), "{error:?}");
    assert!(begun.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn a_server_that_ignores_discovery_is_taken_for_an_older_one() {
    for mode in ["ignores-discovery", "late-discovery"] {
        let mut server = ServerProcess::hostile(mode);
        let short = ServerLimits { discovery_time: Duration::from_millis(300), ..limits() };
        let begun = Instant::now();
        let client = server.connect(short).await.unwrap();
        assert_eq!(client.identity().protocol, "2025-11-25");
        assert!(begun.elapsed() < Duration::from_secs(5), "{mode}: {:?}", begun.elapsed());
        assert_eq!(text(run(&client).await), "done");
    }
}

#[tokio::test]
async fn an_answer_to_discovery_after_the_librarys_own_limit_is_dropped() {
    let mut server = ServerProcess::hostile("late-discovery");
    let long = ServerLimits { discovery_time: Duration::from_secs(60), ..limits() };
    let client = server.connect(long).await.unwrap();
    assert_eq!(text(run(&client).await), "done");
}

#[tokio::test]
async fn a_server_that_exits_has_a_reason() {
    for mode in ["exits-at-once", "exits-at-discovery"] {
        let error = failure(mode, limits()).await;
        assert!(matches!(error, ConnectError::Closed(CloseReason::EndOfOutput)), "{mode}: {error:?}");
    }
}

#[tokio::test]
async fn an_unknown_version_is_named() {
    for (mode, version) in [("unknown-version", "1999-01-01"), ("only-future", "2099-01-01")] {
        let error = failure(mode, limits()).await;
        assert!(matches!(error, ConnectError::UnsupportedVersion { .. }), "{mode}: {error:?}");
        assert!(error.to_string().contains(version), "{error}");
    }
}

#[tokio::test]
async fn a_malformed_handshake_is_refused() {
    let error = failure("malformed-handshake", limits()).await;
    assert!(matches!(&error, ConnectError::Refused { problem } if problem.len() < 1100), "{error:?}");
}

#[tokio::test]
async fn answers_to_no_request_do_not_disturb_a_handshake() {
    for mode in ["wrong-id-first", "repeats-handshake"] {
        let (client, _server) = hostile(mode).await;
        assert_eq!(text(run(&client).await), "done", "{mode}");
    }
}

#[tokio::test]
async fn an_identity_is_cut() {
    let (client, _server) = hostile("huge-identity").await;
    assert_eq!(client.identity().name.as_ref().unwrap().len(), 256);
    assert_eq!(client.identity().instructions.as_ref().unwrap().len(), 16 * 1024);
}

#[tokio::test]
async fn a_server_whose_client_is_dropped_sees_the_end_of_its_input() {
    let (client, server) = hostile("banner").await;
    drop(client);
    assert!(server.errors().await.contains("end of input"));
}

#[tokio::test]
async fn requests_outside_of_calls_have_a_limit() {
    let (client, _server) = hostile("samples-unasked").await;
    let reason = client.closed().await;
    assert!(matches!(reason, CloseReason::UnaskedRequests { max: 100 }), "{reason:?}");
    assert!(matches!(run(&client).await, Err(ServerError::Closed(_))));
}

#[tokio::test]
async fn changes_between_two_subscriptions_are_reported_after_the_second() {
    let (client, _server) = hostile("ends-subscription").await;
    let mut changes = client.changed();
    tokio::time::timeout(Duration::from_secs(20), changes.changed()).await.unwrap().unwrap();
    assert_eq!(text(run(&client).await), "2 subscriptions");
    assert_eq!(*changes.borrow(), 1);
}
