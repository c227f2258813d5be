//! Limits on responses: size, duration, and form. N23, N24, N26, N30.

use crate::network::lab::{Grant, Lab, answered, failed, to, with};
use flate2::Compression;
use flate2::write::GzEncoder;
use portcullis_tests::net::{Behaviour, Server};
use serde_json::{Value, json};
use std::io::Write;
use std::time::{Duration, Instant};

/// The limit on a response in these tests.
const CAP: u64 = 1 << 20;

/// Bytes that may be in flight beyond the limit, in the buffers of both sides.
const ON_ITS_WAY: u64 = 16 << 20;

/// Maximum duration of each test request.
const SOON: Duration = Duration::from_secs(8);

async fn lab(server: &Server) -> Lab {
    let grant = Grant::to(&["good.test"], server).set("response-bytes", "\"1 MiB\"");
    let lab = Lab::open(grant).await;
    lab.dns.point("good.test", &["127.0.0.1"]);
    lab
}

/// Sends a request, and asserts that the response ends at the limit with an error that says so, and that the connection
/// is closed.
async fn capped(behaviour: Behaviour) -> Value {
    let server = Server::plain(behaviour);
    let lab = lab(&server).await;
    let began = Instant::now();
    let result = lab.one(to("good.test", &server, "/")).await;
    assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
    failed(&result);
    assert!(result["bytes"].as_u64().unwrap_or(0) <= CAP, "{result}");
    assert!(server.seen().said <= CAP + ON_ITS_WAY, "{} bytes were taken", server.seen().said);
    server.is_left().await;
    result
}

const ZEROS: &str = "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n";

#[tokio::test]
async fn n23_an_endless_body_ends_at_the_limit() {
    capped(Behaviour::flood(ZEROS, vec![0; 65536])).await;
}

#[tokio::test]
async fn n23_an_endless_chunked_body_ends_at_the_limit() {
    let chunk = [b"10000\r\n".as_slice(), &[0; 65536], b"\r\n"].concat();
    capped(Behaviour::flood("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", chunk)).await;
}

#[tokio::test]
async fn n23_chunks_of_one_byte_end_at_the_limit() {
    let chunk = b"1\r\n\0\r\n".repeat(4096);
    capped(Behaviour::flood("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", chunk)).await;
}

#[tokio::test]
async fn n23_a_length_beyond_the_limit_is_rejected() {
    let head = "HTTP/1.1 200 OK\r\ncontent-length: 10737418240\r\n\r\n";
    capped(Behaviour::flood(head, vec![0; 65536])).await;
}

/// A body of exactly the limit is accepted, and one more byte is not.
#[tokio::test]
async fn n23_the_limit_is_exact() {
    for (length, whole) in [(CAP, true), (CAP + 1, false)] {
        let body = vec![b'a'; usize::try_from(length).unwrap()];
        for head in [&[][..], &[("connection", "close")]] {
            let answer = Behaviour::whole(200, head, &body);
            let server = Server::plain(Behaviour::answer(move |_| answer.clone()));
            let lab = lab(&server).await;
            let result = lab.one(to("good.test", &server, "/")).await;
            assert_eq!(result["error"].is_null(), whole, "{length}: {}", result["error"]);
            assert!(!whole || result["bytes"] == length);
        }
    }
}

/// Limits apply to decoded bytes, not to received ones.
#[tokio::test]
async fn n24_a_gzip_bomb_ends_at_the_limit() {
    let result = capped(bomb("gzip")).await;
    assert!(result["bytes"].as_u64().unwrap_or(0) <= CAP, "{result}");
}

#[tokio::test]
async fn n24_a_nested_bomb_ends_at_the_limit() {
    for coding in ["gzip, gzip", "gzip, gzip, gzip, gzip, gzip, gzip, gzip, gzip", "x-gzip"] {
        let server = Server::plain(bomb(coding));
        let lab = lab(&server).await;
        let began = Instant::now();
        let result = lab.one(to("good.test", &server, "/")).await;
        assert!(began.elapsed() < SOON, "{coding}: {:?}", began.elapsed());
        // The body may be decoded below the limit, rejected, or passed on encoded, but is never longer than the limit.
        assert!(result["bytes"].as_u64().unwrap_or(0) <= CAP, "{coding}: {result}");
        server.is_left().await;
    }
}

/// Ten megabytes that decode to ten gigabytes: one compressed megabyte of zeros, repeated as members.
fn bomb(coding: &str) -> Behaviour {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    let zeros = vec![0; 1 << 20];
    for _ in 0..1024 {
        encoder.write_all(&zeros).unwrap();
    }
    let member = encoder.finish().unwrap();
    let first = format!("HTTP/1.1 200 OK\r\ncontent-encoding: {coding}\r\nconnection: close\r\n\r\n");
    Behaviour::Stream { first: first.into(), times: 10, piece: member }
}

/// A coding that the host did not request is neither decoded nor passed on.
#[tokio::test]
async fn n24_other_codings_are_rejected() {
    for coding in ["br", "zstd", "deflate", "compress", "gzip, br", "br, gzip", "x", "gzip;q=1", "\u{e9}"] {
        let answer = Behaviour::whole(200, &[("content-encoding", coding)], [0x1b; 64]);
        let server = Server::plain(Behaviour::answer(move |_| answer.clone()));
        let lab = lab(&server).await;
        failed(&lab.one(to("good.test", &server, "/")).await);
        // It makes no difference if a guest requests the coding.
        let wish = json!({ "headers": [["accept-encoding", "br, zstd, deflate"]] });
        let result = lab.one(with(to("good.test", &server, "/"), &wish)).await;
        assert!(result["error"].is_string() || result["bytes"] == 64, "{coding}: {result}");
    }
}

