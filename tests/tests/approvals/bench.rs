//! A site whose files are changed by the shipped plugin, and by a plugin that previews what its arguments say.

use crate::approvals::desk::ASK;
use crate::approvals::people::no;
use portcullis::approvals::Scripted;
use portcullis::plugins::Contract;
use portcullis::policy::Unattended;
use portcullis::{Answer, Code, Host, Request};
use portcullis_tests::{Site, built_guest_of, shipped_plugin};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;

/// The grants of each plugin.
pub(crate) const GRANTS: &str = r#"
[approvals]
repeats = 1000000
[limits]
time = "60 s"
[plugin.files]
directory.workspace = { path = "work", access = "read-write" }
[plugin.planner]
directory.workspace = { path = "work", access = "read-write", hidden = ["hidden*"] }
directory.other = { path = "other", access = "read-write" }
http.pages = { hosts = ["127.0.0.1"], schemes = ["http"] }
store.notes = {}
[plugin.marks]
directory.work = { path = "work", access = "read-write" }
"#;

pub(crate) struct Bench {
    pub(crate) site: Site,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let site = Site::new();
        site.plugin("files", &shipped_plugin("files"));
        site.plugin("planner", &built_guest_of(Contract::V0_2, "planner"));
        site.directory("work");
        site.directory("other");
        Self { site }
    }

    pub(crate) fn put(&self, path: &str, text: impl AsRef<[u8]>) {
        fs::write(self.site.path(path), text).unwrap();
    }

    pub(crate) fn get(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.site.path(path)).ok()
    }

    /// Returns every file in the directory, with its content.
    pub(crate) fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let entries = fs::read_dir(self.site.path("work")).unwrap().map(Result::unwrap);
        entries.map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap())).collect()
    }

    pub(crate) async fn asking(&self, answers: impl IntoIterator<Item = Answer>) -> (Host, Scripted) {
        let person = Scripted::new(answers);
        let host = self.site.builder(&format!("{GRANTS}{ASK}")).approver(Arc::new(person.clone())).open().await;
        (host.unwrap(), person)
    }

    pub(crate) async fn headless(&self) -> Host {
        self.site.builder(&format!("{GRANTS}{ASK}")).unattended(Unattended::Pending).open().await.unwrap()
    }

    /// Makes a call that the approver denies. Returns its preview.
    pub(crate) async fn shown(&self, tool: &str, arguments: &Value) -> Option<String> {
        let (host, person) = self.asking([no()]).await;
        let reply = host.call(Request::new(tool, arguments.to_string())).await;
        assert_eq!(reply.code, Code::ApprovalDenied, "{}", reply.message);
        let [question] = <[_; 1]>::try_from(person.asked()).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&question.arguments).unwrap(), *arguments);
        question.difference
    }
}

/// Builds a call of the planner that changes files.
pub(crate) fn changes(files: &[(&str, &str, Option<&str>)]) -> Value {
    let file = |(directory, path, content): &(&str, &str, Option<&str>)| match content {
        Some(content) => json!({ "directory": directory, "path": path, "content": content }),
        None => json!({ "directory": directory, "path": path }),
    };
    json!({ "files": files.iter().map(file).collect::<Vec<_>>() })
}

/// Builds a call whose preview tries to access a file, and fails with the outcome of that attempt.
pub(crate) fn attempt(what: &str, path: &str) -> Value {
    let mut arguments = changes(&[("workspace", path, Some("after\n"))]);
    arguments["attempt"] = json!(what);
    arguments
}

pub(crate) fn of_planner(arguments: &Value) -> Request {
    Request::new("planner.change", arguments.to_string())
}

/// Applies a difference to the text of one file, as `patch` does.
pub(crate) fn applied(old: &str, difference: &str) -> String {
    let crlf = difference.contains("@@ every line ends in CR LF @@\n");
    let old = if crlf { old.replace("\r\n", "\n") } else { old.to_owned() };
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let (mut new, mut at, mut sign) = (String::new(), 0, ' ');
    let hunks = difference.find("@@ -").map_or("", |start| &difference[start..]);
    for line in hunks.split_inclusive('\n') {
        if let Some(ranges) = line.strip_prefix("@@ -") {
            let (start, length) = ranges.split(' ').next().unwrap().split_once(',').unwrap_or((ranges, "1"));
            let start: usize = start.split([' ', ',']).next().unwrap().parse().unwrap();
            let start = if length == "0" { start } else { start - 1 };
            new.extend(old[at..start].iter().copied());
            at = start;
        } else if line == "@@ no newline at end of file @@\n" {
            if sign != '-' {
                assert_eq!(new.pop(), Some('\n'));
            }
        } else {
            sign = line.chars().next().unwrap();
            let text = &line[1..];
            match sign {
                '+' => new.push_str(text),
                ' ' | '-' => {
                    assert_eq!(old[at].trim_end_matches('\n'), text.trim_end_matches('\n'), "{difference}");
                    at += 1;
                    new.push_str(if sign == ' ' { text } else { "" });
                }
                _ => panic!("{line:?} in {difference}"),
            }
        }
    }
    new.extend(old[at..].iter().copied());
    if crlf { new.replace('\n', "\r\n") } else { new }
}
