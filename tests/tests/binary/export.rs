//! Exporting the tools in a provider's format, as a script uses it.

use crate::binary::desk::{Desk, OPEN};
use portcullis_tests::{Manifest, Tool, guest};
use serde_json::{Value, json};

/// Every format, and the pointer to the name of an export's first tool.
const FORMATS: [(&str, &str); 11] = [
    ("openai-chat", "/0/function/name"),
    ("openai-chat-strict", "/0/function/name"),
    ("openai-responses", "/0/name"),
    ("openai-responses-strict", "/0/name"),
    ("anthropic", "/0/name"),
    ("anthropic-strict", "/0/name"),
    ("gemini", "/0/functionDeclarations/0/name"),
    ("gemini-openapi", "/0/functionDeclarations/0/name"),
    ("ollama", "/0/function/name"),
    ("mistral", "/0/function/name"),
    ("langchain", "/0/name"),
];

/// Builds a plugin with one tool of this schema.
fn with_tool(desk: &Desk, plugin: &str, schema: &Value) {
    let tools = vec![Tool { schema: schema.to_string(), ..Tool::new("run") }];
    desk.site.plugin(plugin, &guest("good", &Manifest { tools, ..Manifest::of(plugin) }));
}

fn tools(out: &str) -> Value {
    serde_json::from_str(out).unwrap_or_else(|error| panic!("{error}: {out}"))
}

#[test]
fn a_plugin_directory_is_exported_to_every_provider_format() {
    let desk = Desk::new(OPEN);
    for (format, name) in FORMATS {
        let ran = desk.run(&["export", "--format", format, "--tool", "hello.greet"]).ends(0);
        let exported = tools(&ran.out);
        assert_eq!(exported.pointer(name), Some(&json!("hello__greet")), "{format}: {exported}");
        assert!(exported.to_string().contains("\"name\""), "{format}: {exported}");
        let document = desk.run(&["--json", "export", "--format", format, "--tool", "hello.greet"]).ends(0).document();
        assert_eq!((&document["format"], &document["tools"]), (&json!(format), &exported));
        assert_eq!(
            document["losses"].as_array().unwrap().len(),
            ran.err.matches("lost:").count(),
            "{format}: {}",
            ran.err
        );
    }
    let all = tools(&desk.run(&["export", "--format", "openai-chat"]).ends(0).out);
    let names: Vec<&str> =
        all.as_array().unwrap().iter().map(|tool| tool["function"]["name"].as_str().unwrap()).collect();
    assert!(["files__read", "hello__greet", "output__read"].iter().all(|name| names.contains(name)), "{names:?}");
}

#[test]
fn a_lossy_export_can_be_denied() {
    let desk = Desk::new(OPEN);
    let schema = json!({ "type": "object", "properties": { "n": { "type": "integer", "maximum": 9 } }, "required": ["n"], "additionalProperties": false });
    with_tool(&desk, "bound", &schema);
    let export = |format: &str, more: &[&str]| {
        desk.run(&[&["export", "--format", format, "--tool", "bound.run"], more].concat())
    };
    let lossless = export("openai-chat-strict", &["--deny-lossy"]).ends(0);
    assert_eq!(tools(&lossless.out)[0]["function"]["parameters"], schema);
    assert!(lossless.err.is_empty(), "{}", lossless.err);
    let lossy = export("anthropic-strict", &[]).ends(0);
    assert_eq!(tools(&lossy.out)[0]["strict"], true);
    assert!(lossy.err.starts_with("lost: bound__run: maximum at /properties/n: "), "{}", lossy.err);
    let denied = export("anthropic-strict", &["--deny-lossy"]).ends(9);
    assert!(denied.out.is_empty(), "{}", denied.out);
    assert!(denied.err.contains("maximum at /properties/n") && denied.err.contains("error:"), "{}", denied.err);
    let document = export("anthropic-strict", &["--deny-lossy", "--json"]).ends(9).document();
    assert_eq!(document["losses"][0]["pointer"], "/properties/n");
    assert!(document.get("tools").is_none(), "{document}");
}