/// An honest compressed response is decoded.
#[tokio::test]
async fn n24_a_compressed_answer_is_read() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(b"roses are red").unwrap();
    let body = encoder.finish().unwrap();
    let answer = Behaviour::whole(200, &[("content-encoding", "gzip")], &body);
    let server = Server::plain(Behaviour::answer(move |_| answer.clone()));
    let lab = lab(&server).await;
    let result = lab.one(to("good.test", &server, "/")).await;
    answered(&result, 200);
    assert_eq!(result["body"], "roses are red");
    // The headers for the encoded length and the coding no longer apply.
    let headers = result["headers"].to_string();
    assert!(!headers.contains("content-encoding"), "{headers}");
    assert!(!headers.contains(&format!("\"{}\"", body.len())), "{headers}");
}

/// A compressed response that is truncated or invalid is an error.
#[tokio::test]
async fn n24_a_broken_compressed_answer_is_an_error() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&vec![7; 100_000]).unwrap();
    let whole = encoder.finish().unwrap();
    for body in [&whole[..whole.len() / 2], b"not compressed at all", b"\x1f\x8b"] {
        let answer = Behaviour::whole(200, &[("content-encoding", "gzip")], body);
        let server = Server::plain(Behaviour::answer(move |_| answer.clone()));
        let lab = lab(&server).await;
        failed(&lab.one(to("good.test", &server, "/")).await);
    }
}

#[tokio::test]
async fn n26_endless_headers_end() {
    let line = format!("x-a: {}\r\n", "v".repeat(65_000));
    capped(Behaviour::flood("HTTP/1.1 200 OK\r\n", line.repeat(16))).await;
}

#[tokio::test]
async fn n26_one_endless_header_ends() {
    capped(Behaviour::flood("HTTP/1.1 200 OK\r\nx-a: ", vec![b'v'; 65536])).await;
}

#[tokio::test]
async fn n26_an_endless_status_line_ends() {
    capped(Behaviour::flood("HTTP/1.1 200 ", vec![b'v'; 65536])).await;
}

#[tokio::test]
async fn n26_many_small_headers_end() {
    capped(Behaviour::flood("HTTP/1.1 200 OK\r\n", b"a:b\r\n".repeat(10_000))).await;
}

#[tokio::test]
async fn n26_a_flood_of_continues_ends() {
    capped(Behaviour::flood("", b"HTTP/1.1 100 Continue\r\n\r\n".repeat(1000))).await;
}

#[tokio::test]
async fn n26_a_flood_of_hints_ends() {
    capped(Behaviour::flood("", b"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n".repeat(1000))).await;
}

#[tokio::test]
async fn n26_endless_trailers_end() {
    let first = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ntrailer: x\r\n\r\n2\r\nok\r\n0\r\n";
    let server = Server::plain(Behaviour::flood(first, b"a: b\r\n".repeat(10_000)));
    let lab = lab(&server).await;
    let began = Instant::now();
    let result = lab.one(to("good.test", &server, "/")).await;
    assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
    assert!(result.to_string().len() < 1 << 20);
    assert!(server.seen().said <= CAP + ON_ITS_WAY, "{} bytes were taken", server.seen().said);
    server.is_left().await;
}

#[tokio::test]
async fn n26_endless_extensions_of_a_chunk_end() {
    let first = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2;";
    capped(Behaviour::flood(first, vec![b'x'; 65536])).await;
}

/// A stream of events that the plugin leaves open is closed with the call.
#[tokio::test]
async fn n30_a_stream_ends_with_the_call() {
    let events = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
    let server = Server::plain(Behaviour::drip(events, "data: x\n\n", Duration::from_millis(20)));
    let lab = lab(&server).await;
    let before = descriptors();
    let request = with(to("good.test", &server, "/"), &json!({ "read": 20, "keep": true, "times": 20 }));
    for call in 1..=10 {
        // Only a few streams may be open in one call (N38).
        let result = lab.one(request.clone()).await;
        assert_eq!(result["counts"], json!({ "200": 8, "HttpRequestDenied": 12 }), "{result}");
        assert_eq!(server.connections(), 8 * call);
        server.is_left().await;
    }
    // Servers of other tests in this process open and close connections too, but eighty would be noticeable.
    assert!(descriptors() < before + 60, "{before} became {}", descriptors());
}

/// A plugin that is stopped while it reads a stream leaves no open connection.
#[tokio::test]
async fn n30_a_stream_ends_with_a_stopped_call() {
    let events = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
    let server = Server::plain(Behaviour::drip(events, "data: x\n\n", Duration::from_millis(20)));
    let grant = Grant::to(&["good.test"], &server).set("time", "\"10 s\"");
    let lab = crate::network::lab::Plan::new().await.grant("api", grant).limits("time = \"500 ms\"").open().await;
    lab.dns.point("good.test", &["127.0.0.1"]);
    let reply = lab.call("courier.send", &json!({ "errands": [to("good.test", &server, "/")] })).await;
    assert_ne!(reply.code, portcullis::Code::Completed);
    assert_eq!(server.connections(), 1);
    server.is_left().await;
}

/// Returns the number of descriptors that this process has open.
fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}
