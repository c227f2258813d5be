//! Schemas that refer to something outside of themselves: they are refused, and nothing is fetched. K05, K08.

use portcullis::plugins::{LoadError, Schema};
use portcullis_tests::{Manifest, Site, allow_all, guest};
use serde_json::{Value, json};
use std::io::ErrorKind;
use std::net::TcpListener;

/// Schemas that refer to an address in every possible way.
fn reaching(address: &str) -> Vec<Value> {
    let inner = json!({ "$id": address, "type": "string" });
    vec![
        json!({ "$ref": address }),
        json!({ "$ref": format!("{address}#/$defs/a") }),
        json!({ "$schema": address }),
        json!({ "$dynamicRef": address }),
        json!({ "$recursiveRef": address }),
        json!({ "$id": address, "$ref": "other.json" }),
        json!({ "$id": address, "$ref": "/other.json" }),
        json!({ "properties": { "a": { "$ref": address } } }),
        json!({ "$defs": { "a": { "$ref": address } } }),
        json!({ "definitions": { "a": { "$ref": address } } }),
        json!({ "$defs": { "a": inner }, "$ref": "#/$defs/a" }),
        json!({ "items": [{ "$ref": address }] }),
        json!({ "if": { "$ref": address } }),
        json!({ "contentSchema": { "$ref": address } }),
        json!({ "unknownKeyword": { "$ref": address }, "$ref": "#/unknownKeyword" }),
        json!({ "dependencies": { "a": { "$ref": address } }, "$ref": "#/dependencies/a" }),
        json!({ "$vocabulary": { address: true } }),
    ]
}

#[tokio::test]
async fn nothing_outside_a_schema_is_fetched() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = format!("http://{}/schema.json", listener.local_addr().unwrap());
    for address in [address.as_str(), "file:///etc/passwd", "/etc/passwd", "//localhost/a", "urn:a:b", "other.json"] {
        for schema in reaching(address) {
            assert!(Schema::of_document(&schema.to_string()).is_err(), "{schema}");
        }
    }
    for schema in reaching(&address) {
        let site = Site::new();
        let mut arguments = schema.clone();
        arguments["type"] = json!("object");
        let manifest = Manifest::of("reaching").tool(|tool| tool.schema = arguments.to_string());
        site.plugin("reaching", &guest("good", &manifest));
        let host = site.open(&allow_all("")).await;
        let catalog = host.catalog();
        let refusal = &catalog.refusal("reaching").unwrap_or_else(|| panic!("{schema} was loaded")).error;
        assert!(matches!(**refusal, LoadError::Definition(_)), "{refusal}");
    }
    let accepted = listener.accept().map(drop).map_err(|error| error.kind());
    assert_eq!(accepted, Err(ErrorKind::WouldBlock), "something connected");
}

/// A schema may name the supported dialect, and its own address, which is not fetched.
#[test]
fn only_the_supported_dialect_is_accepted() {
    let one = "https://json-schema.org/draft/2020-12/schema";
    for dialect in [one, &format!("{one}#")] {
        Schema::of_document(&json!({ "$schema": dialect, "type": "object" }).to_string()).unwrap();
    }
    Schema::of_document(&json!({ "$id": "https://example.org/a.json", "type": "object" }).to_string()).unwrap();
    let others = [
        "http://json-schema.org/draft-07/schema#",
        "https://json-schema.org/draft/2019-09/schema",
        "http://json-schema.org/schema#",
        "https://json-schema.org/draft/2020-12/schema/",
        "https://json-schema.org/draft/2020-12/meta/core",
        "https://spec.openapis.org/oas/3.1/dialect/base",
        "HTTPS://JSON-SCHEMA.ORG/draft/2020-12/schema",
        "",
    ];
    for dialect in others {
        for schema in [json!({ "$schema": dialect }), json!({ "properties": { "a": { "$schema": dialect } } })] {
            assert!(Schema::of_document(&schema.to_string()).is_err(), "{schema}");
        }
    }
}

#[test]
fn an_invalid_schema_is_refused() {
    let texts = [
        "",
        "null",
        "7",
        "\"{}\"",
        "[]",
        "{",
        "{\"type\":7}",
        "{\"type\":\"text\"}",
        "{\"properties\":[]}",
        "{\"required\":\"a\"}",
        "{\"items\":[{}]}",
        "{\"minLength\":-1}",
        "{\"enum\":1}",
        "{\"$ref\":7}",
        "{\"type\":\"object\",\"type\":\"string\"}",
        "{\"multipleOf\":0}",
        "{\"allOf\":[]}",
        "{\"pattern\":7}",
        "{\"maximum\":18446744073709551616}",
    ];
    for text in texts {
        assert!(Schema::of_document(text).is_err(), "{text}");
        assert!(Schema::of_arguments(text).is_err(), "{text}");
    }
    for text in ["true", "false", "{}", "{\"type\":\"string\"}", "{\"type\":[\"object\",\"null\"]}"] {
        assert!(Schema::of_document(text).is_ok(), "{text}");
        assert!(Schema::of_arguments(text).is_err(), "{text}: arguments are an object");
    }
}
