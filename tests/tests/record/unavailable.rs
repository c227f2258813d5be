//! If the audit log cannot be written, nothing runs. A tool that would create a file shows it. P27, INV-10.

use crate::record::desk::lines;
use portcullis::approvals::Answering;
use portcullis::{Answer, Approver, Code, Host, OpenError, Outcome, Question, Request};
use portcullis_tests::{Site, shipped_plugin};
use serde_json::json;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn policy(decision: &str) -> String {
    format!(
        "[plugin.files]\ndirectory.workspace = {{ path = \"work\", access = \"read-write\" }}\n\
         [[rule]]\ntool = \"*.*\"\ndecision = \"{decision}\"\n"
    )
}

/// Makes a site with the files plugin and a directory to write to.
fn site() -> Site {
    let site = Site::new();
    site.plugin("files", &shipped_plugin("files"));
    site.directory("work");
    site
}

async fn write(host: &Host, path: &str) -> portcullis::Reply {
    let arguments = json!({ "path": path, "content": "x" }).to_string();
    host.call(Request::new("files.write", arguments)).await
}

/// Damages of the two files of an open audit log.
type Damage = (&'static str, fn(&Path, &Path));

const DAMAGES: [Damage; 5] = [
    ("emptied", |log, _| fs::write(log, "").unwrap()),
    ("cut by a line", |log, _| {
        let lines = lines(log);
        fs::write(log, lines[..lines.len() - 1].concat()).unwrap();
    }),
    ("cut by a byte", |log, _| {
        let bytes = fs::read(log).unwrap();
        fs::write(log, &bytes[..bytes.len() - 1]).unwrap();
    }),
    ("appended to", |log, _| append(log, b"{\"seq\":1}\n")),
    ("appended to, and its head damaged", |log, head| {
        append(log, b"half a line");
        fs::write(head, [7; 80]).unwrap();
    }),
];

fn append(log: &Path, bytes: &[u8]) {
    OpenOptions::new().append(true).open(log).unwrap().write_all(bytes).unwrap();
}

/// The log is damaged while the host is open. Each later call is denied, and no tool runs, until the log is restored.
#[tokio::test]
async fn nothing_runs_while_the_audit_log_is_damaged() {
    let site = site();
    let (log, head) = (site.state().join("audit.jsonl"), site.state().join("audit.head"));
    let host = site.open(&policy("allow")).await;
    for (index, (what, damage)) in DAMAGES.into_iter().enumerate() {
        let (before, after) = (format!("before-{index}"), format!("after-{index}"));
        assert_eq!(write(&host, &before).await.code, Code::Completed, "{what}");
        let whole = (fs::read(&log).unwrap(), fs::read(&head).unwrap());
        damage(&log, &head);
        for _ in 0..2 {
            let reply = write(&host, &after).await;
            assert_eq!((reply.code, reply.outcome()), (Code::RecordUnavailable, Outcome::Denied), "{what}");
            assert!(reply.output.is_none(), "{what}");
            assert!(!site.path("work").join(&after).exists(), "{what}: the tool ran");
        }
        fs::write(&log, whole.0).unwrap();
        fs::write(&head, whole.1).unwrap();
        assert_eq!(write(&host, &after).await.code, Code::Completed, "{what}, and put back");
        assert_eq!(host.audit().verify().await.unwrap().fault, None, "{what}, and put back");
    }
}

/// A denial and its outcome are one write. If it fails, the caller learns that, and the log has neither of them.
#[tokio::test]
async fn a_denial_that_cannot_be_written_is_withheld() {
    let site = site();
    let log = site.state().join("audit.jsonl");
    let host = site.open(&policy("deny")).await;
    assert_eq!(write(&host, "before").await.code, Code::PolicyDenied);
    let whole = fs::read(&log).unwrap();
    fs::write(&log, &whole[..whole.len() - 1]).unwrap();
    let reply = write(&host, "after").await;
    assert_eq!((reply.code, reply.outcome()), (Code::RecordUnavailable, Outcome::Denied), "{}", reply.message);
    assert_eq!(fs::read(&log).unwrap(), whole[..whole.len() - 1]);
    fs::write(&log, &whole).unwrap();
    assert_eq!(write(&host, "after").await.code, Code::PolicyDenied);
    assert_eq!(host.audit().verify().await.unwrap().fault, None);
}

/// An approver that truncates the log to where it was before the request, and then approves.
struct CutsTheRecord {
    log: PathBuf,
    length: u64,
}

impl Approver for CutsTheRecord {
    fn answer<'a>(&'a self, _: &'a Question) -> Answering<'a> {
        OpenOptions::new().write(true).open(&self.log).unwrap().set_len(self.length).unwrap();
        Box::pin(std::future::ready(Answer::Yes))
    }
}

/// A decision that is removed from the log before it takes effect has no effect.
#[tokio::test]
async fn nothing_runs_on_a_decision_that_was_removed() {
    let site = site();
    let log = site.state().join("audit.jsonl");
    let host = site.open(&policy("allow")).await;
    assert_eq!(write(&host, "before").await.code, Code::Completed);
    drop(host);
    let approver = CutsTheRecord { length: fs::metadata(&log).unwrap().len(), log };
    let host = site.builder(&policy("ask")).approver(Arc::new(approver)).open().await.unwrap();
    let reply = write(&host, "after").await;
    assert_eq!((reply.code, reply.outcome()), (Code::RecordUnavailable, Outcome::Denied), "{}", reply.message);
    assert!(!site.path("work/after").exists(), "the tool ran although its decision is not in the log");
}

/// A host does not open if its audit log cannot be opened.
#[tokio::test]
async fn a_host_does_not_open_if_the_audit_log_is_not_a_file() {
    for file in ["audit.jsonl", "audit.head"] {
        let site = Site::new();
        drop(site.open("").await);
        fs::remove_file(site.state().join(file)).unwrap();
        fs::create_dir(site.state().join(file)).unwrap();
        let opened = site.builder("").open().await;
        assert!(matches!(opened.map(mem::drop), Err(OpenError::Audit(_))), "{file}");
    }
}
