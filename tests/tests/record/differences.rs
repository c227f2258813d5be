//! The difference that an approver was shown, in the audit log: only if the policy keeps texts, without secrets, and
//! within a limit.

use crate::record::desk::Desk;
use portcullis::approvals::Scripted;
use portcullis::plugins::Contract;
use portcullis::{Answer, Code, Request};
use portcullis_tests::{Site, assert_verifies, built_guest_of};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

/// A secret that the host opens for the preview, and that the file to change contains.
const SECRET: &str = "Tok-8C1f0A5e9d7B4326";

/// Asks about every call.
const POLICY: &str = r#"
[plugin.planner]
directory.workspace = { path = "work", access = "read-write" }
http.pages = { hosts = ["127.0.0.1"], schemes = ["http"], secret = { host = "127.0.0.1", header = "x-key", value = "{}", from = "file:token" } }
store.notes = {}
[[rule]]
tool = "*.*"
decision = "ask"
"#;

/// Makes a call that writes to a file and is denied. Returns its `asked` entry, the difference that the approver was
/// shown, and the text of the audit log.
async fn asked(record: &str, content: &str) -> (Value, String, String) {
    let site = Site::new();
    site.plugin("planner", &built_guest_of(Contract::V0_2, "planner"));
    fs::write(site.directory("work").join("f"), format!("{SECRET}\nbefore\n")).unwrap();
    fs::write(site.path("token"), SECRET).unwrap();
    fs::set_permissions(site.path("token"), fs::Permissions::from_mode(0o600)).unwrap();
    let desk = Desk { site };
    let person = Scripted::new([Answer::No { note: None }]);
    let builder = desk.site.builder(&format!("{POLICY}{record}")).approver(Arc::new(person.clone()));
    let host = builder.open().await.unwrap();
    let arguments = json!({ "files": [{ "directory": "workspace", "path": "f", "content": content }] });
    let reply = host.call(Request::new("planner.change", arguments.to_string())).await;
    assert_eq!(reply.code, Code::ApprovalDenied, "{}", reply.message);
    let entry = desk.entries().into_iter().find(|entry| entry.document["kind"] == "asked").unwrap().document;
    assert_verifies(&host);
    (entry, person.asked().remove(0).difference.unwrap(), fs::read_to_string(desk.log()).unwrap())
}

#[tokio::test]
async fn a_difference_is_kept_without_secrets_if_the_policy_keeps_texts() {
    let (entry, shown, log) = asked("[record]\npayloads = \"keep\"\n", "after\n").await;
    assert!(shown.contains(SECRET) && shown.contains("-before\n+after\n"), "{shown}");
    let kept = entry["difference"].as_str().unwrap();
    assert!(kept.contains("-before\n+after\n"), "{kept}");
    assert!(!log.contains(SECRET), "{log}");
    assert_eq!(entry.get("difference_bytes"), None);
}

#[tokio::test]
async fn no_difference_is_kept_if_the_policy_keeps_digests() {
    for record in ["", "[record]\npayloads = \"digest\"\n"] {
        let (entry, shown, log) = asked(record, "after\n").await;
        assert!(shown.contains("+after"), "{shown}");
        assert_eq!(entry.get("difference"), None);
        assert!(!log.contains("after") && !log.contains(SECRET), "{log}");
    }
}

/// Characters that JSON escapes with six bytes are the worst case for the length of a line of the log.
#[tokio::test]
async fn of_a_long_difference_the_beginning_is_kept() {
    let content = "\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\n".repeat(16 * 1024);
    let (entry, shown, _) = asked("[record]\npayloads = \"keep\"\n", &content).await;
    let kept = entry["difference"].as_str().unwrap();
    assert!(kept.len() <= 12 * 1024 && kept.ends_with('\n'), "{}", kept.len());
    assert!(entry["difference_bytes"].as_u64().unwrap() >= 128 * 1024, "{entry}");
    assert!(shown.len() > kept.len());
}
