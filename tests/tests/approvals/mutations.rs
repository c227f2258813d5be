//! Property tests: the approved call is the one that runs. Any change needs a new approval, and no approval is used
//! twice. INV-4, INV-5.

use crate::approvals::desk::{Desk, alone};
use crate::approvals::people::{Person, no};
use portcullis::{Answer, Code, Covers, Host, Request};
use portcullis_tests::BlockOn;
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use serde_json::{Map, Value};
use std::cell::Cell;

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-1_000_000_i64..1_000_000).prop_map(Value::from),
        "[ -~é\u{200b}]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            btree_map("[a-z]{1,4}", inner, 0..4).prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn arguments() -> impl Strategy<Value = Map<String, Value>> {
    btree_map("[a-z]{1,6}", value(), 1..5).prop_map(|map| map.into_iter().collect())
}

/// Changes a value to a slightly different one of the same kind.
fn changed(value: &Value, by: u8) -> Value {
    match value {
        Value::Null => Value::from("null"),
        Value::Bool(flag) if by.is_multiple_of(2) => Value::from(!flag),
        Value::Bool(flag) => Value::from(flag.to_string()),
        Value::Number(number) if by.is_multiple_of(2) => Value::from(number.as_i64().unwrap() + 1),
        Value::Number(number) => Value::from(number.to_string()),
        Value::String(text) if by.is_multiple_of(2) => Value::from(format!("{text} ")),
        Value::String(text) => Value::from(format!("\u{200b}{text}")),
        Value::Array(items) if items.is_empty() => Value::Object(Map::new()),
        Value::Array(items) => {
            let mut items = items.clone();
            let at = usize::from(by) % items.len();
            items[at] = changed(&items[at], by / 2);
            Value::from(items)
        }
        Value::Object(members) if members.is_empty() => Value::from(Vec::<Value>::new()),
        Value::Object(members) => Value::Object(one_changed(members, by)),
    }
}

/// Changes, renames, removes or adds one member.
fn one_changed(members: &Map<String, Value>, by: u8) -> Map<String, Value> {
    let mut other = members.clone();
    let key = members.keys().nth(usize::from(by) % members.len()).unwrap().clone();
    let old = other.remove(&key).unwrap();
    match by % 5 {
        0 | 1 => drop(other.insert(key, changed(&old, by / 5))),
        2 => drop(other.insert(format!("{key}A"), old)),
        3 => {}
        _ => {
            other.insert(key, old);
            other.insert("ANOTHER".to_owned(), Value::Null);
        }
    }
    other
}

fn request(arguments: &Map<String, Value>, session: usize) -> Request {
    Request::new("good.run", Value::Object(arguments.clone()).to_string()).session(&session.to_string())
}

/// Runs a property with many cases on one host.
fn holds<S: Strategy>(strategy: S, property: impl Fn(S::Value) -> Result<(), TestCaseError>) {
    let config = Config { cases: 96, failure_persistence: None, ..Config::default() };
    TestRunner::new(config).run(&strategy, property).unwrap();
}

#[test]
fn changed_arguments_never_run_on_an_approval_for_the_original_ones() {
    let desk = Desk::new();
    let person = Person::who_says(no());
    let host = alone(desk.asking(&person));
    let session = Cell::new(0);
    let call = |host: &Host, arguments: &Map<String, Value>| {
        session.set(session.get() + 1);
        alone(host.call(request(arguments, session.get()))).code
    };
    holds((arguments(), any::<u8>()), |(approved, by)| {
        person.says(Answer::Always(Covers::Exact));
        prop_assert_eq!(call(&host, &approved), Code::Completed);
        person.asked();
        person.says(no());
        let other = one_changed(&approved, by);
        prop_assert_ne!(&other, &approved);
        // Another case may have approved these arguments: then the call that runs has exactly them.
        let code = call(&host, &other);
        let asked = person.asked();
        prop_assert_eq!(code, Code::ApprovalDenied);
        prop_assert_eq!(asked.len(), 1);
        let shown: Map<String, Value> = serde_json::from_str(&asked[0].arguments).unwrap();
        prop_assert_eq!(shown, other);
        prop_assert_eq!(call(&host, &approved), Code::Completed);
        prop_assert_eq!(person.asked().len(), 0);
        for held in host.approvals().list().block_on().unwrap().answers {
            host.approvals().revoke(&held.id).block_on().unwrap();
        }
        Ok(())
    });
    desk.verifies();
}

/// In any sequence of answers, calls and revocations, a call runs exactly if it was approved or a valid approval covers
/// it.
#[test]
fn every_run_has_its_own_approval() {
    let desk = Desk::new();
    let person = Person::who_says(no());
    let host = alone(desk.asking(&person));
    let session = Cell::new(0);
    holds(vec((0..3_usize, 0..4_u8), 1..8), |steps| {
        session.set(session.get() + 1);
        let mut held = [false; 3];
        let mut refused = 0;
        for (number, step) in steps {
            let arguments: Map<String, Value> =
                [("n".to_owned(), Value::from(number)), ("s".to_owned(), Value::from(session.get()))]
                    .into_iter()
                    .collect();
            person.says(match step {
                0 => Answer::Yes,
                1 => Answer::Session(Covers::Exact),
                _ => no(),
            });
            let code = alone(host.call(request(&arguments, session.get()))).code;
            let asked = person.asked().len();
            let expected = if held[number] {
                (Code::Completed, 0)
            } else if refused >= 3 {
                (Code::ApprovalDenied, 0)
            } else if step < 2 {
                (Code::Completed, 1)
            } else {
                (Code::ApprovalDenied, 1)
            };
            prop_assert_eq!((code, asked), expected);
            if asked == 1 {
                held[number] = step == 1;
                refused = if step < 2 { 0 } else { refused + 1 };
            }
        }
        Ok(())
    });
}
