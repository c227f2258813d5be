//! The error for a model whose arguments do not match the schema: every problem, and its location.

use portcullis::plugins::Schema;
use portcullis::text::is_deceptive;
use portcullis::{Code, Host, Request};
use portcullis_tests::{Manifest, Site, allow_all, guest};
use serde_json::{Value, json};

async fn host(schema: &Value) -> (Site, Host) {
    let site = Site::new();
    let manifest = Manifest::of("strict").tool(|tool| tool.schema = schema.to_string());
    site.plugin("strict", &guest("good", &manifest));
    let host = site.open(&allow_all("")).await;
    (site, host)
}

fn person() -> Value {
    json!({
        "type": "object",
        "required": ["name"],
        "additionalProperties": false,
        "properties": {
            "name": { "type": "string", "minLength": 1 },
            "age": { "type": "integer", "minimum": 0 },
            "tags": { "type": "array", "items": { "type": "string" } },
            "a/b~c": { "type": "null" },
        }
    })
}

/// All errors are listed with their location, so that a model can correct three fields in one turn.
#[tokio::test]
async fn every_error_is_listed_with_its_pointer() {
    let (_site, host) = host(&person()).await;
    let arguments = json!({ "name": "", "age": -1, "tags": ["a", 7, "b", null], "a/b~c": 1 });
    let reply = host.call(Request::new("strict.run", arguments.to_string())).await;
    assert_eq!(reply.code, Code::InvalidArguments);
    for pointer in ["/name", "/age", "/tags/1", "/tags/3", "/a~1b~0c"] {
        assert!(reply.message.contains(&format!("\n- {pointer}: ")), "{pointer}: {}", reply.message);
    }
    assert_eq!(reply.message.matches("\n- ").count(), 5, "{}", reply.message);
    for name in ["name", "age", "tags", "a/b~c"] {
        assert!(reply.message.lines().any(|line| line.starts_with("It takes: ") && line.contains(name)), "{name}");
    }
}

