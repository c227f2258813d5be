//! The audit entries of a call: one outcome however it ends, digests of its arguments, and no text of them.

use crate::record::desk::{CANARY, Desk, ENDINGS, kinds, text};
use portcullis::policy::Principal;
use portcullis::text::is_deceptive;
use portcullis::{Code, Request};
use portcullis_tests::{Manifest, Site, assert_verifies, component, module, outcome_of, outcomes};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fs;

fn sha256(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the main entry of a call: its decision, or its outcome if there was no decision.
fn facts(desk: &Desk, call: &str) -> Value {
    let entries = desk.entries();
    let mut of_call = entries.into_iter().filter(|entry| entry.document["call"] == call);
    of_call.find(|entry| entry.document.get("arguments_sha256").is_some()).unwrap().document
}

/// Every call has one outcome, which is its last entry and contains the code that the caller got.
#[tokio::test]
async fn every_way_to_end_a_call_has_one_outcome() {
    let desk = Desk::new();
    let host = desk.open().await;
    let mut ids = BTreeSet::new();
    for (tool, arguments, code) in ENDINGS {
        let reply = host.call(Request::new(tool, arguments)).await;
        assert_eq!(reply.code, code, "{tool}: {}", reply.message);
        let outcome = outcome_of(&host, &reply.id);
        assert_eq!(text(&outcome["code"]), code.as_str());
        assert_eq!(text(&outcome["outcome"]), code.outcome().as_str());
        let kinds = kinds(&desk.entries(), &reply.id);
        let decided = !matches!(
            code,
            Code::InvalidArguments | Code::MalformedArguments | Code::UnknownTool | Code::PluginRefused
        );
        let expected: &[&str] = match code {
            Code::ApprovalDenied => &["decision", "answer", "outcome"],
            _ if decided => &["decision", "outcome"],
            _ => &["outcome"],
        };
        assert_eq!(kinds, expected, "{tool} {code}");
        assert_eq!(text(&facts(&desk, &reply.id)["tool"]), tool);
        ids.insert(reply.id);
    }
    assert_eq!(ids.len(), ENDINGS.len(), "every call must have its own ID");
    assert_eq!(outcomes(&host).len(), ENDINGS.len());
    assert_verifies(&host);
}

/// The audit log contains only a digest of the arguments, however the call ended.
#[tokio::test]
async fn no_text_of_arguments_is_in_the_audit_log() {
    let desk = Desk::with_record().await;
    let record = fs::read_to_string(desk.log()).unwrap();
    assert!(!record.contains(CANARY), "{record}");
    assert!(ENDINGS.iter().all(|(_, arguments, _)| arguments.contains(CANARY)));
}

/// The places that a call names are kept without its content, without the query of a URL, and without an opened secret.
#[tokio::test]
async fn the_targets_of_a_call_are_in_its_decision_unless_the_policy_drops_them() {
    let arguments = format!(
        r#"{{"path":"src/main.rs","url":"https://u:{CANARY}@docs.rs/a?q={CANARY}#{CANARY}","content":"{CANARY}","key":"{CANARY}"}}"#
    );
    for (setting, kept) in [("", true), ("[record]\ntargets = \"drop\"\n", false)] {
        let desk = Desk { site: Site::new() };
        let host = desk.site.open(&portcullis_tests::allow_all(setting)).await;
        let reply = host.call(Request::new("good.run", arguments.as_str())).await;
        assert_eq!(reply.code, Code::Completed, "{}", reply.message);
        let expected = serde_json::json!({ "/path": "src/main.rs", "/url": "https://docs.rs/a" });
        assert_eq!(facts(&desk, &reply.id).get("targets"), kept.then_some(&expected), "{setting}");
        assert!(!fs::read_to_string(desk.log()).unwrap().contains(CANARY));
        assert_verifies(&host);
    }
}

/// A denied call has its targets too. They are in its first entry only, and cannot deceive a reader of the file.
#[tokio::test]
async fn the_targets_of_a_denied_call_are_escaped() {
    let desk = Desk { site: Site::new() };
    let host = desk.site.open("").await;
    let path = format!("\u{1b}[2J\u{202e}{}", "\u{1}".repeat(5000));
    let names = ["path", "file", "dir", "url", "uri", "href", "link", "folder", "filename", "endpoint"];
    let arguments: serde_json::Map<String, Value> =
        names.map(|name| (name.to_owned(), path.as_str().into())).into_iter().collect();
    let reply = host.call(Request::new("good.run", Value::Object(arguments).to_string())).await;
    assert_eq!(reply.code, Code::PolicyDenied, "{}", reply.message);
    let targets = facts(&desk, &reply.id)["targets"].as_object().unwrap().clone();
    assert_eq!(targets.len(), portcullis::policy::TARGETS_MAX);
    assert!(targets.values().all(|text| text.as_str().unwrap().len() <= portcullis::policy::TARGET_BYTES));
    assert_eq!(outcome_of(&host, &reply.id).get("targets"), None);
    let record = fs::read_to_string(desk.log()).unwrap();
    assert_eq!(record.chars().find(|character| is_deceptive(*character) && *character != '\n'), None);
    assert_verifies(&host);
}

/// The hash is that of the canonical form, so equal arguments have the same digest in every spelling.
#[tokio::test]
async fn the_digest_is_that_of_the_canonical_form() {
    let desk = Desk::with_short_record().await;
    let host = desk.open_good().await;
    let expected = sha256(r#"{"a":1,"b":{"c":[true,null],"d":"é"}}"#);
    let spellings = [
        (r#"{"a":1,"b":{"c":[true,null],"d":"é"}}"#, false),
        (r#"{"b":{"d":"\u00e9","c":[true , null]},"a":1.0}"#, false),
        (" {\n\t\"a\" : 1e0 , \"b\" : {\"c\":[true,null],\"d\":\"é\"} } ", false),
        (r#""{\"b\":{\"d\":\"é\",\"c\":[true,null]},\"a\":1}""#, true),
    ];
    for (arguments, stringified) in spellings {
        let reply = host.call(Request::new("good.run", arguments)).await;
        assert_eq!(reply.code, Code::Completed, "{arguments}");
        let facts = facts(&desk, &reply.id);
        assert_eq!(text(&facts["arguments_sha256"]), expected, "{arguments}");
        assert_eq!(facts["arguments_bytes"], arguments.len());
        assert_eq!(facts.get("stringified").is_some_and(|flag| flag == true), stringified, "{arguments}");
    }
}

/// Malformed arguments have no canonical form. Their digest is that of the received bytes.
#[tokio::test]
async fn the_digest_of_malformed_arguments_is_that_of_their_bytes() {
    let desk = Desk::with_short_record().await;
    let host = desk.open_good().await;
    for arguments in ["", "{", "[]", r#"{"a":1,"a":1}"#] {
        let reply = host.call(Request::new("good.run", arguments)).await;
        assert_eq!(reply.code, Code::MalformedArguments);
        assert_eq!(text(&facts(&desk, &reply.id)["arguments_sha256"]), sha256(arguments), "{arguments}");
    }
}

/// A name is recorded as requested, but cannot deceive a reader of the file: M19, P26.
#[tokio::test]
async fn no_name_in_the_audit_log_can_deceive_a_terminal() {
    let desk = Desk::with_short_record().await;
    let host = desk.open_good().await;
    for name in naughty_strings::BLNS.iter().chain(&["a\u{9b}31m.b", "a\u{202e}.b", "\"}\n{\"seq\":1}"]) {
        // An invalid principal is rejected before there is a request.
        let principal = name.parse().unwrap_or_else(|_| Principal::default());
        let request = Request::new(*name, "{}").session(name).principal(principal).agent(name);
        assert_eq!(host.call(request).await.code, Code::UnknownTool, "{name:?}");
    }
    assert_verifies(&host);
    let record = fs::read_to_string(desk.log()).unwrap();
    let found = record.chars().find(|character| is_deceptive(*character) && *character != '\n');
    assert_eq!(found, None, "a character in the audit log is not printable");
}

/// Even with the longest texts from a guest, the entries of a call can be written.
#[tokio::test]
async fn a_guest_cannot_make_an_entry_too_long_to_be_written() {
    const PRINTS_AND_TRAPS: &str = r#"
        (import "wasi:cli/stdout@0.2.12" "get-stdout" (func $stdout (result i32)))
        (import "wasi:io/streams@0.2.12" "[method]output-stream.blocking-write-and-flush"
          (func $write (param i32 i32 i32 i32)))
        (func $trap (@name "NAME") unreachable)
        (func $execute (param i32 i32 i32 i32) (result i32)
          (call $write (call $stdout) (i32.const 65536) (i32.const 4096) (i32.const 2048))
          (call $trap)
          unreachable)"#;
    for name in ["\\\"", "\\5c", "\\01", "\\e2\\80\\ae", "x"] {
        let site = Site::new();
        let text = PRINTS_AND_TRAPS.replace("NAME", &name.repeat(5000));
        site.plugin("prints", &component(&module(&text, &Manifest::of("prints"))));
        let host = site.open(&portcullis_tests::allow_all("")).await;
        let request = Request::new("prints.run", "{}").session(&"\u{1}".repeat(128)).agent(&"\u{1}".repeat(200));
        let reply = host.call(request).await;
        assert_eq!(reply.code, Code::Trapped, "{name}: {}", reply.message);
        assert_eq!(text_of(&outcome_of(&host, &reply.id), "code"), "trapped");
        assert_verifies(&host);
    }
}

fn text_of(document: &Value, member: &str) -> String {
    text(&document[member])
}
