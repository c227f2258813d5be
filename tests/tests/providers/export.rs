//! The export of every schema of the corpus to every format, and the reported losses.
//!
//! `tests/data/exports` stores the exports, one file per format. `PORTCULLIS_WRITE_EXPORTS=1` rewrites them and fails,
//! so that a rewrite never passes for a test.

#[path = "export/accounts.rs"]
mod accounts;

#[path = "export/limits.rs"]
mod limits;

use portcullis::plugins::{Offer, Schema};
use portcullis_providers::{Definitions, Export, Format};
use portcullis_tests::{allow_all, corpus};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Set to rewrite the exports.
const WRITE: &str = "PORTCULLIS_WRITE_EXPORTS";

/// Minimum number of schemas.
const SCHEMAS_MIN: usize = 45;

/// Minimum number of lossless schemas, in the format that keeps least.
const LOSSLESS_MIN: usize = 3;

/// Loads the corpus as tools of a host, each case with its definition.
struct Corpus {
    cases: Vec<(corpus::Case, Offer)>,
}

impl Corpus {
    fn open() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        let site = corpus::site();
        let host = runtime.block_on(site.open(&allow_all("")));
        let catalog = host.catalog();
        let refused: Vec<String> = catalog.refused().iter().map(|refused| refused.error.to_string()).collect();
        assert_eq!(refused, Vec::<String>::new());
        let offers: Vec<Offer> = catalog.offers().collect();
        let offer = |case: &corpus::Case| {
            let named = |offer: &&Offer| offer.tool.name().tool.as_str() == case.name;
            offers.iter().find(named).unwrap_or_else(|| panic!("{}", case.name)).clone()
        };
        Self {
            cases: corpus::schemas()
                .into_iter()
                .map(|case| (offer(&case), case))
                .map(|(offer, case)| (case, offer))
                .collect(),
        }
    }

    fn exports(&self, format: Format) -> impl Iterator<Item = (&corpus::Case, Export)> {
        self.cases.iter().map(move |(case, offer)| (case, alone(offer).export(format)))
    }
}

fn alone(offer: &Offer) -> Definitions {
    Definitions::of([offer.clone()]).unwrap()
}

/// Returns the schema in an exported tool, and whether it is strict. Returns `None` if the tool was left out.
fn exported(format: Format, export: &Export) -> Option<(Value, bool)> {
    let tool = export.tools.get(0)?;
    let (schema, flags) = match format {
        Format::OpenAiChat | Format::OpenAiChatStrict | Format::Ollama | Format::Mistral => {
            (&tool["function"]["parameters"], &tool["function"])
        }
        Format::OpenAiResponses | Format::OpenAiResponsesStrict | Format::LangChain => (&tool["parameters"], tool),
        Format::Anthropic | Format::AnthropicStrict => (&tool["input_schema"], tool),
        Format::Gemini => (&tool["functionDeclarations"][0]["parametersJsonSchema"], tool),
        Format::GeminiOpenApi => (&tool["functionDeclarations"][0]["parameters"], tool),
    };
    // A function in the OpenAPI style without parameters has no schema.
    let schema = if schema.is_null() { json!({ "type": "object" }) } else { schema.clone() };
    Some((schema, flags["strict"] == true))
}

#[test]
fn the_corpus_has_its_documented_cases() {
    let cases = corpus::schemas();
    assert!(cases.len() >= SCHEMAS_MIN, "{}", cases.len());
    for case in &cases {
        let schema =
            Schema::of_arguments(&case.schema.to_string()).unwrap_or_else(|error| panic!("{}: {error}", case.name));
        assert!(!case.valid.is_empty() && case.description.ends_with('.'), "{}", case.name);
        for value in &case.valid {
            assert_eq!(schema.mismatches(value), Vec::new(), "{}: {value}", case.name);
        }
        for value in &case.invalid {
            assert!(!schema.mismatches(value).is_empty(), "{}: {value}", case.name);
        }
    }
}

fn file(format: Format) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("data/exports/{format}.json"))
}

/// Returns the exports of one format as a file: a line for each loss, so that changes are easy to review, and a line
/// for each export.
fn written(exports: &Value) -> String {
    let entry = |(name, entry): (&String, &Value)| {
        let losses: Vec<String> =
            entry["losses"].as_array().unwrap().iter().map(|loss| format!("\n    {loss}")).collect();
        format!("{}: {{\n  \"losses\": [{}],\n  \"tools\": {}\n}}", json!(name), losses.join(","), entry["tools"])
    };
    let entries: Vec<String> = exports.as_object().unwrap().iter().map(entry).collect();
    format!("{{\n{}\n}}\n", entries.join(",\n"))
}

#[test]
fn every_export_equals_the_stored_one() {
    let corpus = Corpus::open();
    let write = env::var_os(WRITE).is_some();
    for format in Format::ALL {
        let entry = |(case, export): (&corpus::Case, Export)| {
            let losses: Vec<Value> =
                export.losses.iter().map(|loss| json!([loss.pointer, loss.keyword, loss.what])).collect();
            (case.name.clone(), json!({ "tools": export.tools, "losses": losses }))
        };
        let now: Value = Value::Object(corpus.exports(format).map(entry).collect());
        if write {
            fs::write(file(format), written(&now)).unwrap();
            continue;
        }
        let text = fs::read_to_string(file(format)).unwrap_or_else(|error| panic!("{format}: {error}"));
        let before: Value = serde_json::from_str(&text).unwrap();
        let names = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&now), names(&before), "{format}: {WRITE}=1 rewrites the exports");
        for (name, entry) in now.as_object().unwrap() {
            assert_eq!(*entry, before[name], "{format}, {name}: {WRITE}=1 rewrites the exports");
        }
    }
    assert!(!write, "the exports were rewritten: review the changes, and run the test without {WRITE}");
}

