//! What a tool sees of the tools that it can call.

use crate::composition::desk::{ALLOW, Desk, EVERY_TOOL};
use portcullis::{Host, Request};
use serde_json::{Value, json};

async fn asked(host: &Host, tool: &str, arguments: &Value) -> Value {
    let reply = host.call(Request::new(tool, arguments.to_string())).await;
    serde_json::from_str(&reply.message).unwrap_or_else(|_| panic!("{}", reply.message))
}

#[tokio::test]
async fn only_bound_tools_that_some_call_could_reach_are_listed() {
    let desk = Desk::new();
    let deny = "[[rule]]\ntool = \"marks.*\"\ndecision = \"deny\"\n";
    let host = desk.open(ALLOW, r#"{ tools = ["good.*", "marks.*"] }"#).await;
    assert_eq!(asked(&host, "relay.list", &json!({})).await, json!(["good.run", "marks.run"]));
    drop(host);
    let host = desk.open(&format!("{ALLOW}{deny}"), r#"{ tools = ["good.*", "marks.*"] }"#).await;
    assert_eq!(asked(&host, "relay.list", &json!({})).await, json!(["good.run"]));
    assert_eq!(asked(&host, "relay.define", &json!({ "tool": "marks.run" })).await, Value::Null);
    assert_eq!(asked(&host, "relay.define", &json!({ "tool": "relay.run" })).await, Value::Null);
}

#[tokio::test]
async fn a_search_returns_the_best_of_the_reachable_tools() {
    let desk = Desk::new();
    let host = desk.open(ALLOW, r#"{ tools = ["relay.*", "good.*"], depth = 2 }"#).await;
    let query = json!({ "query": "definition of a tool", "limit": 1 });
    assert_eq!(asked(&host, "relay.list", &query).await, json!(["relay.define"]));
    let all = asked(&host, "relay.list", &json!({ "query": "calls", "limit": 50 })).await;
    let names = all.as_array().unwrap();
    assert!(!names.is_empty() && names.iter().all(|name| !name.as_str().unwrap().starts_with("marks")), "{names:?}");
    assert_eq!(asked(&host, "relay.list", &json!({ "query": "calls", "limit": 0 })).await, json!([]));
}

#[tokio::test]
async fn a_definition_is_that_of_the_catalog() {
    let desk = Desk::new();
    let host = desk.open(ALLOW, EVERY_TOOL).await;
    let found = asked(&host, "relay.define", &json!({ "tool": "relay.list" })).await;
    assert_eq!(found["name"], "relay.list");
    let catalog = host.catalog();
    let (_, tool) = catalog.tools().find(|(_, tool)| tool.name().to_string() == "relay.list").unwrap();
    assert_eq!(&found["schema"], tool.schema().document());
    assert_eq!(
        (&found["description"], &found["permissions"], &found["hints"]),
        (&json!(tool.description()), &json!([]), &json!(1))
    );
}
