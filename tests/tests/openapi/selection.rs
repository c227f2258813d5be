//! Which operations become tools, and their names.

use crate::openapi::desk::{Desk, document, policy, refusal, site, text_of, tools};
use portcullis::Host;
use portcullis_tests::Site;
use portcullis_tests::net::{Behaviour, Server};
use serde_json::{Map, Value, json};

fn shop() -> Value {
    json!({
        "/pets": {
            "get": { "operationId": "pets/list", "tags": ["pets"] },
            "post": { "operationId": "pets/create", "tags": ["pets", "admin"] },
        },
        "/orders/{id}": {
            "parameters": [{ "name": "id", "in": "path", "required": true }],
            "get": { "operationId": "orders/get", "tags": ["orders"] },
            "trace": { "tags": ["orders"] },
        },
    })
}

async fn opened(document: &Value, settings: &str) -> (Site, Host) {
    let server = Server::plain(Behaviour::ok());
    let site = site("shop.json", &document.to_string());
    let host = site.open(&policy(&server, settings)).await;
    (site, host)
}

#[tokio::test]
async fn settings_select_by_tag_path_operation_and_method() {
    for (settings, expected) in [
        ("", &["operations", "orders_get", "pets_create", "pets_list"][..]),
        ("tags = \"pets\"", &["operations", "pets_create", "pets_list"]),
        ("tags = \"orders, admin\"", &["operations", "orders_get", "pets_create"]),
        ("paths = \"/orders/*\"", &["operations", "orders_get"]),
        ("operations = \"*/list,orders/get\"", &["operations", "orders_get", "pets_list"]),
        ("tags = \"pets\", methods = \"get\"", &["operations", "pets_list"]),
        ("prefix = \"shop_\", methods = \"post\"", &["operations", "shop_pets_create"]),
    ] {
        let (_site, host) = opened(&document(&shop()), settings).await;
        assert_eq!(tools(&host), expected, "{settings}");
    }
}

#[tokio::test]
async fn a_pattern_that_selects_nothing_refuses_the_plugin() {
    let (_site, host) = opened(&document(&shop()), "tags = \"pets, order\"").await;
    let why = refusal(&host);
    assert!(why.contains("the setting `tags` names \"order\", which no operation has"), "{why}");
}

#[tokio::test]
async fn the_tool_operations_lists_every_operation_or_why_it_is_left_out() {
    let desk = Desk::open(&document(&shop()), Behaviour::ok(), "methods = \"get, trace\"").await;
    let expected = "orders_get: GET /orders/{id}\npets_list: GET /pets\n\
                    skipped: TRACE /orders/{id}: the method TRACE is not supported\n(1 are not selected by the settings)";
    assert_eq!(text_of(&desk.call("operations", &json!({})).await), expected);
    let found = text_of(&desk.call("operations", &json!({ "query": "PETS" })).await);
    assert!(found.starts_with("pets_list: GET /pets\n"), "{found}");
}

fn many(count: usize) -> Value {
    let paths: Map<String, Value> = (0..count).map(|index| (format!("/p{index}"), json!({ "get": {} }))).collect();
    document(&Value::Object(paths))
}

#[tokio::test]
async fn two_thousand_operations_are_tools_and_more_need_a_selection() {
    let (_site, host) = opened(&many(2000), "").await;
    assert_eq!(tools(&host).len(), 2001);
    let (_site, host) = opened(&many(2001), "").await;
    let why = refusal(&host);
    assert!(
        why.contains("the document has 2001 operations, but a plugin can make at most 2000 tools: select some"),
        "{why}"
    );
    let (_site, host) = opened(&many(2001), "paths = \"/p1*\"").await;
    assert_eq!(tools(&host).len(), 1112);
}

#[tokio::test]
async fn a_long_list_is_read_in_parts() {
    let desk = Desk::open(&many(450), Behaviour::ok(), "").await;
    let (mut start, mut count) = (0, 0);
    loop {
        let text = text_of(&desk.call("operations", &json!({ "start": start })).await);
        count += text.lines().filter(|line| line.contains(": GET /p")).count();
        if !text.contains(&format!("continue with `start` {}", start + 200)) {
            break;
        }
        start += 200;
    }
    assert_eq!(count, 450);
}

#[tokio::test]
async fn large_schemas_become_smaller_until_all_definitions_fit() {
    let property =
        |index: usize| (format!("property_{index}"), json!({ "type": "string", "description": "x".repeat(300) }));
    let large: Map<String, Value> = (0..100).map(property).collect();
    let body = json!({ "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Large" } } } });
    let paths: Map<String, Value> =
        (0..600).map(|index| (format!("/p{index}"), json!({ "post": { "requestBody": body } }))).collect();
    let mut large_document = document(&Value::Object(paths));
    large_document["components"] = json!({ "schemas": { "Large": { "type": "object", "properties": large } } });
    let (_site, host) = opened(&large_document, "").await;
    assert_eq!(tools(&host).len(), 601);
    let catalog = host.catalog();
    let tool = catalog.plugin("openapi").unwrap().tools().nth(1).unwrap();
    assert!(tool.description().contains("Parts of the schema are left out"), "{}", tool.description());
}
