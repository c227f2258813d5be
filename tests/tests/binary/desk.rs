//! A site with the shipped plugins, and the program that runs on it.

pub(crate) use portcullis_tests::Ran;
use portcullis_tests::{Manifest, Site, built_guest, guest, program, shipped_plugin, user_cache};
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::process::{Child, Command, Stdio};

/// Allows everything, and lets the files plugin write.
pub(crate) const OPEN: &str = "[plugin.files]\n\
    directory.workspace = { path = \"work\", access = \"read-write\" }\n\
    [limits]\ntime = \"20 s\"\n\
    [[rule]]\ntool = \"*.*\"\ndecision = \"allow\"\n";

/// A site, its policy, and the files plugin with files to work on.
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

    /// Adds the `web` plugin.
    pub(crate) fn with_web(policy: &str) -> Self {
        let desk = Self::bare(policy);
        desk.site.plugin("web", &shipped_plugin("web"));
        desk.site.warm();
        desk
    }

    /// Adds the `shell` plugin.
    pub(crate) fn with_shell(policy: &str) -> Self {
        let desk = Self::bare(policy);
        desk.site.plugin("shell", &shipped_plugin("shell"));
        desk.site.warm();
        desk
    }

    /// Adds these plugins.
    pub(crate) fn with(policy: &str, plugins: &[(&str, Vec<u8>)]) -> Self {
        let desk = Self::bare(policy);
        plugins.iter().for_each(|(name, bytes)| desk.site.plugin(name, bytes));
        desk.site.warm();
        desk
    }

    fn bare(policy: &str) -> Self {
        let site = Site::new();
        site.plugin("files", &shipped_plugin("files"));
        site.plugin("hello", &built_guest("hello"));
        site.plugin("loop-in-execute", &guest("loop-in-execute", &Manifest::of("loop-in-execute")));
        site.plugin("exit-one", &guest("exit-one", &Manifest::of("exit-one")));
        site.plugin("echo", &guest("json-echo", &Manifest::of("echo")));
        site.plugin("refused", b"no component");
        let work = site.directory("work");
        fs::write(work.join("poem.txt"), "roses are red\nviolets are blue\n").unwrap();
        let desk = Self { site };
        desk.policy(policy);
        desk
    }

    /// Replaces the policy.
    pub(crate) fn policy(&self, policy: &str) {
        fs::write(self.site.path("portcullis.toml"), policy).unwrap();
    }

    /// Returns the command of the program with an otherwise empty environment.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(program());
        command.current_dir(self.site.path("")).env_clear().env("HOME", self.site.path("home"));
        command.env("PORTCULLIS_STATE", self.site.state()).env("PORTCULLIS_POLICY", "portcullis.toml");
        command.env("XDG_CACHE_HOME", user_cache());
        command.stdin(Stdio::null());
        command
    }

    /// Does the same, with `portcullis.toml` as the project's policy instead of the user's.
    pub(crate) fn run_in_project(&self, arguments: &[&str]) -> Ran {
        let mut command = self.command();
        command.env_remove("PORTCULLIS_POLICY").args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
        finish(command.spawn().unwrap())
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with(arguments, b"")
    }

    pub(crate) fn run_with(&self, arguments: &[&str], stdin: &[u8]) -> Ran {
        let mut command = self.command();
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A program that needs no input may already have closed its stdin.
        let _ = child.stdin.take().unwrap().write_all(stdin);
        finish(child)
    }

    /// Makes one call. Returns the reply document.
    #[track_caller]
    pub(crate) fn call(&self, tool: &str, arguments: &Value, code: i32) -> Value {
        self.run(&["--json", "call", tool, &arguments.to_string()]).ends(code).document()
    }

    /// Asserts that the audit log verifies.
    #[track_caller]
    pub(crate) fn verifies(&self) {
        self.run(&["audit", "verify"]).ends(0);
    }
}

/// Waits for a run to end.
pub(crate) fn finish(child: Child) -> Ran {
    child.wait_with_output().unwrap().into()
}
