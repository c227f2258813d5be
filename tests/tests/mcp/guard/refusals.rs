//! The counters of refused requests and connections.

use crate::guard::ask::PATIENCE;
use crate::guard::service::{GOOD, Service};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

/// Returns the counters that are not zero.
fn counted(service: &Service) -> BTreeMap<&'static str, u64> {
    let counters = service.running.counters();
    let requests = counters.refused_requests().map(|(reason, count)| (reason.as_str(), count));
    let counted: BTreeMap<_, _> = requests.filter(|(_, count)| *count > 0).collect();
    counted
}

fn connections(service: &Service) -> BTreeMap<&'static str, u64> {
    service.running.counters().refused_connections().filter(|(_, count)| *count > 0).collect()
}

async fn until(what: &str, is: impl Fn() -> bool) {
    let reached = async {
        while !is() {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(PATIENCE, reached).await.unwrap_or_else(|_| panic!("timeout: {what}"));
}

#[tokio::test]
async fn each_refused_request_counts_once_by_its_reason() {
    let service = Service::with(|options| {
        options.limits.calls_per_second = Some(1);
        options.limits.calls_burst = Some(1);
    })
    .await;
    let list = service.list();
    service.send(&list.clone().having("Authorization", "Bearer wrong")).await.is(401);
    service.send(&list.clone().without("Authorization")).await.is(401);
    service.send(&list.clone().having("Host", "evil.example")).await.is(403);
    service.send(&list.clone().with("Origin", "http://evil.example")).await.is(403);
    service.send(&list.clone().having("Content-Length", "1099511627776").body_less()).await.is(413);
    let mut query = list.clone();
    query.line = "POST /mcp?token=x HTTP/1.1".to_owned();
    service.send(&query).await.is(400);
    service.send(&list.clone().body("{".to_owned())).await.is(400);
    service
        .send(&service.of_session("none", &serde_json::json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" })))
        .await
        .is(404);
    service.send(&service.call(GOOD)).await.is(200);
    service.send(&service.call(GOOD)).await.is(429);
    let expected = [
        "body-too-large",
        "call-rate",
        "host",
        "message",
        "origin",
        "query",
        "session",
        "token-invalid",
        "token-missing",
    ];
    assert_eq!(counted(&service), expected.map(|reason| (reason, 1)).into());
    service.send(&list).await.is(200);
    assert_eq!(counted(&service).values().sum::<u64>(), expected.len() as u64, "an accepted request counts");
}

#[tokio::test]
async fn a_connection_that_is_ended_for_others_counts_by_its_reason_and_others_do_not() {
    let service = Service::with(|options| {
        options.limits.connections = 2;
        options.limits.first_headers_time = Duration::from_secs(1);
        // A connection that lingers has not ended yet.
        options.limits.linger_time = Duration::from_millis(10);
    })
    .await;
    let address = service.address();
    service.send(&service.list()).await.is(200);
    let mut garbage = TcpStream::connect(address).await.unwrap();
    garbage.write_all(b"\0\x01\x02 no HTTP\r\n\r\n").await.unwrap();
    let _ = garbage.read_to_end(&mut Vec::new()).await;
    until("malformed", || connections(&service) == [("malformed", 1)].into()).await;

    let mut quiet = TcpStream::connect(address).await.unwrap();
    assert_eq!(quiet.read(&mut [0]).await.unwrap(), 0);
    until("late", || connections(&service) == [("headers-late", 1), ("malformed", 1)].into()).await;

    // Two of three connections have room.
    let _open = [TcpStream::connect(address).await.unwrap(), TcpStream::connect(address).await.unwrap()];
    until("open", || service.running.counters().open_connections() == 2).await;
    let _third = TcpStream::connect(address).await.unwrap();
    until("evicted", || connections(&service).contains_key("evicted")).await;
    until("closed", || service.running.counters().open_connections() == 0).await;
}
