//! A folder with a policy, and calls of the conformance plugin through the real host.

use crate::row::{Row, built};
use portcullis_tests::{Ran, program};
use serde_json::Value;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// Allows all calls.
const ALLOW: &str = "[[rule]]\ntool = \"conformance.*\"\ndecision = \"allow\"\n";

/// A folder with a policy, for the conformance plugin of one language.
pub(crate) struct Desk {
    row: Row,
    pub(crate) folder: TempDir,
}

impl Desk {
    pub(crate) fn new(row: Row, policy: &str) -> Self {
        Self::limited(row, policy, "")
    }

    /// Limits the calls. Answers may be larger than by default.
    pub(crate) fn limited(row: Row, policy: &str, limits: &str) -> Self {
        row.inspected();
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("work")).unwrap();
        fs::write(folder.path().join("work/poem.txt"), "roses are red\nviolets are blue\n").unwrap();
        fs::write(folder.path().join("policy.toml"), format!("{policy}[limits]\noutput = \"16 MiB\"\n{limits}{ALLOW}"))
            .unwrap();
        Self { row, folder }
    }

    /// Makes one call, without an approver.
    pub(crate) fn call(&self, tool: &str, arguments: &Value) -> Ran {
        self.call_with(&["--no-ask"], tool, arguments)
    }

    /// Makes one call. An approver in another process could answer its requests.
    pub(crate) fn call_with_approver(&self, tool: &str, arguments: &Value) -> Ran {
        self.call_with(&[], tool, arguments)
    }

    /// Makes one call. Its arguments go through stdin, because they may be too large for a command line.
    fn call_with(&self, options: &[&str], tool: &str, arguments: &Value) -> Ran {
        let mut command = Command::new(program());
        command.args(["call", &format!("conformance.{tool}"), "-", "--json", "--policy", "policy.toml", "--plugins"]);
        command.arg(self.plugins()).args(options).current_dir(self.folder.path());
        command.env("PORTCULLIS_STATE", built("state")).env("XDG_CONFIG_HOME", built("none"));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(arguments.to_string().as_bytes()).unwrap();
        child.wait_with_output().unwrap().into()
    }

    pub(crate) fn plugins(&self) -> PathBuf {
        self.row.component().parent().unwrap().to_owned()
    }
}
