//! The nulls that a strict format makes a model write for what it would leave out.

use super::desk::Desk;
use portcullis::Output;
use portcullis_providers::Format;
use serde_json::{Value, json};

const STRICT: [Format; 3] = [Format::OpenAiChatStrict, Format::OpenAiResponsesStrict, Format::AnthropicStrict];

/// What was taken away of arguments, and what became of them.
fn undone(desk: &Desk, format: Format, arguments: &Value) -> (Vec<String>, Value) {
    let call = desk.call(format, "shop__order", arguments);
    assert_eq!(call.provenance.parsed.as_ref(), Some(arguments), "what came is kept");
    assert!(!call.provenance.is_repaired() && !call.provenance.attempted);
    (call.provenance.nulls.clone(), serde_json::from_str(&call.arguments).unwrap())
}

#[tokio::test]
async fn nulls_of_what_may_be_left_out_are_undone_in_strict_formats() {
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

/// A union of kinds of objects: the one that it is says which of its members may be left out.
#[tokio::test]
async fn nulls_are_undone_in_the_alternative_that_the_object_is() {
    let desk = Desk::open("").await;
    let of = |pay: Value| json!({ "item": "apple", "count": 2, "pay": pay });
    let (nulls, left) = undone(&desk, STRICT[0], &of(json!({ "kind": "card", "number": "1", "name": null })));
    assert_eq!((nulls, left), (vec!["/pay/name".to_owned()], of(json!({ "kind": "card", "number": "1" }))));
    // What neither alternative can be stays as it came, and is refused.
    let wrong = of(json!({ "kind": "card", "number": null, "name": null }));
    assert_eq!(undone(&desk, STRICT[0], &wrong), (vec![], wrong));
}

#[tokio::test]
async fn nothing_is_undone_where_it_is_right_already_or_the_format_is_not_strict() {
    let desk = Desk::open("").await;
    let right = json!({ "item": "apple", "count": 2, "any": null });
    for format in STRICT {
        assert_eq!(undone(&desk, format, &right), (vec![], right.clone()), "{format}");
        // The null of what must be there, and that of what the schema does not name, say nothing.
        for wrong in [json!({ "item": null, "count": 2 }), json!({ "item": "apple", "count": 2, "unknown": null })] {
            assert_eq!(undone(&desk, format, &wrong), (vec![], wrong), "{format}");
        }
    }
    let nulls = json!({ "item": "apple", "count": 2, "note": null });
    for format in Format::ALL.into_iter().filter(|format| !format.is_strict()) {
        assert_eq!(undone(&desk, format, &nulls), (vec![], nulls.clone()), "{format}");
    }
}

/// What is wrong beside the nulls is all that the model is told of.
#[tokio::test]
async fn what_is_wrong_beside_the_nulls_stays_wrong() {
    let desk = Desk::open("").await;
    let arguments = json!({ "item": "apple", "count": "2", "note": null, "gift": null });
    let answer = super::desk::message(STRICT[0], &[("a", "shop__order", &arguments)]).to_string();
    let (calls, replies) = desk.run(STRICT[0], &answer).await;
    assert_eq!(calls[0].provenance.nulls, ["/gift", "/note"]);
    assert!(replies[0].message.contains("/count") && !replies[0].message.contains("/note"), "{}", replies[0].message);
}
