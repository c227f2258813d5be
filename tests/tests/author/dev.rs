//! `portcullis dev` on a real project: a change is built and served, a broken change is reported while the old plugin
//! serves, and calls of other processes are shown as they end. The project is in C, because it builds quickly.

use crate::schema::assert_valid;
use portcullis_tests::{HeldWorker, Manifest, Ran, eventually, has_exited, program, slow_to_compile};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Timeout of a build. The first one compiles the plugin's dependencies, perhaps on a busy machine.
const BUILD_TIME_MAX: Duration = Duration::from_secs(120);

/// Timeout for the program to stop what it has started: much less than the started work would take.
const END_TIME_MAX: Duration = Duration::from_secs(10);

/// A project, and `portcullis dev` running in it.
struct Author {
    folder: TempDir,
    child: Child,
    events: Receiver<Value>,
}

impl Author {
    /// Starts `portcullis dev` in a project.
    fn begin() -> Self {
        Self::work_in(project("c"))
    }

    fn work_in(folder: TempDir) -> Self {
        let mut command = command(&folder.path().join("hello"));
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

    /// Returns the next event of a kind, and skips other events.
    #[track_caller]
    fn next(&self, kind: &str) -> Value {
        let deadline = Instant::now() + BUILD_TIME_MAX;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let event = self.events.recv_timeout(left).unwrap_or_else(|_| panic!("no event {kind} came"));
            assert_valid("dev", &event);
            if event["event"] == kind {
                return event;
            }
            assert!(!(kind == "built" && event["event"] == "build-failed"), "{event:#}");
        }
    }

    /// Calls the tool from another process.
    fn call(&self, arguments: &str) -> Ran {
        self.call_tool("hello.greet", arguments)
    }

    fn call_tool(&self, tool: &str, arguments: &str) -> Ran {
        let call = ["call", tool, arguments, "--policy", "portcullis.toml", "--json"];
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
        let source = self.project().join("src/plugin.c");
        let text = fs::read_to_string(&source).unwrap();
        fs::write(source, change(&text)).unwrap();
    }

    /// Sends SIGINT as Ctrl-C does, and waits for the exit.
    fn interrupt(&mut self) -> ExitStatus {
        signal(&self.child, rustix::process::Signal::INT);
        end_of(&mut self.child)
    }
}

