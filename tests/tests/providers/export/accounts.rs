//! Every loss is reported.
//!
//! The test removes each keyword of each schema in turn. If the export does not change, except in texts, the export
//! does not express that keyword. The losses must then name it, or something that contains it.

use super::alone;
use portcullis::plugins::{Offer, Schema};
use portcullis_providers::{Definitions, Format, Loss};
use portcullis_tests::{Manifest, Site, Tool, allow_all, corpus, guest};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Maximum number of tools per plugin.
const TOOLS_MAX: usize = 200;

/// Maximum number of keywords per schema. Some schemas have hundreds of similar ones.
const KEYWORDS_MAX: usize = 40;

/// Minimum number of keywords in total.
const TRIED_MIN: usize = 500;

/// Keywords that do not restrict a value, so that an export without them loses nothing.
const NEUTRAL: [&str; 6] = ["$anchor", "$comment", "$defs", "$id", "$schema", "definitions"];

/// Keywords that are redundant next to certain others, with those.
const REDUNDANT: [(&str, &str, &str); 7] = [
    // `true` is the default.
    ("additional-true", "", "additionalProperties"),
    // Only members that both parts name can exist, and each part says that the value is an object.
    ("closed-twice", "/properties/item/allOf", "type"),
    // Only a description: `required` says that the member is required.
    ("empty-property", "", "properties"),
    // Both Boolean values are the whole type.
    ("enum-boolean", "/properties/either", "enum"),
    // Only its content is referred to.
    ("ref-deep", "/$defs/list", "type"),
    // The reference and its siblings say that it is an object.
    ("ref-siblings-structured", "/", "type"),
    // It is part of the arguments, which are an object.
    ("root-all-of", "/$defs/paged", "type"),
];

/// Returns a schema without one of its keywords.
struct Without {
    case: String,
    pointer: String,
    keyword: String,
    schema: Value,
}

/// Returns every reachable subschema with keywords.
fn places(schema: &Value, at: &str, found: &mut Vec<String>) {
    let Some(members) = schema.as_object() else { return };
    found.push(at.to_owned());
    for (keyword, value) in members {
        let escaped = |token: &str| token.replace('~', "~0").replace('/', "~1");
        let at = format!("{at}/{keyword}");
        match (keyword.as_str(), value) {
            (
                "properties" | "$defs" | "definitions" | "patternProperties" | "dependentSchemas",
                Value::Object(named),
            ) => {
                named.iter().for_each(|(name, child)| places(child, &format!("{at}/{}", escaped(name)), found));
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(all)) => {
                all.iter().enumerate().for_each(|(place, child)| places(child, &format!("{at}/{place}"), found));
            }
            ("items" | "additionalProperties" | "not" | "contains", child) => places(child, &at, found),
            _ => {}
        }
    }
}

fn without_each(case: &corpus::Case) -> Vec<Without> {
    let mut found = Vec::new();
    places(&case.schema, "", &mut found);
    let mut all = Vec::new();
    for pointer in found {
        for keyword in case.schema.pointer(&pointer).unwrap().as_object().unwrap().keys() {
            let mut schema = case.schema.clone();
            schema.pointer_mut(&pointer).unwrap().as_object_mut().unwrap().remove(keyword);
            let unused = pointer.ends_with("/unused");
            if !NEUTRAL.contains(&keyword.as_str()) && !unused && Schema::of_arguments(&schema.to_string()).is_ok() {
                all.push(Without {
                    case: case.name.clone(),
                    pointer: pointer.clone(),
                    keyword: keyword.clone(),
                    schema,
                });
            }
        }
    }
    all.truncate(KEYWORDS_MAX);
    all
}

/// Builds tools with these schemas, in order.
fn offers(schemas: &[&Value]) -> Vec<Offer> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let site = Site::new();
    let tool =
        |(number, schema): (usize, &&Value)| Tool { schema: schema.to_string(), ..Tool::new(&format!("t{number:03}")) };
    for (number, some) in schemas.chunks(TOOLS_MAX).enumerate() {
        let name = format!("part-{number:03}");
        let tools = some.iter().enumerate().map(tool).collect();
        site.plugin(&name, &guest("good", &Manifest { tools, ..Manifest::of(&name) }));
    }
    let host = runtime.block_on(site.open(&allow_all("")));
    let offers: Vec<Offer> =
        host.catalog().offers().filter(|offer| offer.plugin.name().as_str().starts_with("part-")).collect();
    assert_eq!(offers.len(), schemas.len());
    offers
}

/// Returns the tool without its name and texts.
fn untold(tools: &Value) -> Value {
    fn bare(value: &Value, named: bool) -> Value {
        match value {
            Value::Object(members) => {
                let told = |keyword: &str| !named && matches!(keyword, "description" | "name");
                let members = members.iter().filter(|(keyword, value)| !(told(keyword) && value.is_string()));
                members.map(|(keyword, value)| (keyword.clone(), bare(value, keyword == "properties"))).collect()
            }
            Value::Array(items) => items.iter().map(|item| bare(item, false)).collect(),
            other => other.clone(),
        }
    }
    bare(tools, false)
}

