//! Tools of other plugins, called by the conformance plugin in each language whose SDK has them. The plugin calls its
//! own tools, so that the callee is there in every row.

use crate::desk::Desk;
use crate::row::Row;
use portcullis_tests::Ran;
use serde_json::{Value, json};

/// Binds all tools of the plugin.
const BOUND: &str = "[plugin.conformance]\ntools.others = { tools = [\"conformance.*\"] }\n";
/// Binds some tools of the plugin.
const SOME_BOUND: &str = "[plugin.conformance]\n\
    tools.others = { tools = [\"conformance.reverse\", \"conformance.write\"] }\n";
/// More than an answer may have by default, and than a page of memory holds.
const LARGE_BYTES: usize = 3 * 1024 * 1024;
/// As many calls as a tool may make at once.
const CALLS_AT_ONCE: usize = 25;

impl Desk {
    /// Calls a tool through the tool `delegate`. Returns the document of the reply.
    fn delegate(&self, tool: &str, arguments: &Value) -> Value {
        let arguments = json!({ "key": "others", "tool": format!("conformance.{tool}"), "arguments": arguments });
        self.call("delegate", &arguments).document()
    }

    /// Calls tools with a text each through the tool `delegate-all`. Returns the answers.
    #[track_caller]
    fn delegate_all(&self, calls: &[(&str, String)]) -> Vec<Value> {
        let tools: Vec<String> = calls.iter().map(|(tool, _)| format!("conformance.{tool}")).collect();
        let texts: Vec<&String> = calls.iter().map(|(_, text)| text).collect();
        let arguments = json!({ "key": "others", "tools": tools, "texts": texts });
        let reply = self.call("delegate-all", &arguments).ends(0).document();
        reply["output"]["value"]["answers"].as_array().unwrap_or_else(|| panic!("{reply}")).clone()
    }

    #[track_caller]
    fn lookup(&self, query: &str, limit: u32, tool: &str) -> Value {
        let arguments = json!({ "key": "others", "query": query, "limit": limit, "tool": tool });
        self.call("lookup", &arguments).ends(0).document()["output"]["value"].clone()
    }
}

