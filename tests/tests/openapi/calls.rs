//! An operation as a tool.

use crate::openapi::desk::{Desk, TOKEN, document, json_of, policy, policy_of, site, text_of, tools};
use portcullis::Code;
use portcullis_tests::net::{Behaviour, Server};
use serde_json::{Value, json};

fn pets() -> Value {
    json!({ "/pets/{id}": {
        "parameters": [{ "name": "id", "in": "path", "required": true, "schema": { "type": "integer" } }],
        "get": {
            "operationId": "getPet", "summary": "Get a pet", "description": "Returns one pet by its number.",
            "parameters": [{ "name": "fields", "in": "query", "schema": { "type": "array", "items": { "type": "string" } } }],
        },
        "delete": { "operationId": "deletePet" },
    } })
}

#[tokio::test]
async fn an_operation_becomes_a_tool_and_its_call_a_request_with_the_secret_of_the_binding() {
    let answer = Behaviour::whole(200, &[("content-type", "application/json"), ("etag", "\"7\"")], r#"{"name":"Tom"}"#);
    let desk = Desk::answering(&pets(), Behaviour::answer(move |_| answer.clone())).await;
    assert_eq!(tools(&desk.host), ["delete_pet", "get_pet", "operations"]);
    let catalog = desk.host.catalog();
    let tool = catalog.plugin("openapi").unwrap().tools().nth(1).unwrap();
    assert_eq!(tool.title(), Some("Get a pet"));
    assert_eq!(tool.description(), "Returns one pet by its number.\nGET /pets/{id}");
    let schema = tool.schema().document();
    assert_eq!(schema["properties"]["id"], json!({ "type": "integer" }));
    assert_eq!((&schema["required"], &schema["additionalProperties"]), (&json!(["id"]), &json!(false)));
    let reply = desk.call("get_pet", &json!({ "id": 7, "fields": ["name", "age"] })).await;
    let expected = json!({ "status": 200, "headers": { "etag": "\"7\"" }, "body": { "name": "Tom" } });
    assert_eq!((json_of(&reply), reply.title.as_deref()), (expected, Some("Status 200")));
    assert_eq!(desk.server.texts(), [desk.request("GET", "/v1/pets/7?fields=name&fields=age", &[], "")]);
    let reply = desk.refused("get_pet", &json!({ "id": "seven" })).await;
    assert_eq!(reply.code, Code::InvalidArguments);
}

#[tokio::test]
async fn a_yaml_document_makes_the_same_tools() {
    let yaml = "openapi: 3.1.0\npaths:\n  /pets/{id}:\n    parameters:\n    - {name: id, in: path, required: true, \
                schema: {type: integer}}\n    get:\n      operationId: getPet\n      responses:\n        200: {}\n";
    let server = Server::plain(Behaviour::ok());
    let site = site("shop.json", yaml);
    let host = site.open(&policy(&server, "")).await;
    assert_eq!(tools(&host), ["get_pet", "operations"]);
}

#[tokio::test]
async fn the_server_of_the_document_is_used_without_the_setting() {
    let server = Server::plain(Behaviour::ok());
    let mut shop = document(&pets());
    shop["servers"] =
        json!([{ "url": "http://{host}/api/", "variables": { "host": { "default": server.authority() } } }]);
    let site = site("shop.json", &shop.to_string());
    let host = site.open(&policy_of(&server, "document = \"shop.json\"", "")).await;
    host.call(portcullis::Request::new("openapi.get_pet", r#"{"id":7}"#)).await;
    assert!(server.texts()[0].starts_with("GET /api/pets/7 HTTP/1.1\r\n"), "{:?}", server.texts());
}

#[tokio::test]
async fn a_token_that_the_server_returns_does_not_reach_the_caller() {
    let desk = Desk::answering(&pets(), Behaviour::answer(|request| Behaviour::whole(200, &[], request))).await;
    let reply = desk.call("get_pet", &json!({ "id": 7 })).await;
    assert!(desk.server.texts()[0].contains(TOKEN));
    assert!(!text_of(&reply).contains(TOKEN), "{}", reply.message);
}

#[tokio::test]
async fn a_key_of_the_document_is_no_argument_and_is_left_to_the_binding() {
    let mut shop = document(&json!({ "/pets": { "get": {
        "operationId": "list",
        "security": [{ "key": [] }],
        "parameters": [
            { "name": "api_key", "in": "query", "required": true, "schema": { "type": "string" } },
            { "name": "Authorization", "in": "header", "required": true, "schema": { "type": "string" } },
            { "name": "limit", "in": "query", "schema": { "type": "integer" } },
        ],
    } } }));
    shop["components"] =
        json!({ "securitySchemes": { "key": { "type": "apiKey", "in": "query", "name": "api_key" } } });
    let desk = Desk::open(&shop, Behaviour::ok(), "").await;
    let request = desk.sent("list", &json!({ "limit": 3 })).await;
    assert_eq!(request, desk.request("GET", "/v1/pets?limit=3", &[], ""));
    desk.refused("list", &json!({ "api_key": "stolen" })).await;
}

#[tokio::test]
async fn without_a_document_the_plugin_has_no_generated_tools() {
    let server = Server::plain(Behaviour::ok());
    let site = site("shop.json", "{}");
    let host = site.open(&policy_of(&server, "", "")).await;
    assert_eq!(tools(&host), ["operations"]);
    let reply = host.call(portcullis::Request::new("openapi.operations", "{}")).await;
    assert!(reply.message.contains("the setting `document` is missing"), "{}", reply.message);
}
