//! What the plugin says of itself.

use portcullis_plugin_memory::PLUGIN;
use portcullis_sdk::prelude::*;
use portcullis_sdk::serde_json::Value;
use portcullis_sdk::testing;

use crate::notebook::{Notebook, call};

/// Arguments with which each tool works on a notebook that has `a`.
fn arguments(tool: &str) -> Value {
    match tool {
        "set" => json!({ "key": "b", "value": "2" }),
        "get" | "delete" => json!({ "key": "a" }),
        "increment" => json!({ "key": "count" }),
        "list" => json!({}),
        tool => panic!("no arguments for `{tool}`"),
    }
}

#[test]
fn a_host_has_nothing_to_refuse() {
    assert_eq!(testing::problems(&PLUGIN), Vec::<String>::new());
}

#[test]
fn every_argument_is_described_and_no_other_is_taken() {
    for tool in PLUGIN.manifest().tools {
        let schema = tool.schema;
        assert_eq!((&schema["type"], &schema["additionalProperties"]), (&json!("object"), &json!(false)), "{schema}");
        for (name, property) in schema["properties"].as_object().unwrap() {
            assert!(property["description"].is_string(), "{name} of {} has no description", tool.name);
        }
    }
}

#[test]
fn every_answer_has_a_title_and_an_object_for_programs() {
    for tool in PLUGIN.manifest().tools {
        let answer = Notebook::with(&[("a", "1")]).call(tool.name, arguments(tool.name)).unwrap();
        assert!(!answer.title.is_empty() && answer.metadata.is_object(), "{answer:?}");
    }
}

#[test]
fn no_tool_works_without_a_store() {
    for tool in PLUGIN.manifest().tools {
        let failure = call(tool.name, arguments(tool.name), &testing::Context::new()).unwrap_err();
        assert!(matches!(failure, Failure::Denied(_)), "{}: {failure:?}", tool.name);
    }
}
