//! Schemas in another dialect, or that are not valid. K05, K08.

use portcullis_definitions::schema::Schema;
use serde_json::{Value, json};

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

/// In this dialect, a format is an annotation and is not validated.
#[test]
fn a_format_is_not_validated() {
    for format in ["date-time", "email", "ipv4", "regex", "uri", "uuid", "no-such-format"] {
        let schema = Schema::of_document(&format!("{{\"type\":\"string\",\"format\":\"{format}\"}}")).unwrap();
        assert_eq!(schema.mismatches(&Value::from("anything: at [all")), []);
    }
}