/// All formats share the definitions, so an export must not change them. Equal definitions give equal exports.
#[test]
fn exporting_changes_nothing_and_is_deterministic() {
    let corpus = Corpus::open();
    let before: Vec<String> =
        corpus.cases.iter().map(|(_, offer)| offer.tool.schema().document().to_string()).collect();
    for (case, offer) in &corpus.cases {
        assert_eq!(*offer.tool.schema().document(), case.schema, "{}", case.name);
    }
    let all = Definitions::of(corpus.cases.iter().map(|(_, offer)| offer.clone())).unwrap();
    for format in Format::ALL {
        assert_eq!(all.export(format), all.export(format), "{format}");
    }
    let after: Vec<String> = corpus.cases.iter().map(|(_, offer)| offer.tool.schema().document().to_string()).collect();
    assert_eq!(before, after);
}

/// Exported schemas are valid for each provider, as far as JSON Schema can express its rules.
#[test]
fn exported_schemas_are_object_schemas() {
    let corpus = Corpus::open();
    for format in Format::ALL {
        for (case, export) in corpus.exports(format) {
            let Some((schema, _)) = exported(format, &export) else { continue };
            let text = schema.to_string();
            Schema::of_arguments(&text).unwrap_or_else(|error| panic!("{format}, {}: {error}\n{text}", case.name));
        }
    }
}

/// If nothing is lost, a model can still write every value, with null for what it leaves out if the format requires it.
#[test]
fn a_lossless_export_can_still_express_every_value() {
    let corpus = Corpus::open();
    for format in Format::ALL {
        let mut lossless = 0;
        for (case, export) in corpus.exports(format) {
            let Some((schema, strict)) = exported(format, &export) else { continue };
            if !export.losses.is_empty() {
                continue;
            }
            lossless += 1;
            let plain = if format == Format::GeminiOpenApi { without_nullable(&schema) } else { schema.clone() };
            let compiled = Schema::of_arguments(&plain.to_string()).unwrap();
            for value in &case.valid {
                let forced = strict && format != Format::AnthropicStrict;
                let written = if forced { with_nulls(&schema, &schema, value) } else { value.clone() };
                let mismatches = compiled.mismatches(&written);
                assert_eq!(mismatches, Vec::new(), "{format}, {}: {written}\n{schema}", case.name);
            }
            for value in &case.invalid {
                let only_left_out = strict && compiled.mismatches(value).is_empty();
                assert!(
                    !compiled.mismatches(value).is_empty() || only_left_out,
                    "{format}, {}: {value}\n{schema}",
                    case.name
                );
            }
        }
        assert!(lossless >= LOSSLESS_MIN, "{format}: only {lossless} schemas lose nothing");
    }
}

/// Converts OpenAPI's `nullable` to JSON Schema.
fn without_nullable(schema: &Value) -> Value {
    match schema {
        Value::Object(members) => {
            let nullable = members.get("nullable") == Some(&Value::Bool(true));
            let rest = members.iter().filter(|(keyword, _)| !nullable || *keyword != "nullable");
            let rest: Value = rest.map(|(keyword, value)| (keyword.clone(), without_nullable(value))).collect();
            if nullable { json!({ "anyOf": [rest, { "type": "null" }] }) } else { rest }
        }
        Value::Array(items) => items.iter().map(without_nullable).collect(),
        other => other.clone(),
    }
}

/// Returns the value as a strict model must write it: with null for absent members.
fn with_nulls(root: &Value, schema: &Value, value: &Value) -> Value {
    if let Some(reference) = schema["$ref"].as_str() {
        return with_nulls(root, root.pointer(&reference[1..]).unwrap(), value);
    }
    for branch in schema["anyOf"].as_array().into_iter().flatten() {
        let whole = json!({ "type": "object", "properties": { "value": branch }, "$defs": root["$defs"] });
        let written = with_nulls(root, branch, value);
        let fits = Schema::of_arguments(&whole.to_string().replace("\"$defs\":null,", ""));
        if fits.is_ok_and(|fits| fits.mismatches(&json!({ "value": written })).is_empty()) {
            return written;
        }
    }
    match (value, &schema["properties"], &schema["items"]) {
        (Value::Object(members), Value::Object(named), _) => {
            let written = |(name, property): (&String, &Value)| {
                let value = members.get(name).map_or(Value::Null, |value| with_nulls(root, property, value));
                (name.clone(), value)
            };
            named
                .iter()
                .map(written)
                .chain(
                    members
                        .iter()
                        .filter(|(name, _)| !named.contains_key(*name))
                        .map(|(name, value)| (name.clone(), value.clone())),
                )
                .collect()
        }
        (Value::Array(values), _, items @ Value::Object(_)) => {
            values.iter().map(|value| with_nulls(root, items, value)).collect()
        }
        _ => value.clone(),
    }
}
