//! A site with plugins for an agent, the agent that runs on it, and helpers for the audit log.

use crate::agent::model::Model;
use portcullis::audit::Entry;
use portcullis::text::is_deceptive;
use portcullis::{Code, open_approvals, open_audit};
pub(crate) use portcullis_tests::Ran;
use portcullis_tests::{BlockOn, Manifest, Site, built_guest, component, guest, module, program, shipped_plugin};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs};

/// Timeout of every wait, for a busy machine; nothing else depends on it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(90);

/// Allows everything, and lets the files plugin write.
pub(crate) const ALLOW: &str = "[plugin.files]\ndirectory.workspace = { path = \"work\", access = \"read-write\" }\n\
    [plugin.gate]\ndirectory.work = { path = \"gate\", access = \"read-only\" }\n\
    [limits]\ntime = \"60 s\"\n\
    [[rule]]\ntool = \"*.*\"\ndecision = \"allow\"\n";

/// Requires approval for writes, and allows everything else.
pub(crate) const ASK: &str = "[plugin.files]\ndirectory.workspace = { path = \"work\", access = \"read-write\" }\n\
    [[rule]]\ntool = \"*.*\"\ndecision = \"allow\"\n\
    [[rule]]\ntool = \"files.write\"\ndecision = \"ask\"\nreason = \"a person looks\"\n";

/// Returns its arguments as soon as its directory contains a file `open`.
const GATE: &str = r#"
(import "portcullis:tool/dependencies@0.1.0" "open-directory" (func $open-directory (param i32 i32 i32)))
(import "wasi:filesystem/types@0.2.12" "[method]descriptor.open-at"
  (func $open-at (param i32 i32 i32 i32 i32 i32 i32)))
(import "wasi:clocks/monotonic-clock@0.2.12" "subscribe-duration" (func $subscribe (param i64) (result i32)))
(import "wasi:io/poll@0.2.12" "[method]pollable.block" (func $block (param i32)))
(import "wasi:io/poll@0.2.12" "[resource-drop]pollable" (func $drop (param i32)))
(data (i32.const 2048) "work")
(data (i32.const 2052) "open")
(func $execute (param i32 i32 i32 i32) (result i32)
  (local $directory i32) (local $wait i32)
  (call $open-directory (i32.const 2048) (i32.const 4) (i32.const 3072))
  (if (i32.load8_u (i32.const 3072)) (then unreachable))
  (local.set $directory (i32.load (i32.const 3076)))
  (loop $again
    (call $open-at (local.get $directory) (i32.const 0) (i32.const 2052) (i32.const 4) (i32.const 0) (i32.const 1)
      (i32.const 3072))
    (if (i32.load8_u (i32.const 3072)) (then
      (local.set $wait (call $subscribe (i64.const 5000000)))
      (call $block (local.get $wait))
      (call $drop (local.get $wait))
      (br $again))))
  (call $answer (i32.const 0) (local.get 2) (local.get 3)))
"#;

#[track_caller]
pub(crate) fn harmless(screen: &str) {
    let found = screen.chars().find(|character| is_deceptive(*character) && !matches!(character, '\n' | '\t'));
    assert_eq!(found, None, "{screen:?}");
}

/// Returns the agent's program, which is built next to `portcullis`.
pub(crate) fn agent() -> PathBuf {
    let agent = program().with_file_name("portcullis-agent");
    assert!(agent.is_file(), "{}: run `cargo xtask test`", agent.display());
    agent
}

/// Runs the program at the start of its arguments, and kills it after a timeout, so that a failed test does not hang.
pub(crate) fn bounded() -> Command {
    let mut command = Command::new("timeout");
    command.args(["--foreground", &PATIENCE.as_secs().to_string()]);
    command
}

/// A site, its policy, and plugins with files to work on.
pub(crate) struct Desk {
    pub(crate) site: Site,
}

impl Desk {
    /// Makes a site with this policy.
    pub(crate) fn new(policy: &str) -> Self {
        let desk = Self::bare(policy);
        desk.site.warm();
        desk
    }

    fn bare(policy: &str) -> Self {
        let site = Site::new();
        site.plugin("files", &shipped_plugin("files"));
        site.plugin("hello", &built_guest("hello"));
        site.plugin("echo", &guest("json-echo", &Manifest::of("echo")));
        site.plugin("sleeps", &guest("sleep-in-execute", &Manifest::of("sleeps")));
        let gate = Manifest::of("gate").directory("work", false).tool(|tool| (tool.required, tool.hints) = (1, 16));
        site.plugin("gate", &component(&module(GATE, &gate)));
        site.directory("gate");
        fs::write(site.directory("work").join("poem.txt"), "roses are red\nviolets are blue\n").unwrap();
        fs::write(site.path("portcullis.toml"), policy).unwrap();
        Self { site }
    }

