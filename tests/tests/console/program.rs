//! `portcullis console`, started as a user starts it.

use crate::console::desk::{POLICY, SignedIn};
use crate::guard::ask::{Ask, PATIENCE};
use portcullis_tests::{Site, program};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs;
use std::process::Stdio;
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};
use tokio::time::timeout;

/// A running console.
pub(crate) struct ConsoleProgram {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl ConsoleProgram {
    fn start(site: &Site, port: &str) -> Self {
        Self::start_with(site, port, &["--policy", "policy.toml"])
    }

    /// Starts a console with more options.
    pub(crate) fn start_with(site: &Site, port: &str, options: &[&str]) -> Self {
        let mut command = Command::new(program());
        command.args(["--json", "console", "--port", port]).env_clear().current_dir(site.path(""));
        command.args(["--plugins", "plugins", "--state", "state"]).args(options);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    async fn link(&mut self) -> String {
        let line = timeout(PATIENCE, self.lines.next_line()).await.unwrap().unwrap().expect("it did not start");
        let document: Value = serde_json::from_str(&line).unwrap();
        document["url"].as_str().unwrap().to_owned()
    }

    /// Signs a browser in.
    pub(crate) async fn sign_in(&mut self) -> SignedIn {
        let (address, path) = split(&self.link().await);
        let response = Ask::new("GET", &path).with("Host", &address.to_string()).send(address).await.is(200);
        let cookie = response.header("Set-Cookie").unwrap().split(';').next().unwrap().to_owned();
        SignedIn { address, cookie }
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_raw(self.child.id().unwrap().try_into().unwrap()).unwrap(), signal).unwrap();
    }
}

fn split(link: &str) -> (std::net::SocketAddr, String) {
    let rest = link.strip_prefix("http://").unwrap();
    let (address, path) = rest.split_once('/').unwrap();
    (address.parse().unwrap(), format!("/{path}"))
}

#[tokio::test]
async fn it_prints_a_link_and_another_at_a_signal_and_stops() {
    let site = Site::new();
    fs::write(
        site.path("policy.toml"),
        POLICY.replace("[plugin.files]\ndirectory.workspace = { path = \"work\", access = \"read-write\" }\n", ""),
    )
    .unwrap();
    let mut console = ConsoleProgram::start(&site, "0");
    let (address, path) = split(&console.link().await);
    assert!(address.ip().is_loopback());
    let response = Ask::new("GET", &path).with("Host", &address.to_string()).send(address).await.is(200);
    let cookie = response.header("Set-Cookie").unwrap().split(';').next().unwrap().to_owned();
    console.signal(Signal::USR1);
    let (again, other) = split(&console.link().await);
    assert!(again == address && other != path);
    let page = Ask::new("GET", "/tools").with("Host", &address.to_string()).with("Cookie", &cookie);
    assert!(page.send(address).await.is(200).body.contains("good"));
    console.signal(Signal::TERM);
    assert!(timeout(PATIENCE, console.child.wait()).await.unwrap().unwrap().success());
}

/// People must be able to answer even if the policy cannot be used.
#[tokio::test]
async fn it_starts_with_a_policy_that_cannot_be_used_and_says_why() {
    let site = Site::new();
    fs::write(site.path("policy.toml"), "[[rule]\n").unwrap();
    let mut console = ConsoleProgram::start(&site, "0");
    let (address, path) = split(&console.link().await);
    let host = address.to_string();
    let response = Ask::new("GET", &path).with("Host", &host).send(address).await.is(200);
    let cookie = response.header("Set-Cookie").unwrap().split(';').next().unwrap().to_owned();
    let get =
        async |target: &str| Ask::new("GET", target).with("Host", &host).with("Cookie", &cookie).send(address).await;
    assert!(get("/inbox").await.is(200).body.contains("Nothing waits for you."));
    assert!(get("/tools").await.is(200).body.contains("The host cannot open"));
    assert!(get("/policy").await.is(200).body.contains("The policy cannot be used"));
    fs::write(site.path("policy.toml"), "[defaults]\ndecision = \"ask\"\n").unwrap();
    assert!(get("/tools").await.is(200).body.contains("good"), "the next page tries again");
}

#[tokio::test]
async fn a_port_in_use_is_an_error_that_says_what_to_do() {
    let site = Site::new();
    fs::write(site.path("policy.toml"), "").unwrap();
    let mut console = ConsoleProgram::start(&site, "0");
    let (address, _) = split(&console.link().await);
    let mut second = ConsoleProgram::start(&site, &address.port().to_string());
    let error = timeout(PATIENCE, second.lines.next_line()).await.unwrap().unwrap().expect("an error is a document");
    assert!(error.contains("choose another port with --port"), "{error}");
    assert!(!timeout(PATIENCE, second.child.wait()).await.unwrap().unwrap().success());
}
