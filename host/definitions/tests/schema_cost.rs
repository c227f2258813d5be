//! Expensive schemas: they are refused before compilation, or are cheap. K01 to K04, K06, K07.

use portcullis_definitions::schema::{Schema, SchemaError};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Maximum time to read a schema and validate a document, on a busy machine and unoptimized.
const SOON: Duration = Duration::from_secs(3);

fn soon<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let began = Instant::now();
    let done = work();
    assert!(began.elapsed() < SOON, "{what} took {:?}", began.elapsed());
    done
}

fn refused(what: &str, schema: &Value) -> SchemaError {
    let text = schema.to_string();
    soon(what, || Schema::of_document(&text)).expect_err(what)
}

/// A ladder in which every step refers twice to the next one.
fn ladder(keyword: &str, steps: usize) -> Value {
    let mut defs = serde_json::Map::new();
    for step in 0..steps {
        let next = json!({ "$ref": format!("#/$defs/s{}", step + 1) });
        defs.insert(format!("s{step}"), json!({ keyword: [next, next] }));
    }
    defs.insert(format!("s{steps}"), json!({ "type": "string" }));
    json!({ "$ref": "#/$defs/s0", "$defs": defs })
}

#[test]
fn references_that_double_are_refused() {
    for keyword in ["allOf", "anyOf", "oneOf"] {
        for steps in [20, 27, 60, 100] {
            assert!(matches!(refused(keyword, &ladder(keyword, steps)), SchemaError::Gate(_)), "{keyword} {steps}");
        }
        let honest = Schema::of_document(&ladder(keyword, 3).to_string()).unwrap();
        assert_eq!(honest.mismatches(&json!("text")).is_empty(), keyword != "oneOf");
    }
}

#[test]
fn dangling_references_are_refused() {
    let schemas = [
        json!({ "$ref": "#" }),
        json!({ "$ref": "" }),
        json!({ "$ref": "#/$defs/a", "$defs": { "a": { "$ref": "#/$defs/b" }, "b": { "$ref": "#/$defs/a" } } }),
        json!({ "$ref": "#/$defs/a", "$defs": { "a": { "anyOf": [{ "type": "null" }, { "$ref": "#/$defs/a" }] } } }),
        json!({ "not": { "$ref": "#" } }),
        json!({ "if": { "$ref": "#" } }),
        json!({ "dependentSchemas": { "a": { "$ref": "#" } } }),
        json!({ "$ref": "#/$defs/none" }),
        json!({ "$ref": "#none" }),
        json!({ "$ref": "#/properties/a/%ff" }),
        json!({ "$ref": 7 }),
        json!({ "$defs": { "a": { "$ref": "#/$defs/a" } } }),
    ];
    for schema in schemas {
        refused(&schema.to_string(), &schema);
    }
}

