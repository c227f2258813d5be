//! Where and how the value of a parameter is written.

use crate::openapi::desk::{Desk, with_parameter};
use serde_json::{Map, Value, json};

/// A parameter, a value, and what the request then has.
struct Row {
    parameter: Value,
    value: Value,
    expected: &'static str,
}

fn row(place: &str, style: &str, explode: bool, value: Value, expected: &'static str) -> Row {
    let parameter = json!({ "name": "color", "in": place, "required": true, "style": style, "explode": explode });
    Row { parameter, value, expected }
}

fn text() -> Value {
    json!("blue")
}

fn list() -> Value {
    json!(["blue", "black", "brown"])
}

fn object() -> Value {
    json!({ "R": 100, "G": 200, "B": 150 })
}

/// Calls a tool for each row, and compares what the requests have.
async fn check(rows: &[Row], path: &str, found: impl Fn(&Desk, usize, &Row) -> String) {
    let paths: Map<String, Value> = rows
        .iter()
        .enumerate()
        .map(|(index, row)| {
            (path.replace("{index}", &index.to_string()), json!({ "get": with_parameter(&row.parameter) }))
        })
        .collect();
    let desk = Desk::of(&Value::Object(paths)).await;
    for (index, row) in rows.iter().enumerate() {
        let tool = match path.contains("{color}") {
            true => format!("get_p{index}_color_end"),
            false => format!("get_p{index}"),
        };
        let request = desk.sent(&tool, &json!({ "color": row.value })).await;
        assert_eq!(request, found(&desk, index, row), "{} {}", row.parameter, row.value);
    }
}

#[tokio::test]
async fn path_styles_follow_the_specification() {
    let rows = [
        row("path", "simple", false, text(), "blue"),
        row("path", "simple", false, list(), "blue,black,brown"),
        row("path", "simple", false, object(), "B,150,G,200,R,100"),
        row("path", "simple", true, object(), "B=150,G=200,R=100"),
        row("path", "label", false, text(), ".blue"),
        row("path", "label", false, list(), ".blue,black,brown"),
        row("path", "label", false, object(), ".B,150,G,200,R,100"),
        row("path", "label", true, list(), ".blue.black.brown"),
        row("path", "label", true, object(), ".B=150.G=200.R=100"),
        row("path", "matrix", false, text(), ";color=blue"),
        row("path", "matrix", false, list(), ";color=blue,black,brown"),
        row("path", "matrix", false, object(), ";color=B,150,G,200,R,100"),
        row("path", "matrix", true, list(), ";color=blue;color=black;color=brown"),
        row("path", "matrix", true, object(), ";B=150;G=200;R=100"),
        row("path", "simple", false, json!(7.5), "7.5"),
        row("path", "simple", false, json!(true), "true"),
    ];
    check(&rows, "/p{index}/{color}/end", |desk, index, row| {
        desk.request("GET", &format!("/v1/p{index}/{}/end", row.expected), &[], "")
    })
    .await;
}

#[tokio::test]
async fn query_styles_follow_the_specification() {
    let mut json_parameter =
        row("query", "form", false, json!({ "a": [1, "&"] }), "color=%7B%22a%22%3A%5B1%2C%22%26%22%5D%7D");
    json_parameter.parameter["content"] = json!({ "application/json": { "schema": { "type": "object" } } });
    let mut reserved = row("query", "form", true, json!("a/b?c=d&e#f+g"), "color=a/b?c%3Dd%26e%23f%2Bg");
    reserved.parameter["allowReserved"] = json!(true);
    let rows = [
        row("query", "form", true, json!(""), "color="),
        row("query", "form", true, text(), "color=blue"),
        row("query", "form", true, list(), "color=blue&color=black&color=brown"),
        row("query", "form", true, object(), "B=150&G=200&R=100"),
        row("query", "form", false, list(), "color=blue,black,brown"),
        row("query", "form", false, object(), "color=B,150,G,200,R,100"),
        row("query", "spaceDelimited", false, list(), "color=blue%20black%20brown"),
        row("query", "pipeDelimited", false, list(), "color=blue%7Cblack%7Cbrown"),
        row("query", "deepObject", true, object(), "color%5BB%5D=150&color%5BG%5D=200&color%5BR%5D=100"),
        row(
            "query",
            "deepObject",
            true,
            json!({ "a": [1, { "b": 2 }] }),
            "color%5Ba%5D%5B0%5D=1&color%5Ba%5D%5B1%5D%5Bb%5D=2",
        ),
        row("query", "form", true, json!("a/b?c=d&e#f+g é"), "color=a%2Fb%3Fc%3Dd%26e%23f%2Bg%20%C3%A9"),
        row("query", "form", false, json!(["a,b", "c"]), "color=a%2Cb,c"),
        json_parameter,
        reserved,
    ];
    check(&rows, "/p{index}", |desk, index, row| {
        desk.request("GET", &format!("/v1/p{index}?{}", row.expected), &[], "")
    })
    .await;
}