/// Missing and unknown members are errors of the object that should contain them.
#[tokio::test]
async fn a_missing_and_an_unknown_name_are_listed() {
    let (_site, host) = host(&person()).await;
    let reply = host.call(Request::new("strict.run", r#"{"nom":"a"}"#)).await;
    assert_eq!(reply.code, Code::InvalidArguments);
    assert!(reply.message.contains("\"name\" is a required property"), "{}", reply.message);
    assert!(reply.message.contains("nom"), "{}", reply.message);
    assert_eq!(reply.message.matches("\n- the arguments: ").count(), 2, "{}", reply.message);
}

/// Returns the pointers and messages for a document that does not match.
fn told(schema: &Value, document: &Value) -> Vec<(String, String)> {
    let mismatches = Schema::of_document(&schema.to_string()).unwrap().mismatches(document);
    mismatches.into_iter().map(|mismatch| (mismatch.pointer, mismatch.message)).collect()
}

/// An error about a value that is not in an enumeration lists the allowed values.
#[test]
fn a_value_that_is_not_allowed_is_listed_with_the_allowed_ones() {
    let item = json!({ "properties": { "status": { "enum": ["open", "closed"] } } });
    let list = json!({ "properties": { "items": { "items": item } } });
    let wrong = json!({ "items": [{ "status": "done" }] });
    let expected = ("/items/0/status".to_owned(), r#""done" is not allowed; use "open" or "closed""#.to_owned());
    assert_eq!(told(&list, &wrong), std::slice::from_ref(&expected));
    // The form that libraries generate: a constant per value, and `nothing` as an alternative.
    let status = json!({ "oneOf": [{ "const": "open", "description": "x" }, { "const": "closed" }] });
    let item = json!({ "properties": { "status": { "anyOf": [status, { "type": "null" }] } } });
    assert_eq!(told(&json!({ "properties": { "items": { "items": item } } }), &wrong), [expected]);
    let many = json!({ "enum": ["north", "east", "south", "west"] });
    let nearest = r#""sotuh" is not allowed; use "south" (all: "north", "east", "south" or "west")"#;
    assert_eq!(told(&many, &json!("sotuh")), [(String::new(), nearest.to_owned())]);
}

/// For a union, the error says which alternative was meant, and which of its members is wrong.
#[test]
fn an_error_in_a_union_names_the_alternative_and_the_member() {
    let circle = json!({ "title": "Circle", "required": ["kind", "radius"],
        "properties": { "kind": { "const": "circle" }, "radius": { "type": "number" } } });
    let square = json!({ "required": ["kind", "side"],
        "properties": { "kind": { "const": "square" }, "side": { "type": "number", "minimum": 0 } } });
    for keyword in ["anyOf", "oneOf"] {
        let shapes = json!({ "$defs": { "Square": square }, "properties": { "shapes": { "items": {
            "type": "object", keyword: [circle, { "$ref": "#/$defs/Square" }] } } } });
        let of = |shape: Value| told(&shapes, &json!({ "shapes": [shape] }));
        let one = |place: &str, message: &str| [(format!("/shapes/0{place}"), message.to_owned())];
        assert_eq!(
            of(json!({ "kind": "square", "side": -1 })),
            one("/side", "-1 is less than the minimum of 0 (alternative 2 of 2, Square)")
        );
        assert_eq!(
            of(json!({ "kind": "circle", "side": 1 })),
            one("", r#""radius" is a required property (alternative 1 of 2, Circle)"#)
        );
        assert_eq!(
            of(json!({ "kind": "triangle" })),
            one("/kind", r#""triangle" is not allowed; use "circle" or "square""#)
        );
    }
    let either = json!({ "anyOf": [{ "type": "string" }, { "type": ["integer", "null"] }] });
    let types = "[] is not of type string or null or integer".to_owned();
    assert_eq!(told(&either, &json!([])), [(String::new(), types)]);
}

/// An error about an unknown name suggests the most similar known one, at every depth.
#[test]
fn an_error_about_an_unknown_name_suggests_the_nearest_one() {
    let place = json!({ "additionalProperties": false, "properties": { "file_path": {}, "limit": {} } });
    let schema = json!({ "$defs": { "Place": place }, "properties": { "at": { "$ref": "#/$defs/Place" } } });
    for (name, meant) in [("filePath", Some("file_path")), ("limt", Some("limit")), ("offset", None)] {
        let expected = match meant {
            Some(meant) => format!("\"{name}\" is unknown; did you mean \"{meant}\"?"),
            None => format!("\"{name}\" is unknown"),
        };
        assert_eq!(told(&schema, &json!({ "at": { name: 1 } })), [("/at".to_owned(), expected)]);
    }
    // A name that is already present is not suggested.
    let twice = told(&schema, &json!({ "at": { "limit": 1, "limt": 1 } }));
    assert_eq!(twice, [("/at".to_owned(), r#""limt" is unknown"#.to_owned())]);
}

/// The errors of a union with thousands of wrong values are no longer than other errors.
#[test]
fn errors_of_a_union_are_limited() {
    let item = json!({ "anyOf": [{ "items": { "type": "string" } }, { "type": "null" }] });
    let schema = json!({ "items": item });
    let document = json!(vec![vec![1; 100]; 100]);
    let told = told(&schema, &document);
    assert!(told.len() <= 33, "{}", told.len());
    assert!(told.last().unwrap().1.ends_with("more errors"), "{told:?}");
}

/// Of many errors, the first are listed and the rest are counted.
#[tokio::test]
async fn a_thousand_errors_are_summarized() {
    let (_site, host) = host(&person()).await;
    let arguments = json!({ "name": "a", "tags": vec![7; 1000] });
    let reply = host.call(Request::new("strict.run", arguments.to_string())).await;
    assert_eq!(reply.code, Code::InvalidArguments);
    assert!(reply.message.contains("and 968 more errors"), "{}", reply.message);
    assert!(reply.message.len() < 32 * 1024);
    let long = json!({ "name": "a", "age": "x".repeat(100_000), "y".repeat(10_000): 1 });
    let reply = host.call(Request::new("strict.run", long.to_string())).await;
    assert!(reply.message.len() < 32 * 1024, "{} bytes", reply.message.len());
}

/// Quoted names and values are escaped.
#[tokio::test]
async fn a_quoted_argument_cannot_deceive_a_terminal() {
    let (_site, host) = host(&person()).await;
    for text in naughty_strings::BLNS.iter().chain(&["\u{1b}[2J", "\u{9b}31m", "\u{202e}\u{200b}", "\u{e0041}"]) {
        let arguments = json!({ "name": "", "age": text, "tags": [{ *text: text }], *text: text });
        let reply = host.call(Request::new("strict.run", arguments.to_string())).await;
        assert_eq!(reply.code, Code::InvalidArguments, "{text:?}");
        let found = reply.message.chars().find(|character| is_deceptive(*character) && *character != '\n');
        assert_eq!(found, None, "{:?}", reply.message);
        assert_eq!(reply.message.lines().filter(|line| line.starts_with("It takes: ")).count(), 1);
    }
}

/// Every mismatch has a pointer to something in the document.
#[test]
fn every_pointer_refers_to_something() {
    let schema = json!({
        "anyOf": [{ "required": ["x"] }, { "required": ["y"] }],
        "properties": {
            "list": { "type": "array", "maxItems": 1, "uniqueItems": true, "contains": { "const": 9 },
                "prefixItems": [{ "type": "string" }], "items": { "enum": [1, 2] } },
            "text": { "pattern": "^a$", "maxLength": 0 },
            "number": { "multipleOf": 2, "exclusiveMaximum": 3, "not": { "const": 5 } },
            "object": { "propertyNames": { "maxLength": 1 }, "minProperties": 2, "dependentRequired": { "long": ["z"] },
                "patternProperties": { "^l": { "oneOf": [{ "type": "null" }, { "const": null }] } } },
            "if": { "if": { "type": "string" }, "then": { "const": "a" }, "else": { "const": 1 } },
            "none": false,
        },
        "unevaluatedProperties": { "type": "boolean" },
    });
    let document = json!({
        "list": [1, 3, 3], "text": "b", "number": 5, "object": { "long": null }, "if": "b", "none": 1, "more": 1,
    });
    let mismatches = Schema::of_document(&schema.to_string()).unwrap().mismatches(&document);
    for mismatch in &mismatches {
        assert!(document.pointer(&mismatch.pointer).is_some(), "{mismatch:?}");
        assert!(!mismatch.message.is_empty(), "{mismatch:?}");
    }
    for pointer in ["", "/list", "/list/0", "/list/1", "/text", "/number", "/object", "/object/long", "/if", "/none"] {
        assert!(mismatches.iter().any(|mismatch| mismatch.pointer == pointer), "{pointer} in {mismatches:#?}");
    }
}

/// The validator creates all errors before the first can be read, and copies the value for each alternative of a union.
/// A small schema could thus make the host use gigabytes for one wrong call.
#[test]
fn errors_that_would_take_too_much_memory_are_not_listed() {
    let alternatives = vec![json!({ "type": "null" }); 1000];
    let union = json!({ "properties": { "x": { "anyOf": alternatives } } });
    let names: Vec<String> = (0..1000).map(|number| format!("name{number}")).collect();
    let required = json!({ "properties": { "x": { "items": { "required": names } } } });
    for (schema, large) in [(union, json!("x".repeat(100_000))), (required, json!(vec![json!({}); 1000]))] {
        let [(pointer, message)] = &told(&schema, &json!({ "x": large }))[..] else { panic!("several") };
        assert!(pointer.is_empty() && message.contains("too large to list what is wrong"), "{message}");
        // The same mistake in a small document is listed.
        let small = told(&schema, &json!({ "x": if large.is_string() { json!("x") } else { json!([{}]) } }));
        assert!(!small[0].1.contains("too large"), "{small:?}");
    }
    let many = json!({ "x": vec!["x".repeat(100); 5000] });
    let schema = json!({ "properties": { "x": { "items": { "type": "integer" } } } });
    assert_eq!(told(&schema, &many).len(), 33, "an ordinary number of mistakes must be listed");
}
