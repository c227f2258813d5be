//! Documents that attack.

use crate::openapi::desk::{Desk, document, policy, policy_of, refusal, site, text_of, tools};
use portcullis::Host;
use portcullis_tests::Site;
use portcullis_tests::net::{Behaviour, Server};
use serde_json::{Value, json};

fn body(schema: &Value) -> Value {
    json!({ "post": { "operationId": "post", "requestBody": { "content": { "application/json": { "schema": schema } } } } })
}

async fn opened(text: &str) -> (Site, Host, Server) {
    let server = Server::plain(Behaviour::ok());
    let site = site("shop.json", text);
    let host = site.open(&policy(&server, "")).await;
    (site, host, server)
}

#[tokio::test]
async fn references_in_a_circle_end() {
    let mut shop = document(&json!({
        "/tree": body(&json!({ "$ref": "#/components/schemas/Node" })),
        "/loop": { "get": { "operationId": "loop", "parameters": [{ "$ref": "#/components/parameters/a" }] } },
        "/path": { "$ref": "#/paths/~1path" },
    }));
    shop["components"] = json!({
        "schemas": { "Node": { "type": "object", "properties": {
            "left": { "$ref": "#/components/schemas/Node" }, "right": { "$ref": "#/components/schemas/Node" },
            "all": { "allOf": [{ "$ref": "#/components/schemas/Node" }, { "$ref": "#/components/schemas/Node" }] },
        } } },
        "parameters": { "a": { "$ref": "#/components/parameters/b" }, "b": { "$ref": "#/components/parameters/a" } },
    });
    let desk = Desk::open(&shop, Behaviour::ok(), "").await;
    assert_eq!(tools(&desk.host), ["operations", "post"]);
    let listed = text_of(&desk.call("operations", &json!({})).await);
    for name in ["/path", "GET /loop"] {
        assert!(listed.contains(&format!("skipped: {name}: more than 16 references follow each other")), "{listed}");
    }
    desk.sent("post", &json!({ "body": { "left": { "left": { "left": { "left": {} } } } } })).await;
}

#[tokio::test]
async fn a_remote_reference_is_not_fetched() {
    let server = Server::plain(Behaviour::ok());
    let remote = format!("http://{}/schema.json", server.authority());
    let shop = document(&json!({
        "/a": body(&json!({ "$ref": remote })),
        "/b": { "get": { "operationId": "b", "parameters": [{ "$ref": "other.yaml#/x" }] } },
        "/c": { "get": { "operationId": "c" } },
        "/d": { "$ref": format!("{remote}#/d") },
        "/e": body(&json!({ "type": "object", "properties": { "x": { "$ref": "file:///etc/passwd" } } })),
    }));
    let site = site("shop.json", &shop.to_string());
    let host = site.open(&policy(&server, "")).await;
    assert_eq!(tools(&host), ["c", "operations"]);
    let listed = text_of(&host.call(portcullis::Request::new("openapi.operations", "{}")).await);
    assert_eq!(listed.matches(" refers to another document").count(), 4, "{listed}");
    server.saw_nothing();
}

