//! Responses: their form, their limits, and failures.

use crate::openapi::desk::{Desk, json_of, text_of};
use portcullis::{Code, Output, Part};
use portcullis_tests::net::Behaviour;
use serde_json::json;
use std::time::Duration;

async fn answering(status: u16, headers: &[(&str, &str)], body: impl AsRef<[u8]>) -> Desk {
    let answer = Behaviour::whole(status, headers, body);
    Desk::answering(&json!({ "/a": { "get": { "operationId": "get" } } }), Behaviour::answer(move |_| answer.clone()))
        .await
}

const JSON: (&str, &str) = ("content-type", "application/json");

#[tokio::test]
async fn json_has_its_status_and_the_headers_that_say_how_to_continue() {
    let headers = [
        ("content-type", "application/problem+json; charset=utf-8"),
        ("link", "</a?page=2>; rel=\"next\""),
        ("x", "y"),
    ];
    let reply = answering(201, &headers, "[1]").await.call("get", &json!({})).await;
    let expected = json!({ "status": 201, "headers": { "link": "</a?page=2>; rel=\"next\"" }, "body": [1] });
    assert_eq!(json_of(&reply), expected);
    let reply = answering(204, &[("location", "/b")], "").await.call("get", &json!({})).await;
    assert_eq!(json_of(&reply), json!({ "status": 204, "headers": { "location": "/b" } }));
}

#[tokio::test]
async fn text_and_json_that_would_change_are_text() {
    let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
    let rows = [
        ("text/html", "<p>é"),
        ("application/json", "not JSON"),
        ("application/json", "{\"id\":12345678901234567890123}"),
        ("application/json", &deep),
    ];
    for (media_type, body) in rows {
        let desk = answering(200, &[("content-type", media_type)], body).await;
        assert_eq!(text_of(&desk.call("get", &json!({})).await), body);
    }
    let desk = answering(200, &[JSON], "{\"id\":18446744073709551615}").await;
    assert_eq!(json_of(&desk.call("get", &json!({})).await)["body"]["id"], 18_446_744_073_709_551_615_u64);
}

#[tokio::test]
async fn other_bytes_are_a_file_or_an_image() {
    for (media_type, is_image) in [("image/png", true), ("application/zip", false), ("", false)] {
        let headers = [("content-type", media_type)];
        let headers = if media_type.is_empty() { &headers[..0] } else { &headers[..] };
        let reply = answering(200, headers, b"\x89PNG\xff\x00").await.call("get", &json!({})).await;
        assert_eq!(reply.code, Code::Completed, "{}", reply.message);
        let Some(Output::Parts(parts)) = &reply.output else { panic!("{:?}", reply.output) };
        match &parts[..] {
            [Part::Image(blob)] if is_image => {
                assert_eq!((&blob.data[..], blob.media_type.as_str()), (&b"\x89PNG\xff\x00"[..], media_type))
            }
            [Part::File(_)] if !is_image => {}
            other => panic!("{media_type}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn a_large_body_is_cut() {
    let reply =
        answering(200, &[("content-type", "text/plain")], "x".repeat(300_000)).await.call("get", &json!({})).await;
    let text = text_of(&reply);
    assert!(text.ends_with("x\n(the response is larger than 192 KiB; only its beginning was read)"), "{}", text.len());
    let reply = answering(200, &[JSON], format!("[{}1]", "1,".repeat(200_000))).await.call("get", &json!({})).await;
    assert!(text_of(&reply).starts_with("[1,1,"));
    let reply =
        answering(200, &[("content-type", "application/zip")], "x".repeat(300_000)).await.call("get", &json!({})).await;
    assert_eq!(text_of(&reply), "(the response is larger than 192 KiB; only its beginning was read)");
}

#[tokio::test]
async fn an_error_of_the_server_is_a_failure_with_the_beginning_of_its_body() {
    let desk = answering(404, &[JSON], "{\"message\":\"no such pet\"}").await;
    let reply = desk.call("get", &json!({})).await;
    assert_eq!(reply.code, Code::ToolFailed, "{}", reply.message);
    assert!(reply.message.contains("the server answered 404\n{\"message\":\"no such pet\"}"), "{}", reply.message);
    let reply = answering(500, &[], format!("\u{1b}[31m{}", "x".repeat(1 << 20))).await.call("get", &json!({})).await;
    assert_eq!(reply.code, Code::ToolFailed, "{}", reply.message);
    assert!(reply.message.len() < 3000 && !reply.message.contains('\u{1b}'), "{}", reply.message);
    let reply = answering(429, &[("retry-after", "7")], "slow down").await.call("get", &json!({})).await;
    assert!(reply.message.contains("Retry after: 7\nslow down"), "{}", reply.message);
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let desk = answering(302, &[("location", "http://127.0.0.1:1/elsewhere")], "").await;
    let reply = desk.call("get", &json!({})).await;
    assert!(
        reply.message.contains("it redirects to http://127.0.0.1:1/elsewhere, which is not followed"),
        "{}",
        reply.message
    );
    assert_eq!(desk.server.texts().len(), 1);
}

#[tokio::test]
async fn a_server_that_drips_is_stopped() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n";
    let behaviour = Behaviour::flood(head, "x".repeat(64 * 1024));
    let desk = Desk::answering(&json!({ "/a": { "get": { "operationId": "get" } } }), behaviour).await;
    let reply = tokio::time::timeout(Duration::from_secs(20), desk.call("get", &json!({}))).await.unwrap();
    assert!(text_of(&reply).ends_with("only its beginning was read)"));
}
