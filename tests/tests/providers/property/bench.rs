//! A host with one tool per schema, which returns its arguments, and its exports in each format.

use jsonschema::{Draft, Validator};
use portcullis::Host;
use portcullis::plugins::Schema;
use portcullis_providers::{Definitions, Format};
use portcullis_tests::{Manifest, Site, Tool, allow_all, guest};
use serde_json::{Map, Value, json};
use tokio::runtime::Runtime;

/// The plugin with all the tools.
const PLUGIN: &str = "bench";

/// The host, kept open while it is used.
pub(super) struct Bench {
    pub(super) host: Host,
    pub(super) tools: Vec<Authoritative>,
    pub(super) runtime: Runtime,
    _site: Site,
}

/// A tool as its author defines it.
pub(super) struct Authoritative {
    /// The origin of the schema.
    pub(super) label: String,
    /// The name that models use.
    pub(super) name: String,
    pub(super) schema: Schema,
    /// The definitions of this tool alone: limits for several tools together are tested elsewhere.
    pub(super) definitions: Definitions,
}

/// A tool as a provider gets it.
pub(super) struct Exported {
    /// The exported schema, as JSON Schema.
    pub(super) document: Value,
    /// A validator of that schema, without the host's limits.
    validator: Validator,
    /// Whether the provider enforces the schema.
    pub(super) strict: bool,
    /// Whether nothing is lost.
    pub(super) lossless: bool,
}

impl Bench {
    /// Opens a host with these schemas, each with its origin.
    pub(super) fn of(schemas: &[(String, Value)]) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        let site = Site::new();
        let mut manifest = Manifest::of(PLUGIN);
        manifest.tools = schemas.iter().enumerate().map(|(number, (_, schema))| tool(number, schema)).collect();
        site.plugin(PLUGIN, &guest("good", &manifest));
        let host = runtime.block_on(site.open(&allow_all("")));
        let offers = host.catalog().offers().filter(|offer| offer.plugin.name().as_str() == PLUGIN).collect::<Vec<_>>();
        assert_eq!(offers.len(), schemas.len(), "the plugin was refused");
        let tools = offers.into_iter().zip(schemas).map(|(offer, (label, schema))| {
            let definitions = Definitions::of([offer]).unwrap();
            let name = definitions.names().next().unwrap().0.to_owned();
            let schema = Schema::of_arguments(&schema.to_string()).unwrap();
            Authoritative { label: label.clone(), name, schema, definitions }
        });
        Self { host, tools: tools.collect(), runtime, _site: site }
    }
}

impl Authoritative {
    /// Exports the tool to a format. Returns `None` if the export says that it leaves the tool out.
    pub(super) fn exported(&self, format: Format) -> Result<Option<Exported>, String> {
        let export = self.definitions.export(format);
        let Some(declared) = declared(&export.tools, &self.name) else {
            let is_said = !export.losses.is_empty();
            return if is_said { Ok(None) } else { Err("it is left out without a loss".to_owned()) };
        };
        let keywords = ["parameters", "parametersJsonSchema", "input_schema"];
        let document = match keywords.iter().find_map(|keyword| declared.get(*keyword)) {
            Some(schema) if format == Format::GeminiOpenApi => from_openapi(schema),
            Some(schema) => schema.clone(),
            // A tool without parameters is called with an empty object.
            None => json!({"type": "object", "maxProperties": 0}),
        };
        let validator = jsonschema::options().with_draft(Draft::Draft202012).offline().build(&document);
        let validator = validator.map_err(|error| format!("the export is not a schema: {error}\n{document}"))?;
        let strict = declared.get("strict") == Some(&Value::Bool(true));
        Ok(Some(Exported { document, validator, strict, lossless: export.losses.is_empty() }))
    }
}

impl Exported {
    /// Returns whether a strict model could write this value.
    pub(super) fn allows(&self, value: &Value) -> bool {
        self.validator.is_valid(value)
    }
}

fn tool(number: usize, schema: &Value) -> Tool {
    Tool { schema: schema.to_string(), ..Tool::new(&format!("t{number:03}")) }
}

/// Returns the exported tool with this name.
fn declared<'a>(tools: &'a Value, name: &str) -> Option<&'a Map<String, Value>> {
    match tools {
        Value::Array(tools) => tools.iter().find_map(|tool| declared(tool, name)),
        Value::Object(tool) if tool.get("name").and_then(Value::as_str) == Some(name) => Some(tool),
        Value::Object(tool) => {
            ["function", "functionDeclarations"].iter().find_map(|key| declared(tool.get(*key)?, name))
        }
        _ => None,
    }
}

/// Converts a schema in the OpenAPI style to JSON Schema.
fn from_openapi(schema: &Value) -> Value {
    let Value::Object(members) = schema else { return schema.clone() };
    let mut plain = Map::new();
    for (keyword, value) in members {
        let value = match keyword.as_str() {
            "nullable" | "example" | "propertyOrdering" => continue,
            "type" => Value::String(value.as_str().unwrap().to_lowercase()),
            "properties" => {
                value.as_object().unwrap().iter().map(|(name, schema)| (name.clone(), from_openapi(schema))).collect()
            }
            "items" => from_openapi(value),
            "anyOf" => value.as_array().unwrap().iter().map(from_openapi).collect(),
            // In the OpenAPI style, 64-bit numbers are JSON strings.
            "minItems" | "maxItems" | "minLength" | "maxLength" | "minProperties" | "maxProperties" => {
                value.as_str().map_or_else(|| value.clone(), |text| json!(text.parse::<u64>().unwrap()))
            }
            _ => value.clone(),
        };
        plain.insert(keyword.clone(), value);
    }
    if members.get("nullable") == Some(&Value::Bool(true)) {
        return json!({"anyOf": [plain, {"type": "null"}]});
    }
    Value::Object(plain)
}
