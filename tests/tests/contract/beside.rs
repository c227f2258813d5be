//! The same plugin in every version, in one host: policy, grants and the audit log treat all versions alike.

use portcullis::approvals::Scripted;
use portcullis::plugins::Contract;
use portcullis::{Answer, Code, Host, Question, Reply, Request};
use portcullis_tests::{BlockOn, Manifest, Site, built_guest_of, guest_of, outcomes};
use serde_json::{Value, json};
use std::fs;
use std::sync::Arc;

/// The plugin's name in each version.
const NAMES: [(Contract, &str); 2] = [(Contract::V0_1, "older"), (Contract::V0_2, "newer")];

/// Makes a site with the text guest of a name in every version.
fn site(guest: &str) -> Site {
    let site = Site::new();
    for (contract, name) in NAMES {
        site.plugin(name, &guest_of(contract, guest, &Manifest::of(name)));
    }
    site
}

/// Returns a reply without the parts that differ for each call and plugin.
fn told(name: &str, host: &Host, reply: &Reply) -> Value {
    let mut lines = Vec::new();
    let read = host
        .audit()
        .read(|entry| {
            if entry.document["call"] == reply.id.as_str() && entry.document["kind"] != "call" {
                lines.push(entry.document);
            }
            Ok(())
        })
        .block_on();
    read.unwrap();
    for line in lines.iter_mut().filter_map(Value::as_object_mut) {
        line.retain(|key, _| {
            ["kind", "code", "outcome", "decision", "rule", "reason", "answer", "subject"].contains(&key.as_str())
        });
    }
    assert!(!lines.is_empty());
    let text = json!({"code": reply.code.as_str(), "message": reply.message, "lines": lines}).to_string();
    serde_json::from_str(&text.replace(name, "NAME")).unwrap()
}

/// Calls `run` in each version on one host, and asserts that all replies are equal.
async fn same(host: &Host, arguments: &str) -> Vec<Reply> {
    let (mut replies, mut all) = (Vec::new(), Vec::new());
    for (_, name) in NAMES {
        let reply = host.call(Request::new(format!("{name}.run"), arguments.as_bytes())).await;
        all.push(told(name, host, &reply));
        replies.push(reply);
    }
    assert!(all.windows(2).all(|pair| pair[0] == pair[1]), "{all:#?}");
    replies
}

#[tokio::test]
async fn every_version_is_loaded_and_reports_its_version() {
    let site = site("good");
    // First from the bytes, and then from the cache.
    for _ in 0..2 {
        let host = site.open("").await;
        for (contract, name) in NAMES {
            assert_eq!(host.catalog().plugin(name).unwrap().contract(), Some(contract));
        }
        assert_eq!(host.catalog().plugin("output").unwrap().contract(), None, "the host's own tools have no contract");
    }
}

#[tokio::test]
async fn one_policy_decides_the_same_for_every_version() {
    let cases = [
        ("allow", vec![], Code::Completed),
        ("deny", vec![Answer::Yes; 2], Code::PolicyDenied),
        ("ask", vec![Answer::Yes; 2], Code::Completed),
        ("ask", vec![Answer::No { note: Some("not now".to_owned()) }; 2], Code::ApprovalDenied),
    ];
    for (decision, answers, code) in cases {
        let policy = format!("[[rule]]\ntool = \"*.run\"\ndecision = \"{decision}\"\n");
        let approver = Scripted::new(answers);
        let site = site("good");
        let host = site.builder(&policy).approver(Arc::new(approver.clone())).open().await.unwrap();
        for reply in same(&host, r#"{ "b": 1.0, "a": 2 }"#).await {
            assert_eq!(reply.code, code, "{decision}: {}", reply.message);
        }
        let shown = |question: &Question| (question.subject.clone(), question.arguments.clone());
        let asked = approver.asked();
        assert!(asked.windows(2).all(|pair| shown(&pair[0]) == shown(&pair[1])), "{asked:?}");
        assert_eq!(asked.len(), if decision == "ask" { NAMES.len() } else { 0 });
        assert_eq!(outcomes(&host).len(), NAMES.len());
    }
}

