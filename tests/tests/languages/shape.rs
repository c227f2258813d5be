//! The built components: equal definitions, known sizes, and known imports.

use crate::row::{Gap, ROWS, Row, repository, run};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;

/// The variable that makes the test rewrite the stored values, for a developer.
const WRITE: &str = "PORTCULLIS_WRITE_LANGUAGES";
/// Tolerance for the size of a component, in percent: toolchains do not produce equal bytes.
const SIZE_TOLERANCE: u64 = 5;

/// The largest safe integer of a double. The JavaScript schemas contain it as a limit.
const SAFE_INTEGER_MAX: i64 = (1 << 53) - 1;

/// Returns a schema without descriptions and in a normal form: languages can write the same schema in several ways.
fn taken(schema: &Value) -> Value {
    let mut kind = schema["type"].clone();
    // In a language where null means absent, the schema also accepts null. A case tests that.
    if let Some([one, Value::String(null)]) = kind.as_array().map(Vec::as_slice) {
        assert_eq!(null, "null");
        kind = one.clone();
    }
    let choices = match (&schema["enum"], &schema["oneOf"]) {
        // Each has its own description.
        (Value::Null, Value::Array(choices)) => {
            kind = choices[0]["type"].clone();
            choices.iter().map(|choice| choice["const"].clone()).collect()
        }
        (choices, _) => choices.clone(),
    };
    let bound = |name: &str| match &schema[name] {
        bound if bound.as_i64().is_some_and(|bound| bound.abs() == SAFE_INTEGER_MAX) => Value::Null,
        bound => bound.clone(),
    };
    let items = schema.get("items").map(taken);
    let bounds = [bound("minimum"), bound("maximum")];
    json!({ "type": kind, "enum": choices, "items": items, "default": schema["default"], "bounds": bounds })
}

/// Returns the texts of a list, sorted.
fn sorted(list: &Value) -> Vec<&str> {
    let mut texts: Vec<&str> = list.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    texts.sort_unstable();
    texts
}

/// Returns what a tool declares, accepts and claims.
fn asked(tool: &Value) -> Value {
    let schema = &tool["schema"];
    let arguments: BTreeMap<&String, Value> =
        schema["properties"].as_object().into_iter().flatten().map(|(key, schema)| (key, taken(schema))).collect();
    json!({
        "arguments": arguments,
        "required_arguments": sorted(&schema["required"]),
        "closed": schema["additionalProperties"] == false,
        "permissions": sorted(&tool["required"]),
        "optional": sorted(&tool["optional"]),
        "hints": sorted(&tool["hints"]),
    })
}

/// Returns a plugin's metadata and dependencies. A language without the tool `run` asks for no program, and one without
/// the tool `delegate` for no tools.
fn introduced(document: &Value, row: Row) -> Value {
    let gaps = row.gaps();
    let has_kind = |need: &Value| match need["kind"].as_str() {
        Some("process") => !gaps.contains_key("run"),
        Some("tools") => !gaps.contains_key("delegate"),
        _ => true,
    };
    let needs: BTreeMap<&str, &Value> = document["dependencies"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|need| has_kind(need))
        .map(|need| (need["key"].as_str().unwrap(), need))
        .collect();
    json!({
        "name": document["name"],
        "version": document["version"],
        "description": document["description"],
        "dependencies": needs,
    })
}

#[test]
fn definitions_are_the_same_in_every_language() {
    let tools = |document: &Value| -> BTreeMap<String, Value> {
        let tools = document["tools"].as_array().unwrap_or_else(|| panic!("no tools in {document}")).clone();
        tools.iter().map(|tool| (tool["name"].as_str().unwrap().to_owned(), asked(tool))).collect()
    };
    let rust = Row::of("rust").inspected();
    let mut model = tools(&rust);
    model.remove("conformance.late");
    for row in ROWS {
        let document = row.inspected();
        assert_eq!(introduced(&document, row), introduced(&rust, row), "{}", row.name);
        let mut found = tools(&document);
        found.remove("conformance.late");
        let gaps = row.gaps();
        for (name, wanted) in &model {
            match found.get(name) {
                Some(tool) => assert_eq!(tool, wanted, "{}: {name}", row.name),
                None => {
                    let gap = gaps.get(name.trim_start_matches("conformance."));
                    let is_told = gap.is_some_and(|gap| gap.code == Gap::NO_TOOL);
                    assert!(is_told, "{}: {name} is missing without a reason", row.name);
                }
            }
        }
        assert!(found.keys().all(|name| model.contains_key(name)), "{}: it has additional tools", row.name);
    }
}

#[test]
fn sizes_and_imports_match_the_stored_values() {
    for row in ROWS {
        let component = row.component();
        let bytes = fs::metadata(&component).unwrap().len();
        let document = row.inspected();
        let mut imports: Vec<&str> = document["imports"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        imports.sort_unstable();
        let file = repository().join("tests/data/languages").join(row.name).with_extension("txt");
        if std::env::var_os(WRITE).is_some() {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, format!("{bytes} bytes\n{}\n", imports.join("\n"))).unwrap();
        }
        let kept = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let (size, kept_imports) = kept.split_once(" bytes\n").unwrap();
        let size: u64 = size.parse().unwrap();
        assert_eq!(imports, kept_imports.lines().collect::<Vec<_>>(), "{}", row.name);
        let difference = bytes.abs_diff(size) * 100 / size;
        assert!(difference <= SIZE_TOLERANCE, "{}: {bytes} bytes, {size} are known; {WRITE}=1 keeps it", row.name);
    }
}

/// CPython's library always imports sockets. As everywhere, every socket function fails.
const WITH_SOCKETS: &str = "python";

#[test]
fn only_python_imports_sockets() {
    for row in ROWS.into_iter().filter(|row| row.name != WITH_SOCKETS) {
        let document = row.inspected();
        for import in document["imports"].as_array().unwrap() {
            let name = import.as_str().unwrap();
            assert!(!name.starts_with("wasi:sockets/"), "{}: {name}", row.name);
        }
    }
}

#[test]
fn random_numbers_and_time_are_new_in_every_call() {
    let folder = tempfile::tempdir().unwrap();
    let policy = folder.path().join("policy.toml");
    fs::write(&policy, "[[rule]]\ntool = \"conformance.*\"\ndecision = \"allow\"\n").unwrap();
    for row in ROWS {
        let plugins = row.component().parent().unwrap().to_str().unwrap().to_owned();
        let call = || {
            let arguments = ["call", "conformance.surroundings", "{}", "--json", "--plugins", &plugins];
            let policy = ["--policy", policy.to_str().unwrap()];
            let document = run(folder.path(), &[&arguments[..], &policy[..]].concat()).ends(0).document();
            document["output"]["value"].clone()
        };
        let gaps = row.gaps();
        if gaps.contains_key("surroundings") {
            continue;
        }
        let (first, second) = (call(), call());
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs_f64() * 1000.0;
        let said = second["now"].as_f64().unwrap_or_else(|| panic!("{}: {second}", row.name));
        assert!((now - said).abs() < 120_000.0, "{}: {said} is not {now}", row.name);
        assert_eq!(second["monotonic"], true, "{}", row.name);
        for key in ["random", "insecure"] {
            assert_ne!(first[key], second[key], "{}: {key} is the same in two calls", row.name);
        }
        let random = first["random"].as_str().unwrap();
        assert!(random.len() == 32 && random.chars().all(|c| c.is_ascii_hexdigit()), "{}: {random}", row.name);
        assert_eq!((&first["environment"], &first["arguments"]), (&json!([]), &json!(0)), "{}", row.name);
    }
}