#[tokio::test]
async fn header_values_are_sent_as_they_are() {
    let rows = [
        row("header", "simple", false, text(), "color: blue"),
        row("header", "simple", false, list(), "color: blue,black,brown"),
        row("header", "simple", false, object(), "color: B,150,G,200,R,100"),
        row("header", "simple", true, object(), "color: B=150,G=200,R=100"),
        row("header", "simple", false, json!("a b;c=\"d\""), "color: a b;c=\"d\""),
    ];
    check(&rows, "/p{index}", |desk, index, row| desk.request("GET", &format!("/v1/p{index}"), &[row.expected], ""))
        .await;
}

#[tokio::test]
async fn cookie_values_are_encoded() {
    let rows = [
        row("cookie", "form", true, text(), "cookie: color=blue"),
        row("cookie", "form", false, list(), "cookie: color=blue,black,brown"),
        row("cookie", "form", true, list(), "cookie: color=blue; color=black; color=brown"),
        row("cookie", "form", true, json!("a; admin=1"), "cookie: color=a%3B%20admin%3D1"),
    ];
    check(&rows, "/p{index}", |desk, index, row| desk.request("GET", &format!("/v1/p{index}"), &[row.expected], ""))
        .await;
}

#[tokio::test]
async fn a_path_value_stays_in_its_segment() {
    let paths = json!({
        "/items/{id}/tail": { "get": { "operationId": "item", "parameters": [{ "name": "id", "in": "path", "required": true }] } },
        "/files/{path}": { "get": { "operationId": "file", "parameters": [
            { "name": "path", "in": "path", "required": true, "x-multi-segment": true }
        ] } },
    });
    let desk = Desk::of(&paths).await;
    for (value, expected) in [
        ("a?b=c", "a%3Fb%3Dc"),
        ("a#b", "a%23b"),
        ("a/b", "a%2Fb"),
        ("%2e%2e", "%252e%252e"),
        ("{id}", "%7Bid%7D"),
        ("é ", "%C3%A9%20"),
        ("a:b@c", "a%3Ab%40c"),
    ] {
        let request = desk.sent("item", &json!({ "id": value })).await;
        assert_eq!(request, desk.request("GET", &format!("/v1/items/{expected}/tail"), &[], ""), "{value:?}");
    }
    // The host sends no encoded control character, and no `..` with parameters.
    for value in ["..", "..;x", ".", "", "../../admin", "a\\..\\b", "a\r\nx-evil: 1", "a\u{0}b"] {
        desk.refused("item", &json!({ "id": value })).await;
    }
    let request = desk.sent("file", &json!({ "path": "src/a b?.rs" })).await;
    assert_eq!(request, desk.request("GET", "/v1/files/src/a%20b%3F.rs", &[], ""));
    for value in ["../admin", "a/../../b", "a/./b", ".."] {
        desk.refused("file", &json!({ "path": value })).await;
    }
}

#[tokio::test]
async fn a_header_value_cannot_end_its_line() {
    let paths = json!({ "/a": { "get": { "operationId": "get", "parameters": [
        { "name": "x-mark", "in": "header", "schema": { "type": "string" } }
    ] } } });
    let desk = Desk::of(&paths).await;
    for value in ["a\r\nx-evil: 1", "a\nb", "a\u{0}b", "é"] {
        let reply = desk.refused("get", &json!({ "x-mark": value })).await;
        assert!(reply.message.contains("visible ASCII"), "{}", reply.message);
    }
}

#[tokio::test]
async fn parameters_with_one_name_are_told_apart_by_their_location() {
    let paths = json!({ "/a/{id}": { "post": {
        "operationId": "post",
        "parameters": [
            { "name": "id", "in": "path", "required": true }, { "name": "id", "in": "query" },
            { "name": "body", "in": "query" },
        ],
        "requestBody": { "content": { "application/json": {} } },
    } } });
    let desk = Desk::of(&paths).await;
    let arguments = json!({ "path_id": 1, "query_id": 2, "query_body": 3, "body": 4 });
    let request = desk.sent("post", &arguments).await;
    let expected = desk.request("POST", "/v1/a/1?id=2&body=3", &["content-type: application/json"], "4");
    assert_eq!(request, expected);
}
