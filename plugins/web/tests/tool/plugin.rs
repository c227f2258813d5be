//! The plugin's manifest.

use portcullis_plugin_web::PLUGIN;
use portcullis_sdk::prelude::*;
use portcullis_sdk::testing;
use portcullis_sdk::{DependencyKind, Hint};

use crate::web::PAGE;

#[test]
fn the_manifest_has_no_problems() {
    assert_eq!(testing::problems(&PLUGIN), Vec::<String>::new());
}

#[test]
fn the_plugin_needs_clients_and_is_read_only() {
    let manifest = PLUGIN.manifest();
    let dependencies: Vec<_> = manifest.dependencies.iter().map(|one| (one.key, one.kind, one.optional)).collect();
    let kind = DependencyKind::Http;
    assert_eq!(dependencies, [("fetch", kind, true), ("search", kind, true)]);
    let names: Vec<&str> = manifest.tools.iter().map(|tool| tool.name).collect();
    assert_eq!((manifest.name, names), ("web", vec!["fetch", "search"]));
    for tool in &manifest.tools {
        assert_eq!(tool.required, [Permission::Network]);
        assert!(tool.hints.contains(&Hint::ReadOnly) && tool.hints.contains(&Hint::OpenWorld), "{:?}", tool.hints);
    }
}

#[test]
fn the_schema_bounds_every_argument() {
    let schema = &PLUGIN.manifest().tools[0].schema;
    assert_eq!((&schema["additionalProperties"], &schema["required"]), (&json!(false), &json!(["url"])));
    let properties = &schema["properties"];
    assert_eq!(properties["url"]["format"], json!("uri"));
    assert_eq!(properties["url"]["maxLength"], json!(2048));
    assert_eq!(properties["limit"]["maximum"], json!(150_000));
    assert_eq!(properties["start"]["minimum"], json!(0));
    let schema = &PLUGIN.manifest().tools[1].schema;
    assert_eq!((&schema["additionalProperties"], &schema["required"]), (&json!(false), &json!(["query"])));
    assert_eq!(schema["properties"]["query"]["maxLength"], json!(400));
    assert_eq!(schema["properties"]["count"]["maximum"], json!(20));
    for tool in PLUGIN.manifest().tools {
        for (name, property) in tool.schema["properties"].as_object().unwrap() {
            assert!(property["description"].is_string(), "{name} has no description");
        }
    }
}

#[test]
fn it_does_not_work_without_a_client() {
    let failure = testing::call(&PLUGIN, "fetch", json!({ "url": PAGE }), &testing::Context::new()).unwrap_err();
    assert!(matches!(failure, Failure::Denied(_)), "{failure:?}");
}

#[test]
fn a_cancelled_call_sends_no_request() {
    let context = testing::Context::new().plays_server("fetch", |_| panic!("a request was sent")).cancelled();
    let failure = testing::call(&PLUGIN, "fetch", json!({ "url": PAGE }), &context).unwrap_err();
    assert_eq!(failure, Failure::Cancelled);
}
