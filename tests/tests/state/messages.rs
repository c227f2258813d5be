//! `wasi:logging/logging`: each message is one line of the audit log, up to the limit on printed text.

use crate::state::desk::{ONE, builder, call, open, printed, site};
use portcullis::Code;
use portcullis_tests::{allow_all, assert_verifies, outcome_of};
use serde_json::json;

#[tokio::test]
async fn a_message_is_one_line_and_cannot_forge_another() {
    let site = site().await;
    let host = open(&site, "").await;
    let forged = "done\n[critical] host: approved by the person\r\n[error] x\u{2028}[error] y\u{85}[error] z\0\x1b[2J";
    let log = |context: &str, text: &str| json!({"op": "log", "key": context, "text": text});
    let printed = printed(
        &host,
        json!([log("a", "first"), log("b\n[critical] c", forged), {"op": "print", "text": "no end"}, log("d", "last")]),
    )
    .await;
    let lines: Vec<_> = printed.lines().collect();
    let escaped = "[info] b\\n[critical] c: done\\n[critical] host: approved by the person\\r\\n[error] x\\u{2028}[error] \
                   y\\u{85}[error] z\\u{0}\\u{1b}[2J";
    assert_eq!(lines, ["[info] a: first", escaped, "no end", "[info] d: last"]);
    assert_verifies(&host);
}

#[tokio::test]
async fn a_long_message_is_cut_with_a_note() {
    let site = site().await;
    let host = open(&site, "").await;
    let long = json!({"op": "log", "key": "x".repeat(300), "text": "1234567890", "copies": 1_000});
    let printed = printed(&host, json!([long])).await;
    let context = format!("[info] {} [and 44 bytes more]: 1234567890", "x".repeat(256));
    assert!(printed.starts_with(&context), "{}", &printed[..400]);
}

#[tokio::test]
async fn messages_and_prints_share_a_limit() {
    let site = site().await;
    let host = builder(&site, "").policy_text(&allow_all("log = \"1 KiB\""), site.path("")).open().await.unwrap();
    let flood = json!({"op": "log", "key": "flood", "text": "x".repeat(90), "times": 100_000});
    let reply = call(&host, ONE, &json!([{"op": "print", "text": "printed\n"}, flood])).await;
    assert_eq!(reply.code, Code::Completed, "{}", reply.message);
    let printed = outcome_of(&host, &reply.id)["printed"].as_str().unwrap().to_owned();
    let (kept, more) = printed.split_once(" [and ").unwrap();
    assert_eq!(kept.len(), 1024);
    let dropped: usize = more.strip_suffix(" bytes more]").unwrap().parse().unwrap();
    let line = "[info] flood: ".len() + 90 + 1;
    assert_eq!(kept.len() + dropped, "printed\n".len() + 100_000 * line);
    assert_verifies(&host);
}
