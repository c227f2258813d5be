//! Request bodies.

use crate::openapi::desk::{Desk, text_of};
use serde_json::{Value, json};

fn post(id: &str, content: &Value, is_required: bool) -> Value {
    json!({ "post": { "operationId": id, "requestBody": { "required": is_required, "content": content } } })
}

#[tokio::test]
async fn a_body_is_sent_in_the_media_type_of_the_document() {
    let form = json!({ "application/x-www-form-urlencoded": {
        "schema": { "type": "object" },
        "encoding": { "meta": { "style": "deepObject", "explode": true }, "tags": { "explode": false } },
    } });
    let desk = Desk::of(&json!({
        "/json": post("json", &json!({ "application/xml": {}, "application/json": { "schema": { "type": "object" } } }), true),
        "/merge": post("merge", &json!({ "application/merge-patch+json; charset=utf-8": {} }), true),
        "/form": post("form", &form, true),
        "/text": post("text", &json!({ "text/plain": { "schema": { "type": "string" } } }), true),
        "/any": post("any", &json!({ "*/*": {} }), true),
        "/free": post("free", &json!({ "application/json": {} }), false),
    }))
    .await;
    let body = json!({ "name": "Tom & \"Jo\"\n", "tags": [1, null, { "é": true }], "big": 9_007_199_254_740_993_u64 });
    let rows = [
        (
            "json",
            body,
            "application/json",
            r#"{"big":9007199254740993,"name":"Tom & \"Jo\"\n","tags":[1,null,{"é":true}]}"#,
        ),
        ("merge", json!([]), "application/merge-patch+json; charset=utf-8", "[]"),
        (
            "form",
            json!({ "a b": "c&d=e\r\n", "list": [1, 2], "meta": { "x": 1 }, "none": null, "tags": ["p", "q"] }),
            "application/x-www-form-urlencoded",
            "a%20b=c%26d%3De%0D%0A&list=1&list=2&meta%5Bx%5D=1&tags=p,q",
        ),
        ("text", json!("plain\ntext"), "text/plain", "plain\ntext"),
        ("any", json!(1), "application/json", "1"),
        ("free", json!(null), "application/json", "null"),
    ];
    for (tool, body, media_type, expected) in rows {
        let request = desk.sent(tool, &json!({ "body": body })).await;
        let header = format!("content-type: {media_type}");
        assert_eq!(request, desk.request("POST", &format!("/v1/{tool}"), &[&header], expected), "{tool}");
    }
    let request = desk.sent("free", &json!({})).await;
    assert!(request.starts_with("POST /v1/free HTTP/1.1\r\n") && request.ends_with("\r\n\r\n"), "{request}");
    assert!(!request.contains("content-type"), "{request}");
    desk.refused("json", &json!({})).await;
    desk.refused("form", &json!({ "body": "a=b" })).await;
}

#[tokio::test]
async fn an_operation_whose_body_cannot_be_sent_is_listed_with_the_reason() {
    let desk = Desk::of(&json!({
        "/upload": post("upload", &json!({ "multipart/form-data": { "schema": { "type": "object" } } }), true),
        "/raw": post("raw", &json!({ "application/octet-stream": {} }), true),
        "/both": post("both", &json!({ "multipart/form-data": {} }), false),
    }))
    .await;
    let listed = text_of(&desk.call("operations", &json!({})).await);
    let expected = "both: POST /both\n\
                    skipped: POST /raw: its body is only application/octet-stream, which the plugin cannot send\n\
                    skipped: POST /upload: its body is only multipart/form-data, which the plugin cannot send";
    assert_eq!(listed, expected);
    desk.refused("both", &json!({ "body": {} })).await;
}
