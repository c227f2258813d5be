//! A plugin in every language answers in an instance of its session as it does in a fresh sandbox.

use crate::row::{Row, cache};
use portcullis::state::StatePlace;
use portcullis::{Code, Compiler, Host, Output, Request};
use portcullis_tests::{Site, allow_all, outcome_of};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;

/// Grants what the calls need.
const GRANTS: &str = "[plugin.conformance]\nconfig = { unit = \"metric\" }\n\
    directory.workspace = { path = \"workspace\", access = \"read-write\" }\nstore.notes = { scope = \"session\" }\n";

/// Returns the calls, in the order in which they are made.
fn calls() -> Vec<(&'static str, Value)> {
    vec![
        ("reverse", json!({ "text": "grüße" })),
        ("reverse", json!({ "text": "again" })),
        ("measure", json!({ "text": "a" })),
        ("read", json!({ "path": "a.txt" })),
        ("write", json!({ "path": "b.txt", "text": "new" })),
        ("read", json!({ "path": "b.txt" })),
        ("list", json!({ "path": "." })),
        ("reverse", json!({ "text": "no directory" })),
        ("read", json!({ "path": "a.txt" })),
        ("read", json!({ "path": "missing.txt" })),
        ("remove", json!({ "path": "b.txt" })),
        ("remember", json!({ "key": "k", "value": 7 })),
        ("recall", json!({ "key": "k" })),
        ("setting", json!({ "key": "unit" })),
        ("print", json!({ "text": "hello" })),
        ("picture", json!({})),
        ("write-out", json!({ "pieces": 3 })),
        ("fail", json!({ "kind": "failed", "message": "schön" })),
        ("throw", json!({ "message": "the disk is full" })),
        ("repeat", json!({ "text": "ä", "times": 1000 })),
        ("reverse", json!({ "text": "last" })),
    ]
}

async fn open(row: Row, instance: &str) -> (Site, Host) {
    let site = Site::new();
    site.plugin("conformance", &fs::read(row.component()).unwrap());
    fs::write(site.directory("workspace").join("a.txt"), "one\ntwö\n").unwrap();
    row.inspected();
    let policy = format!("{}{GRANTS}instance = \"{instance}\"\n", allow_all("time = \"60 s\""));
    let place = StatePlace::from(site.state()).examined_code(cache().join("compiled"));
    let builder =
        Host::builder(site.plugins(), place).compiler(Compiler::InProcess).policy_text(&policy, site.path(""));
    let host = builder.open().await.unwrap();
    (site, host)
}

/// Makes the calls in one session. Returns each reply, and the tools after which the instance was not used again.
async fn make(host: &Host) -> (Vec<Value>, BTreeSet<&'static str>) {
    let (mut replies, mut ended, mut last) = (Vec::new(), BTreeSet::new(), None);
    for (tool, arguments) in calls() {
        let request = Request::new(format!("conformance.{tool}"), arguments.to_string()).session("s");
        let reply = host.call(request).await;
        let outcome = outcome_of(host, &reply.id);
        if reply.code == Code::UnknownTool {
            // The language has no such tool.
            continue;
        }
        if outcome["earlier_calls"].is_null() {
            ended.extend(last);
        }
        last = Some(tool);
        let output = match &reply.output {
            Some(Output::Json(text) | Output::Text(text)) => json!(text),
            Some(Output::Parts(parts)) => json!(format!("{parts:?}")),
            None => Value::Null,
        };
        // A trace has addresses.
        let printed = outcome["printed"].as_str().filter(|text| !text.contains("goroutine"));
        replies.push(json!([tool, reply.code.as_str(), output, printed]));
    }
    (replies, ended)
}

async fn answers_alike(row: Row, ends: &[&str]) {
    let (_fresh_site, fresh) = open(row, "call").await;
    let (_session_site, session) = open(row, "session").await;
    let (expected, always) = make(&fresh).await;
    assert!(always.len() > 10, "{always:?}");
    let (replies, ended) = make(&session).await;
    for (reply, expected) in replies.iter().zip(&expected) {
        assert_eq!(reply, expected, "{}", row.name);
    }
    assert_eq!(ended, ends.iter().copied().collect(), "{}", row.name);
}

macro_rules! rows {
    ($($name:ident: $($ends:literal),*;)*) => {
        $(
            #[tokio::test]
            async fn $name() {
                super::answers_alike(crate::row::Row::of(stringify!($name)), &[$($ends),*]).await;
            }
        )*
    };
}

/// Each language, and the tools that end an instance. Rust ends it with the panic of `throw`. The others leave a store
/// or a directory open.
mod an_instance_of_a_session_answers_alike {
    rows! {
        rust: "throw";
        quickjs: ;
        starlingmonkey: "remember", "recall";
        python: ;
        go: "remember", "recall";
        c: "remember", "recall";
        cpp: ;
        zig: "read", "write", "list", "remove", "remember", "recall";
    }
}
