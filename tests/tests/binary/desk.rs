//! A site with the shipped plugins, and the program run on it.

use portcullis_tests::{Manifest, Site, built_guest, guest, program};
use serde_json::Value;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::{env, fs};

/// Allows everything, and lets the files plugin write.
pub(crate) const OPEN: &str = "[plugin.files]\n\
    directory.workspace = { path = \"work\", access = \"read-write\" }\n\
    [limits]\ntime = \"20 s\"\n\
    [[rule]]\ntool = \"*.*\"\ndecision = \"allow\"\n";

/// What a run of the program left.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    /// Asserts how it ended.
    #[track_caller]
    pub(crate) fn ends(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{}\n{}", self.out, self.err);
        self
    }

    /// The one document it printed.
    #[track_caller]
    pub(crate) fn document(&self) -> Value {
        assert_eq!(self.out.matches('\n').count(), 1, "one document is one line: {}", self.out);
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}", self.out))
    }
}

fn files_plugin() -> Vec<u8> {
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/plugins");
    let folder = env::var_os("PORTCULLIS_TEST_PLUGINS").map_or_else(|| PathBuf::from(default), PathBuf::from);
    let file = folder.join("files.wasm");
    fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}: run `cargo xtask test`", file.display()))
}

/// A site, its policy, and the files plugin with something to work on.
pub(crate) struct Desk {
    pub(crate) site: Site,
}

impl Desk {
    /// With a policy of this text.
    pub(crate) fn new(policy: &str) -> Self {
        /// Compiling is what takes long: it is done once, and every site begins with a copy of the cache.
        static COMPILED: OnceLock<Desk> = OnceLock::new();
        let compiled = COMPILED.get_or_init(|| {
            let desk = Self::bare("");
            desk.run(&["list"]).ends(0);
            desk
        });
        let desk = Self::bare(policy);
        desk.site.adopt_state(&compiled.site);
        desk
    }

    fn bare(policy: &str) -> Self {
        let site = Site::new();
        site.plugin("files", &files_plugin());
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

    /// The program in the site, with nothing around it but the site.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(program());
        command.current_dir(self.site.path("")).env_clear().env("HOME", self.site.path("home"));
        command.env("PORTCULLIS_STATE", self.site.state()).env("PORTCULLIS_POLICY", "portcullis.toml");
        command.stdin(Stdio::null());
        command
    }

    /// The same, with `portcullis.toml` as what the project brought along and not as the person's own policy.
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
        // A program that needs no input may have closed it.
        let _ = child.stdin.take().unwrap().write_all(stdin);
        finish(child)
    }

    /// One call, as a document.
    #[track_caller]
    pub(crate) fn call(&self, tool: &str, arguments: &Value, code: i32) -> Value {
        self.run(&["--json", "call", tool, &arguments.to_string()]).ends(code).document()
    }

    /// Asserts that the record is what was written.
    #[track_caller]
    pub(crate) fn verifies(&self) {
        self.run(&["audit", "verify"]).ends(0);
    }
}

/// Waits for the end of a run.
pub(crate) fn finish(child: Child) -> Ran {
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).expect("the program writes UTF-8");
    Ran { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}