#[tokio::test]
async fn a_document_that_nests_too_deep_or_is_too_large_is_refused() {
    let nested = format!("{{\"openapi\":\"3.0.0\",\"x\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let (_site, host, _server) = opened(&nested).await;
    assert!(refusal(&host).contains("recursion limit exceeded"), "{}", refusal(&host));
    let yaml = format!("openapi: 3.0.0\nx: {}{}", "[".repeat(100_000), "]".repeat(100_000));
    let (_site, host, _server) = opened(&yaml).await;
    assert!(refusal(&host).contains("the document is not valid YAML"), "{}", refusal(&host));
    let large = format!("{{\"openapi\":\"3.0.0\",\"x-a\":\"{}\"}}", "a".repeat(16 << 20));
    let (_site, host, _server) = opened(&large).await;
    assert!(refusal(&host).contains("the document is larger than 16 MiB"), "{}", refusal(&host));
    let large = format!("openapi: 3.0.0\nx-a: {}", "a".repeat(4 << 20));
    let (_site, host, _server) = opened(&large).await;
    assert!(refusal(&host).contains("the YAML document is larger than 4 MiB"), "{}", refusal(&host));
}

#[tokio::test]
async fn a_schema_that_explodes_is_cut_and_still_a_tool() {
    let mut shop = document(&json!({ "/a": body(&json!({ "$ref": "#/components/schemas/l30" })) }));
    let mut schemas = json!({ "l0": { "type": "string" } });
    for level in 1..=30 {
        let below = json!({ "$ref": format!("#/components/schemas/l{}", level - 1) });
        schemas[format!("l{level}")] =
            json!({ "anyOf": [below, below, below], "properties": { "a": below, "b": below } });
    }
    shop["components"] = json!({ "schemas": schemas });
    let desk = Desk::open(&shop, Behaviour::ok(), "").await;
    assert_eq!(tools(&desk.host), ["operations", "post"]);
    desk.sent("post", &json!({ "body": "anything" })).await;
}

#[tokio::test]
async fn names_cannot_collide_or_imitate() {
    let paths = json!({
        "/1": { "get": { "operationId": "operations" } },
        "/2": { "get": { "operationId": "list.pets" } },
        "/3": { "get": { "operationId": "list_pets" } },
        "/4": { "get": { "operationId": "files.write" } },
        // Cyrillic letters that look like Latin ones.
        "/5": { "get": { "operationId": "ор\u{435}rations" } },
        "/6": { "get": { "operationId": "\u{202e}\u{200b}" } },
        "/7": { "get": { "operationId": "x".repeat(500) } },
        "/8": { "get": {} },
    });
    let desk = Desk::of(&paths).await;
    let long = "x".repeat(64);
    let expected =
        ["files_write", "get_8", "list_pets", "list_pets_2", "op_", "operations", "operations_2", "rations", &long];
    assert_eq!(tools(&desk.host), expected);
    assert!(desk.sent("operations_2", &json!({})).await.starts_with("GET /v1/1 "));
    assert!(text_of(&desk.call("operations", &json!({})).await).contains("operations_2: GET /1"));
}

#[tokio::test]
async fn hidden_characters_of_texts_are_removed_and_those_of_values_leave_the_operation_out() {
    let hidden = "Reads.\u{202e}\u{200b}\u{e0041}\u{1b}[31m";
    let get = |parameter: Value| json!({ "get": { "parameters": [parameter] } });
    let marks = format!("a{}", "\u{301}".repeat(30));
    let paths = json!({
        "/ok": { "get": { "operationId": "ok", "summary": hidden, "description": format!("{hidden} {marks}"), "parameters": [
            { "name": "q", "in": "query", "description": hidden, "schema": { "description": hidden, "pattern": hidden } },
        ] } },
        "/name": get(json!({ "name": "a\u{200b}", "in": "query" })),
        "/enum": get(json!({ "name": "a", "in": "query", "schema": { "enum": ["a\u{202e}"] } })),
        "/default": get(json!({ "name": "a", "in": "query", "schema": { "default": "a\u{0}" } })),
        "/property": get(json!({ "name": "a", "in": "query", "schema": { "properties": { "\u{2066}": {} } } })),
    });
    let desk = Desk::of(&paths).await;
    assert_eq!(tools(&desk.host), ["ok", "operations"]);
    let catalog = desk.host.catalog();
    let tool = catalog.plugin("openapi").unwrap().tools().next().unwrap();
    let (kept, _) = marks.split_at(1 + 4 * '\u{301}'.len_utf8());
    assert_eq!(tool.description(), format!("Reads.[31m {kept}\nGET /ok"));
    let listed = text_of(&desk.call("operations", &json!({})).await);
    assert_eq!(listed.matches("its schema contains the invisible character U+").count(), 4, "{listed}");
}

#[tokio::test]
async fn a_server_outside_the_binding_gets_no_request() {
    let other = Server::plain(Behaviour::ok());
    let mut shop = document(&json!({ "/a": { "get": { "operationId": "get" } }, "/b": {
        "servers": [{ "url": format!("http://{}/own", other.authority()) }], "get": { "operationId": "own" },
    } }));
    let server = Server::plain(Behaviour::ok());
    shop["servers"] = json!([{ "url": format!("http://{}", other.authority()) }]);
    let site = site("shop.json", &shop.to_string());
    let bound = policy(&server, "");
    let host = site.open(&policy_of(&server, "document = \"shop.json\"", "")).await;
    for tool in ["get", "own"] {
        let reply = host.call(portcullis::Request::new(format!("openapi.{tool}"), "{}")).await;
        assert_ne!(reply.code, portcullis::Code::Completed, "{}", reply.message);
    }
    other.saw_nothing();
    server.saw_nothing();
    let host = site.open(&bound).await;
    assert_eq!(tools(&host), ["get", "operations"], "the setting replaces only the server of the document");
}

#[tokio::test]
async fn paths_and_servers_that_no_request_can_have_are_left_out() {
    let get = |id: &str| json!({ "get": { "operationId": id } });
    let desk = Desk::of(&json!({
        "/a#b": get("fragment"), "/a\r\nx: y": get("line"), "//evil.example/a": get("slashes"), "@evil.example/": get("user"),
        "/a\\b": get("backslash"), "/{id}": get("missing"), "/x/{unclosed": get("unclosed"), "/ok?fixed=1": get("ok"),
    }))
    .await;
    assert_eq!(tools(&desk.host), ["ok", "operations", "slashes"]);
    assert!(desk.sent("ok", &json!({})).await.starts_with("GET /v1/ok?fixed=1 "));
    assert!(desk.sent("slashes", &json!({})).await.starts_with("GET /v1//evil.example/a "));
}

#[tokio::test]
async fn a_document_of_another_kind_is_refused_with_advice() {
    for (text, expected) in [
        (r#"{"swagger":"2.0"}"#, "swagger2openapi"),
        (r#"{"openapi":"4.0.0"}"#, "use 3.0 or 3.1"),
        ("[]", "is not an OpenAPI document"),
        ("{", "the document is not valid JSON: EOF"),
    ] {
        let (_site, host, _server) = opened(text).await;
        assert!(refusal(&host).contains(expected), "{}", refusal(&host));
    }
    let (site, _host, server) = opened("{}").await;
    let outside = policy(&server, "").replace("document = \"shop.json\"", "document = \"../token\"");
    assert!(refusal(&site.open(&outside).await).contains("must be the name of a file"));
    let missing = policy(&server, "").replace("document = \"shop.json\"", "document = \"none.json\"");
    assert!(refusal(&site.open(&missing).await).contains("cannot be read"));
}
