//! Overload: too many bytes, slow clients, connections, requests, or calls.

use crate::guard::ask::{PATIENCE, read_to_end};
use crate::guard::service::{GOOD, OTHER_TOKEN, SLEEP, Service, TOKEN, legacy_call, modern, under_way};
use serde_json::json;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;

const SHORT: Duration = Duration::from_millis(200);

/// Lets calls last as long as a test.
const PATIENT: &str = "[limits]\ntime = \"60 s\"\n[[rule]]\ntool = \"*.*\"\ndecision = \"allow\"\n";

#[tokio::test]
async fn a_body_that_is_too_large_is_rejected_by_its_length_header_and_by_its_content() {
    let service = Service::open().await;
    let announced = service.list().having("Content-Length", "1099511627776");
    service.send(&announced).await.is(413);
    // The largest arguments with the maximum envelope, and then one byte more.
    let chunk = format!("{:x}\r\n{}\r\n", 1 << 16, " ".repeat(1 << 16));
    let mut stream = TcpStream::connect(service.address()).await.unwrap();
    let head = service.list().without("Content-Length").with("Transfer-Encoding", "chunked").body_less();
    stream.write_all(&head.bytes()).await.unwrap();
    for _ in 0..17 {
        stream.write_all(chunk.as_bytes()).await.unwrap();
    }
    stream.write_all(b"1\r\n \r\n").await.unwrap();
    read_to_end(stream).await.is(413);
    for wrong in ["-1", "1x", "18446744073709551616"] {
        service.send(&service.list().having("Content-Length", wrong)).await.is(400);
    }
}

#[tokio::test]
async fn a_body_that_does_not_arrive_times_out() {
    let service = Service::with(|options| options.limits.body_time = SHORT).await;
    let ask = service.list();
    let bytes = ask.bytes();
    let mut stream = TcpStream::connect(service.address()).await.unwrap();
    stream.write_all(&bytes[..bytes.len() - 1]).await.unwrap();
    read_to_end(stream).await.is(408);
}

#[tokio::test]
async fn bodies_that_a_principal_announces_leave_room_for_those_of_others() {
    let service = Service::open().await;
    let (own, address) = (service.list(), service.address());
    // Together more than all bodies may have, and none of them arrives.
    let announced = service.list().having("Content-Length", "1048576").body_less();
    let mut slow = Vec::new();
    for _ in 0..64 {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(&announced.bytes()).await.unwrap();
        slow.push(stream);
    }
    // The server may read a later request before all of these, so the principal's own share is full after a while.
    let mut is_full = false;
    for _ in 0..100 {
        is_full = is_full || timeout(SHORT, own.send(address)).await.is_err();
    }
    assert!(is_full, "the principal has no share");
    let other = service.list().having("Authorization", &format!("Bearer {OTHER_TOKEN}"));
    service.send(&other).await.is(200);
    drop(slow);
    service.send(&own).await.is(200);
}

#[tokio::test]
async fn headers_that_do_not_arrive_time_out() {
    let service = Service::with(|options| options.limits.headers_time = SHORT).await;
    for beginning in ["", "POST /mcp HTT", "POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-Slow: "] {
        let mut stream = TcpStream::connect(service.address()).await.unwrap();
        stream.write_all(beginning.as_bytes()).await.unwrap();
        let mut rest = Vec::new();
        let _ = timeout(PATIENCE, stream.read_to_end(&mut rest)).await.unwrap();
    }
}

#[tokio::test]
async fn an_idle_connection_does_not_hold_its_slot_for_long() {
    let service = Service::with(|options| options.limits.first_headers_time = SHORT).await;
    let mut silent = TcpStream::connect(service.address()).await.unwrap();
    assert_eq!(timeout(PATIENCE, silent.read(&mut [0])).await.unwrap().unwrap(), 0);
}