/// A rule about arguments applies to the tool in every version.
#[tokio::test]
async fn one_rule_about_arguments_applies_to_every_version() {
    let policy = "[[rule]]\ntool = \"*.run\"\ndecision = \"allow\"\n[[rule]]\ntool = \"*.run\"\ndecision = \"deny\"\n\
                  when = { path = [\"**/secret\"] }\n";
    let site = site("good");
    let host = site.open(policy).await;
    assert!(same(&host, r#"{"path":"a/secret"}"#).await.iter().all(|reply| reply.code == Code::PolicyDenied));
    assert!(same(&host, r#"{"path":"a/open"}"#).await.iter().all(|reply| reply.code == Code::Completed));
}

/// In every version, a review can tighten the policy's decision, and its text is used.
#[tokio::test]
async fn a_review_counts_in_every_version() {
    for (guest, code) in [("review-asks", Code::Completed), ("review-refuses", Code::ReviewRefused)] {
        let policy = "[[rule]]\ntool = \"*.run\"\ndecision = \"allow\"\n";
        let approver = Scripted::new(vec![Answer::Yes; NAMES.len()]);
        let site = site(guest);
        let host = site.builder(policy).approver(Arc::new(approver.clone())).open().await.unwrap();
        assert!(same(&host, "{}").await.iter().all(|reply| reply.code == code));
        assert_eq!(approver.asked().len(), if code == Code::Completed { NAMES.len() } else { 0 });
    }
}

/// In every version, a directory that is narrowed to the call's path gives the same access.
#[tokio::test]
async fn a_grant_is_narrowed_equally_in_every_version() {
    let steps = json!({"path": "room", "steps": [
        {"op": "open-at", "path": "room/note.txt", "flags": ["read"]},
        {"op": "open-at", "path": "other/note.txt", "flags": ["read"]},
        {"op": "open-at", "path": "room/../other/note.txt", "flags": ["read"]},
        {"op": "open-at", "path": "../outside.txt", "flags": ["read"]},
        {"op": "open-at", "path": "room/out/note.txt", "flags": ["read"]},
        {"op": "open-at", "path": "room/new.txt", "flags": ["create", "write"]},
        {"op": "unlink-file-at", "path": "room/new.txt"},
    ]});
    let mut answers = Vec::new();
    for contract in Contract::ALL {
        let site = Site::new();
        site.plugin("probe", &built_guest_of(contract, "probe"));
        for room in ["room", "other"] {
            fs::write(site.directory(&format!("grant/{room}")).join("note.txt"), room).unwrap();
        }
        fs::write(site.path("outside.txt"), "outside").unwrap();
        std::os::unix::fs::symlink("../other", site.path("grant/room/out")).unwrap();
        let host = site
            .open(
                "[[rule]]\ntool = \"probe.*\"\ndecision = \"allow\"\n[plugin.probe]\n\
                 directory.workspace = { path = \"grant\", access = \"read-write\", narrow = \"/path\" }\n",
            )
            .await;
        assert_eq!(host.catalog().plugin("probe").unwrap().contract(), Some(contract));
        for tool in ["probe.run", "probe.look"] {
            let reply = host.call(Request::new(tool, steps.to_string())).await;
            answers.push((contract, tool, reply.code, reply.message));
        }
    }
    let (first, second) = answers.split_at(2);
    for (one, other) in first.iter().zip(second) {
        assert_eq!((one.1, one.2, &one.3), (other.1, other.2, &other.3));
        assert_eq!(one.2, Code::Completed, "{}", one.3);
        let results: Vec<Value> = serde_json::from_str(&one.3).unwrap();
        let opened: Vec<bool> = results.iter().map(|result| result.get("error").is_none()).collect();
        let writes = one.1 == "probe.run";
        assert_eq!(opened, [true, false, false, false, false, writes, writes], "{results:?}");
    }
}
