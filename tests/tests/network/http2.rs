//! HTTP/2: a normal response, and malicious frames. N29.

use crate::network::lab::{Grant, Lab, Plan, answered, to, with};
use portcullis_tests::net::{Authority, Behaviour, FrameKind, Server, frame, opening};
use serde_json::{Value, json};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

static GOOD: LazyLock<Authority> = LazyLock::new(|| Authority::new("good"));

fn server(behaviour: Behaviour) -> Server {
    let mut config = GOOD.serves(&["good.test", "other.test"]);
    config.alpn_protocols = vec![b"h2".to_vec()];
    Server::tls(config, behaviour)
}

async fn lab(server: &Server) -> Lab {
    let grant =
        Grant::tls(&["good.test", "other.test"], server).set("time", "\"2 s\"").set("response-bytes", "\"1 MiB\"");
    let lab = Plan::new().await.file("roots.pem", &GOOD.pem()).grant("api", grant).open().await;
    lab.dns.point("good.test", &["127.0.0.1"]);
    lab.dns.point("other.test", &["127.0.0.1"]);
    lab
}

fn secure(name: &str, server: &Server) -> Value {
    with(to(name, server, "/a?b"), &json!({ "scheme": "https" }))
}

#[tokio::test]
async fn n29_http2_is_supported() {
    let server = server(Behaviour::http2_ok());
    let lab = lab(&server).await;
    let result = lab.one(with(secure("good.test", &server), &json!({ "method": "POST", "body": "hello" }))).await;
    answered(&result, 200);
    assert_eq!(result["body"], "ok");
    let text = server.texts().remove(0);
    assert!(text.starts_with(&format!("POST https://good.test:{}/a?b HTTP/2.0\r\n", server.port())), "{text}");
    assert!(text.ends_with("hello"), "{text}");
    assert!(
        !text.contains("\r\nhost:") || text.contains(&format!("\r\nhost: good.test:{}\r\n", server.port())),
        "{text}"
    );
}

/// Two names share one certificate. Each still gets its own connection, under its own name.
#[tokio::test]
async fn n29_connections_are_not_shared_between_hosts() {
    let server = server(Behaviour::http2_ok());
    let lab = lab(&server).await;
    for name in ["good.test", "other.test", "good.test"] {
        answered(&lab.one(secure(name, &server)).await, 200);
    }
    let seen = server.seen();
    assert_eq!((seen.connections, seen.requests.len()), (3, 3));
    let names: Vec<_> = seen.names.iter().flatten().map(String::as_str).collect();
    assert_eq!(names, ["good.test", "other.test", "good.test"]);
}

/// An endless stream of frames ends in an error within the time limit, uses little memory, and does not affect the
/// host.
#[tokio::test]
async fn n29_floods_of_frames_end() {
    let header = frame(FrameKind::Headers, 0x4, 1, &[0x88]);
    // Another name and value each time, which enter the HPACK table.
    let literal = [&[0x40, 5][..], b"x-aaa", &[100], &[b'v'; 100]].concat();
    let floods = [
        ("resets", frame(FrameKind::Reset, 0, 1, &[0, 0, 0, 8]), frame(FrameKind::Reset, 0, 1, &[0, 0, 0, 8])),
        ("empty data", opening(), frame(FrameKind::Data, 0, 1, &[]).repeat(1000)),
        ("padded data", opening(), frame(FrameKind::Data, 0x8, 1, &[vec![255], vec![0; 255]].concat()).repeat(100)),
        ("pings", Vec::new(), frame(FrameKind::Ping, 0, 0, &[0; 8]).repeat(1000)),
        ("settings", Vec::new(), frame(FrameKind::Settings, 0, 0, &[0, 4, 0, 1, 0, 0]).repeat(1000)),
        ("headers", Vec::new(), header.repeat(1000)),
        (
            "continuations",
            frame(FrameKind::Headers, 0, 1, &[0x88]),
            frame(FrameKind::Continuation, 0, 1, &literal.repeat(20)).repeat(20),
        ),
        (
            "empty continuations",
            frame(FrameKind::Headers, 0, 1, &[0x88]),
            frame(FrameKind::Continuation, 0, 1, &[]).repeat(1000),
        ),
        (
            "large headers",
            frame(FrameKind::Headers, 0x4, 1, &[&[0x88][..], &literal.repeat(150)].concat()),
            opening().repeat(100),
        ),
        ("promises", Vec::new(), frame(FrameKind::Promise, 0x4, 1, &[0, 0, 0, 2, 0x82, 0x84, 0x87]).repeat(1000)),
        ("data of no stream", Vec::new(), frame(FrameKind::Data, 0, 7, &[0; 100]).repeat(100)),
        ("nonsense", Vec::new(), vec![0xff; 4096]),
        ("a body without end", opening(), frame(FrameKind::Data, 0, 1, &[0; 16_000])),
    ];
    for (name, first, again) in floods {
        let server = server(Behaviour::Frames { first, again });
        let lab = lab(&server).await;
        let began = Instant::now();
        let result = lab.one(secure("good.test", &server)).await;
        assert!(began.elapsed() < Duration::from_secs(6), "{name} took {:?}", began.elapsed());
        assert!(result["error"].is_string(), "{name} returned {result}");
        assert!(result["bytes"].as_u64().unwrap_or(0) <= 1 << 20, "{name}: {result}");
        server.is_left().await;
    }
}

/// Dropping many responses at once resets their streams. The server sees only the guest's requests.
#[tokio::test]
async fn n29_a_guest_cannot_do_a_rapid_reset() {
    let server = server(Behaviour::http2_ok());
    let lab = lab(&server).await;
    let request = with(secure("good.test", &server), &json!({ "times": 50, "together": true, "read": 0 }));
    lab.one(request).await;
    let seen = server.seen();
    assert!(seen.requests.len() <= 50);
    assert!(seen.connections >= seen.requests.len(), "requests shared a connection");
}