#[tokio::test]
async fn streams_and_requests_are_limited_per_principal() {
    let service = Service::under(PATIENT, |options| {
        options.limits.streams = 2;
        options.limits.requests = 4;
    })
    .await;
    let session = service.session(TOKEN).await;
    let stream = service.ask("GET").with("Mcp-Session-Id", &session);
    let (first, _first) = stream.open(service.address()).await;
    let listen = modern("subscriptions/listen", json!({ "notifications": { "toolsListChanged": true } }));
    let listen = service.modern(&listen);
    let (second, _second) = listen.open(service.address()).await;
    first.is(200);
    second.is(200);
    for more in [&stream, &listen] {
        let answer = service.send(more).await.is(429);
        assert!(answer.header("retry-after").is_some());
    }
    let mut slow = Vec::new();
    for _ in 0..2 {
        let mut stream = TcpStream::connect(service.address()).await.unwrap();
        stream.write_all(&service.call(SLEEP).bytes()).await.unwrap();
        slow.push(stream);
    }
    under_way(&service, 2).await;
    service.send(&service.list()).await.is(429);
    let other = |ask: crate::guard::ask::Ask| ask.having("Authorization", &format!("Bearer {OTHER_TOKEN}"));
    service.send(&other(service.list())).await.is(200);
}

#[tokio::test]
async fn tool_calls_are_rate_limited_and_other_requests_are_not() {
    let service = Service::with(|options| {
        options.limits.calls_per_second = Some(1);
        options.limits.calls_burst = Some(3);
    })
    .await;
    let session = service.session(TOKEN).await;
    for _ in 0..2 {
        service.send(&service.call(GOOD)).await.is(200);
    }
    service.send(&service.of_session(&session, &legacy_call(1, GOOD))).await.is(200);
    let rows = [service.call(GOOD), service.of_session(&session, &legacy_call(2, GOOD))];
    for ask in rows {
        // One call per second is allowed.
        let mut answer = service.send(&ask).await;
        for _ in 0..100 {
            if answer.status == 429 {
                break;
            }
            answer = service.send(&ask).await;
        }
        let wait: u32 = answer.is(429).header("retry-after").unwrap().parse().unwrap();
        assert!((1..=3).contains(&wait), "{wait}");
    }
    service.send(&service.list()).await.is(200);
    let other = service.call(GOOD).having("Authorization", &format!("Bearer {OTHER_TOKEN}"));
    service.send(&other).await.is(200);
}

#[tokio::test]
async fn a_call_over_a_rate_limit_of_the_policy_is_a_result_that_says_when_to_try_again() {
    let limit = "[[rate-limit]]\nper = \"principal\"\nrate = \"1/h\"\n";
    let service = Service::under(&format!("{PATIENT}{limit}"), |_| {}).await;
    assert_eq!(service.send(&service.call(GOOD)).await.is(200).last()["result"]["isError"], false);
    let refused = service.send(&service.call(GOOD)).await.is(200).last();
    let result = &refused["result"];
    assert_eq!((&result["isError"], &result["_meta"]["portcullis/code"]), (&json!(true), &json!("rate-limited")));
    assert!(result["_meta"]["portcullis/retry-after"].as_u64().is_some_and(|wait| wait > 3500), "{result}");
    let other = service.call(GOOD).having("Authorization", &format!("Bearer {OTHER_TOKEN}"));
    assert_eq!(service.send(&other).await.is(200).last()["result"]["isError"], false);
}

/// The calls run four at a time, which is the host's number of run slots.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_concurrent_calls_all_complete_in_every_era() {
    let service = Service::open().await;
    let session = service.session(TOKEN).await;
    let mut open = JoinSet::new();
    for id in 1..=200 {
        let ask = match id % 2 {
            0 => service.call(GOOD),
            _ => service.of_session(&session, &legacy_call(id, GOOD)),
        };
        let address = service.address();
        open.spawn(async move { ask.send(address).await.is(200).last() });
    }
    let results = timeout(PATIENCE, open.join_all()).await.unwrap();
    assert_eq!(results.len(), 200);
    for result in results {
        assert!(result["result"]["content"].is_array() && result["result"]["isError"] != true, "{result}");
    }
    assert_eq!(service.host.calls_under_way(), 0);
}

