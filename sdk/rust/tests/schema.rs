//! Tests the schemas of less common types by the values that they accept.

use portcullis_sdk::IntoOutput;
use portcullis_sdk::prelude::*;
use portcullis_sdk::serde_json::Value;

#[expect(clippy::unwrap_used, reason = "typed JSON has a schema")]
fn of<T: portcullis_sdk::serde::Serialize + portcullis_sdk::schemars::JsonSchema>() -> Value {
    Json::<T>::schema().unwrap()
}

#[test]
fn an_object_can_be_left_open() {
    #[output]
    #[schemars(extend("additionalProperties" = true))]
    struct Open {
        known: String,
    }
    assert_eq!(of::<Open>()["additionalProperties"], json!(true));
}

#[test]
fn a_map_accepts_any_key() {
    #[output]
    struct Inner {
        value: u8,
    }
    let schema = of::<std::collections::BTreeMap<String, Inner>>();
    assert_eq!(schema["additionalProperties"]["additionalProperties"], json!(false), "{schema}");
}

#[test]
fn a_flattened_enum_shares_the_fields_around_it() {
    #[output]
    struct Outer {
        common: String,
        #[serde(flatten)]
        choice: Choice,
    }
    #[output]
    #[serde(tag = "kind")]
    enum Choice {
        One { one: u8 },
        Two { two: u8 },
    }
    let _constructed = [Choice::One { one: 1 }, Choice::Two { two: 2 }];
    let schema = of::<Outer>();
    assert_eq!(schema["unevaluatedProperties"], json!(false), "{schema}");
    for branch in schema["oneOf"].as_array().unwrap() {
        assert_eq!(branch["additionalProperties"], Value::Null, "{schema}");
    }
}

#[test]
fn a_recursive_type_refers_to_itself() {
    #[output]
    struct Tree {
        children: Vec<Tree>,
    }
    let schema = of::<Tree>();
    assert_eq!(schema["properties"]["children"]["items"], json!({ "$ref": "#" }), "{schema}");
}
