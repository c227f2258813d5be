//! The limits: each stops what is too long, too slow or too much, and the next request works.

use crate::console::desk::ConsoleDesk;
use crate::guard::ask::PATIENCE;
use portcullis_console::{CONNECTIONS_MAX, FORM_BYTES_MAX, HEADERS_BYTES_MAX, HEADERS_TIME, STREAMS_MAX};
use std::time::Duration;
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;
use tokio::time::timeout;

#[tokio::test]
async fn a_form_that_is_too_long_is_rejected() {
    let desk = ConsoleDesk::new().await;
    let signed_in = desk.sign_in().await;
    let response = signed_in.post("/policy/explain", &[("arguments", &"x".repeat(FORM_BYTES_MAX))]).await;
    assert_eq!(response.status, 413);
}

#[tokio::test]
async fn a_form_that_does_not_arrive_is_rejected() {
    let desk = ConsoleDesk::new().await;
    let signed_in = desk.sign_in().await;
    let form = signed_in.form("/policy/explain", &[("tool", "good.run")]).body_less();
    let (response, _stream) = form.open(desk.address()).await;
    assert_eq!(response.status, 408);
    signed_in.get("/policy").await.is(200);
}

#[tokio::test]
async fn headers_that_are_too_many_or_too_long_are_rejected() {
    let desk = ConsoleDesk::new().await;
    let signed_in = desk.sign_in().await;
    let mut many = signed_in.request("GET", "/policy");
    for number in 0..70 {
        many = many.with(&format!("X-{number}"), "x");
    }
    many.send(desk.address()).await.is(431);
    let long = signed_in.request("GET", "/policy").with("X-Long", &"x".repeat(HEADERS_BYTES_MAX));
    long.send(desk.address()).await.is(431);
    signed_in.get("/policy").await.is(200);
}

#[tokio::test]
async fn one_page_too_many_gets_no_events_until_another_is_closed() {
    let desk = ConsoleDesk::new().await;
    let signed_in = desk.sign_in().await;
    let events = signed_in.request("GET", "/events");
    let mut streams = Vec::new();
    for _ in 0..STREAMS_MAX {
        let (response, stream) = events.open(desk.address()).await;
        streams.push(stream);
        assert_eq!(response.status, 200);
    }
    events.send(desk.address()).await.is(503);
    drop(streams.pop());
    let again = timeout(PATIENCE, async { while events.open(desk.address()).await.0.status != 200 {} });
    again.await.unwrap();
}

/// Others on this machine can open connections. They get no page, and they do not keep the signed-in browser out: the
/// oldest of them makes room.
#[tokio::test]
async fn connections_that_send_nothing_make_room_and_are_closed() {
    let desk = ConsoleDesk::new().await;
    let signed_in = desk.sign_in().await;
    let mut idle = Vec::new();
    for _ in 0..CONNECTIONS_MAX {
        idle.push(TcpStream::connect(desk.address()).await.unwrap());
    }
    signed_in.get("/policy").await.is(200);
    let mut byte = [0];
    let closed = timeout(PATIENCE, idle[0].read(&mut byte)).await;
    assert_eq!(closed.expect("the page came beside all other connections").unwrap(), 0, "the oldest makes room");
    let newest = idle.last_mut().unwrap();
    assert!(timeout(Duration::from_millis(1), newest.read(&mut byte)).await.is_err(), "only the oldest makes room");
    // Much sooner than a connection that already sent a request is closed.
    let closed = timeout(HEADERS_TIME * 4, newest.read(&mut byte)).await;
    assert_eq!(closed.expect("a silent connection stays open").unwrap(), 0);
}
