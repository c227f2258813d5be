//! The token cost of the tool definitions for a model, and that of the short list instead.

use crate::binary::desk::{Desk, OPEN};
use portcullis_tests::{Manifest, Tool, guest};
use serde_json::Value;

fn cost(costs: &Value, tool: &str) -> u64 {
    let tools = costs["tools"].as_array().unwrap();
    let cost = tools.iter().find(|cost| cost["name"] == tool).unwrap_or_else(|| panic!("{tool} in {costs}"));
    cost["tokens"].as_u64().unwrap()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value}"))
}

/// Builds a plugin with this many tools, each with a long description.
fn crowd(tools: usize) -> Vec<u8> {
    let mut manifest = Manifest::of("crowd");
    let tool =
        |number| Tool { description: "Says what it is there for. ".repeat(20), ..Tool::new(&format!("t{number:03}")) };
    manifest.tools = (0..tools).map(tool).collect();
    guest("good", &manifest)
}

#[test]
fn every_tool_has_a_cost_and_the_costs_add_up() {
    let desk = Desk::new(OPEN);
    let listed = desk.run(&["list", "--json"]).ends(0).document();
    let plugins = listed["plugins"].as_array().unwrap().iter();
    let names: Vec<&Value> =
        plugins.flat_map(|plugin| plugin["tools"].as_array().unwrap()).map(|tool| &tool["name"]).collect();
    let costs = desk.run(&["list", "--tokens", "--json"]).ends(0).document();
    let tools = costs["tools"].as_array().unwrap();
    assert_eq!(tools.iter().map(|cost| &cost["name"]).collect::<Vec<_>>(), names);
    assert_eq!(tools.iter().map(|cost| number(&cost["tokens"])).sum::<u64>(), number(&costs["tokens"]));
    assert!(tools.iter().all(|cost| number(&cost["tokens"]) > 10), "{costs}");
    assert!(cost(&costs, "files.edit") > cost(&costs, "hello.greet"), "{costs}");
    assert_eq!(number(&costs["search"]["found"]), 5);
    let found = number(&costs["search"]["found_tokens"]);
    assert!((100..number(&costs["tokens"])).contains(&found), "{costs}");

    let text = desk.run(&["list", "--tokens"]).ends(0).out;
    let row = text.lines().find(|line| line.starts_with("files.edit ")).unwrap_or_else(|| panic!("{text}"));
    assert_eq!(row.split_whitespace().last(), Some(cost(&costs, "files.edit").to_string().as_str()));
    assert!(text.contains(&format!("about {} tokens in every turn.", costs["tokens"])), "{text}");
    assert!(
        text.contains(&format!("about {} in every turn, and about {found} for", costs["search"]["tokens"])),
        "{text}"
    );
}

#[test]
fn the_short_list_has_a_constant_cost() {
    let desk = Desk::new(OPEN);
    let costs = |tools: usize| {
        desk.site.plugin("crowd", &crowd(tools));
        desk.run(&["list", "--tokens", "--json"]).ends(0).document()
    };
    let (few, many) = (costs(100), costs(250));
    assert!(number(&many["tokens"]) > 2 * number(&few["tokens"]), "{} {}", many["tokens"], few["tokens"]);
    assert_eq!(many["search"]["tokens"], few["search"]["tokens"]);
    assert!(number(&many["search"]["tokens"]) * 10 < number(&many["tokens"]), "{}", many["search"]);
}

#[test]
fn a_host_without_plugins_costs_only_its_own_tools() {
    let desk = Desk::new("");
    let empty = desk.site.directory("empty");
    let costs = desk.run(&["list", "--tokens", "--json", "--plugins", empty.to_str().unwrap()]).ends(0).document();
    assert_eq!(costs["tools"].as_array().unwrap().len(), 5, "{costs}");
    assert_eq!((number(&costs["search"]["found"]), number(&costs["search"]["found_tokens"])), (0, 0));
    assert!(number(&costs["search"]["tokens"]) > number(&costs["tokens"]), "{costs}");
}
