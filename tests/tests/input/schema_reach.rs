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