/// Schemas that people write: a tree, any JSON, and a filter with `and`, `or` and `not`.
fn honest() -> [(&'static str, Value, Value, Value); 3] {
    let tree = json!({
        "type": "object", "required": ["name"],
        "properties": { "name": { "type": "string" }, "children": { "type": "array", "items": { "$ref": "#" } } }
    });
    let any = json!({ "$ref": "#/$defs/any", "$defs": { "any": { "anyOf": [
        { "type": ["null", "boolean", "number", "string"] },
        { "type": "array", "items": { "$ref": "#/$defs/any" } },
        { "type": "object", "additionalProperties": { "$ref": "#/$defs/any" } },
    ] } } });
    let many = json!({ "type": "array", "items": { "$ref": "#/$defs/filter" }, "minItems": 1 });
    let filter = json!({ "$ref": "#/$defs/filter", "$defs": { "filter": { "oneOf": [
        { "type": "object", "required": ["and"], "properties": { "and": many }, "additionalProperties": false },
        { "type": "object", "required": ["or"], "properties": { "or": many }, "additionalProperties": false },
        { "type": "object", "required": ["not"], "properties": { "not": { "$ref": "#/$defs/filter" } },
          "additionalProperties": false },
        { "type": "object", "required": ["field", "is"],
          "properties": { "field": { "type": "string" }, "is": {} }, "additionalProperties": false },
    ] } } });
    let leaf = json!({ "field": "a", "is": 1 });
    [
        (
            "tree",
            tree,
            json!({ "name": "a", "children": [{ "name": "b", "children": [{ "name": "c" }] }] }),
            json!({ "name": "a", "children": [{ "name": "b", "children": [{ "nom": "c" }] }] }),
        ),
        ("any", any, json!({ "a": [1, { "b": [null, "c"] }] }), Value::Null),
        (
            "filter",
            filter,
            json!({ "and": [{ "or": [leaf, { "not": leaf }] }, leaf] }),
            json!({ "and": [{ "or": [leaf, { "not": { "field": 1, "is": 1 } }] }, leaf] }),
        ),
    ]
}

#[test]
fn ordinary_recursion_is_accepted() {
    for (what, schema, good, bad) in honest() {
        let schema =
            soon(what, || Schema::of_document(&schema.to_string())).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(soon(what, || schema.mismatches(&good)), [], "{what}");
        if !bad.is_null() {
            assert!(!schema.mismatches(&bad).is_empty(), "{what}");
        }
    }
}

/// Deep and wide documents under ordinary schemas are validated quickly, whatever the result.
#[test]
fn a_document_is_validated_quickly() {
    let mut deep = json!({ "field": "a", "is": 1 });
    for _ in 0..60 {
        deep = json!({ "not": deep });
    }
    let wide = Value::from(vec![json!({ "field": "a", "is": [[[[[1]]]]] }); 20_000]);
    for (what, schema, ..) in honest() {
        let schema = Schema::of_document(&schema.to_string()).unwrap();
        for document in [&deep, &wide, &json!({ "and": wide })] {
            soon(what, || schema.mismatches(document));
        }
    }
}

/// The cost of this schema grows with the document's depth. Shallow documents are validated, and deep ones do not
/// match.
#[test]
fn a_document_too_deep_for_its_schema_does_not_match() {
    let next = json!({ "$ref": "#" });
    let schema = json!({ "anyOf": [
        { "type": "object", "properties": { "a": next } },
        { "type": "object", "properties": { "a": next }, "required": ["b"] },
        { "type": "object", "properties": { "a": next }, "required": ["c"] },
    ] });
    let schema = Schema::of_document(&schema.to_string()).unwrap();
    assert_eq!(schema.mismatches(&json!({ "a": { "a": {} } })), []);
    let mut deep = json!(7);
    for _ in 0..60 {
        deep = json!({ "a": deep });
    }
    let mismatches = soon("a deep document", || schema.mismatches(&deep));
    assert_eq!(mismatches.len(), 1, "{mismatches:?}");
    assert!(mismatches[0].message.contains("too deep"), "{mismatches:?}");
}

/// Errors copy parts of a document: names, texts of items, and the path to a value with the names on it. A small schema
/// could so fill the memory.
#[test]
fn errors_that_would_copy_too_much_of_a_document_are_not_made() {
    let (name, all) = ("n".repeat(1 << 20), |schema: Value| json!({ "allOf": vec![schema; 900] }));
    let rows = [
        (all(json!({ "properties": {}, "additionalProperties": false })), json!({ &name: 1 })),
        (all(json!({ "unevaluatedProperties": false })), json!({ &name: 1 })),
        (all(json!({ "propertyNames": { "maxLength": 9 } })), json!({ &name: 1 })),
        (all(json!({ "unevaluatedItems": false })), json!([name])),
        (all(json!({ "additionalProperties": { "type": "string" } })), json!({ &name: 1 })),
        (json!({ "additionalProperties": { "items": { "type": "string" } } }), json!({ &name: vec![1; 1000] })),
    ];
    for (schema, document) in rows {
        let compiled = Schema::of_document(&schema.to_string()).unwrap();
        let mismatches = soon("a document with a long text", || compiled.mismatches(&document));
        let [only] = mismatches.as_slice() else { panic!("{} mismatches", mismatches.len()) };
        assert!(only.message.contains("too large to list what is wrong"), "{}", only.message.len());
    }
}

/// A long value costs nothing, because no error of this schema copies it.
#[test]
fn what_is_wrong_beside_a_long_text_is_listed() {
    let names = ["path", "mode", "owner", "group", "encoding", "line-breaks"];
    let properties: serde_json::Map<_, _> =
        names.iter().chain(&["content"]).map(|name| ((*name).to_owned(), json!({ "type": "string" }))).collect();
    let schema =
        json!({ "type": "object", "properties": properties, "required": names, "additionalProperties": false });
    let schema = Schema::of_arguments(&schema.to_string()).unwrap();
    let mismatches = schema.mismatches(&json!({ "content": "x".repeat(8 << 20), "pth": "a", "mode": 7 }));
    assert_eq!(mismatches.len(), names.len() + 1, "{mismatches:?}");
}

#[test]
fn a_schema_too_deep_or_too_large_is_refused() {
    for keyword in ["not", "items", "additionalProperties", "if", "contains", "propertyNames", "unevaluatedItems"] {
        let mut schema = json!({});
        for _ in 0..60 {
            schema = json!({ keyword: schema });
        }
        refused(keyword, &schema);
    }
    let text = format!("{}{{}}{}", "{\"not\":".repeat(100_000), "}".repeat(100_000));
    assert!(soon("100,000 levels", || Schema::of_document(&text)).is_err());
    let properties: serde_json::Map<_, _> = (0..3000).map(|name| (format!("p{name}"), json!({}))).collect();
    refused("3,000 subschemas", &json!({ "properties": properties }));
    refused("a megabyte", &json!({ "description": "x".repeat(1 << 20) }));
    refused("300 references", &json!({ "anyOf": vec![json!({ "$ref": "#/$defs/a" }); 300], "$defs": { "a": {} } }));
}

/// Regular expressions are linear: none that backtracks, compiles to a large program, or is one of too many.
#[test]
fn a_costly_pattern_is_refused() {
    for pattern in ["(?=a)", "(?!a)", "(?<=a)b", "(?<!a)b", "(a)\\1", "(?>a)", "(?<n>a)\\k<n>", "("] {
        refused(pattern, &json!({ "pattern": pattern }));
        refused(pattern, &json!({ "patternProperties": { pattern: {} } }));
    }
    for pattern in ["((a{100}){100}){100}", "\\p{L}{5000}", "(x{1000}){1000}"] {
        refused(pattern, &json!({ "pattern": pattern }));
    }
    let many: serde_json::Map<_, _> = (0..70).map(|number| (format!("^\\w+{number}$"), json!({}))).collect();
    refused("70 patterns", &json!({ "patternProperties": many }));
    let text = format!("{}!", "a".repeat(100_000));
    for pattern in ["^(a+)+$", "^(a|a)*$", "^(a|aa)+$", "(.*a){20}$", "^(([a-z])+.)+[A-Z]([a-z])+$", "(a*)*b"] {
        let schema = Schema::of_document(&json!({ "pattern": pattern }).to_string()).unwrap();
        soon(pattern, || schema.mismatches(&json!(text)));
    }
}

/// Keywords that compare everything with everything.
#[test]
fn a_costly_keyword_is_validated_quickly() {
    let objects = |count: usize| Value::from((0..count).map(|number| json!({ "n": number })).collect::<Vec<_>>());
    let schemas = [
        json!({ "uniqueItems": true }),
        json!({ "items": { "multipleOf": 1e-300 } }),
        json!({ "contains": { "properties": { "n": { "const": -1 } } } }),
        json!({ "items": { "enum": (0..3000).collect::<Vec<_>>() } }),
        json!({ "maxItems": 1e300, "minItems": 0 }),
    ];
    for schema in schemas {
        let compiled = Schema::of_document(&schema.to_string()).unwrap();
        for document in [objects(20_000), Value::from((0..20_000).collect::<Vec<_>>())] {
            soon(&schema.to_string(), || compiled.mismatches(&document));
        }
    }
}