#[test]
fn tools_are_selected_by_name_permission_and_task() {
    let desk = Desk::new(OPEN);
    let names = |more: &[&str]| -> Vec<String> {
        let ran = desk.run(&[&["export", "--format", "langchain"], more].concat()).ends(0);
        tools(&ran.out).as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    };
    let files = names(&["--tool", "files.*"]);
    assert!(files.len() > 1 && files.iter().all(|name| name.starts_with("files__")), "{files:?}");
    let reading = names(&["--tool", "files.*", "--permissions", "read"]);
    assert!(reading.contains(&"files__read".to_owned()) && reading.len() < files.len(), "{reading:?}");
    assert_eq!(names(&["--tool", "files.*", "--permissions", "read,write"]), files);
    assert_eq!(names(&["--tool", "hello.*", "--tool", "echo.*"]), ["echo__run", "hello__greet"]);
    assert_eq!(names(&["--tool", "nothing.*"]), Vec::<String>::new());
    let picked = names(&["--pick", "greet somebody by name", "--limit", "1"]);
    assert_eq!(picked, ["hello__greet"]);
    for wrong in [&["--permissions", "reed"][..], &["--tool", "files"], &["--limit", "3"]] {
        desk.run(&[&["export", "--format", "langchain"], wrong].concat()).ends(2);
    }
    let unknown = desk.run(&["export", "--format", "openai"]).ends(2);
    assert!(unknown.err.contains("openai-responses-strict"), "{}", unknown.err);
}

#[test]
fn tools_with_colliding_names_are_not_exported() {
    let desk = Desk::new(OPEN);
    for (plugin, tool) in [("a", "b__c"), ("a__b", "c")] {
        let tools = vec![Tool::new(tool)];
        desk.site.plugin(plugin, &guest("good", &Manifest { tools, ..Manifest::of(plugin) }));
    }
    let ran = desk.run(&["export", "--format", "openai-chat"]).ends(2);
    assert!(ran.out.is_empty() && ran.err.contains("a__b__c"), "{ran:?}");
    desk.run(&["export", "--format", "openai-chat", "--tool", "a.*"]).ends(0);
}

/// A plugin's names are shown to a person as escaped text.
#[test]
fn losses_are_shown_on_one_line_each() {
    let desk = Desk::new(OPEN);
    let odd = "é/~ \"x\"";
    with_tool(
        &desk,
        "odd",
        &json!({ "type": "object", "properties": { odd: { "type": "string", "maxLength": 3 } }, "additionalProperties": false }),
    );
    let ran = desk.run(&["export", "--format", "gemini", "--tool", "odd.run"]).ends(0);
    assert_eq!(ran.err, "lost: odd__run: maxLength at /properties/é~1~0 \"x\": moved to the description\n");
}

#[test]
fn a_toolset_selects_what_export_and_list_print() {
    let offers = "[toolset.some]\ntools = [\"hello.*\"]\n[[offer]]\nmodel = \"gpt-*\"\ntoolset = \"some\"\n";
    let desk = Desk::new(&format!("{OPEN}{offers}"));
    for option in [["--toolset", "some"], ["--model", "gpt-5"]] {
        let out = desk.run(&["export", "--format", "openai-chat", option[0], option[1]]).ends(0).out;
        assert!(out.contains("hello__greet") && !out.contains("files__read"), "{out}");
    }
    let all = desk.run(&["export", "--format", "openai-chat", "--model", "other"]).ends(0).out;
    assert!(all.contains("files__read"), "{all}");
    let listed = desk.run(&["list", "--toolset", "some"]).ends(0).out;
    assert!(listed.contains("hello.greet") && !listed.contains("files.read"), "{listed}");
    let unknown = desk.run(&["list", "--toolset", "sme"]).ends(2);
    assert!(unknown.err.contains("did you mean `some`?"), "{}", unknown.err);
}
