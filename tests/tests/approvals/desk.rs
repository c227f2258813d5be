//! A site whose tools leave a mark each time they run, so that every run can be counted, and its record.

use portcullis::audit::Fault;
use portcullis::policy::Unattended;
use portcullis::{Approvals, Approver, Code, Compiler, Host, HostBuilder, Reply, Request, open_approvals, open_audit};
use portcullis_tests::{Manifest, Site, component, guest, module};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long anything may take before a test has failed; nothing else depends on it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Leaves a line in a file of its directory that is named like its arguments, and then answers; or, where the plugin
/// is `stays`, never does.
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

/// What never ends.
const STAYS: &str = "(call $block (call $subscribe (i64.const -1)))";

/// Everything is asked.
pub(crate) const ASK: &str = "[[rule]]\ntool = \"*.*\"\ndecision = \"ask\"\n";

/// Everything is allowed.
pub(crate) const ALLOW: &str = "[[rule]]\ntool = \"*.*\"\ndecision = \"allow\"\n";

/// The directory of the marks, as it is granted unless a test says otherwise.
pub(crate) const GRANT: &str = r#"{ path = "work", access = "read-write" }"#;

/// A policy of these rules, under which a repetition is nothing special.
pub(crate) fn policy(rules: &str) -> String {
    policy_with("repeats = 1000000", GRANT, rules)
}

/// A policy with these lines about approvals and this directory for the marks.
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

/// A plugin that leaves marks.
pub(crate) fn marks(manifest: &Manifest) -> Vec<u8> {
    let stays = if manifest.name == "stays" { STAYS } else { "" };
    component(&module(&MARKS.replace("STAYS", stays), manifest))
}

/// The site, with no host open on it.
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

    /// With another plugin that echoes, of this manifest.
    pub(crate) fn with(self, manifest: &Manifest) -> Self {
        self.site.plugin(&manifest.name, &guest("good", manifest));
        self
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.site.path("")
    }

    /// A host on which everything is asked, and this one answers.
    pub(crate) async fn asking(&self, approver: &Arc<impl Approver>) -> Host {
        self.approved_by(&policy(ASK), approver).await
    }

    pub(crate) async fn approved_by(&self, policy: &str, approver: &Arc<impl Approver>) -> Host {
        open(self.site.builder(policy).approver(Arc::clone(approver) as _)).await
    }

    /// A host on which everything is asked, and nobody is there.
    pub(crate) async fn headless(&self) -> Host {
        self.unattended(&policy(ASK)).await
    }

    pub(crate) async fn unattended(&self, policy: &str) -> Host {
        open(self.site.builder(policy).unattended(Unattended::Pending)).await
    }

    /// The approvals alone, as another process has them.
    pub(crate) fn approvals(&self) -> Approvals {
        open_approvals(&self.site.state()).unwrap()
    }

    /// How often a tool has run, by its arguments.
    pub(crate) fn marks(&self) -> BTreeMap<String, usize> {
        marks_in(&self.site.path("work"))
    }

    /// Asserts that the record is what was written and that nothing in the ledger is forged.
    pub(crate) fn verifies(&self) {
        assert_eq!(self.fault(), None);
        assert_eq!(self.approvals().list_all().unwrap().faults, Vec::<String>::new());
    }

    /// The same, but for half a line at the end of the record. Linux looks for a signal that kills between the pages of
    /// a write, so a kill may leave one; the next call sets it aside.
    pub(crate) fn verifies_but_for_a_torn_end(&self) {
        let fault = self.fault();
        assert!(matches!(fault, None | Some(Fault::Torn(_))), "{fault:?}");
        assert_eq!(self.approvals().list_all().unwrap().faults, Vec::<String>::new());
    }

    fn fault(&self) -> Option<Fault> {
        open_audit(&self.site.state()).unwrap().verify().unwrap().fault
    }

    /// Every document of the record, oldest first.
    pub(crate) fn record(&self) -> Vec<Value> {
        let mut documents = Vec::new();
        let read = open_audit(&self.site.state()).unwrap().read(|entry| {
            documents.push(entry.document);
            Ok(())
        });
        assert_eq!(read.unwrap().fault, None);
        documents
    }

    /// The outcomes of a call, oldest first.
    pub(crate) fn outcomes(&self, call: &str) -> Vec<String> {
        let of_call = |document: &Value| document["kind"] == "outcome" && document["call"] == call;
        let outcomes = self.record().into_iter().filter(of_call);
        outcomes.map(|document| document["outcome"].as_str().unwrap().to_owned()).collect()
    }
}

/// A host's builder for the site at a path, as a child process makes it.
pub(crate) fn builder_at(root: &Path, policy: &str) -> HostBuilder {
    let builder = Host::builder(root.join("plugins"), root.join("state"), Compiler::InProcess).calls(4);
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

/// The arguments of a call that no other call of the test has.
pub(crate) fn numbered(number: usize) -> String {
    json!({ "n": number }).to_string()
}

/// A call that leaves a mark.
pub(crate) fn mark(number: usize) -> Request {
    Request::new("marks.run", numbered(number))
}

/// Makes a call that stays behind to be approved, and hands out the id of its question.
pub(crate) async fn left_behind(host: &Host, request: Request) -> String {
    let reply = host.call(request).await;
    assert_eq!(reply.code, Code::ApprovalPending, "{}", reply.message);
    question_in(&reply)
}

/// The id that the message of a pending call names.
pub(crate) fn question_in(reply: &Reply) -> String {
    let is_id = |word: &&str| word.len() == 32 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let mut words = reply.message.split(|character: char| !character.is_ascii_alphanumeric());
    words.find(is_id).unwrap_or_else(|| panic!("no id in {:?}", reply.message)).to_owned()
}

/// Looks again and again until there is something, and fails where it never comes.
#[track_caller]
pub(crate) fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(began.elapsed() < PATIENCE, "it has not come: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The same, while other tasks of this thread go on.
pub(crate) async fn eventually_async<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(began.elapsed() < PATIENCE, "it has not come: {what}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// The one question that waits.
pub(crate) async fn the_question(approvals: &Approvals) -> String {
    let find = || Some(approvals.list().unwrap().questions.first()?.id.clone());
    eventually_async("a question", find).await
}

/// Runs something on a runtime of its own.
pub(crate) fn alone<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}
