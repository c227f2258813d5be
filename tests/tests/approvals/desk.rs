//! A site whose tools leave a mark each time they run, so that every run can be counted, and helpers for its audit log.

use portcullis::audit::Fault;
use portcullis::policy::Unattended;
use portcullis::{Approvals, Approver, Code, Compiler, Host, HostBuilder, Reply, Request, open_approvals, open_audit};
use portcullis_tests::{BlockOn, Manifest, Site, component, eventually_async, guest, module, place};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Appends a line to a file that is named after the call's arguments, and returns. In the plugin `stays`, it never
/// returns.
const MARKS: &str = r#"
(import "portcullis:tool/dependencies@0.1.0" "open-directory" (func $open-directory (param i32 i32 i32)))
(import "wasi:filesystem/types@0.2.12" "[method]descriptor.open-at"
  (func $open-at (param i32 i32 i32 i32 i32 i32 i32)))
(import "wasi:filesystem/types@0.2.12" "[method]descriptor.append-via-stream" (func $append (param i32 i32)))
(import "wasi:io/streams@0.2.12" "[method]output-stream.blocking-write-and-flush"
  (func $write (param i32 i32 i32 i32)))
(import "wasi:clocks/monotonic-clock@0.2.12" "subscribe-duration" (func $subscribe (param i64) (result i32)))
(import "wasi:io/poll@0.2.12" "[method]pollable.block" (func $block (param i32)))
(data (i32.const 2048) "work")
(data (i32.const 2052) "x\n")
(func $handle (result i32)
  (if (i32.load8_u (i32.const 3072)) (then unreachable))
  (i32.load (i32.const 3076)))
(func $execute (param i32 i32 i32 i32) (result i32)
  (call $open-directory (i32.const 2048) (i32.const 4) (i32.const 3072))
  (call $open-at (call $handle) (i32.const 0) (local.get 2) (local.get 3) (i32.const 1) (i32.const 2) (i32.const 3072))
  (call $append (call $handle) (i32.const 3072))
  (call $write (call $handle) (i32.const 2052) (i32.const 2) (i32.const 3072))
  (if (i32.load8_u (i32.const 3072)) (then unreachable))
  STAYS
  (call $answer (i32.const 0) (local.get 2) (local.get 3)))
"#;

/// Blocks forever.
const STAYS: &str = "(call $block (call $subscribe (i64.const -1)))";

/// Every call needs approval.
pub(crate) const ASK: &str = "[[rule]]\ntool = \"*.*\"\ndecision = \"ask\"\n";

/// Allows every call.
pub(crate) const ALLOW: &str = "[[rule]]\ntool = \"*.*\"\ndecision = \"allow\"\n";

/// The default grant of the directory for marks.
pub(crate) const GRANT: &str = r#"{ path = "work", access = "read-write" }"#;

/// Builds a policy with these rules and without the repetition check.
pub(crate) fn policy(rules: &str) -> String {
    policy_with("repeats = 1000000", GRANT, rules)
}

/// Builds a policy with these lines about approvals and this directory for the marks.
pub(crate) fn policy_with(approvals: &str, grant: &str, rules: &str) -> String {
    format!(
        "[approvals]\n{approvals}\n[limits]\ntime = \"60 s\"\n[plugin.marks]\ndirectory.work = {grant}\n\
         [plugin.stays]\ndirectory.work = {grant}\n{rules}"
    )
}

/// Returns the manifest of a plugin that writes marks only if it can, so that its calls need approval even under a
/// read-only grant.
pub(crate) fn marks_manifest(name: &str) -> Manifest {
    Manifest::of(name).directory("work", false).tool(|tool| tool.optional = 2)
}

/// Builds the plugin that leaves marks.
pub(crate) fn marks(manifest: &Manifest) -> Vec<u8> {
    let stays = if manifest.name == "stays" { STAYS } else { "" };
    component(&module(&MARKS.replace("STAYS", stays), manifest))
}

/// A site on which no host is open yet.
pub(crate) struct Desk {
    pub(crate) site: Site,
}

impl Desk {
    pub(crate) fn new() -> Self {
        let desk = Self { site: Site::new() };
        for name in ["marks", "stays"] {
            desk.site.plugin(name, &marks(&marks_manifest(name)));
        }
        desk.site.directory("work");
        desk
    }

    /// Adds another plugin with this manifest, which echoes its arguments.
    pub(crate) fn with(self, manifest: &Manifest) -> Self {
        self.site.plugin(&manifest.name, &guest("good", manifest));
        self
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.site.path("")
    }

