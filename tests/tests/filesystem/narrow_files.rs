//! The shipped files plugin under a narrowed grant: it runs unchanged, and reaches only what a call names.

use portcullis::{Code, Host, Output, Reply, Request};
use portcullis_tests::{Site, allow_all, shipped_plugin, snapshot};
use serde_json::{Value, json};
use std::fs;

/// A host that grants `work` to the files plugin.
struct Desk {
    site: Site,
    host: Host,
}

impl Desk {
    /// Opens a host with a narrowed grant and these limits.
    async fn narrowed(limits: &str) -> Self {
        Self::open(limits, ", narrow = \"/path\"").await
    }

    async fn open(limits: &str, narrow: &str) -> Self {
        let site = Site::new();
        site.plugin("files", &shipped_plugin("files"));
        for (path, text) in [
            ("src/a.txt", "one\ntwo\nthree\n"),
            ("src/b.txt", "one beside\n"),
            ("src/deep/c.txt", "one below\n"),
            ("docs/one.txt", "one elsewhere\n"),
        ] {
            let file = site.path("work").join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        site.warm();
        let grant =
            format!("[plugin.files]\ndirectory.workspace = {{ path = \"work\", access = \"read-write\"{narrow} }}\n");
        let host = site.open(&format!("{}{grant}", allow_all(limits))).await;
        Self { site, host }
    }

    async fn call(&self, tool: &str, arguments: Value) -> Reply {
        self.host.call(Request::new(format!("files.{tool}"), arguments.to_string())).await
    }

    /// Returns the text of a call that must complete.
    async fn text(&self, tool: &str, arguments: Value) -> String {
        let reply = self.call(tool, arguments.clone()).await;
        assert_eq!(reply.code, Code::Completed, "{tool} {arguments}: {}", reply.message);
        match reply.output {
            Some(Output::Text(text)) => text,
            _ => reply.message,
        }
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.site.path("work").join(path)).unwrap()
    }
}

#[tokio::test]
async fn every_tool_reads_what_its_call_names() {
    let (narrowed, whole) = (Desk::narrowed("").await, Desk::open("", "").await);
    for (tool, arguments) in [
        ("read", json!({ "path": "src/a.txt" })),
        ("read", json!({ "path": "./src//deep/../a.txt" })),
        ("list", json!({ "path": "src" })),
        ("list", json!({ "path": "src/" })),
        ("list", json!({})),
        ("glob", json!({ "pattern": "**/*.txt", "path": "src" })),
        ("glob", json!({ "pattern": "*.txt" })),
        ("grep", json!({ "regex": "one", "path": "src" })),
        ("grep", json!({ "regex": "one", "path": "src/a.txt" })),
        ("grep", json!({ "regex": "one" })),
    ] {
        let (one, other) = (narrowed.text(tool, arguments.clone()).await, whole.text(tool, arguments.clone()).await);
        assert_eq!(one, other, "{tool} {arguments}");
        assert!(!one.is_empty());
    }
}

#[tokio::test]
async fn a_file_is_edited_and_replaced_at_its_path() {
    let desk = Desk::narrowed("").await;
    desk.text("edit", json!({ "path": "src/a.txt", "edits": [{ "old": "two", "new": "2" }] })).await;
    assert_eq!(desk.read("src/a.txt"), "one\n2\nthree\n");
    desk.text("write", json!({ "path": "src/b.txt", "content": "replaced" })).await;
    assert_eq!(desk.read("src/b.txt"), "replaced");
}

#[tokio::test]
async fn a_new_file_is_created_with_only_its_parent_directories() {
    for path in ["new.txt", "src/new.txt", "src/deep/new.txt", "x/y/z/new.txt", "./x/../x/new.txt"] {
        let desk = Desk::narrowed("").await;
        let before = snapshot(&desk.site.path("work"));
        let text = desk.text("write", json!({ "path": path, "content": "made" })).await;
        assert!(text.contains("Created"), "{text}");
        assert_eq!(desk.read(path), "made");
        let files = |snapshot: portcullis_tests::Snapshot| -> Vec<Vec<u8>> {
            snapshot.into_iter().filter(|(_, entry)| entry.0 & 0o170_000 == 0o100_000).map(|(path, _)| path).collect()
        };
        assert_eq!(files(snapshot(&desk.site.path("work"))).len(), files(before).len() + 1, "{path}");
    }
}

/// A failed write leaves no partial file, although the plugin cannot use a temporary file next to it.
#[tokio::test]
async fn a_new_file_is_removed_if_it_cannot_be_written() {
    let desk = Desk::narrowed("written = \"4 KiB\"").await;
    let before = desk.site.path("work/src/new.txt");
    let reply = desk.call("write", json!({ "path": "src/new.txt", "content": "x".repeat(1 << 20) })).await;
    assert_ne!(reply.code, Code::Completed);
    assert!(!before.exists(), "{}", reply.message);
}

/// A missing file is reported as missing, without the names of its neighbours.
#[tokio::test]
async fn a_missing_file_is_reported_without_its_neighbours() {
    let desk = Desk::narrowed("").await;
    for path in ["src/aa.txt", "nowhere/a.txt", "aa.txt", "src/a.txt/x"] {
        let reply = desk.call("read", json!({ "path": path })).await;
        assert_ne!(reply.code, Code::Completed);
        assert!(!reply.message.contains("b.txt") && !reply.message.contains("deep"), "{}", reply.message);
        assert!(!reply.message.contains("no right"), "{path}: {}", reply.message);
    }
    let whole = Desk::open("", "").await;
    let reply = whole.call("read", json!({ "path": "src/aa.txt" })).await;
    assert!(reply.message.contains("src/a.txt"), "{}", reply.message);
}

#[tokio::test]
async fn a_link_is_refused_at_the_path_and_in_its_parents() {
    let desk = Desk::narrowed("").await;
    let work = desk.site.path("work");
    std::os::unix::fs::symlink("docs", work.join("way")).unwrap();
    std::os::unix::fs::symlink("b.txt", work.join("src/link")).unwrap();
    let before = snapshot(&work);
    for path in ["way/one.txt", "way", "src/link", "way/new.txt"] {
        for (tool, more) in [
            ("read", json!({})),
            ("list", json!({})),
            ("write", json!({ "content": "planted" })),
            ("edit", json!({ "edits": [{ "old": "one", "new": "two" }] })),
            ("grep", json!({ "regex": "one" })),
            ("glob", json!({ "pattern": "*" })),
        ] {
            let mut arguments = more;
            arguments["path"] = json!(path);
            let reply = desk.call(tool, arguments).await;
            assert_eq!(reply.code, Code::ToolFailed, "{tool} {path}: {}", reply.message);
            assert!(reply.message.contains("symbolic link"), "{tool} {path}: {}", reply.message);
        }
    }
    assert_eq!(snapshot(&work), before);
}

/// A path that cannot be inside the grant never reaches the plugin.
#[tokio::test]
async fn a_path_that_leads_out_is_refused_by_the_host() {
    let desk = Desk::narrowed("").await;
    for path in ["../plugins", "/etc/passwd", "src/../../plugins", "src\\a.txt", "src/\u{1}"] {
        let reply = desk.call("read", json!({ "path": path })).await;
        assert_eq!(reply.code, Code::DependencyNotGranted, "{path}: {}", reply.message);
    }
}
