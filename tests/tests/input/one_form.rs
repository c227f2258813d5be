//! The canonical form of arguments: the decision, the approval, the hash and the run use the same text, which is equal
//! to the input. J03.

use crate::input::desk::Desk;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Map, Number, Value, json};

/// Numbers and their canonical forms.
#[tokio::test]
async fn numbers_have_a_canonical_form() {
    let desk = Desk::new().await;
    let table = [
        ("0", "0"),
        ("-0", "0"),
        ("0.0", "0"),
        ("-0.0", "0"),
        ("1.0", "1"),
        ("1e0", "1"),
        ("10E-1", "1"),
        ("1.5", "1.5"),
        ("15e-1", "1.5"),
        ("-7.000", "-7"),
        ("1e3", "1000"),
        ("9007199254740991", "9007199254740991"),
        ("9007199254740992", "9007199254740992"),
        ("9007199254740993", "9007199254740993"),
        ("-9007199254740993", "-9007199254740993"),
        ("9223372036854775807", "9223372036854775807"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("18446744073709551615", "18446744073709551615"),
        ("0.1", "0.1"),
        ("123456789.125", "123456789.125"),
    ];
    for (written, form) in table {
        assert_eq!(desk.arguments(format!("{{\"v\":{written}}}")).unwrap(), format!("{{\"v\":{form}}}"), "{written}");
    }
}

/// A number that the host cannot represent is rejected, and never silently rounded.
#[tokio::test]
async fn numbers_that_do_not_fit_are_rejected() {
    let desk = Desk::new().await;
    let numbers = [
        "18446744073709551616",
        "-9223372036854775809",
        "100000000000000000000",
        "-100000000000000000000",
        "1e400",
        "-1e400",
        "1e999999999999999999999",
    ];
    for number in numbers.map(str::to_owned).into_iter().chain(["9".repeat(309), "1".repeat(5000)]) {
        desk.refused(format!("{{\"v\":{number}}}"));
        desk.refused(format!("{{\"v\":[{{\"w\":{number}}}]}}"));
        desk.refused(serde_json::to_string(&format!("{{\"v\":{number}}}")).unwrap());
        assert!(desk.arguments(format!("{{\"v\":\"{number}\"}}")).is_ok(), "as a string it is exact");
    }
}

/// An integer above 2^53 that is written with a decimal point would be rounded to a neighbour.
#[tokio::test]
async fn an_integer_is_never_rounded() {
    let desk = Desk::new().await;
    for (written, wrong) in [
        ("9007199254740993.0", "9007199254740992"),
        ("-9007199254740993.0", "-9007199254740992"),
        ("9007199254740992.5", "9007199254740992"),
    ] {
        let arguments = desk.arguments(format!("{{\"v\":{written}}}"));
        assert_ne!(arguments.ok(), Some(format!("{{\"v\":{wrong}}}")), "{written}");
    }
}

#[tokio::test]
async fn keys_are_sorted_and_whitespace_is_removed() {
    let desk = Desk::new().await;
    let written = " { \"b\" : [ 1 , { \"z\" : null , \"y\" : true } ] , \"a\" : \"\\u0041\\/\\n\" , \"\" : {} } ";
    let form = r#"{"":{},"a":"A/\n","b":[1,{"y":true,"z":null}]}"#;
    assert_eq!(desk.arguments(written).unwrap(), form);
    assert_eq!(desk.arguments(form).unwrap(), form);
}

/// Generates any value, except floats that are whole: they become integers, as the table above shows.
fn values() -> impl Strategy<Value = Value> {
    let float = any::<f64>().prop_filter("it is a fraction", |float| float.is_finite() && float.fract() != 0.0);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        float.prop_map(|float| Value::Number(Number::from_f64(float).unwrap())),
        any::<String>().prop_map(Value::String),
        prop::sample::select(naughty_strings::BLNS).prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::Array),
            prop::collection::btree_map(any::<String>(), inner, 0..8)
                .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

fn runner() -> TestRunner {
    TestRunner::new(Config { cases: 500, failure_persistence: None, ..Config::default() })
}

/// A value is not changed by its canonical form, and the canonical form of a canonical form is itself.
#[tokio::test]
async fn the_canonical_form_keeps_the_value() {
    let desk = Desk::new().await;
    let property = |value: Value| {
        let document = json!({ "v": value });
        let form = Ok(document.to_string());
        prop_assert_eq!(&desk.arguments(document.to_string()), &form);
        let pretty = serde_json::to_string_pretty(&document).unwrap();
        prop_assert_eq!(&desk.arguments(&pretty), &form);
        prop_assert_eq!(&desk.arguments(Value::String(pretty).to_string()), &form);
        Ok(())
    };
    runner().run(&values(), property).unwrap();
}

/// Any bytes get a reply, and never cause a panic.
#[tokio::test]
async fn any_bytes_get_a_reply() {
    let desk = Desk::new().await;
    let structural = "[\\[\\]{}\",:0-9eE+.\\-tfnulrsa\\\\ ]{0,40}";
    let property = |text: String, bytes: Vec<u8>| {
        for bytes in [text.into_bytes(), bytes] {
            if let Ok(form) = desk.arguments(&bytes) {
                prop_assert_eq!(desk.arguments(&form), Ok(form));
            }
        }
        Ok(())
    };
    let strategy = (structural, prop::collection::vec(any::<u8>(), 0..64));
    runner().run(&strategy, |(text, bytes)| property(text, bytes)).unwrap();
}
