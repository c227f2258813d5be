//! The plugin's manifest.

use portcullis_plugin_memory::PLUGIN;
use portcullis_sdk::prelude::*;
use portcullis_sdk::serde_json::Value;
use portcullis_sdk::testing;

use crate::notebook::{Notebook, call};

/// Returns arguments with which a tool succeeds on a notebook that has `a`.
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
fn the_manifest_has_no_problems() {
    assert_eq!(testing::problems(&PLUGIN), Vec::<String>::new());
}

#[test]
fn schemas_describe_every_argument_and_are_closed() {
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
