//! Connections: which ones make room for others, and how the server closes them.

use crate::guard::ask::{Answer, Ask, PATIENCE, parse, read_to_end};
use crate::guard::service::{GOOD, SLEEP, Service, under_way};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

const SHORT: Duration = Duration::from_millis(200);

/// Longer than any test may take, so that only the tested mechanism can end a connection.
const NEVER: Duration = Duration::from_secs(3600);

/// An announced body length that is never sent completely: more than the server reads of a body before it responds.
const ANNOUNCED_BYTES: usize = 256 * 1024;

/// Requests that the server rejects before it has read the body.
fn refused(service: &Service) -> Vec<(u16, Ask)> {
    let list = service.list().having("Content-Length", &ANNOUNCED_BYTES.to_string()).body_less();
    let line = |line: &str| {
        let mut ask = list.clone();
        line.clone_into(&mut ask.line);
        ask
    };
    vec![
        (401, list.clone().having("Authorization", "Bearer wrong")),
        (401, list.clone().without("Authorization")),
        (403, list.clone().having("Host", "evil.example")),
        (403, list.clone().with("Origin", "http://evil.example")),
        (404, line("POST /other HTTP/1.1")),
        (405, line("PUT /mcp HTTP/1.1")),
        (400, line("POST /mcp?a=b HTTP/1.1")),
        (413, list.having("Content-Length", "1099511627776")),
    ]
}

/// Sends the head of a request and the start of its body, and reads until the server closes its direction.
async fn answered(service: &Service, ask: &Ask) -> (Answer, TcpStream) {
    let mut stream = TcpStream::connect(service.address()).await.unwrap();
    stream.write_all(&[&ask.bytes()[..], b"the beginning"].concat()).await.unwrap();
    let mut bytes = Vec::new();
    timeout(PATIENCE, stream.read_to_end(&mut bytes)).await.unwrap().unwrap();
    (parse(&bytes), stream)
}

#[tokio::test]
async fn a_client_that_still_sends_the_body_of_a_refused_request_is_not_reset() {
    let service = Service::with(|options| options.limits.linger_time = NEVER).await;
    for (status, ask) in refused(&service) {
        let (answer, mut stream) = answered(&service, &ask).await;
        let answer = answer.is(status);
        // The server has responded and closed its direction. If it did not keep reading, the next byte would cause a
        // reset.
        for _ in 0..16 {
            stream.write_all(&[b'x'; 4096]).await.unwrap_or_else(|error| panic!("{error} after {answer:?}"));
        }
    }
}

#[tokio::test]
async fn a_rejected_request_whose_body_never_arrives_frees_its_connection() {
    let service = Service::with(|options| {
        options.limits.connections = 1;
        options.limits.body_time = NEVER;
        options.limits.linger_time = SHORT;
    })
    .await;
    // With a token, so that no other connection may take the slot before this one ends.
    let huge = service.list().having("Content-Length", "1099511627776").body_less();
    let (answer, _open) = answered(&service, &huge).await;
    answer.is(413);
    service.send(&service.list()).await.is(200);
}

#[tokio::test]
async fn connections_without_a_token_make_room_for_one_with_a_token() {
    let service = Service::with(|options| {
        options.limits.connections = 4;
        options.limits.headers_time = NEVER;
        options.limits.first_headers_time = NEVER;
        options.limits.linger_time = NEVER;
    })
    .await;
    let mut open = Vec::new();
    for beginning in ["", "POST /mcp HTTP/1.1\r\nX-Slow: "] {
        for _ in 0..4 {
            let mut stream = TcpStream::connect(service.address()).await.unwrap();
            stream.write_all(beginning.as_bytes()).await.unwrap();
            open.push(stream);
        }
        service.send(&service.call(GOOD)).await.is(200);
    }
    for (_, ask) in refused(&service).into_iter().filter(|(status, _)| *status != 413) {
        open.push(answered(&service, &ask).await.1);
    }
    service.send(&service.call(GOOD)).await.is(200);
}

#[tokio::test]
async fn a_running_call_keeps_its_connection_during_a_flood() {
    let service = Service::with(|options| options.limits.connections = 2).await;
    let mut calling = TcpStream::connect(service.address()).await.unwrap();
    calling.write_all(&service.call(SLEEP).having("Connection", "close").bytes()).await.unwrap();
    under_way(&service, 1).await;
    let mut flood = Vec::new();
    for _ in 0..16 {
        flood.push(TcpStream::connect(service.address()).await.unwrap());
    }
    // The oldest connections of the flood are already closed, while the call still runs.
    for mut stream in flood.drain(..8) {
        let _ = timeout(PATIENCE, stream.read(&mut [0])).await.unwrap();
    }
    let answer = read_to_end(calling).await.is(200).last();
    assert!(answer["result"]["content"].is_array(), "{answer}");
}

#[tokio::test]
async fn a_connection_over_the_limit_waits_while_all_others_have_a_token() {
    let service = Service::with(|options| options.limits.connections = 1).await;
    let (_, held) = service.list().open(service.address()).await;
    let mut waiting = TcpStream::connect(service.address()).await.unwrap();
    waiting.write_all(&service.list().with("Connection", "close").bytes()).await.unwrap();
    let mut byte = [0];
    assert!(timeout(SHORT, waiting.read(&mut byte)).await.is_err(), "it was served while the other was open");
    drop(held);
    read_to_end(waiting).await.is(200);
}
