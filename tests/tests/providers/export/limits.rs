//! Limits of a request and of names, and the size of an export.

use super::{alone, corpus, exported};
use portcullis::Host;
use portcullis::plugins::Offer;
use portcullis_providers::{Definitions, Format};
use portcullis_tests::{Manifest, Site, Tool, allow_all, guest};
use serde_json::{Value, json};

/// Maximum length of the export of one schema of the corpus, in bytes.
const EXPORT_BYTES_MAX: usize = 512 * 1024;

fn open(manifests: &[Manifest]) -> Host {
    let site = Site::new();
    for manifest in manifests {
        site.plugin(&manifest.name, &guest("good", manifest));
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(site.open(&allow_all("")))
}

/// Builds this many tools with one schema.
fn alike(count: usize, schema: &Value) -> Vec<Offer> {
    let tool = |number: usize| Tool { schema: schema.to_string(), ..Tool::new(&format!("t{number:03}")) };
    let tools = (0..count).map(tool).collect();
    let host = open(&[Manifest { tools, ..Manifest::of("many") }]);
    host.catalog().offers().filter(|offer| offer.plugin.name().as_str() == "many").collect()
}

fn one(schema: &Value) -> Definitions {
    alone(&alike(1, schema)[0])
}

#[test]
fn tools_over_the_limit_of_a_request_are_reported() {
    let all =
        Definitions::of(alike(130, &json!({ "type": "object", "properties": {}, "additionalProperties": false })));
    let all = all.unwrap();
    for format in Format::ALL {
        let export = all.export(format);
        let beyond: Vec<&str> =
            export.losses.iter().filter(|loss| loss.keyword == "tools").map(|loss| loss.tool.as_str()).collect();
        let expected: &[&str] = if format.as_str().starts_with("openai") { &["many__t128", "many__t129"] } else { &[] };
        assert_eq!(beyond, expected, "{format}");
    }
}

/// Anthropic's limits for the strict tools of one request, each tested separately.
#[test]
fn tools_over_the_limits_for_strict_tools_are_not_strict() {
    let closed = |properties: Value, required: Value| json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false });
    let optional = closed(json!({ "a": { "type": "string" }, "b": { "type": "string" } }), json!([]));
    let union = closed(json!({ "a": { "anyOf": [{ "type": "string" }, { "type": "null" }] } }), json!(["a"]));
    for (schema, strict) in [(closed(json!({}), json!([])), 20), (optional, 12), (union, 16)] {
        let export = Definitions::of(alike(22, &schema)).unwrap().export(Format::AnthropicStrict);
        let flags: Vec<bool> = export.tools.as_array().unwrap().iter().map(|tool| tool["strict"] == true).collect();
        let expected: Vec<bool> = (0..22).map(|number| number < strict).collect();
        assert_eq!(flags, expected, "{schema}");
        assert_eq!(export.losses.len(), 22 - strict, "{:?}", export.losses);
        assert!(export.losses.iter().all(|loss| loss.keyword == "strict" && loss.pointer.is_empty()));
    }
}

/// OpenAI's limits for one strict schema.
#[test]
fn schemas_over_the_limits_are_not_strict() {
    let listed = |values: Vec<String>| json!({ "type": "object", "properties": { "a": { "type": "string", "enum": values } }, "required": ["a"], "additionalProperties": false });
    let words = |count: usize, length: usize| (0..count).map(|number| format!("{number:0length$}")).collect();
    let mut deep = json!({ "type": "object", "properties": {}, "additionalProperties": false });
    for _ in 0..9 {
        deep =
            json!({ "type": "object", "properties": { "a": deep }, "required": ["a"], "additionalProperties": false });
    }
    let deeper =
        json!({ "type": "object", "properties": { "a": deep }, "required": ["a"], "additionalProperties": false });
    let rows = [
        (listed(words(1000, 5)), true),
        (listed(words(1001, 5)), false),
        (listed(words(250, 61)), true),
        (listed(words(251, 61)), false),
        (deep, true),
        (deeper, false),
    ];
    for (schema, strict) in rows {
        for format in [Format::OpenAiChatStrict, Format::OpenAiResponsesStrict] {
            let export = one(&schema).export(format);
            let (found, said) = exported(format, &export).unwrap();
            assert_eq!(said, strict, "{format}: {:?}", export.losses);
            assert_eq!(export.losses.iter().any(|loss| loss.keyword == "strict"), !strict);
            assert!(strict || found == schema, "{format}: a schema that is not strict must be the original");
        }
    }
}

/// Names are never changed, because they could not be mapped back.
#[test]
fn a_tool_with_an_invalid_name_is_left_out_and_reported() {
    let schema = |required: Value| json!({ "type": "object", "properties": { "größe": { "type": "integer" }, "name": { "type": "string" } }, "required": required });
    for (format, taken) in Format::ALL
        .map(|format| (format, !matches!(format, Format::Anthropic | Format::AnthropicStrict | Format::GeminiOpenApi)))
    {
        let optional = one(&schema(json!(["name"]))).export(format);
        let (found, _) = exported(format, &optional).unwrap();
        assert_eq!(found["properties"].get("größe").is_some(), taken, "{format}");
        assert_eq!(
            optional.losses.iter().any(|loss| loss.pointer == "/properties/größe" && loss.keyword == "properties"),
            !taken,
            "{format}: {:?}",
            optional.losses
        );
        let needed = one(&schema(json!(["größe"]))).export(format);
        assert_eq!(exported(format, &needed).is_some(), taken, "{format}");
        assert_eq!(
            needed.losses.iter().any(|loss| loss.what.contains("the tool was left out")),
            !taken,
            "{format}: {:?}",
            needed.losses
        );
    }
}

#[test]
fn two_tools_never_get_the_same_name() {
    let manifest = |plugin: &str, tool: &str| Manifest { tools: vec![Tool::new(tool)], ..Manifest::of(plugin) };
    let host = open(&[manifest("a", "b__c"), manifest("a__b", "c")]);
    let refused = Definitions::of_host(&host).unwrap_err();
    assert_eq!(refused.name, "a__b__c");
}

/// A schema that is small only because of its references has a limited export in formats without references.
#[test]
fn references_that_multiply_do_not_enlarge_an_export() {
    let case = corpus::schemas().into_iter().find(|case| case.name == "fan-out").unwrap();
    for format in Format::ALL {
        let export = one(&case.schema).export(format);
        let bytes = export.tools.to_string().len();
        assert!(bytes < EXPORT_BYTES_MAX, "{format}: {bytes} bytes");
        let inlined = matches!(format, Format::GeminiOpenApi | Format::Ollama | Format::LangChain);
        assert_eq!(export.losses.iter().any(|loss| loss.what.contains("too large")), inlined, "{format}");
    }
}

/// A description that is too long for Chat Completions is cut there, and complete elsewhere.
#[test]
fn a_description_is_cut_only_where_necessary() {
    for (length, cut) in [(1024, false), (1025, true)] {
        let text = "é".repeat(length);
        let tools = vec![Tool { description: text.clone(), ..Tool::new("run") }];
        let host = open(&[Manifest { tools, ..Manifest::of("long") }]);
        let offer = host.catalog().offers().find(|offer| offer.plugin.name().as_str() == "long").unwrap();
        for format in Format::ALL {
            let export = alone(&offer).export(format);
            let chat = matches!(format, Format::OpenAiChat | Format::OpenAiChatStrict);
            assert_eq!(export.losses.iter().any(|loss| loss.keyword == "description"), chat && cut, "{format}");
            assert_eq!(export.tools.to_string().contains(&text), !(chat && cut), "{format}");
        }
    }
}