#[tokio::test]
async fn a_server_that_stops_reports_and_records_the_calls_that_it_cancels() {
    let service = Service::under(PATIENT, |_| {}).await;
    let session = service.session(TOKEN).await;
    let address = service.address();
    let listen = modern("subscriptions/listen", json!({ "notifications": { "toolsListChanged": true } }));
    let streams = [service.ask("GET").with("Mcp-Session-Id", &session), service.modern(&listen)];
    let mut listening = Vec::new();
    for stream in streams {
        listening.push(stream.open(address).await.1);
    }
    let mut open = JoinSet::new();
    for ask in [service.call(SLEEP), service.of_session(&session, &legacy_call(1, SLEEP))] {
        open.spawn(async move { ask.send(address).await.is(200).last() });
    }
    under_way(&service, 2).await;
    let Service { host, running, .. } = service;
    running.stop().await;
    assert_eq!(host.calls_under_way(), 0);
    for answer in timeout(PATIENCE, open.join_all()).await.unwrap() {
        assert!(answer["id"] == 1 && answer["error"]["code"] == -32000, "{answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains("the server is stopping"), "{answer}");
    }
    for mut stream in listening {
        let _ = timeout(PATIENCE, stream.read_to_end(&mut Vec::new())).await.unwrap();
    }
    assert!(TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn a_call_that_ends_within_the_shutdown_grace_period_is_answered() {
    let policy = "[limits]\ntime = \"100 ms\"\n[[rule]]\ntool = \"*.*\"\ndecision = \"allow\"\n";
    let service = Service::under(policy, |_| {}).await;
    let (ask, address) = (service.call(SLEEP), service.address());
    let answer = tokio::spawn(async move { ask.send(address).await.is(200).last() });
    under_way(&service, 1).await;
    service.running.stop().await;
    let answer = timeout(PATIENCE, answer).await.unwrap().unwrap();
    // The call reached its own time limit, and the client gets that result.
    assert!(answer["result"]["isError"] == true, "{answer}");
}

/// Lets a client repeat a call without an approval.
const REPEATS: &str = "[approvals]\nrepeats = 1000000\n";

/// Sets how many calls a client may make.
fn serving(second: u32, burst: u32) -> String {
    format!("{REPEATS}{PATIENT}[serve]\ncalls-per-second = {second}\ncalls-burst = {burst}\n")
}

/// Sends calls of one principal, one after the other. Returns how many of them were not refused.
async fn calls_before_a_refusal(service: &Service, most: usize) -> usize {
    for made in 0..most {
        if service.send(&service.call(GOOD)).await.status == 429 {
            return made;
        }
    }
    most
}

#[tokio::test]
async fn the_options_set_the_rate_of_calls_before_the_policy_and_the_policy_before_the_defaults() {
    const MANY: usize = 12;
    let few = 3..8;
    let policy = Service::under(&serving(1, 3), |_| {}).await;
    let made = calls_before_a_refusal(&policy, MANY).await;
    assert!(few.contains(&made), "the policy is not heeded: {made}");
    let options = Service::under(&serving(1, 3), |options| {
        options.limits.calls_per_second = Some(1000);
        options.limits.calls_burst = Some(1000);
    })
    .await;
    assert_eq!(calls_before_a_refusal(&options, MANY).await, MANY, "the options do not come first");
    let strict = Service::under(&serving(1000, 1000), |options| {
        options.limits.calls_per_second = Some(1);
        options.limits.calls_burst = Some(3);
    })
    .await;
    let made = calls_before_a_refusal(&strict, MANY).await;
    assert!(few.contains(&made), "the options do not come first: {made}");
    // Each number by itself: the rate of the options, and the burst of the policy.
    let both = Service::under(&serving(1000, 3), |options| options.limits.calls_per_second = Some(1)).await;
    let made = calls_before_a_refusal(&both, MANY).await;
    assert!(few.contains(&made), "the numbers do not count by themselves: {made}");
    assert_eq!(calls_before_a_refusal(&Service::under(&format!("{REPEATS}{PATIENT}"), |_| {}).await, MANY).await, MANY);
}
