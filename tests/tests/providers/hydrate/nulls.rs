//! Nulls that a strict format makes a model write for absent members.

use super::desk::Desk;
use portcullis::Output;
use portcullis_providers::Format;
use serde_json::{Value, json};

const STRICT: [Format; 3] = [Format::OpenAiChatStrict, Format::OpenAiResponsesStrict, Format::AnthropicStrict];

/// Returns the removed nulls, and the resulting arguments.
fn undone(desk: &Desk, format: Format, arguments: &Value) -> (Vec<String>, Value) {
    let call = desk.call(format, "shop__order", arguments);
    assert_eq!(call.provenance.parsed.as_ref(), Some(arguments), "the original arguments must be kept");
    assert!(!call.provenance.is_repaired() && !call.provenance.attempted);
    (call.provenance.nulls.clone(), serde_json::from_str(&call.arguments).unwrap())
}

#[tokio::test]
async fn nulls_of_optional_members_are_removed_in_strict_formats() {
    let desk = Desk::open("").await;
    let arguments = json!({
        "item": "apple", "count": 2, "note": null, "gift": null, "any": null, "tags": null,
        "to": { "street": "Main", "floor": null },
        "lines": [{ "sku": "a", "discount": null }, { "sku": "b", "discount": 0.5 }, { "sku": "c", "discount": null }],
        "pay": { "kind": "cash", "change": null }
    });
    let expected = json!({
        "item": "apple", "count": 2, "any": null, "to": { "street": "Main" },
        "lines": [{ "sku": "a" }, { "sku": "b", "discount": 0.5 }, { "sku": "c" }], "pay": { "kind": "cash" }
    });
    let mut pointers =
        ["/gift", "/lines/0/discount", "/lines/2/discount", "/note", "/pay/change", "/tags", "/to/floor"]
            .map(str::to_owned);
    pointers.sort();
    for format in STRICT {
        let (mut nulls, left) = undone(&desk, format, &arguments);
        nulls.sort();
        assert_eq!((nulls.as_slice(), &left), (pointers.as_slice(), &expected), "{format}");
        let answer = super::desk::message(format, &[("a", "shop__order", &arguments)]).to_string();
        let (_, replies) = desk.run(format, &answer).await;
        let Some(Output::Text(text)) = &replies[0].output else { panic!("{format}: {}", replies[0].message) };
        assert_eq!(serde_json::from_str::<Value>(text).unwrap(), expected);
        let source = desk.recorded(&replies[0])["source"].clone();
        assert_eq!(source["nulls"].as_array().map(Vec::len), Some(7), "{source}");
        assert!(source["repairs"].is_null());
    }
}

/// In a union of object types, the matching type decides which members are optional.
#[tokio::test]
async fn nulls_are_removed_according_to_the_matching_alternative() {
    let desk = Desk::open("").await;
    let of = |pay: Value| json!({ "item": "apple", "count": 2, "pay": pay });
    let (nulls, left) = undone(&desk, STRICT[0], &of(json!({ "kind": "card", "number": "1", "name": null })));
    assert_eq!((nulls, left), (vec!["/pay/name".to_owned()], of(json!({ "kind": "card", "number": "1" }))));
    // Arguments that match neither alternative are unchanged, and refused.
    let wrong = of(json!({ "kind": "card", "number": null, "name": null }));
    assert_eq!(undone(&desk, STRICT[0], &wrong), (vec![], wrong));
}

#[tokio::test]
async fn nulls_are_kept_if_they_are_valid_or_the_format_is_not_strict() {
    let desk = Desk::open("").await;
    let right = json!({ "item": "apple", "count": 2, "any": null });
    for format in STRICT {
        assert_eq!(undone(&desk, format, &right), (vec![], right.clone()), "{format}");
        // The null of a required member, and that of an unknown one, are not removed.
        for wrong in [json!({ "item": null, "count": 2 }), json!({ "item": "apple", "count": 2, "unknown": null })] {
            assert_eq!(undone(&desk, format, &wrong), (vec![], wrong), "{format}");
        }
    }
    let nulls = json!({ "item": "apple", "count": 2, "note": null });
    for format in Format::ALL.into_iter().filter(|format| !format.is_strict()) {
        assert_eq!(undone(&desk, format, &nulls), (vec![], nulls.clone()), "{format}");
    }
}

/// The model's error lists only the problems other than the nulls.
#[tokio::test]
async fn other_errors_remain_after_the_removal_of_nulls() {
    let desk = Desk::open("").await;
    let arguments = json!({ "item": "apple", "count": "2", "note": null, "gift": null });
    let answer = super::desk::message(STRICT[0], &[("a", "shop__order", &arguments)]).to_string();
    let (calls, replies) = desk.run(STRICT[0], &answer).await;
    assert_eq!(calls[0].provenance.nulls, ["/gift", "/note"]);
    assert!(replies[0].message.contains("/count") && !replies[0].message.contains("/note"), "{}", replies[0].message);
}
