//! The maximum duration of a request, whatever the server does and the guest asks for. N25.

use crate::network::lab::{Grant, Lab, Plan, answered, failed, to, with};
use portcullis::{Code, LimitKind};
use portcullis_tests::net::{Behaviour, Server};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// The time limit of a request in these tests.
const TIME: Duration = Duration::from_millis(600);

/// Tolerance for a busy machine.
const GRACE: Duration = Duration::from_millis(2500);

/// Sends a request with a short limit and the guest's own timeouts, and asserts that the limit was enforced.
async fn in_time(behaviour: Behaviour, fields: &Value) -> Value {
    let server = Server::plain(behaviour);
    let lab = Lab::open(Grant::to(&["good.test"], &server).set("time", "\"600 ms\"")).await;
    lab.dns.point("good.test", &["127.0.0.1"]);
    let began = Instant::now();
    let result = lab.one(with(to("good.test", &server, "/"), fields)).await;
    assert!(began.elapsed() < TIME + GRACE, "{:?}", began.elapsed());
    failed(&result);
    server.is_left().await;
    result
}

/// Timeouts that a guest may set: none, zero, an hour, and the maximum.
fn wishes() -> Vec<Value> {
    let mut wishes = vec![json!({})];
    for time in [0, 1, 3_600_000_000_000, u64::MAX] {
        wishes.push(json!({ "connect": time, "first_byte": time, "between_bytes": time }));
    }
    wishes
}

#[tokio::test]
async fn n25_a_silent_server() {
    for wish in wishes() {
        in_time(Behaviour::Silent, &wish).await;
    }
}

#[tokio::test]
async fn n25_headers_that_never_end() {
    for wish in wishes() {
        in_time(Behaviour::drip("HTTP/1.1 200 OK\r\nx-a: ", "b", Duration::from_millis(50)), &wish).await;
    }
}

#[tokio::test]
async fn n25_a_body_of_single_bytes() {
    for wish in wishes() {
        let first = "HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n";
        in_time(Behaviour::drip(first, "b", Duration::from_millis(50)), &wish).await;
    }
}

#[tokio::test]
async fn n25_a_body_that_stops() {
    for wish in wishes() {
        let first = "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nbegin";
        in_time(Behaviour::drip(first, "", Duration::from_secs(600)), &wish).await;
    }
}

#[tokio::test]
async fn n25_a_body_in_chunks_that_never_ends() {
    let first = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    in_time(Behaviour::drip(first, "1\r\na\r\n", Duration::from_millis(50)), &json!({})).await;
}

#[tokio::test]
async fn n25_a_server_that_reads_no_body() {
    // The server's buffers take part of the body, and then block.
    let body = json!({ "method": "POST", "body": "x".repeat(1000), "copies": 20 });
    in_time(Behaviour::Silent, &body).await;
}

/// A guest may set a shorter timeout than its grant.
#[tokio::test]
async fn n25_a_guest_may_set_a_shorter_timeout() {
    let server = Server::plain(Behaviour::Silent);
    let lab = Lab::good(&server).await;
    let began = Instant::now();
    let result = lab.one(with(to("good.test", &server, "/"), &json!({ "first_byte": 300_000_000 }))).await;
    failed(&result);
    assert!(began.elapsed() < Duration::from_millis(4500), "{:?}", began.elapsed());
}

/// A connection that no server accepts.
#[tokio::test]
async fn n25_a_connection_that_is_never_accepted() {
    // The listener's queue is full, so further connections block.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    rustix::net::listen(&listener, 0).unwrap();
    let _waiting: Vec<_> = (0..4)
        .map(|_| std::thread::spawn(move || std::net::TcpStream::connect_timeout(&address, Duration::from_secs(1))))
        .map(|thread| thread.join().unwrap())
        .collect();
    let server = Server::plain(Behaviour::ok());
    let grant =
        Grant::to(&["good.test"], &server).set("time", "\"600 ms\"").set("ports", &format!("[{}]", address.port()));
    let lab = Lab::open(grant).await;
    lab.dns.point("good.test", &["127.0.0.1"]);
    for wish in wishes() {
        let began = Instant::now();
        let authority = format!("good.test:{}", address.port());
        let request = json!({ "client": "api", "authority": authority, "path": "/" });
        failed(&lab.one(with(request, &wish)).await);
        assert!(began.elapsed() < TIME + GRACE, "{:?}", began.elapsed());
    }
}

/// The time limit does not delay a quick response.
#[tokio::test]
async fn n25_a_quick_answer_arrives() {
    let server = Server::plain(Behaviour::ok());
    let lab = Lab::open(Grant::to(&["good.test"], &server).set("time", "\"2 s\"")).await;
    lab.dns.point("good.test", &["127.0.0.1"]);
    for time in [3_600_000_000_000_u64, u64::MAX] {
        let wish = json!({ "connect": time, "first_byte": time, "between_bytes": time });
        answered(&lab.one(with(to("good.test", &server, "/"), &wish)).await, 200);
    }
}

/// The server may have acted on a request without a body, although it has not answered.
#[tokio::test]
async fn n25_a_call_that_ends_first_names_the_request_that_it_has_sent() {
    let server = Server::plain(Behaviour::Silent);
    let plan = Plan::new().await.grant("api", Grant::to(&["good.test"], &server)).limits("time = \"1 s\"");
    let lab = plan.open().await;
    lab.dns.point("good.test", &["127.0.0.1"]);
    let delete = with(to("good.test", &server, "/orders/7"), &json!({ "method": "DELETE" }));
    let refused = with(to("evil.test", &server, "/"), &json!({}));
    let reply = lab.call("courier.send", &json!({ "errands": [refused, delete] })).await;
    assert_eq!(reply.code, Code::Limit(LimitKind::Time), "{}", reply.message);
    let sent = format!("Side effects before it ended: sent 1 request to good.test:{}.", server.port());
    assert!(reply.message.contains(&sent), "{}", reply.message);
}