    /// Lets the calls of `gate` end.
    pub(crate) fn open_the_gate(&self) {
        fs::write(self.site.path("gate/open"), "").unwrap();
    }

    /// Returns the agent's arguments before the task.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let path = |path: PathBuf| path.display().to_string();
        let named = [("--plugins", self.site.plugins()), ("--state", self.site.state())];
        let named = named.into_iter().chain([("--policy", self.site.path("portcullis.toml"))]);
        named.flat_map(|(name, value)| [name.to_owned(), path(value)]).collect()
    }

    /// Returns the agent's command, with only the site and the model in its environment.
    pub(crate) fn command(&self, url: &str, options: &[&str]) -> Command {
        let mut command = bounded();
        command.arg(agent()).current_dir(self.site.path("")).env_clear();
        command.env("PATH", env::var_os("PATH").unwrap_or_default()).env("HOME", self.site.path("home"));
        command.env("OPENAI_BASE_URL", url).env("OPENAI_MODEL", "scripted").env("OPENAI_API_KEY", "sk-of-a-test");
        command.args(self.arguments()).args(options);
        command
    }

    /// Runs the agent on a task, without a terminal.
    pub(crate) fn work(&self, model: &Model, options: &[&str]) -> Ran {
        finish(self.command(&model.url(), options))
    }

    /// Runs `portcullis` on the same site.
    pub(crate) fn portcullis(&self, arguments: &[&str]) -> Ran {
        let mut command = Command::new(program());
        command.current_dir(self.site.path("")).env_clear().env("HOME", self.site.path("home"));
        command.env("PORTCULLIS_STATE", self.site.state()).env("PORTCULLIS_POLICY", "portcullis.toml");
        command.args(arguments);
        finish(command)
    }

    /// Waits for the only open approval request. Returns its ID.
    pub(crate) fn question(&self) -> String {
        let began = Instant::now();
        loop {
            // The state directory exists as soon as the agent has opened it.
            let listed =
                open_approvals(&self.site.state()).block_on().and_then(|approvals| Ok(approvals.list().block_on()?));
            if let Some(question) = listed.ok().and_then(|listed| listed.questions.first().map(|it| it.id.clone())) {
                return question;
            }
            assert!(began.elapsed() < PATIENCE, "no question");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Returns every call in the audit log with its outcome, in the order in which the calls ended. The log must be
    /// valid. Details of a call are in its decision, or in its outcome if there was no decision.
    #[track_caller]
    pub(crate) fn calls(&self) -> Vec<(Value, Value)> {
        let (mut decisions, mut calls) = (BTreeMap::new(), Vec::new());
        let read = open_audit(&self.site.state())
            .block_on()
            .unwrap()
            .read(|Entry { document, .. }| {
                let call = document["call"].to_string();
                match document["kind"].as_str() {
                    Some("decision") => drop(decisions.insert(call, document)),
                    Some("outcome") => {
                        calls.push((decisions.remove(&call).unwrap_or_else(|| document.clone()), document))
                    }
                    _ => {}
                }
                Ok(())
            })
            .block_on();
        assert_eq!(read.unwrap().fault, None);
        assert_eq!(decisions, BTreeMap::new(), "each decision must have an outcome");
        calls
    }

    /// Returns the tools and codes of the recorded calls, sorted, because the calls of one message end in any order.
    #[track_caller]
    pub(crate) fn record(&self) -> Vec<(String, String)> {
        let word = |document: &Value, name: &str| document[name].as_str().unwrap().to_owned();
        let mut record: Vec<_> =
            self.calls().iter().map(|(call, outcome)| (word(call, "tool"), word(outcome, "code"))).collect();
        record.sort();
        record
    }

    /// Asserts that the audit log contains exactly these calls, in any order.
    #[track_caller]
    pub(crate) fn recorded(&self, calls: &[(&str, Code)]) {
        let mut calls: Vec<_> = calls.iter().map(|(tool, code)| ((*tool).to_owned(), code.to_string())).collect();
        calls.sort();
        assert_eq!(self.record(), calls);
    }
}

fn finish(mut command: Command) -> Ran {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // Input that does not come from a terminal is neither an answer nor an instruction.
    let _ = child.stdin.take().unwrap().write_all(b"y\ny\nwrite something else\n");
    let ran = Ran::from(child.wait_with_output().unwrap());
    // The agent's output has no effect on a terminal.
    harmless(&ran.out);
    harmless(&ran.err);
    ran
}
