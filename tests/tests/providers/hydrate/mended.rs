//! Repaired arguments: only if the policy allows it, only if the meaning is unchanged, and never without an approval.

use super::desk::{Desk, message};
use portcullis::{Answer, Code, Covers, Output};
use portcullis_providers::Format;
use serde_json::{Value, json};

const REPAIR: &str = "[plugin.shop]\nrepair = \"ask\"\n";

/// Texts and their repaired values, with the pointer and a word of each repair.
type Mendable = (&'static str, Value, Vec<(&'static str, &'static str)>);

/// Returns an order, and one with an additional member.
fn plain() -> Value {
    json!({ "item": "apple", "count": 2 })
}

fn with(key: &str, value: Value) -> Value {
    let mut order = plain();
    order[key] = value;
    order
}

fn mendable() -> Vec<Mendable> {
    [mendable_texts(), mendable_values()].concat()
}

fn mendable_texts() -> Vec<Mendable> {
    vec![
        ("```json\n{\"item\":\"apple\",\"count\":2}\n```", plain(), vec![("", "fence")]),
        (" \n```\n{\"item\":\"apple\",\"count\":2}```  ", plain(), vec![("", "fence")]),
        (r#"{"item":"apple","count":2,}"#, plain(), vec![("", "commas")]),
        (r#"{"item":"apple","count":2,"tags":["a","b" , ], }"#, with("tags", json!(["a", "b"])), vec![("", "commas")]),
        ("{'item': 'apple', 'count': 2}", plain(), vec![("", "quotes")]),
        (r#"{'item':'apple','count':2,'note':'it\'s "so"'}"#, with("note", json!("it's \"so\"")), vec![("", "quotes")]),
        (
            r#"{"item":"apple","count":2,"gift":True,"any":None}"#,
            {
                let mut it = with("gift", json!(true));
                it["any"] = Value::Null;
                it
            },
            vec![("", "True")],
        ),
        ("{\"item\":\"apple\",\"count\":2,\"note\":\"a\nb\"}", with("note", json!("a\nb")), vec![("", "control")]),
        (r#"{"count":2,"item":"apple""#, plain(), vec![("", "brackets")]),
        (
            r#"{"item":"apple","count":2,"lines":[{"sku":"x"}"#,
            with("lines", json!([{ "sku": "x" }])),
            vec![("", "brackets")],
        ),
    ]
}

fn mendable_values() -> Vec<Mendable> {
    vec![
        (r#"{"item":"apple","count":"2"}"#, plain(), vec![("/count", "number")]),
        (r#"{"item":"apple","count":2,"gift":"TRUE"}"#, with("gift", json!(true)), vec![("/gift", "boolean")]),
        (r#"{"item":"apple","count":2,"note":17}"#, with("note", json!("17")), vec![("/note", "whole number")]),
        (r#"{"item":"apple","count":2,"note":null}"#, plain(), vec![("/note", "null")]),
        (r#"{"item":"apple","count":2,"tags":"a"}"#, with("tags", json!(["a"])), vec![("/tags", "list")]),
        (
            r#"{"item":"apple","count":2,"tags":"[\"a\",\"b\"]"}"#,
            with("tags", json!(["a", "b"])),
            vec![("/tags", "parsed as an object or a list")],
        ),
        (
            r#"{"item":"apple","count":2,"tags":3}"#,
            with("tags", json!(["3"])),
            vec![("/tags", "list"), ("/tags/0", "whole")],
        ),
        (
            r#"{"item":"apple","count":2,"to":"{\"street\":\"x\",\"floor\":\"-1.5\"}"}"#,
            with("to", json!({ "street": "x", "floor": -1.5 })),
            vec![("/to", "parsed as an object"), ("/to/floor", "number")],
        ),
        (r#"{"item":"APPLE","count":2}"#, plain(), vec![("/item", "case")]),
        (
            r#"{"item":"apple","count":2,"pay":{"kind":"Cash","change":"5"}}"#,
            with("pay", json!({ "kind": "cash", "change": 5 })),
            vec![("/pay/change", "number"), ("/pay/kind", "case")],
        ),
        (
            "{'item':'PEAR','count':'3',}",
            json!({ "item": "pear", "count": 3 }),
            vec![("", "commas"), ("", "quotes"), ("/count", "number"), ("/item", "case")],
        ),
    ]
}

/// Texts that are not repaired, because their meaning is not clear.
const UNMENDABLE: [&str; 31] = [
    r#"{"item":"apple","count":2,"count":2}"#,
    r#"{"item":"apple","count":2,"count":2,}"#,
    r#"{"item":"apple","count":"2","count":3,}"#,
    r#"{"item":"apple","count":9007199254740993000000,}"#,
    r#"{"item":"apple","count":"9007199254740993000000"}"#,
    r#"{"item":"apple","count":"0.1"}"#,
    r#"{"item":"apple","count":"2e0"}"#,
    r#"{"item":"apple","count":" 2"}"#,
    r#"{"item":"apple","count":"two"}"#,
    r#"{"item":"apple","count":"0x2"}"#,
    r#"{"item":"apple","count":2.5}"#,
    r#"{"item":"apple","count":"0"}"#,
    r#"{"item":"apple","count":true}"#,
    r#"{"item":"apple","count":null}"#,
    r#"{"item":"apple"}"#,
    r#"{"item":"apples","count":2}"#,
    r#"{"item":"apple","count":2,"colour":"red"}"#,
    r#"{"item":"apple","count":2,"colour":null}"#,
    r#"{"item":"apple","count":2,"note":1.5}"#,
    r#"{"item":"apple","count":2,"note":true}"#,
    r#"{"item":"apple","count":2,"gift":1}"#,
    r#"{"item":"apple","count":2"#,
    r#"{"item":"apple","count":2,"#,
    r#"{"item":"apple","count":"#,
    r#"{"item":"apple","count":2,"note":"it is"#,
    r#"{"item":"apple","count":2}}"#,
    r#"{"item":"apple","count":2} and so on"#,
    r#"{"item":"apple","count":2]"#,
    r#"{"item":"apple",,"count":2}"#,
    r#"{item:"apple",count:2}"#,
    r#"["apple",2]"#,
];

#[tokio::test]
async fn equivalent_arguments_are_repaired_and_need_approval() {
    let desk = Desk::open(REPAIR).await;
    for (raw, expected, repairs) in mendable() {
        desk.person.says(Answer::No { note: None });
        let (call, reply) = desk.chat("shop__order", raw).await;
        let from = &call.provenance;
        assert_eq!(serde_json::from_str::<Value>(&call.arguments).unwrap(), expected, "{raw}");
        assert!(from.is_repaired() && from.attempted && from.raw == raw, "{raw}");
        assert_eq!(from.repairs.len(), repairs.len(), "{raw}: {:?}", from.repairs);
        for (repair, (pointer, word)) in from.repairs.iter().zip(&repairs) {
            assert!(repair.pointer == *pointer && repair.what.contains(word), "{raw}: {repair:?}");
        }
        assert_eq!(reply.code, Code::ApprovalDenied, "{raw}: {}", reply.message);
        let asked = desk.person.asked();
        assert_eq!(asked.len(), 1, "{raw}");
        assert!(asked[0].reason.contains("were repaired"), "{}", asked[0].reason);
        desk.person.says(Answer::Yes);
        let (_, reply) = desk.chat("shop__order", raw).await;
        let Some(Output::Text(text)) = &reply.output else { panic!("{raw}: {}", reply.message) };
        assert_eq!(serde_json::from_str::<Value>(text).unwrap(), expected);
        let source = desk.recorded(&reply)["source"].clone();
        assert_eq!(
            (source["repairs"].as_array().map(Vec::len), source["raw_bytes"].as_u64()),
            (Some(repairs.len()), Some(raw.len() as u64))
        );
        assert!(source["repair_failed"].is_null());
        desk.person.asked();
    }
}

#[tokio::test]
async fn arguments_that_cannot_be_repaired_are_unchanged_and_the_attempt_is_recorded() {
    let desk = Desk::open(REPAIR).await;
    for raw in UNMENDABLE {
        let (call, reply) = desk.chat("shop__order", raw).await;
        assert_eq!((call.arguments.as_str(), &call.provenance.repairs), (raw, &vec![]), "{raw}");
        assert!(call.provenance.attempted, "{raw}");
        assert_eq!(reply.outcome().as_str(), "invalid", "{raw}: {}", reply.message);
        assert_eq!(desk.recorded(&reply)["source"]["repair_failed"], true, "{raw}");
        assert!(desk.person.asked().is_empty());
    }
}

#[tokio::test]
async fn nothing_is_repaired_unless_the_policy_allows_it() {
    for policy in ["", "[plugin.shop]\nrepair = \"refuse\"\n", "[plugin.loose]\nrepair = \"ask\"\n"] {
        let desk = Desk::open(policy).await;
        desk.person.says(Answer::Yes);
        for (raw, ..) in mendable() {
            let (call, reply) = desk.chat("shop__order", raw).await;
            assert_eq!((call.arguments.as_str(), call.provenance.attempted), (raw, false), "{policy}");
            assert_eq!(reply.outcome().as_str(), "invalid", "{raw}");
            assert!(desk.person.asked().is_empty());
        }
    }
}

#[tokio::test]
async fn valid_arguments_are_never_repaired() {
    let desk = Desk::open(REPAIR).await;
    let right = r#" {"item":"apple", "count":2.0,"note":"17","any":"null","tags":["5"]} "#;
    let (call, reply) = desk.chat("shop__order", right).await;
    assert_eq!((call.arguments.as_str(), reply.code), (right, Code::Completed));
    assert!(!call.provenance.attempted && desk.person.asked().is_empty());
}

/// A remembered approval was given to arguments that a model wrote. An approval of repaired arguments covers only that
/// call.
#[tokio::test]
async fn no_earlier_approval_covers_repaired_arguments() {
    let policy = format!("{REPAIR}[[rule]]\ntool = \"shop.*\"\ndecision = \"ask\"\n");
    let desk = Desk::open(&policy).await;
    let (right, wrong) = (r#"{"item":"apple","count":2}"#, r#"{"item":"apple","count":"2"}"#);
    desk.person.says(Answer::Always(Covers::Exact));
    assert_eq!(desk.chat("shop__order", right).await.1.code, Code::Completed);
    assert_eq!(desk.person.asked().len(), 1);
    assert_eq!(desk.chat("shop__order", right).await.1.code, Code::Completed);
    assert!(desk.person.asked().is_empty(), "the remembered approval must count");
    for _ in 0..3 {
        assert_eq!(desk.chat("shop__order", wrong).await.1.code, Code::Completed);
        assert_eq!(desk.person.asked().len(), 1, "it must not count for repaired arguments");
    }
}

/// After the removal of nulls, the remaining errors are repaired too.
#[tokio::test]
async fn strict_arguments_are_repaired_after_their_nulls_are_removed() {
    let desk = Desk::open(REPAIR).await;
    desk.person.says(Answer::Yes);
    let arguments = json!({ "item": "Apple", "count": 2, "note": null, "gift": null });
    let answer = message(Format::AnthropicStrict, &[("a", "shop__order", &arguments)]).to_string();
    let (calls, replies) = desk.run(Format::AnthropicStrict, &answer).await;
    let from = &calls[0].provenance;
    assert_eq!((from.nulls.join(" "), from.repairs.len()), ("/gift /note".to_owned(), 1));
    assert_eq!((calls[0].arguments.as_str(), replies[0].code), (r#"{"count":2,"item":"apple"}"#, Code::Completed));
}

/// The host itself refuses arguments that are marked as repaired, from any caller, unless the policy allows them.
#[tokio::test]
async fn the_host_refuses_repaired_arguments_that_its_policy_does_not_allow() {
    let lenient = Desk::open(REPAIR).await;
    let answer =
        message(Format::OpenAiChat, &[("a", "shop__order", &json!({ "item": "apple", "count": "2" }))]).to_string();
    let hydrated = lenient.offered.hydrate(Format::OpenAiChat, &answer, &lenient.host).unwrap();
    assert!(hydrated.calls[0].provenance.is_repaired());
    let strict = Desk::open("").await;
    strict.person.says(Answer::Yes);
    let request = hydrated.requests(&portcullis::Caller::new()).remove(0);
    let reply = strict.host.call(request).await;
    assert_eq!(reply.code, Code::PolicyDenied, "{}", reply.message);
    assert!(strict.person.asked().is_empty());
}