impl Drop for Author {
    fn drop(&mut self) {
        // The process has exited already, unless the test failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Creates a new project in its own folder.
fn project(language: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    let made = command(folder.path()).args(["new", "hello", "--lang", language]).output().unwrap();
    Ran::from(made).ends(0);
    folder
}

fn signal(child: &Child, signal: rustix::process::Signal) {
    rustix::process::kill_process(rustix::process::Pid::from_child(child), signal).unwrap();
}

/// Waits until a program that was told to stop has exited.
#[track_caller]
fn end_of(child: &mut Child) -> ExitStatus {
    let deadline = Instant::now() + END_TIME_MAX;
    loop {
        match child.try_wait().unwrap() {
            Some(status) => return status,
            None if Instant::now() > deadline => {
                child.kill().unwrap();
                panic!("the program keeps running");
            }
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    }
}

/// Returns the program's command in a folder, with the tester's caches and its own state.
fn command(folder: &Path) -> Command {
    let mut command = Command::new(program());
    let state = folder.ancestors().find(|folder| folder.join("hello").is_dir()).unwrap_or(folder).join("state");
    command.current_dir(folder).env("PORTCULLIS_STATE", state).env_remove("PORTCULLIS_POLICY");
    command.env_remove("PORTCULLIS_PLUGINS").stdin(Stdio::null());
    command
}

#[test]
fn a_change_is_built_and_served_and_a_broken_change_is_reported() {
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

    // A changed policy takes effect. An invalid one is rejected.
    let policy = author.project().join("portcullis.toml");
    fs::write(&policy, "[[rule]]\ntool = 1\n").unwrap();
    assert!(author.next("not-opened")["error"].as_str().unwrap().contains("portcullis.toml"));
    fs::write(&policy, "[[rule]]\ntool = \"*.*\"\ndecision = \"deny\"\nreason = \"no more\"\n").unwrap();
    author.next("serving");
    author.call(r#"{"name":"Ada"}"#).ends(3);
    let denied = author.next("call");
    assert!(denied["message"].as_str().unwrap().contains("no more"), "{denied:#}");

    assert_eq!(author.interrupt().code(), Some(0));
}

#[test]
fn the_old_plugin_serves_after_a_refusal_and_a_renamed_plugin_is_followed() {
    let mut author = Author::begin();
    author.next("serving");
    author.greets("Hello, Ada!");
    author.change(|text| text.replace("\"hello\"", "\"other\"").replace("Hello, ", "Good day, "));
    let refused = author.next("refused");
    assert!(refused["error"].as_str().unwrap().contains("other"), "{refused:#}");
    author.greets("Hello, Ada!");

    // A new policy applies to the old plugin too, and the refused one is tried again under it.
    let policy = author.project().join("portcullis.toml");
    fs::write(&policy, "[[rule]]\ntool = \"*.*\"\ndecision = \"allow\"\n").unwrap();
    author.next("serving");
    author.next("refused");
    author.greets("Hello, Ada!");

    let file = author.project().join("plugin.toml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("hello", "other")).unwrap();
    assert!(author.next("built")["file"].as_str().unwrap().ends_with("/plugins/other.wasm"));
    let reply = author.call_tool("other.greet", r#"{"name":"Ada"}"#).ends(0).document();
    assert_eq!(reply["output"]["text"], "Good day, Ada!");
    assert_eq!(author.next("call")["tool"], "other.greet");

    // A deleted file is built again. From a folder that others can write to, nothing is loaded.
    let plugins = author.project().join("plugins");
    fs::remove_dir_all(&plugins).unwrap();
    author.next("built");
    author.call_tool("other.greet", r#"{"name":"Ada"}"#).ends(0);
    author.next("call");
    fs::rename(&plugins, author.project().join("target")).unwrap();
    fs::create_dir(&plugins).unwrap();
    fs::set_permissions(&plugins, fs::Permissions::from_mode(0o777)).unwrap();
    let error = author.next("not-loaded");
    assert!(error["error"].as_str().unwrap().contains("open to other users"), "{error:#}");
    assert_eq!(author.interrupt().code(), Some(0));
}

#[test]
fn an_interrupt_is_handled_while_the_host_compiles() {
    let folder = project("c");
    let plugins = folder.path().join("hello/plugins");
    fs::create_dir(&plugins).unwrap();
    fs::write(plugins.join("slow.wasm"), slow_to_compile(&Manifest::of("slow"))).unwrap();
    let mut author = Author::work_in(folder);
    author.next("built");
    let worker = HeldWorker::of(author.child.id());
    assert_eq!(author.interrupt().code(), Some(0));
    worker.has_ended();
}

#[test]
fn a_compiler_is_stopped_with_the_command_that_started_it() {
    let folder = project("typescript");
    let tools = folder.path().join("tools");
    fs::create_dir(&tools).unwrap();
    // A compiler that starts another program, as compilers do.
    fs::write(
        tools.join("node"),
        "#!/bin/sh\nsleep 300 &\necho $! >\"$STARTED.new\"\nmv \"$STARTED.new\" \"$STARTED\"\nwait\n",
    )
    .unwrap();
    fs::set_permissions(tools.join("node"), fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap());
    let commands: [(&[&str], _); 3] =
        [(&["build"], Some(2)), (&["test"], Some(2)), (&["dev", "--http", "127.0.0.1:0"], Some(0))];
    for (arguments, code) in commands {
        let started = folder.path().join(arguments[0]);
        let mut command = command(&folder.path().join("hello"));
        command.args(arguments).env("PATH", &path).env("STARTED", &started).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let id: i32 = eventually("the compiler", || fs::read_to_string(&started).ok()).trim().parse().unwrap();
        signal(&child, rustix::process::Signal::TERM);
        assert_eq!(end_of(&mut child).code(), code, "{arguments:?}");
        eventually("the end of the compiler", || has_exited(id).then_some(()));
    }
}

#[test]
fn another_plugin_directory_is_refused() {
    let folder = project("c");
    let ran: Ran = command(&folder.path().join("hello")).args(["dev", "--plugins", "x"]).output().unwrap().into();
    ran.ends(2);
}

#[test]
fn a_build_prints_a_valid_document() {
    let folder = project("c");
    let project = folder.path().join("hello");
    let ran: Ran = command(&project).args(["build", "--json"]).output().unwrap().into();
    let document = ran.ends(0).document();
    assert_valid("build", &document);
    assert_eq!(document["name"], "hello");
    fs::write(project.join("src/plugin.c"), "no C").unwrap();
    let ran: Ran = command(&project).args(["build", "--json"]).output().unwrap().into();
    let document = ran.ends(2).document();
    assert_valid("error", &document);
    assert_eq!(document["error"]["code"], "build-failed", "{document:#}");
}
