//! A site whose tools end in every possible way, and the bytes of its audit log.

use portcullis::audit::{Entry, Verified};
use portcullis::policy::Unattended;
use portcullis::{Approver, Code, Host, HostBuilder, LimitKind, Request, open_audit};
use portcullis_tests::{BlockOn, Manifest, Site, component, guest, module};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A word in the arguments that must never be in the audit log.
pub(crate) const CANARY: &str = "canary-7f3a9c";

/// The tools, one for each way in which a call can end by itself.
const POLICY: &str = r#"
[limits]
time = "1 s"
[[rule]]
tool = "*.*"
decision = "allow"
[[rule]]
tool = "no.*"
decision = "deny"
reason = "the tests deny it"
[[rule]]
tool = "asked.*"
decision = "ask"
"#;

/// The tool, its arguments, and the code of the call.
pub(crate) const ENDINGS: [(&str, &str, Code); 14] = [
    ("good.run", r#"{"word":"canary-7f3a9c"}"#, Code::Completed),
    ("good.run", r#""{\"word\":\"canary-7f3a9c\"}""#, Code::Completed),
    ("no.run", r#"{"word":"canary-7f3a9c"}"#, Code::PolicyDenied),
    ("asked.run", r#"{"word":"canary-7f3a9c"}"#, Code::ApprovalDenied),
    ("strict.run", r#"{"word":{"canary-7f3a9c":1}}"#, Code::InvalidArguments),
    ("good.run", r#"{"word":"canary-7f3a9c""#, Code::MalformedArguments),
    ("good.nothing", r#"{"word":"canary-7f3a9c"}"#, Code::UnknownTool),
    ("wants.run", r#"{"word":"canary-7f3a9c"}"#, Code::DependencyNotGranted),
    ("failure-injection.run", r#"{"word":"canary-7f3a9c"}"#, Code::ToolFailed),
    ("json-that-is-none.run", r#"{"word":"canary-7f3a9c"}"#, Code::InvalidOutput),
    ("exit-one.run", r#"{"word":"canary-7f3a9c"}"#, Code::Exited),
    ("trap-on-demand.run", r#"{"word":"canary-7f3a9c"}"#, Code::Trapped),
    ("loop-in-execute.run", r#"{"word":"canary-7f3a9c"}"#, Code::Limit(LimitKind::Time)),
    ("refused.run", r#"{"word":"canary-7f3a9c"}"#, Code::PluginRefused),
];

/// A guest that reports progress once, and then either returns or never does.
const REPORTS: &str = r#"
(import "portcullis:tool/context@0.1.0" "report" (func $report (param i32 i32 i32 i32 i32 i32 i32 f32)))
(func $execute (param i32 i32 i32 i32) (result i32)
  (call $report (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0)
    (f32.const 0))
  (if (i32.gt_u (local.get 3) (i32.const 2)) (then (loop $for-ever (br $for-ever))))
  (call $answer (i32.const 0) (local.get 2) (local.get 3)))
"#;

/// A site on which no host is open.
pub(crate) struct Desk {
    pub(crate) site: Site,
}

impl Desk {
    /// Makes a site with every tool, before its first host.
    pub(crate) fn new() -> Self {
        let site = Site::new();
        for name in ["failure-injection", "json-that-is-none", "exit-one", "trap-on-demand", "loop-in-execute"] {
            site.plugin(name, &guest(name, &Manifest::of(name)));
        }
        for name in ["no", "asked"] {
            site.plugin(name, &guest("good", &Manifest::of(name)));
        }
        let schema = r#"{"type":"object","properties":{"word":{"type":"string"}},"additionalProperties":false}"#;
        let strict = Manifest::of("strict").tool(|tool| schema.clone_into(&mut tool.schema));
        site.plugin("strict", &guest("good", &strict));
        let wants = Manifest::of("wants").directory("work", false).tool(|tool| tool.required = 1);
        site.plugin("wants", &guest("good", &wants));
        site.plugin("reports", &component(&module(REPORTS, &Manifest::of("reports"))));
        site.plugin("refused", b"no component");
        Self { site }
    }

    /// Makes a site whose audit log has a call with each outcome.
    pub(crate) async fn with_record() -> Self {
        let desk = Self::new();
        let host = desk.open().await;
        for (tool, arguments, code) in ENDINGS {
            let reply = host.call(Request::new(tool, arguments)).await;
            assert_eq!(reply.code, code, "{tool}: {}", reply.message);
        }
        desk
    }

    /// Makes a site whose audit log has the quick outcomes: enough lines to change, drop and swap.
    pub(crate) async fn with_short_record() -> Self {
        let desk = Self { site: Site::new() };
        let host = desk.open_good().await;
        for (tool, arguments) in [("good.run", "{}"), ("good.run", "{"), ("no.run", "{}"), ("good.run", "[]")] {
            host.call(Request::new(tool, arguments)).await;
            host.call(Request::new("good.run", r#"{"a":1}"#)).await;
        }
        desk
    }

    pub(crate) fn builder(&self) -> HostBuilder {
        self.site.builder(POLICY).unattended(Unattended::Deny)
    }

    pub(crate) async fn open(&self) -> Host {
        self.builder().open().await.unwrap()
    }

    pub(crate) async fn open_with(&self, approver: Arc<dyn Approver>) -> Host {
        self.builder().approver(approver).open().await.unwrap()
    }

    /// Opens a host with the usual limits that allows every call.
    pub(crate) async fn open_good(&self) -> Host {
        self.site.open(&portcullis_tests::allow_all("")).await
    }

    pub(crate) fn log(&self) -> PathBuf {
        self.site.state().join("audit.jsonl")
    }

    pub(crate) fn head(&self) -> PathBuf {
        self.site.state().join("audit.head")
    }

    pub(crate) fn verify(&self) -> Verified {
        open_audit(&self.site.state()).block_on().unwrap().verify().block_on().unwrap()
    }

    pub(crate) fn entries(&self) -> Vec<Entry> {
        entries(&self.site.state())
    }
}

/// Returns every entry of the audit log of a state directory.
pub(crate) fn entries(state: &Path) -> Vec<Entry> {
    let mut entries = Vec::new();
    let read = open_audit(state)
        .block_on()
        .unwrap()
        .read(|entry| {
            entries.push(entry);
            Ok(())
        })
        .block_on();
    assert_eq!(read.unwrap().fault, None);
    entries
}

/// Returns the kinds of the entries of one call, oldest first.
pub(crate) fn kinds(entries: &[Entry], call: &str) -> Vec<String> {
    let of_call = entries.iter().filter(|entry| entry.document["call"] == call);
    of_call.map(|entry| text(&entry.document["kind"])).collect()
}

pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Returns the lines of an audit log, each with its line break.
pub(crate) fn lines(log: &Path) -> Vec<Vec<u8>> {
    fs::read(log).unwrap().split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
}
