//! The list of tools: order, pages, definitions, names, and hints that follow the policy.

use crate::mcp::wire::{Desk, ERAS, Era, OPEN};
use portcullis_tests::{Manifest, Tool, built_guest, guest, shipped_plugin};
use serde_json::{Value, json};

fn names(page: &Value) -> Vec<String> {
    let tools = page["tools"].as_array().unwrap_or_else(|| panic!("{page}"));
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

fn definition(page: &Value, name: &str) -> Value {
    let tools = page["tools"].as_array().unwrap();
    tools.iter().find(|tool| tool["name"] == name).unwrap_or_else(|| panic!("{name} in {page}")).clone()
}

/// Builds a plugin with this many tools, the first of which are read-only.
fn crowd(name: &str, tools: usize) -> Vec<u8> {
    let mut manifest = Manifest::of(name);
    manifest.tools = (0..tools).map(|number| Tool::new(&format!("t{number:03}"))).collect();
    guest("good", &manifest)
}

#[test]
fn the_list_has_a_stable_order_and_its_pages_contain_every_tool() {
    let desk = Desk::new(OPEN);
    desk.site.plugin("crowd", &crowd("crowd", 250));
    for era in ERAS {
        let mut wire = desk.client(era);
        let first = wire.result("tools/list", json!({}));
        assert_eq!(first, wire.result("tools/list", json!({})), "the list must not change");
        let mut all = names(&first);
        let cursor = first["nextCursor"].as_str().expect("the tools must not fit on one page").to_owned();
        let second = wire.result("tools/list", json!({ "cursor": cursor }));
        assert!(second.get("nextCursor").is_none(), "{second}");
        all.extend(names(&second));
        let mut sorted = all.clone();
        sorted.sort();
        sorted.dedup();
        assert_eq!(sorted.len(), all.len(), "a tool is listed twice");
        for number in 0..250 {
            assert!(all.contains(&format!("crowd__t{number:03}")), "{number}");
        }
        assert!(all.contains(&"clerk__echo".to_owned()));
        for cursor in ["", "x", "AAAA", "\u{0}", "bm8gc3VjaA", "../../etc"] {
            assert_eq!(wire.error("tools/list", json!({ "cursor": cursor })), -32602, "{cursor:?}");
        }
    }
}

#[test]
fn list_cache_hints_are_sent_only_in_the_era_that_has_them() {
    let desk = Desk::new(OPEN);
    let modern = desk.client(Era::Modern).result("tools/list", json!({}));
    assert_eq!((&modern["ttlMs"], &modern["cacheScope"]), (&json!(0), &json!("private")));
}

#[test]
fn a_definition_is_passed_on_as_the_plugin_wrote_it() {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": {
            "address": { "$anchor": "address", "type": "object", "properties": { "street": { "type": "string" } } }
        },
        "type": "object",
        "properties": { "to": { "$ref": "#/$defs/address" }, "region": { "type": "string", "x-mcp-header": "Region" } },
        "allOf": [{ "anyOf": [{ "required": ["to"] }, { "required": ["region"] }] }],
        "if": { "required": ["to"] }, "then": {}, "else": {},
        "additionalProperties": false
    });
    let manifest = Manifest::of("exact").tool(|tool| {
        tool.schema = schema.to_string();
        tool.title = Some("A title".to_owned());
        tool.description = "Two\nlines.".to_owned();
        tool.output_schema = Some(r#"{"type":"array","items":{"type":"integer"}}"#.to_owned());
    });
    let desk = Desk::new(OPEN);
    desk.site.plugin("exact", &guest("good", &manifest));
    for era in ERAS {
        let mut wire = desk.client(era);
        let page = wire.result("tools/list", json!({}));
        let tool = definition(&page, "exact__run");
        assert_eq!(tool["inputSchema"], schema);
        assert_eq!(tool["title"], "A title");
        assert_eq!(tool["description"], "Two\nlines.");
        // The legacy era only allows output schemas for objects, and its clients validate results against the schema.
        let output = json!({ "type": "array", "items": { "type": "integer" } });
        assert_eq!(tool["outputSchema"], if era == Era::Modern { output } else { Value::Null });
        assert_eq!(definition(&page, "clerk__add")["outputSchema"]["type"], "object");
    }
}

