//! How much a call may send, and how many connections it may open. N27, N35, N38.

use crate::network::lab::{Grant, Lab, Plan, answered, denied, failed, to, values, with};
use portcullis::{Code, Request};
use portcullis_tests::net::{Behaviour, Server};
use serde_json::json;
use std::time::Duration;

/// The guest sends ten thousand requests, of which the budget allows a few.
#[tokio::test]
async fn n27_a_flood_of_requests_ends_at_the_budget() {
    let server = Server::plain(Behaviour::ok());
    let lab = Lab::open(Grant::to(&["good.test"], &server).set("requests", "5")).await;
    lab.dns.point("good.test", &["127.0.0.1"]);
    let result = lab.one(with(to("good.test", &server, "/"), &json!({ "times": 10_000 }))).await;
    assert_eq!(result["counts"], json!({ "200": 5, "HttpRequestDenied": 9995 }), "{result}");
    denied(&result["last"]);
    assert_eq!((server.connections(), server.seen().requests.len()), (5, 5));
    // Each call has its own budget, so the next call can send as much.
    answered(&lab.one(to("good.test", &server, "/")).await, 200);
}

/// Requests to denied destinations cost no look-up and no connection, however many there are.
#[tokio::test]
async fn n27_denied_requests_contact_no_server() {
    let server = Server::plain(Behaviour::ok());
    let lab = Lab::good(&server).await;
    let result = lab.one(with(to("evil.test", &server, "/"), &json!({ "times": 10_000 }))).await;
    assert_eq!(result["counts"], json!({ "HttpRequestDenied": 10_000 }));
    server.saw_nothing();
    assert_eq!(lab.dns.asked(), Vec::<String>::new());
}

/// Both routes to the same key share a budget.
#[tokio::test]
async fn n27_the_default_client_has_no_budget_of_its_own() {
    let server = Server::plain(Behaviour::ok());
    let lab = Lab::open(Grant::to(&["good.test"], &server).set("requests", "3")).await;
    lab.dns.point("good.test", &["127.0.0.1"]);
    let request = with(to("good.test", &server, "/"), &json!({ "times": 10 }));
    lab.send(vec![request.clone(), with(request.clone(), &json!({ "client": "default" })), request]).await;
    assert_eq!(server.seen().requests.len(), 3);
}

/// The limit per minute counts the requests of all calls of the plugin, in every session.
#[tokio::test]
async fn n27_requests_per_minute_are_counted_across_calls() {
    let server = Server::plain(Behaviour::ok());
    let grant = Grant::to(&["good.test"], &server).set("requests-per-minute", "4");
    let lab = Plan::new().await.grant("api", grant).open().await;
    lab.dns.point("good.test", &["127.0.0.1"]);
    let mut results = Vec::new();
    for session in ["one", "one", "two", "three"] {
        let errands = json!({ "errands": [to("good.test", &server, "/"), to("good.test", &server, "/")] });
        let request = Request::new("courier.send", errands.to_string()).session(session);
        results.extend(values(&lab.host.call(request).await));
    }
    results[..4].iter().for_each(|result| answered(result, 200));
    results[4..].iter().for_each(denied);
    assert_eq!(server.seen().requests.len(), 4);
}

/// A body ends at the budget of one request, and the server never gets all of it.
#[tokio::test]
async fn n27_an_upload_ends_at_the_budget() {
    let server = Server::plain(Behaviour::ok());
    let lab = Lab::open(Grant::to(&["good.test"], &server).set("request-bytes", "\"64 KiB\"")).await;
    lab.dns.point("good.test", &["127.0.0.1"]);
    let post = |copies: u32| {
        let fields = json!({ "method": "POST", "body": "x".repeat(1024), "copies": copies });
        with(to("good.test", &server, "/"), &fields)
    };
    let result = lab.one(post(64)).await;
    answered(&result, 200);
    assert_eq!(server.seen().requests.len(), 1);
    for copies in [65, 1024, 16 * 1024] {
        failed(&lab.one(post(copies)).await);
    }
    assert_eq!(server.seen().requests.len(), 1, "the server got a whole body over the budget");
    let heard: usize = server.seen().heard.iter().map(Vec::len).sum();
    assert!(heard < 5 * 65 * 1024, "{heard} bytes arrived");
}

/// Headers, path and query are limited as well as bodies.
#[tokio::test]
async fn n27_long_heads_are_rejected() {
    let server = Server::plain(Behaviour::ok());
    let lab = Lab::good(&server).await;
    let long = "x".repeat(200_000);
    let request = to("good.test", &server, "/");
    let many: Vec<_> = (0..3000).map(|index| json!([format!("x-{index}"), "v".repeat(50)])).collect();
    for errand in [
        with(request.clone(), &json!({ "headers": [["x-a", long]] })),
        with(request, &json!({ "headers": many })),
        to("good.test", &server, &format!("/?{long}")),
    ] {
        // A plugin that collects more headers than its limit allows is stopped.
        let reply = lab.call("courier.send", &json!({ "errands": [errand] })).await;
        if reply.code == Code::Completed {
            failed(&values(&reply)[0]);
        }
    }
    server.saw_nothing();
}

/// Of ten thousand concurrent requests, only a few connections are open at a time.
#[tokio::test]
async fn n38_a_storm_of_connections_is_limited() {
    let first = "HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n";
    let server = Server::plain(Behaviour::drip(first, "x", Duration::from_millis(300)));
    let grant = Grant::to(&["good.test"], &server).set("time", "\"1 s\"");
    let lab = Lab::open(grant).await;
    lab.dns.point("good.test", &["127.0.0.1"]);
    let errands =
        json!({ "errands": [with(to("good.test", &server, "/"), &json!({ "times": 2000, "together": true }))] });
    let mut most = 0;
    let mut call = std::pin::pin!(lab.call("courier.send", &errands));
    loop {
        tokio::select! {
            _ = &mut call => break,
            () = tokio::time::sleep(Duration::from_millis(5)) => most = most.max(server.seen().open),
        }
    }
    assert!((1..=64).contains(&most), "{most} connections were open at once");
    server.is_left().await;
}

/// No connection serves two requests, so that no other plugin, key, session or secret can use it.
#[tokio::test]
async fn n35_every_request_has_its_own_connection() {
    let server = Server::plain(Behaviour::ok());
    let grant = Grant::to(&["good.test"], &server);
    let plan = Plan::new().await.grant("api", grant.clone()).grant("other", grant.clone());
    let lab = plan.grant_twin("api", grant).open().await;
    lab.dns.point("good.test", &["127.0.0.1"]);
    let request = |path: &str, client: &str| with(to("good.test", &server, path), &json!({ "client": client }));
    let own = lab.send(vec![request("/a", "api"), request("/b", "other"), request("/c", "default")]).await;
    let twin = lab.send_as("drifter.send", vec![request("/d", "api"), request("/e", "default")]).await;
    own.iter().chain(&twin).for_each(|result| answered(result, 200));
    let seen = server.seen();
    assert_eq!((seen.connections, seen.requests.len()), (5, 5));
    for heard in &seen.heard {
        assert_eq!(String::from_utf8_lossy(heard).matches(" HTTP/1.1\r\n").count(), 1);
    }
}