/// Returns the locations of a schema's losses, each with its content and everything that refers to it.
fn told(schema: &Value, losses: &[Loss]) -> BTreeSet<String> {
    let mut covered = BTreeSet::new();
    for loss in losses {
        let whole = format!("{}/{}", loss.pointer, loss.keyword);
        match schema.pointer(&whole) {
            Some(_) => cover(schema, &whole, &mut covered),
            // A property that was left out has a location, and a missing one does not.
            None if loss.keyword == "properties" => cover(schema, &loss.pointer, &mut covered),
            None => {}
        }
    }
    covered
}

fn cover(root: &Value, at: &str, covered: &mut BTreeSet<String>) {
    if !covered.insert(at.to_owned()) {
        return;
    }
    let escaped = |token: &str| token.replace('~', "~0").replace('/', "~1");
    match root.pointer(at) {
        Some(Value::Object(members)) => {
            members.keys().for_each(|key| cover(root, &format!("{at}/{}", escaped(key)), covered));
        }
        Some(Value::Array(items)) => (0..items.len()).for_each(|place| cover(root, &format!("{at}/{place}"), covered)),
        Some(Value::String(reference)) if at.ends_with("/$ref") && reference.starts_with("#/") => {
            cover(root, &reference[1..], covered);
        }
        _ => {}
    }
}

#[test]
fn every_keyword_that_is_not_exported_is_reported_as_a_loss() {
    let cases = corpus::schemas();
    let tried: Vec<Without> = cases.iter().flat_map(without_each).collect();
    assert!(tried.len() >= TRIED_MIN, "{}", tried.len());
    let whole: Vec<&Value> = cases.iter().map(|case| &case.schema).collect();
    let whole = offers(&whole);
    let parts: Vec<&Value> = tried.iter().map(|without| &without.schema).collect();
    let parts = offers(&parts);
    let mut silent = Vec::new();
    for format in Format::ALL {
        let exports: Vec<_> = whole.iter().map(|offer| alone(offer).export(format)).collect();
        let told: Vec<_> =
            cases.iter().zip(&exports).map(|(case, export)| told(&case.schema, &export.losses)).collect();
        for (without, offer) in tried.iter().zip(&parts) {
            let number = cases.iter().position(|case| case.name == without.case).unwrap();
            let (export, told) = (&exports[number], &told[number]);
            let less = Definitions::of([offer.clone()]).unwrap().export(format);
            let text = without.keyword == "description";
            let same = match text {
                true => texts(&less.tools) == texts(&export.tools),
                false => untold(&less.tools) == untold(&export.tools),
            };
            // If the schema without the keyword has other losses, the export expressed the keyword.
            let found = |losses: &[Loss]| -> BTreeSet<(String, String)> {
                losses.iter().map(|loss| (loss.pointer.clone(), loss.keyword.clone())).collect()
            };
            let same = same && found(&less.losses).is_subset(&found(&export.losses));
            let whole = format!("{}/{}", without.pointer, without.keyword);
            // A combination of parts is lost in its parts, which are tested too.
            let parts =
                || without.keyword == "allOf" && told.iter().any(|place| place.starts_with(&format!("{whole}/")));
            let named = told.contains(&whole) || parts();
            let redundant = REDUNDANT.iter().any(|(case, place, keyword)| {
                (*case, *keyword) == (&*without.case, &*without.keyword) && without.pointer.starts_with(place)
            });
            let nothing = cases[number].schema.pointer(&whole).is_some_and(|value| *value == json!({}));
            let redundant = redundant || nothing;
            let listed =
                without.keyword == "type" && is_listed(cases[number].schema.pointer(&without.pointer).unwrap());
            if same && !named && !redundant && !listed && export.tools != json!([]) {
                silent.push(format!("{format}, {}: {} at {}", without.case, without.keyword, without.pointer));
            }
        }
    }
    assert!(silent.is_empty(), "{} keywords vanish:\n{}", silent.len(), silent.join("\n"));
}

/// Returns whether an enumeration's values imply their type.
fn is_listed(schema: &Value) -> bool {
    schema.get("enum").is_some() || schema.get("const").is_some()
}

/// Removes all texts of a tool except its name.
fn texts(tools: &Value) -> Vec<String> {
    match tools {
        Value::Object(members) => members
            .iter()
            .filter(|(key, value)| !(*key == "name" && value.is_string()))
            .flat_map(|(_, value)| texts(value))
            .collect(),
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::String(text) => vec![text.clone()],
        _ => Vec::new(),
    }
}