#[test]
fn hints_follow_the_policy_and_not_the_plugin() {
    let lies = Manifest::of("lies").directory("place", true).tool(|tool| {
        // The plugin claims to be read-only, but may write.
        tool.hints = 1;
        tool.required = 3;
    });
    let hints = |grant: &str| {
        let desk = Desk::new(&format!("{grant}{OPEN}"));
        desk.site.plugin("lies", &guest("good", &lies));
        desk.site.directory("place");
        let page = desk.client(Era::Modern).result("tools/list", json!({}));
        definition(&page, "lies__run")["annotations"].clone()
    };
    let reads =
        json!({ "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false });
    let writes =
        json!({ "readOnlyHint": false, "destructiveHint": true, "idempotentHint": false, "openWorldHint": false });
    assert_eq!(hints(""), reads, "without a grant the plugin cannot write");
    let grant =
        |access: &str| format!("[plugin.lies]\ndirectory.place = {{ path = \"place\", access = \"{access}\" }}\n");
    assert_eq!(hints(&grant("read-only")), reads);
    assert_eq!(hints(&grant("read-write")), writes);

    let desk = Desk::new(OPEN);
    let page = desk.client(Era::Modern).result("tools/list", json!({}));
    assert_eq!(definition(&page, "clerk__note")["annotations"], writes);
    assert_eq!(definition(&page, "clerk__echo")["annotations"], reads, "the tool has no permissions and no handles");
}

/// A tool that no call could run is not listed. A call of it by name says why. A tool that some arguments or some
/// caller could run is listed.
#[test]
fn a_tool_that_can_never_run_is_listed_only_on_request() {
    let rules = [
        ("clerk.*", "allow", ""),
        ("clerk.note", "deny", ""),
        ("clerk.echo", "deny", "when = { text = \"secret\" }"),
        ("needy.*", "allow", ""),
        ("guarded.*", "ask", ""),
    ];
    let rule = |(tool, decision, more)| format!("[[rule]]\ntool = \"{tool}\"\ndecision = \"{decision}\"\n{more}\n");
    let desk = Desk::new(&rules.map(rule).concat());
    desk.site.plugin(
        "needy",
        &guest("good", &Manifest::of("needy").directory("place", false).tool(|tool| tool.required = 1)),
    );
    for name in ["guarded", "unnamed"] {
        desk.site.plugin(name, &guest("good", &Manifest::of(name)));
    }
    let listed = |arguments: &[&str]| names(&desk.client_with(Era::Modern, arguments).result("tools/list", json!({})));
    let (shown, all) = (listed(&[]), listed(&["--list-denied"]));
    for name in ["clerk__echo", "clerk__add", "guarded__run"] {
        assert!(shown.contains(&name.to_owned()) && all.contains(&name.to_owned()), "{name} in {shown:?}");
    }
    for name in ["clerk__note", "needy__run", "unnamed__run"] {
        assert!(!shown.contains(&name.to_owned()) && all.contains(&name.to_owned()), "{name} in {shown:?}");
    }
    let reply = desk.client(Era::Modern).call("needy__run", json!({}));
    assert!(reply["content"][0]["text"].as_str().unwrap().contains("`place`"), "{reply}");
    let index = |arguments: &[&str]| {
        let page = desk.client_with(Era::Modern, arguments).result("tools/list", json!({}));
        page["tools"][0]["description"].as_str().unwrap().to_owned()
    };
    // The index counts and names only the listed plugins.
    let (known, whole) = (index(&["--search"]), index(&["--search", "--list-denied"]));
    assert!(known.contains("among the 5 tools") && known.contains("\n- clerk (4):"), "{known}");
    assert!(known.contains("\n- guarded (1)") && whole.contains("\n- clerk (7):"), "{known}\n{whole}");
    for name in ["needy", "unnamed", "good", "echo"] {
        let line = format!("\n- {name} (");
        assert!(!known.contains(&line), "{known}");
    }
    assert!(whole.contains("\n- needy (1)") && whole.contains("\n- unnamed (1)"), "{whole}");
    let mut search = desk.client_with(Era::Modern, &["--search"]);
    let found = search.call("tools__search", json!({ "query": "clerk note echo needy unnamed run", "limit": 20 }));
    let found = names(&found["structuredContent"]);
    assert!(found.contains(&"clerk__echo".to_owned()) && !found.contains(&"clerk__note".to_owned()), "{found:?}");
    assert!(!found.contains(&"needy__run".to_owned()) && !found.contains(&"unnamed__run".to_owned()), "{found:?}");
}

/// The read-only hint of a tool that only declares `read` is true, because its store rejects changes.
#[test]
fn a_tool_that_only_reads_its_store_has_the_read_only_hint() {
    let stores = "[plugin.todo]\nstore.items = {}\n[plugin.memory]\nstore.notes = {}\n";
    let desk = Desk::new(&format!("{stores}{OPEN}"));
    for name in ["todo", "memory"] {
        desk.site.plugin(name, &shipped_plugin(name));
    }
    let page = desk.client(Era::Modern).result("tools/list", json!({}));
    for (name, read_only) in [
        ("todo__read", true),
        ("todo__write", false),
        ("memory__get", true),
        ("memory__list", true),
        ("memory__set", false),
        ("memory__delete", false),
        ("memory__increment", false),
    ] {
        let hints = definition(&page, name)["annotations"].clone();
        let expected = (&json!(read_only), &json!(!read_only));
        assert_eq!((&hints["readOnlyHint"], &hints["destructiveHint"]), expected, "{name}");
    }
}

#[test]
fn a_tool_can_be_called_by_either_of_its_names() {
    let desk = Desk::new(OPEN);
    let mut wire = desk.client(Era::Legacy);
    for name in ["clerk__echo", "clerk.echo"] {
        assert_eq!(wire.call(name, json!({ "text": "hi" }))["content"][0]["text"], "hi", "{name}");
    }
    for name in ["echo", "clerk_echo", "CLERK__ECHO", "clerk__echo ", "clerk/echo"] {
        assert_eq!(wire.error("tools/call", json!({ "name": name, "arguments": { "text": "hi" } })), -32602, "{name}");
    }
}

#[test]
fn every_name_is_valid_for_all_providers_and_unique() {
    let long = "l".repeat(64);
    let desk = Desk::new(OPEN);
    // Two pairs with colliding names, and one name that is too long.
    for (plugin, tool) in [("a", "b__c"), ("a__b", "c"), (long.as_str(), long.as_str()), ("same", "same")] {
        let text = format!(r#"{{"type":"object","title":"{plugin}.{tool}"}}"#);
        let manifest = Manifest::of(plugin).tool(|definition| {
            definition.name = tool.to_owned();
            definition.schema = text;
        });
        desk.site.plugin(plugin, &guest("good", &manifest));
    }
    let other = Manifest::of(&"m".repeat(64)).tool(|definition| definition.name = "n".repeat(64));
    desk.site.plugin(&"m".repeat(64), &guest("good", &other));
    let mut wire = desk.client(Era::Legacy);
    let page = wire.result("tools/list", json!({}));
    let all = names(&page);
    for name in &all {
        let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
        assert!(plain && (1..=64).contains(&name.len()) && !name.as_bytes()[0].is_ascii_digit(), "{name}");
        if ["a__", "ll", "mm", "same"].iter().any(|start| name.starts_with(start)) {
            assert_eq!(wire.call(name, json!({}))["isError"], false, "{name}");
        }
    }
    assert!(!all.contains(&"a__b__c".to_owned()), "the name would belong to two tools: {all:?}");
    assert_eq!(all.iter().filter(|name| name.starts_with("a__b__c_")).count(), 2, "{all:?}");
    assert!(all.contains(&"same".to_owned()), "{all:?}");
}

#[test]
fn short_names_are_accepted_only_if_they_are_unambiguous() {
    let desk = Desk::new(OPEN);
    let short = desk.stranger(Era::Modern, &["--tool-names", "short"]);
    let (status, _) = short.close();
    assert_ne!(status.code(), Some(0), "several plugins of the site have a tool `run`");
    for name in ["good", "loop-in-execute", "long-text", "trap-on-demand"] {
        std::fs::remove_file(desk.site.plugins().join(format!("{name}.wasm"))).unwrap();
    }
    desk.site.plugin("clerk", &built_guest("clerk"));
    let mut short = desk.stranger(Era::Modern, &["--tool-names", "short"]);
    assert_eq!(short.call("echo", json!({ "text": "hi" }))["content"][0]["text"], "hi");
    assert_eq!(short.call("clerk.echo", json!({ "text": "hi" }))["content"][0]["text"], "hi");
    assert_eq!(short.error("tools/call", json!({ "name": "clerk__echo" })), -32602);
}
