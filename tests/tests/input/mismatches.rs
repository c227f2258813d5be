//! What a model is told when its arguments do not match: everything that is wrong, and where.

use portcullis::text::is_deceptive;
use portcullis::{Code, Host, Request, Schema};
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

/// All errors at once, each with the place: a model corrects three fields in one turn.
#[tokio::test]
async fn every_error_is_told_with_its_pointer() {
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

/// What is missing and what is too much is wrong with the object that it would stand in.
#[tokio::test]
async fn a_missing_and_an_unknown_name_are_told() {
    let (_site, host) = host(&person()).await;
    let reply = host.call(Request::new("strict.run", r#"{"nom":"a"}"#)).await;
    assert_eq!(reply.code, Code::InvalidArguments);
    assert!(reply.message.contains("\"name\" is a required property"), "{}", reply.message);
    assert!(reply.message.contains("nom"), "{}", reply.message);
    assert_eq!(reply.message.matches("\n- the arguments: ").count(), 2, "{}", reply.message);
}

/// Many errors are told as far as they help, and counted.
#[tokio::test]
async fn a_thousand_errors_are_told_in_short() {
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

/// The arguments are quoted through an encoder, names and values alike.
#[tokio::test]
async fn a_quoted_argument_cannot_fool_a_terminal() {
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

/// Every mismatch has a pointer that leads to something in the document.
#[test]
fn every_pointer_leads_somewhere() {
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
