//! Directories that the host does not list for the shipped files plugin: the result says that they were not searched.

use portcullis::{Code, Host, Output, Reply, Request};
use portcullis_tests::{Site, allow_all, shipped_plugin};
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

/// A host that lists 10 entries, and a workspace whose directory `large` has 11.
async fn desk() -> (Site, Host) {
    let site = Site::new();
    site.plugin("files", &shipped_plugin("files"));
    for directory in ["large", "small"] {
        fs::create_dir_all(site.path("work").join(directory)).unwrap();
    }
    (0..11).for_each(|number| fs::write(site.path("work/large").join(format!("{number}.txt")), "needle").unwrap());
    fs::write(site.path("work/small/a.txt"), "needle").unwrap();
    site.warm();
    let grant = "[plugin.files]\ndirectory.workspace = { path = \"work\", access = \"read-only\" }\n";
    let host = site.open(&format!("{}{grant}", allow_all("directory-entries = 10"))).await;
    (site, host)
}

async fn call(host: &Host, tool: &str, arguments: Value) -> Reply {
    host.call(Request::new(format!("files.{tool}"), arguments.to_string())).await
}

/// Returns the text and the metadata of a call that must complete.
#[track_caller]
fn answer(reply: Reply) -> (String, Value) {
    assert_eq!(reply.code, Code::Completed, "{}", reply.message);
    let Some(Output::Text(text)) = reply.output else { panic!("no text") };
    (text, reply.metadata.unwrap())
}

#[tokio::test]
async fn a_search_names_the_directories_that_are_too_large_to_list() {
    let (_site, host) = desk().await;
    for (tool, arguments, found) in [
        ("glob", json!({ "pattern": "*.txt" }), "small/a.txt\n"),
        ("grep", json!({ "regex": "needle" }), "small/a.txt:1: needle\n"),
        ("glob", json!({ "pattern": "*.rs" }), "(no file matches"),
        ("grep", json!({ "regex": "hay" }), "(no line matches"),
        ("glob", json!({ "pattern": "*.txt", "path": "large" }), "(no file matches"),
    ] {
        let (text, metadata) = answer(call(&host, tool, arguments.clone()).await);
        assert!(text.starts_with(found), "{tool} {arguments}: {text}");
        assert!(text.contains("(not searched completely: `large` has more entries than"), "{text}");
        assert!(text.contains("`directory-entries`"), "{text}");
        assert_eq!(metadata["not_searched"], json!(["large"]), "{metadata}");
    }
    let (text, metadata) = answer(call(&host, "glob", json!({ "pattern": "*.txt", "path": "small" })).await);
    assert_eq!((text.as_str(), &metadata["whole"]), ("small/a.txt\n", &json!(true)));
}

#[tokio::test]
async fn listing_a_directory_that_is_too_large_is_an_error() {
    let (_site, host) = desk().await;
    let reply = call(&host, "list", json!({ "path": "large" })).await;
    assert_eq!(reply.code, Code::ToolFailed, "{}", reply.message);
    assert!(
        reply.message.contains("`large` has more entries than the policy's limit `directory-entries`"),
        "{reply:?}"
    );
}

/// A name that WASI cannot represent ends a listing early, so the rest of the directory is not searched.
#[tokio::test]
async fn a_search_names_the_directories_with_a_name_that_is_not_utf8() {
    let (site, host) = desk().await;
    fs::write(site.path("work/small").join(OsStr::from_bytes(b"\xff.txt")), "needle").unwrap();
    let (text, metadata) = answer(call(&host, "grep", json!({ "regex": "needle" })).await);
    assert!(text.contains("`small` has an entry whose name is not UTF-8"), "{text}");
    assert_eq!(metadata["not_searched"], json!(["large", "small"]));
    let reply = call(&host, "list", json!({ "path": "small" })).await;
    assert!(reply.code == Code::ToolFailed && reply.message.contains("not UTF-8"), "{reply:?}");
}
