//! The plugin's manifest.

use portcullis_plugin_files::PLUGIN;
use portcullis_sdk::prelude::*;
use portcullis_sdk::serde_json::Value;
use portcullis_sdk::testing;

use crate::folder::{Folder, call};

/// Returns arguments with which a tool succeeds in a folder that has `a.txt`.
fn arguments(tool: &str) -> Value {
    match tool {
        "read" => json!({ "path": "a.txt" }),
        "write" => json!({ "path": "b.txt", "content": "b" }),
        "edit" => json!({ "path": "a.txt", "edits": [{ "old": "a", "new": "b" }] }),
        "patch" => json!({ "patch": "*** Begin Patch\n*** Delete File: a.txt\n*** End Patch" }),
        "list" => json!({}),
        "glob" => json!({ "pattern": "*" }),
        "grep" => json!({ "regex": "a" }),
        tool => panic!("no arguments for `{tool}`"),
    }
}

#[test]
fn the_manifest_has_no_problems() {
    assert_eq!(testing::problems(&PLUGIN), Vec::<String>::new());
}

#[test]
fn schemas_are_closed_objects_without_noise() {
    for tool in PLUGIN.manifest().tools {
        let schema = tool.schema;
        assert_eq!((&schema["type"], &schema["additionalProperties"]), (&json!("object"), &json!(false)), "{schema}");
        for noise in ["$schema", "title", "format", "$defs"] {
            assert!(!schema.to_string().contains(&format!("\"{noise}\"")), "{noise} in {schema}");
        }
        for (name, property) in schema["properties"].as_object().unwrap() {
            assert!(property["description"].is_string(), "{name} of {} has no description", tool.name);
        }
    }
}

#[test]
fn every_answer_has_a_title_and_an_object_for_programs() {
    for tool in PLUGIN.manifest().tools {
        let folder = Folder::with(&[("a.txt", "a\n")]);
        let answer = folder.call(tool.name, arguments(tool.name)).unwrap();
        assert!(!answer.title.is_empty() && answer.metadata.is_object(), "{answer:?}");
    }
}

#[test]
fn no_tool_works_without_a_workspace() {
    for tool in PLUGIN.manifest().tools {
        let failure = call(tool.name, arguments(tool.name), &testing::Context::new()).unwrap_err();
        assert!(matches!(failure, Failure::Denied(_)), "{}: {failure:?}", tool.name);
    }
}

#[test]
fn an_unknown_argument_is_refused() {
    for tool in PLUGIN.manifest().tools {
        let mut arguments = arguments(tool.name);
        arguments["surprise"] = json!(true);
        let failure = Folder::new().call(tool.name, arguments).unwrap_err();
        assert_eq!(failure, Failure::invalid("unknown argument `surprise`"));
    }
}
