//! The host's token estimate, compared with a real tokenizer.

use crate::office::{DENYING, Office, succeeded};
use crate::script::script;
use portcullis::estimate_tokens;
use portcullis_tests::{botocore, shipped_plugins};
use serde_json::{Value, json};
use std::fs;

/// The interpreter that has the tokenizer.
const PROVIDERS: &str = "PORTCULLIS_TEST_PYTHON_PROVIDERS";

/// Maximum error of the estimate for many definitions together, in percent of the count.
const MANY_PERCENT: u64 = 2;

/// The same for a few definitions together.
const FEW_PERCENT: u64 = 10;

/// The same for a single definition.
const ALONE_PERCENT: u64 = 15;

/// Counts the tokens of each text.
pub(crate) fn counted(office: &Office, texts: &[String]) -> Vec<u64> {
    let file = office.path("texts.json");
    fs::write(&file, json!(texts).to_string()).unwrap();
    let ran = script(office, PROVIDERS, "tokens", &json!({ "texts": file })).output().unwrap();
    serde_json::from_str(&succeeded(&ran)).unwrap()
}

#[track_caller]
fn is_within(estimate: u64, count: u64, percent: u64, what: &str) {
    let off = estimate.abs_diff(count) * 100;
    assert!(off <= count * percent, "{what}: estimated {estimate}, counted {count}");
}

/// Returns the definitions of a provider's request, each as the model sees it.
pub(crate) fn definitions(exported: &Value) -> Vec<String> {
    exported.as_array().unwrap_or_else(|| panic!("{exported}")).iter().map(Value::to_string).collect()
}

#[test]
fn the_estimate_for_the_shipped_tools_is_close_to_the_count() {
    let office = Office::new(DENYING);
    for name in ["files", "memory", "todo", "web"] {
        fs::copy(shipped_plugins().join(format!("{name}.wasm")), office.path(format!("plugins/{name}.wasm").as_str()))
            .unwrap();
    }
    let exported: Value =
        serde_json::from_str(&office.portcullis(&["export", "--format", "openai-chat"])).expect("it is JSON");
    let texts = definitions(&exported["tools"]);
    let counts = counted(&office, &texts);
    for (text, count) in texts.iter().zip(&counts) {
        is_within(estimate_tokens(text), *count, ALONE_PERCENT, text);
    }
    let costs: Value = serde_json::from_str(&office.portcullis(&["list", "--tokens"])).expect("it is JSON");
    assert_eq!(costs["tools"].as_array().unwrap().len(), texts.len(), "{costs}");
    is_within(costs["tokens"].as_u64().unwrap(), counts.iter().sum(), FEW_PERCENT, "together");
}

#[test]
fn the_estimate_for_a_thousand_third_party_tools_is_close_to_the_count() {
    let office = Office::new(DENYING);
    let definition = |plugin: &str, tool: &portcullis_tests::Tool| {
        let parameters: Value = serde_json::from_str(&tool.schema).unwrap();
        let name = format!("{plugin}__{}", tool.name);
        let function = json!({ "name": name, "description": tool.description, "parameters": parameters });
        json!({ "type": "function", "function": function }).to_string()
    };
    let manifests = botocore::manifests();
    let texts: Vec<String> = manifests
        .iter()
        .flat_map(|manifest| manifest.tools.iter().map(|tool| definition(&manifest.name, tool)))
        .collect();
    assert!(texts.len() >= 300);
    let counts = counted(&office, &texts);
    for (text, count) in texts.iter().zip(&counts) {
        is_within(estimate_tokens(text), *count, ALONE_PERCENT, text);
    }
    let estimate = texts.iter().map(|text| estimate_tokens(text)).sum();
    is_within(estimate, counts.iter().sum(), MANY_PERCENT, "together");
}
