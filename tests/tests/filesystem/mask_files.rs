//! The shipped `files` plugin in a directory with masks: its tools find nothing hidden.

use crate::filesystem::lab::SECRET;
use portcullis::policy::Unattended;
use portcullis::{Host, Output, Request};
use portcullis_tests::{Site, allow_all, shipped_plugin};
use serde_json::{Value, json};
use std::fs;

const GRANT: &str = "[plugin.files]\ndirectory.workspace = { path = \"work\", access = \"read-write\", \
                     hidden = [\".env*\", \"secrets/**\"] }\n";

fn site() -> Site {
    let site = Site::new();
    site.plugin("files", &shipped_plugin("files"));
    for path in ["src/a.txt", "secrets/k.txt", "secrets/deep/k.txt", "src/.env"] {
        let file = site.path("work").join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, if path == "src/a.txt" { "one\n".to_owned() } else { format!("one {SECRET}\n") }).unwrap();
    }
    site.warm();
    site
}

async fn open() -> (Site, Host) {
    let site = site();
    let host = site.open(&format!("{}{GRANT}", allow_all(""))).await;
    (site, host)
}

#[tokio::test]
async fn g09_no_tool_that_searches_a_tree_finds_hidden_files() {
    let (_site, host) = open().await;
    for (tool, arguments) in [
        ("grep", json!({ "regex": "one" })),
        ("grep", json!({ "regex": "one", "path": "." })),
        ("grep", json!({ "regex": "one", "path": "" })),
        ("glob", json!({ "pattern": "**/*" })),
        ("list", json!({})),
        ("list", json!({ "path": "src" })),
    ] {
        let reply = call(&host, tool, &arguments).await;
        for hidden in [SECRET, "secrets", "k.txt", ".env"] {
            assert!(!reply.contains(hidden), "{tool} {arguments}: {reply}");
        }
    }
    assert!(call(&host, "grep", &json!({ "regex": "one" })).await.contains("a.txt"));
    for path in ["secrets/k.txt", "src/.env", "src/../secrets/k.txt"] {
        let reply = call(&host, "read", &json!({ "path": path })).await;
        assert!(!reply.contains(SECRET), "{path}: {reply}");
    }
}

#[tokio::test]
async fn g10_the_files_plugin_cannot_write_a_git_hook() {
    let (site, host) = open().await;
    fs::create_dir_all(site.path("work/.git/hooks")).unwrap();
    for path in [".git/hooks/pre-commit", ".git/config", ".github/workflows/x.yml", "src/.envrc"] {
        call(&host, "write", &json!({ "path": path, "content": "planted" })).await;
        assert!(!site.path("work").join(path).exists(), "{path}");
    }
    call(&host, "write", &json!({ "path": "src/new.txt", "content": "new" })).await;
    assert!(site.path("work/src/new.txt").exists());
}

/// The approver sees only what the plugin itself could read.
#[tokio::test]
async fn g09_the_preview_of_a_request_shows_nothing_of_a_hidden_file() {
    let site = site();
    let policy = format!("{GRANT}[[rule]]\ntool = \"files.*\"\ndecision = \"ask\"\n");
    let host = site.builder(&policy).unattended(Unattended::Pending).open().await.unwrap();
    for (path, is_shown) in [("src/a.txt", true), ("src/.env", false), ("secrets/k.txt", false)] {
        let arguments = json!({ "path": path, "content": "new" }).to_string();
        let reply = host.call(Request::new("files.write", arguments)).await;
        let question = host.approvals().question(&reply.approval_request.unwrap()).await.unwrap().question.unwrap();
        let difference = question.difference.unwrap_or_default();
        assert_eq!(difference.contains("one"), is_shown, "{path}: {difference}");
    }
}

async fn call(host: &Host, tool: &str, arguments: &Value) -> String {
    let reply = host.call(Request::new(format!("files.{tool}"), arguments.to_string())).await;
    let output = match reply.output {
        Some(Output::Text(text) | Output::Json(text)) => text,
        Some(Output::Parts(_)) | None => String::new(),
    };
    format!("{} {output}", reply.message)
}