    /// Opens a host on which every call needs approval, with this approver.
    pub(crate) async fn asking(&self, approver: &Arc<impl Approver>) -> Host {
        self.approved_by(&policy(ASK), approver).await
    }

    pub(crate) async fn approved_by(&self, policy: &str, approver: &Arc<impl Approver>) -> Host {
        open(self.site.builder(policy).approver(Arc::clone(approver) as _)).await
    }

    /// Opens a host on which every call needs approval, without an approver.
    pub(crate) async fn headless(&self) -> Host {
        self.unattended(&policy(ASK)).await
    }

    pub(crate) async fn unattended(&self, policy: &str) -> Host {
        open(self.site.builder(policy).unattended(Unattended::Pending)).await
    }

    /// Opens only the approvals, as another process does.
    pub(crate) fn approvals(&self) -> Approvals {
        open_approvals(place(self.site.state())).block_on().unwrap()
    }

    /// Returns how often a tool has run, by its arguments.
    pub(crate) fn marks(&self) -> BTreeMap<String, usize> {
        marks_in(&self.site.path("work"))
    }

    /// Asserts that the audit log and the seals of the ledger are valid.
    pub(crate) fn verifies(&self) {
        assert_eq!(self.fault(), None);
        assert_eq!(self.approvals().list_all().block_on().unwrap().faults, Vec::<String>::new());
    }

    /// Does the same, but tolerates half a line at the end of the audit log. Linux handles a fatal signal between the
    /// pages of a write, so a kill may leave one. The next call sets it aside.
    pub(crate) fn verifies_but_for_a_torn_end(&self) {
        let fault = self.fault();
        assert!(matches!(fault, None | Some(Fault::Torn(_))), "{fault:?}");
        assert_eq!(self.approvals().list_all().block_on().unwrap().faults, Vec::<String>::new());
    }

    fn fault(&self) -> Option<Fault> {
        open_audit(place(self.site.state())).block_on().unwrap().verify().block_on().unwrap().fault
    }

    /// Returns every entry of the audit log, oldest first.
    pub(crate) fn record(&self) -> Vec<Value> {
        let mut documents = Vec::new();
        let read = open_audit(place(self.site.state()))
            .block_on()
            .unwrap()
            .read(|entry| {
                documents.push(entry.document);
                Ok(())
            })
            .block_on();
        assert_eq!(read.unwrap().fault, None);
        documents
    }

    /// Returns the outcomes of a call, oldest first.
    pub(crate) fn outcomes(&self, call: &str) -> Vec<String> {
        let of_call = |document: &Value| document["kind"] == "outcome" && document["call"] == call;
        let outcomes = self.record().into_iter().filter(of_call);
        outcomes.map(|document| document["outcome"].as_str().unwrap().to_owned()).collect()
    }
}

/// Returns a host builder for the site at a path, for a child process.
pub(crate) fn builder_at(root: &Path, policy: &str) -> HostBuilder {
    let builder = Host::builder(root.join("plugins"), place(root.join("state"))).compiler(Compiler::InProcess).calls(4);
    builder.policy_text(policy, root)
}

pub(crate) async fn open(builder: HostBuilder) -> Host {
    builder.open().await.unwrap_or_else(|error| panic!("{error}"))
}

fn marks_in(folder: &Path) -> BTreeMap<String, usize> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let mark = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().unwrap();
        (name, fs::read_to_string(entry.path()).unwrap().lines().count())
    };
    entries.map(mark).collect()
}

/// Returns arguments that are unique within a test.
pub(crate) fn numbered(number: usize) -> String {
    json!({ "n": number }).to_string()
}

/// Builds a call that leaves a mark.
pub(crate) fn mark(number: usize) -> Request {
    Request::new("marks.run", numbered(number))
}

/// Makes a call that stays pending. Returns the ID of its approval request.
pub(crate) async fn left_behind(host: &Host, request: Request) -> String {
    let reply = host.call(request).await;
    assert_eq!(reply.code, Code::ApprovalPending, "{}", reply.message);
    question_in(&reply)
}

/// Returns the ID in the message of a pending call.
pub(crate) fn question_in(reply: &Reply) -> String {
    let is_id = |word: &&str| word.len() == 32 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let mut words = reply.message.split(|character: char| !character.is_ascii_alphanumeric());
    words.find(is_id).unwrap_or_else(|| panic!("no id in {:?}", reply.message)).to_owned()
}

/// Returns the only open approval request.
pub(crate) async fn the_question(approvals: &Approvals) -> String {
    let find = || Some(approvals.list().block_on().unwrap().questions.first()?.id.clone());
    eventually_async("a question", find).await
}

/// Runs a future on its own runtime.
pub(crate) fn alone<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}
