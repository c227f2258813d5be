//! The office: a plugin directory with one plugin that has a tool for each feature of a client, a policy, and the
//! program that serves it.

use portcullis_tests::{Site, built_guest, program};
use serde_json::Value;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs};

/// Timeout of every wait, for a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Allows everything except writing a note, which needs approval, and so does the seal that signing asks for.
pub(crate) const ASKING: &str = "[defaults]\ndecision = \"ask\"\n\
    [plugin.clerk]\ndirectory.desk = { path = \"desk\", access = \"read-write\" }\n\
    [limits]\ntime = \"60 s\"\n\
    [approvals]\nrepeats = 1000\n\
    [[rule]]\ntool = \"clerk.{add,count,echo,fail,wait}\"\ndecision = \"allow\"\n\
    [[rule]]\ntool = \"clerk.sign\"\nwhen = { text = \"**\" }\ndecision = \"allow\"\n\
    [[rule]]\ntool = \"*.greet\"\ndecision = \"allow\"\n";

/// The same, but what is not allowed is denied.
pub(crate) const DENYING: &str = "[plugin.clerk]\ndirectory.desk = { path = \"desk\", access = \"read-write\" }\n\
    [limits]\ntime = \"60 s\"\n\
    [approvals]\nrepeats = 1000\n\
    [[rule]]\ntool = \"clerk.{add,count,echo,fail}\"\ndecision = \"allow\"\n";

/// Where a server without a given token stores the one that it creates.
const TOKEN: &str = "home/.local/share/portcullis/mcp-token";

/// Makes a client's answers count as the user's.
pub(crate) const PERSON: [&str; 2] = ["--client-answers", "person"];

/// A site with the clerk plugin.
pub(crate) struct Office {
    site: Site,
}

impl Office {
    pub(crate) fn new(policy: &str) -> Self {
        let site = Site::new();
        site.plugin("clerk", &built_guest("clerk"));
        site.directory("desk");
        site.directory("spare");
        fs::write(site.path("spare/hello.wasm"), built_guest("hello")).unwrap();
        // The user's own policy file, for clients that pass only the home directory on.
        site.directory("home/.config/portcullis");
        fs::write(site.path("home/.config/portcullis/policy.toml"), policy.replace("\"desk\"", &desk(&site))).unwrap();
        Self { site }
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.site.path(path)
    }

    /// Returns a command that starts in the site, and finds `portcullis` and the site's home through its environment.
    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        let beside = portcullis().parent().unwrap().to_owned();
        let path = env::join_paths([beside, "/usr/bin".into(), "/bin".into()]).unwrap();
        command.current_dir(self.site.path("")).env_clear().env("HOME", self.site.path("home")).env("PATH", path);
        command.stdin(Stdio::null());
        command
    }

    /// Compiles the plugins, so that the first list of a server contains all tools.
    pub(crate) fn compile(&self) {
        self.portcullis(&["list"]);
    }

    /// Returns the command line that serves over the standard streams.
    pub(crate) fn stdio(&self, options: &[&str]) -> Vec<String> {
        let program = portcullis().to_string_lossy().into_owned();
        let words =
            ["serve", "--stdio", "--start-wait", "60"].into_iter().chain(options.iter().copied()).map(str::to_owned);
        let plugins = ["--plugins".to_owned(), self.site.plugins().to_string_lossy().into_owned()];
        std::iter::once(program).chain(words).chain(plugins).collect()
    }

    /// Starts a server at a free port of this machine.
    pub(crate) fn listen(&self, options: &[&str]) -> Listening {
        let mut command = self.command(portcullis());
        command.args(["--json", "serve", "--http", "127.0.0.1:0", "--start-wait", "60"]).args(options);
        Listening::start(command, &self.path("server.log"), &self.path(TOKEN))
    }

    /// Returns what `portcullis` prints with these arguments.
    pub(crate) fn portcullis(&self, arguments: &[&str]) -> String {
        succeeded(&self.ran(arguments))
    }

    /// Returns the output of a run of `portcullis` with these arguments.
    pub(crate) fn ran(&self, arguments: &[&str]) -> Output {
        self.command(portcullis()).arg("--json").args(arguments).output().unwrap()
    }

    /// Returns the audit entries of a kind, oldest first. The whole log must be valid.
    pub(crate) fn recorded(&self, kind: &str) -> Vec<Value> {
        self.portcullis(&["audit", "verify"]);
        let shown = self.portcullis(&["audit", "show"]);
        let entries = shown.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        entries.filter(|entry| entry["kind"] == kind).collect()
    }

    /// Returns every recorded call: its tool and, once it has ended, its outcome. In the order of the decisions.
    pub(crate) fn calls(&self) -> Vec<(String, String)> {
        let outcomes = self.recorded("outcome");
        let call = |decision: Value| {
            let outcome = outcomes.iter().find(|outcome| outcome["call"] == decision["call"]);
            let outcome = outcome.map_or("running", |outcome| outcome["outcome"].as_str().unwrap());
            (decision["tool"].as_str().unwrap().to_owned(), outcome.to_owned())
        };
        self.recorded("decision").into_iter().map(call).collect()
    }

    /// Waits until no call runs any more. Returns all calls.
    pub(crate) fn settled(&self) -> Vec<(String, String)> {
        let began = Instant::now();
        loop {
            let calls = self.calls();
            if calls.iter().all(|(_, outcome)| outcome != "running") {
                return calls;
            }
            assert!(began.elapsed() < PATIENCE, "a call still runs: {calls:?}");
        }
    }

    /// Returns what the tools with effects have written.
    pub(crate) fn notes(&self) -> String {
        fs::read_to_string(self.path("desk/notes.txt")).unwrap_or_default()
    }
}

fn desk(site: &Site) -> String {
    format!("{:?}", site.path("desk"))
}

/// A running server. Stopped on drop.
pub(crate) struct Listening {
    child: Child,
    pub(crate) url: String,
    pub(crate) token: String,
}

impl Listening {
    fn start(mut command: Command, log: &Path, token: &Path) -> Self {
        command.stdout(Stdio::piped()).stderr(File::create(log).unwrap());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let said = serde_json::from_str::<Value>(&line);
        let said = said.unwrap_or_else(|error| panic!("{error}: {line:?} {}", fs::read_to_string(log).unwrap()));
        // A server without authentication creates no token.
        let token = fs::read_to_string(token).unwrap_or_default().trim().to_owned();
        Self { child, url: said["url"].as_str().unwrap().to_owned(), token }
    }

    /// Returns the server's port.
    pub(crate) fn port(&self) -> u16 {
        let authority = self.url.trim_start_matches("http://").split('/').next().unwrap();
        authority.rsplit(':').next().unwrap().parse().unwrap()
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        // The process may have exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the program.
pub(crate) fn portcullis() -> PathBuf {
    program().canonicalize().unwrap()
}

/// Returns something that `cargo xtask test` has installed.
pub(crate) fn installed(variable: &str) -> PathBuf {
    env::var_os(variable).map_or_else(|| panic!("{variable} is not set: run `cargo xtask test`"), PathBuf::from)
}

/// Returns the output of a program that must succeed.
#[track_caller]
pub(crate) fn succeeded(output: &Output) -> String {
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{}\n{out}\n{err}", output.status);
    out.into_owned()
}
