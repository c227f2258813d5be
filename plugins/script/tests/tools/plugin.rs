//! The plugin's manifest.

use portcullis_plugin_script::PLUGIN;
use portcullis_sdk::prelude::*;
use portcullis_sdk::testing;
use portcullis_sdk::{DependencyKind, Hint};

#[test]
fn the_manifest_has_no_problems() {
    assert_eq!(testing::problems(&PLUGIN), Vec::<String>::new());
}

#[test]
fn the_only_handle_is_the_tools() {
    let manifest = PLUGIN.manifest();
    let dependencies: Vec<_> = manifest.dependencies.iter().map(|one| (one.key, one.kind, one.optional)).collect();
    assert_eq!(dependencies, [("tools", DependencyKind::Tools, false)]);
}

#[test]
fn no_tool_declares_a_permission_and_only_the_search_is_read_only() {
    let manifest = PLUGIN.manifest();
    let hints: Vec<_> = manifest.tools.iter().map(|tool| (tool.name, tool.hints)).collect();
    assert_eq!(
        hints,
        [
            ("run", [Hint::Destructive, Hint::OpenWorld].as_slice()),
            ("search", [Hint::ReadOnly, Hint::Idempotent].as_slice())
        ]
    );
    for tool in manifest.tools {
        assert!(tool.required.is_empty() && tool.optional.is_empty(), "{}", tool.name);
        assert_eq!(tool.schema["additionalProperties"], json!(false));
    }
}

#[test]
fn without_tools_nothing_runs() {
    let refused = testing::call(&PLUGIN, "run", json!({ "code": "1" }), &testing::Context::new());
    assert!(matches!(refused, Err(Failure::Denied(_))), "{refused:?}");
}
