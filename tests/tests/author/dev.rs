//! `portcullis dev` on a real project: a change is built and served, a broken one is shown while the old plugin serves,
//! and calls of other processes are told as they end.

use portcullis_tests::{Ran, program};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long a build may take: the first one compiles what the plugin depends on, on a machine that does other things.
const BUILD_TIME_MAX: Duration = Duration::from_secs(300);

/// A project, and `portcullis dev` in it.
struct Author {
    folder: TempDir,
    child: Child,
    events: Receiver<Value>,
}

impl Author {
    /// Begins a project in Rust and works on it.
    fn begin() -> Self {
        let folder = TempDir::new().unwrap();
        let made = command(folder.path()).args(["new", "hello", "--lang", "rust"]).output().unwrap();
        Ran::from(made).ends(0);
        let project = folder.path().join("hello");
        let mut command = command(&project);
        command.args(["dev", "--http", "127.0.0.1:0", "--json"]).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let (sender, events) = mpsc::channel();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let _ = sender.send(serde_json::from_str(&line).unwrap());
            }
        });
        Self { folder, child, events }
    }

    fn project(&self) -> PathBuf {
        self.folder.path().join("hello")
    }

    /// The next event of a kind. Those before it are of no interest.
    #[track_caller]
    fn next(&self, kind: &str) -> Value {
        let deadline = Instant::now() + BUILD_TIME_MAX;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let event = self.events.recv_timeout(left).unwrap_or_else(|_| panic!("no event {kind} came"));
            if event["event"] == kind {
                return event;
            }
            assert!(!(kind == "built" && event["event"] == "build-failed"), "{event:#}");
        }
    }

    /// Calls the tool from another process.
    fn call(&self, arguments: &str) -> Ran {
        let call = ["call", "hello.greet", arguments, "--policy", "portcullis.toml", "--json"];
        command(&self.project()).args(call).output().unwrap().into()
    }

    #[track_caller]
    fn greets(&self, greeting: &str) {
        let reply = self.call(r#"{"name":"Ada"}"#).ends(0).document();
        assert_eq!(reply["output"]["text"], greeting, "{reply:#}");
        let call = self.next("call");
        assert_eq!((&call["tool"], &call["outcome"]), (&"hello.greet".into(), &"completed".into()), "{call:#}");
    }

    fn change(&self, change: impl FnOnce(&str) -> String) {
        let source = self.project().join("src/lib.rs");
        let text = fs::read_to_string(&source).unwrap();
        fs::write(source, change(&text)).unwrap();
    }
}

impl Drop for Author {
    fn drop(&mut self) {
        // It has ended already, unless the test failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The program in a folder, with the caches of whoever runs the tests and a state of its own.
fn command(folder: &Path) -> Command {
    let mut command = Command::new(program());
    let state = folder.ancestors().find(|folder| folder.join("hello").is_dir()).unwrap_or(folder).join("state");
    command.current_dir(folder).env("PORTCULLIS_STATE", state).env_remove("PORTCULLIS_POLICY");
    command.env_remove("PORTCULLIS_PLUGINS").stdin(Stdio::null());
    command
}

#[test]
fn a_change_is_built_and_served_and_a_broken_one_is_shown() {
    let mut author = Author::begin();
    author.next("built");
    let url = author.next("serving")["url"].as_str().unwrap().to_owned();
    assert!(url.starts_with("http://127.0.0.1:") && url.ends_with("/mcp"), "{url}");
    author.greets("Hello, Ada!");

    author.change(|text| text.replace("Hello, ", "Good day, "));
    author.next("built");
    author.greets("Good day, Ada!");

    author.change(|text| text.replace("Good day, ", "Good night, ") + "\nfn broken( {\n");
    let failed = author.next("build-failed");
    assert!(!failed["error"].as_str().unwrap().is_empty(), "{failed:#}");
    author.greets("Good day, Ada!");

    author.change(|text| text.replace("\nfn broken( {\n", ""));
    author.next("built");
    author.greets("Good night, Ada!");

    let wrong = author.call(r#"{"nam":"Ada"}"#).ends(6).document();
    assert_eq!(wrong["code"], "invalid-arguments");
    assert_eq!(author.next("call")["code"], "invalid-arguments");

    // A policy that has changed is the one that counts; one that is wrong is not taken.
    let policy = author.project().join("portcullis.toml");
    fs::write(&policy, "[[rule]]\ntool = 1\n").unwrap();
    assert!(author.next("not-opened")["error"].as_str().unwrap().contains("portcullis.toml"));
    fs::write(&policy, "[[rule]]\ntool = \"*.*\"\ndecision = \"deny\"\nreason = \"no more\"\n").unwrap();
    author.next("serving");
    author.call(r#"{"name":"Ada"}"#).ends(3);
    let denied = author.next("call");
    assert!(denied["message"].as_str().unwrap().contains("no more"), "{denied:#}");

    let pid = rustix::process::Pid::from_child(&author.child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert_eq!(author.child.wait().unwrap().code(), Some(0));
}