/// Returns the names of tools in a list.
fn names(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

fn an_answer_arrives_unchanged(row: Row) {
    let desk = Desk::new(row, BOUND);
    for (tool, arguments) in [
        ("reverse", json!({ "text": "grüße" })),
        ("reverse", json!({ "text": "" })),
        ("echo", json!({ "value": { "a": [1, "x", null, { "b": 0.5 }] } })),
        // A string as JSON is not a text.
        ("echo", json!({ "value": "x" })),
        ("measure", json!({ "text": "grüße" })),
        ("picture", json!({})),
        ("write-out", json!({ "pieces": 3 })),
    ] {
        let (direct, delegated) = (desk.call(tool, &arguments).ends(0).document(), desk.delegate(tool, &arguments));
        for member in ["outcome", "output", "title", "metadata"] {
            assert_eq!(delegated[member], direct[member], "{tool} {arguments}: {member}");
        }
    }
}

fn a_large_answer_arrives_unchanged(row: Row) {
    let desk = Desk::new(row, BOUND);
    let text = "grüße ";
    let reply = desk.delegate("repeat", &json!({ "text": text, "times": LARGE_BYTES / text.len() }));
    let output = reply["output"]["text"].as_str().unwrap_or_else(|| panic!("{}", reply["message"]));
    assert!(output == text.repeat(LARGE_BYTES / text.len()), "{} bytes differ", output.len());
}

fn a_failure_keeps_its_kind_and_its_text(row: Row) {
    let desk = Desk::new(row, BOUND);
    for (kind, code) in [("unavailable", "tool-unavailable"), ("failed", "tool-failed"), ("cancelled", "cancelled")] {
        let reply = desk.delegate("fail", &json!({ "kind": kind, "message": "try 7" }));
        assert_eq!(reply["code"], code, "{kind}: {reply}");
        let message = reply["message"].as_str().unwrap();
        assert!(kind == "cancelled" || message.contains("try 7"), "{kind}: {message}");
    }
}

fn a_call_that_the_host_refuses_fails_with_its_reason(row: Row) {
    for (policy, tool, code, words) in [
        (BOUND, "none", "tool-rejected-arguments", "no tool conformance.none"),
        (BOUND, "reverse", "tool-rejected-arguments", "required"),
        (SOME_BOUND, "surroundings", "tool-denied", "does not let"),
    ] {
        let reply = Desk::new(row, policy).delegate(tool, &json!({}));
        let message = reply["message"].as_str().unwrap();
        assert!(reply["code"] == code && message.contains(words), "{tool}: {reply}");
    }
}

fn several_calls_are_answered_in_order(row: Row) {
    let desk = Desk::new(row, BOUND);
    let calls = ["reverse", "none", "measure"].map(|tool| (tool, "grüße".to_owned()));
    let answers = desk.delegate_all(&calls);
    assert_eq!(answers[0], json!({ "text": "eßürg" }));
    assert!(answers[1]["failure"].as_str().unwrap().contains("no tool conformance.none"), "{answers:?}");
    let measured: Value = serde_json::from_str(answers[2]["text"].as_str().unwrap()).unwrap();
    assert_eq!((answers.len(), measured), (3, json!({ "bytes": 7, "characters": 5 })));
    assert!(desk.delegate_all(&[]).is_empty());
}

fn as_many_calls_as_allowed_at_once_are_answered(row: Row) {
    let desk = Desk::new(row, BOUND);
    // Each has another text, because a host asks an approver about a call that is made again and again.
    let calls: Vec<_> =
        (0..CALLS_AT_ONCE).map(|call| ("reverse", format!("{call:02}{}", "ab".repeat(10_000)))).collect();
    let answers = desk.delegate_all(&calls);
    assert_eq!(answers.len(), CALLS_AT_ONCE);
    for (answer, (_, text)) in answers.iter().zip(&calls) {
        assert!(answer["text"] == text.chars().rev().collect::<String>(), "{text:.2}: {answer:.200}");
    }
}

fn tools_are_listed_searched_and_defined(row: Row) {
    let desk = Desk::new(row, SOME_BOUND);
    let looked = desk.lookup("reverse the characters of a text", 1, "conformance.reverse");
    assert_eq!(names(&looked["list"]), ["conformance.reverse", "conformance.write"]);
    assert_eq!(names(&looked["found"]), ["conformance.reverse"]);
    assert_eq!(looked["list"][0], looked["found"][0]);
    let definition = &looked["definition"];
    assert_eq!(definition["name"], "conformance.reverse");
    assert_eq!(definition["description"], looked["found"][0]["description"]);
    assert_eq!(definition["schema"]["required"], json!(["text"]));
    assert_eq!((&definition["permissions"], &definition["output_schema"]), (&json!([]), &Value::Null));
    let looked = desk.lookup("reverse", 0, "conformance.write");
    assert_eq!(names(&looked["found"]), [""; 0]);
    let definition = &looked["definition"];
    assert_eq!(definition["permissions"], json!(["read", "write"]));
    assert_eq!(definition["hints"], json!(["destructive", "idempotent"]));
    assert_eq!(desk.lookup("reverse", 1, "conformance.echo")["definition"], Value::Null, "it is not bound");
}

fn calls_are_foreseen_and_approved_together(row: Row) {
    let asks = "[[rule]]\ntool = \"conformance.measure\"\ndecision = \"ask\"\n";
    let desk = Desk::new(row, &format!("{BOUND}{asks}"));
    let tools = ["reverse", "none", "measure"].map(|tool| format!("conformance.{tool}"));
    let arguments = json!({ "key": "others", "tools": tools, "texts": ["a", "b", "c"] });
    let planned = |reply: Ran| reply.ends(0).document()["output"]["value"].clone();
    let plan = planned(desk.call_with_approver("plan", &arguments));
    let outlooks = plan["outlooks"].as_array().unwrap();
    assert_eq!((outlooks.len(), &outlooks[0], &outlooks[2]), (3, &json!("runs"), &json!("needs-approval")), "{plan}");
    let fails = outlooks[1].as_str().unwrap();
    assert!(fails.starts_with("fails: ") && fails.contains("no tool conformance.none"), "{fails}");
    // Only one of them needs approval, so it asks by itself.
    assert_eq!(plan["approved"], json!([true, false, false]), "{plan}");
    let plan = planned(desk.call("plan", &arguments));
    let fails = plan["outlooks"][2].as_str().unwrap();
    assert!(fails.starts_with("fails: ") && fails.contains("was not approved"), "without an approver: {fails}");
}

macro_rules! each {
    ($($row:ident)*) => {
        $(mod $row {
            use crate::row::Row;

            each! { @tests $row
                an_answer_arrives_unchanged
                a_large_answer_arrives_unchanged
                a_failure_keeps_its_kind_and_its_text
                a_call_that_the_host_refuses_fails_with_its_reason
                several_calls_are_answered_in_order
                as_many_calls_as_allowed_at_once_are_answered
                tools_are_listed_searched_and_defined
            }
        })*

        #[test]
        fn every_row_with_tools_is_tested() {
            let with = crate::row::ROWS.into_iter().filter(|row| !row.gaps().contains_key("delegate"));
            assert_eq!(with.map(|row| row.name).collect::<Vec<_>>(), [$(stringify!($row)),*]);
        }
    };
    (@tests $row:ident $($name:ident)*) => {
        $(#[test]
        fn $name() {
            super::$name(Row::of(stringify!($row)));
        })*
    };
}

each! { rust quickjs starlingmonkey python go c cpp zig }

macro_rules! each_that_plans {
    ($($row:ident)*) => {
        mod planned {
            use crate::row::Row;

            $(#[test]
            fn $row() {
                super::calls_are_foreseen_and_approved_together(Row::of(stringify!($row)));
            })*
        }

        #[test]
        fn every_row_that_plans_is_tested() {
            let with = crate::row::ROWS.into_iter().filter(|row| !row.gaps().contains_key("plan"));
            assert_eq!(with.map(|row| row.name).collect::<Vec<_>>(), [$(stringify!($row)),*]);
        }
    };
}

each_that_plans! { rust quickjs starlingmonkey python go c cpp zig }
