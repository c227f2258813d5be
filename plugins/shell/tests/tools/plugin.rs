//! The plugin's manifest.

use portcullis_plugin_shell::PLUGIN;
use portcullis_sdk::prelude::*;
use portcullis_sdk::testing;
use portcullis_sdk::{DependencyKind, Hint};

#[test]
fn the_manifest_has_no_problems() {
    assert_eq!(testing::problems(&PLUGIN), Vec::<String>::new());
}

#[test]
fn only_the_shell_is_required() {
    let manifest = PLUGIN.manifest();
    let dependencies: Vec<_> = manifest.dependencies.iter().map(|one| (one.key, one.kind, one.optional)).collect();
    let program = |key| (key, DependencyKind::Process, true);
    let expected = [
        ("sh", DependencyKind::Process, false),
        program("git"),
        program("python"),
        program("cargo"),
        program("node"),
        program("make"),
        ("workspace", DependencyKind::Directory, true),
    ];
    assert_eq!(dependencies, expected);
}

#[test]
fn the_tools_execute_and_claim_nothing_good() {
    let manifest = PLUGIN.manifest();
    assert_eq!(manifest.tools.iter().map(|tool| tool.name).collect::<Vec<_>>(), ["run", "exec"]);
    for tool in manifest.tools {
        assert_eq!(tool.required, [Permission::Execute]);
        assert_eq!(tool.optional, [Permission::Read, Permission::Write, Permission::Network]);
        assert_eq!(tool.hints, [Hint::Destructive, Hint::OpenWorld]);
    }
}

#[test]
fn the_schemas_describe_and_bound_every_argument() {
    for tool in PLUGIN.manifest().tools {
        assert_eq!(tool.schema["additionalProperties"], json!(false));
        for (name, property) in tool.schema["properties"].as_object().unwrap() {
            assert!(property["description"].is_string(), "{name} has no description");
        }
        assert_eq!(tool.schema["properties"]["timeout"]["minimum"], json!(1));
    }
    let tools = PLUGIN.manifest().tools;
    assert_eq!(tools[0].schema["required"], json!(["command"]));
    assert_eq!(tools[1].schema["required"], json!(["program", "arguments"]));
    let programs: Vec<String> =
        tools[1].schema["properties"]["program"].pointer("/oneOf").map_or_else(Vec::new, |variants| {
            variants.as_array().unwrap().iter().map(|one| one["const"].as_str().unwrap().to_owned()).collect()
        });
    assert_eq!(programs, ["sh", "git", "python", "cargo", "node", "make"]);
}
