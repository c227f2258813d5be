//! `portcullis serve`, started as a user or another program starts it.

use crate::guard::ask::{Answer, Ask, PATIENCE};
use crate::guard::service::{MODERN, modern};
use portcullis_tests::{HeldWorker, Manifest, Site, guest, program, resident_of, slow_to_compile};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::net::TcpStream;
use tokio::process::{Child, ChildStderr, Command};
use tokio::time::timeout;

/// Turns the repetition check off, because the tests repeat one call.
pub(crate) const POLICY: &str = "[approvals]\nrepeats = 1000000\n[[rule]]\ntool = \"*.*\"\ndecision = \"allow\"\n";
const HELLO: &str = "good__run";

/// A user's site, with one plugin that loads and one that does not.
pub(crate) fn site() -> Site {
    let site = Site::new();
    fs::write(site.path("policy.toml"), POLICY).unwrap();
    site.plugin("broken", b"not a component");
    site.plugin("second", &guest("good", &Manifest::of("second")));
    site
}

pub(crate) fn command(site: &Site, arguments: &[&str]) -> Command {
    // Wait for plugins that are not compiled yet, unless a test says otherwise.
    let wait = if arguments.contains(&"--start-wait") { &[][..] } else { &["--start-wait", "60"] };
    portcullis_command(site, &[&["serve"], wait, arguments].concat())
}

fn portcullis_command(site: &Site, arguments: &[&str]) -> Command {
    let mut command = Command::new(program());
    command.args(arguments).env_clear().current_dir(site.path(""));
    command.args(["--plugins", "plugins", "--policy", "policy.toml", "--state", "state"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    command
}

/// A running server.
pub(crate) struct Serving {
    child: Child,
    /// Unread lines of standard error.
    said: Lines<BufReader<ChildStderr>>,
    pub(crate) address: SocketAddr,
    url: String,
    /// The address of the metrics, if the server has one.
    pub(crate) metrics: Option<SocketAddr>,
}

impl Serving {
    pub(crate) async fn start(site: &Site, arguments: &[&str]) -> Self {
        Self::start_with(site, arguments, &[]).await
    }

    /// Starts a server with these variables and no others.
    pub(crate) async fn start_with(site: &Site, arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let arguments = [&["--json", "--http", "127.0.0.1:0"][..], arguments].concat();
        let mut child = command(site, &arguments).envs(variables.iter().copied()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
        let line = timeout(PATIENCE, lines.next_line()).await.unwrap().unwrap().expect("it did not start");
        let document: Value = serde_json::from_str(&line).unwrap();
        let url = document["url"].as_str().unwrap().to_owned();
        let address = url.strip_prefix("http://").unwrap().strip_suffix("/mcp").unwrap().parse().unwrap();
        let said = BufReader::new(child.stderr.take().unwrap()).lines();
        let metrics = document["metrics"]
            .as_str()
            .map(|url| url.strip_prefix("http://").unwrap().strip_suffix("/metrics").unwrap().parse().unwrap());
        Self { child, said, address, url, metrics }
    }

    pub(crate) async fn call(&self, token: &str) -> Answer {
        self.call_tool(token, HELLO).await
    }

    pub(crate) async fn call_tool(&self, token: &str, tool: &str) -> Answer {
        self.ask(token, tool).send(self.address).await
    }

    /// Builds a call of a tool.
    pub(crate) fn ask(&self, token: &str, tool: &str) -> Ask {
        let message = modern("tools/call", json!({ "name": tool, "arguments": {} }));
        let ask = Ask::new("POST", "/mcp")
            .with("Host", &self.address.to_string())
            .with("Authorization", &format!("Bearer {token}"))
            .with("Accept", "application/json, text/event-stream")
            .with("Content-Type", "application/json")
            .with("MCP-Protocol-Version", MODERN)
            .with("Mcp-Method", "tools/call")
            .with("Mcp-Name", tool);
        ask.body(message.to_string())
    }

    /// Returns the server's memory in KiB.
    fn resident_kib(&self) -> u64 {
        resident_of(self.child.id().unwrap()) / 1024
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_raw(self.child.id().unwrap().cast_signed()).unwrap(), signal).unwrap();
    }

    /// Calls until the response has this status, because a change takes a moment to take effect.
    async fn until(&self, token: &str, status: u16) -> Answer {
        let changed = async {
            loop {
                let answer = self.call(token).await;
                if answer.status == status {
                    return answer;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        timeout(PATIENCE, changed).await.unwrap()
    }

    /// Reads the server's notes until a line contains these words. Later lines stay unread.
    pub(crate) async fn says(&mut self, words: &str) -> String {
        let said = async {
            loop {
                let line = self.said.next_line().await.unwrap().expect("it ended");
                if line.contains(words) {
                    return line;
                }
            }
        };
        timeout(PATIENCE, said).await.unwrap()
    }

    /// Returns the id of the server's process.
    pub(crate) fn process(&self) -> u32 {
        self.child.id().unwrap()
    }

    /// Interrupts the server as Ctrl-C does. Returns its exit status and the unread lines.
    pub(crate) async fn interrupt(self) -> (ExitStatus, String) {
        self.signal(Signal::INT);
        self.until_its_end().await
    }

    /// Waits until the server has ended. Returns its exit status and the unread lines.
    pub(crate) async fn until_its_end(mut self) -> (ExitStatus, String) {
        let output = async {
            let mut said = String::new();
            while let Some(line) = self.said.next_line().await.unwrap() {
                said += &line;
                said.push('\n');
            }
            (self.child.wait().await.unwrap(), said)
        };
        timeout(PATIENCE, output).await.unwrap()
    }
}

#[tokio::test]
async fn a_server_creates_a_private_token_and_prints_where_it_is() {
    let site = site();
    let serving = Serving::start(&site, &[]).await;
    let file = site.state().join("mcp-token");
    let (metadata, token) = (fs::metadata(&file).unwrap(), fs::read_to_string(&file).unwrap());
    let token = token.trim_end();
    assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
    assert_eq!(metadata.nlink(), 1);
    assert_eq!(token.len(), 43, "the token is not 256 bits in base64");
    serving.call("wrong-0123456789abcdef0123456789abcdef").await.is(401);
    let result = serving.call(token).await.is(200).last();
    assert!(result["result"]["content"].is_array(), "{result}");
    let url = serving.url.clone();
    let (status, said) = serving.interrupt().await;
    assert_eq!(status.code(), Some(0), "{said}");
    assert!(said.contains("serving ") && said.contains("1 plugin refused"), "{said}");
    assert!(said.contains(&url) && said.contains("state/mcp-token"), "{said}");
    assert!(!said.contains(token), "{said}");
    let again = Serving::start(&site, &[]).await;
    again.call(token).await.is(200);
    assert_eq!(fs::read_to_string(&file).unwrap().trim_end(), token);
}

#[tokio::test]
async fn a_token_file_that_others_can_read_is_not_used() {
    let site = site();
    drop(Serving::start(&site, &[]).await.interrupt().await);
    let file = site.state().join("mcp-token");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let output = command(&site, &["--http", "127.0.0.1:0"]).output().await.unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("mcp-token") && said.contains("other users can read it"), "{said}");
    assert!(!said.contains(fs::read_to_string(&file).unwrap().trim_end()), "{said}");
}

#[tokio::test]
async fn an_address_in_use_or_open_to_others_ends_the_server_with_the_reason() {
    let site = site();
    let serving = Serving::start(&site, &[]).await;
    let taken = serving.address.to_string();
    let rows = [
        (vec!["--http", taken.as_str()], "cannot listen on 127.0.0.1:"),
        (vec!["--http", "0.0.0.0:0"], "other machines can reach 0.0.0.0:0"),
        (vec!["--http", "127.0.0.1:0", "--token-file", "policy.toml"], "line 1"),
        (vec!["--http", "127.0.0.1:0", "--oauth-issuer", "x"], "--oauth-audience"),
        (vec!["--http", "127.0.0.1:0", "--no-auth", "--token-file", "x"], "cannot be used with"),
        (vec!["--stdio", "--http", "127.0.0.1:0"], "cannot be used with"),
        (vec!["--stdio", "--no-auth"], "cannot be used with"),
        (vec![], "required"),
        (vec!["--http", "127.0.0.1:0", "--allow-origin", "*"], "an origin is"),
    ];
    for (arguments, reason) in rows {
        let output = command(&site, &arguments).output().await.unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(reason), "{arguments:?}: {said}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
}

#[tokio::test]
async fn a_token_file_names_principals_and_no_auth_needs_no_token() {
    let site = site();
    let token = "ci-0123456789abcdef0123456789abcdef";
    fs::write(site.path("tokens"), format!("ci:{token}\n")).unwrap();
    fs::set_permissions(site.path("tokens"), fs::Permissions::from_mode(0o600)).unwrap();
    let serving = Serving::start(&site, &["--token-file", "tokens"]).await;
    serving.call(token).await.is(200);
    assert!(!site.state().join("mcp-token").exists());
    let (_, said) = serving.interrupt().await;
    assert!(!said.contains(token), "{said}");
    let serving = Serving::start(&site, &["--no-auth"]).await;
    serving.call("").await.is(200);
    let (_, said) = serving.interrupt().await;
    assert!(said.contains("anyone who can connect may call"), "{said}");
}

#[tokio::test]
async fn a_token_file_that_others_can_write_or_that_is_too_long_is_not_used() {
    let site = site();
    let token = "0123456789abcdef0123456789abcdef".to_owned();
    let long = format!("{token}\n#{}", "x".repeat(256 * 1024));
    for (text, mode, reason) in [(&token, 0o620, "other users can write to"), (&long, 0o600, "is longer than")] {
        fs::write(site.path("tokens"), text).unwrap();
        fs::set_permissions(site.path("tokens"), fs::Permissions::from_mode(mode)).unwrap();
        let arguments = ["--http", "127.0.0.1:0", "--token-file", "tokens"];
        let output = command(&site, &arguments).output().await.unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(reason), "{said}");
    }
}

#[tokio::test]
async fn a_key_set_serves_with_its_good_keys_and_reports_the_others() {
    let site = site();
    let issuer = ["--oauth-issuer", "https://login.example.org", "--oauth-audience", "https://tools.example.org/mcp"];
    let arguments = [&issuer[..], &["--oauth-keys", "keys.json"]].concat();
    let (x, d) = ("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo", "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A");
    let good = json!({ "kty": "OKP", "kid": "good", "crv": "Ed25519", "x": x, "d": d });
    let odd = json!({ "kty": "oct", "kid": "odd\u{1b}[2J", "k": "c2VjcmV0" });
    fs::write(site.path("keys.json"), json!({ "keys": [odd, good] }).to_string()).unwrap();
    let (_, said) = Serving::start(&site, &arguments).await.interrupt().await;
    assert!(said.contains("key 1 (") && said.contains("is not used") && !said.contains("\u{1b}[2J"), "{said}");
    assert!(said.contains("key 2 (\"good\") is published with its private half"), "{said}");
    assert!(!said.contains(d) && !said.contains("c2VjcmV0"), "{said}");
    fs::write(site.path("keys.json"), json!({ "keys": [odd] }).to_string()).unwrap();
    let output = command(&site, &[&["--http", "127.0.0.1:0"], &arguments[..]].concat()).output().await.unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("none of its keys can be used") && said.contains("shared secret"), "{said}");
}

#[tokio::test]
async fn a_token_that_is_removed_from_its_file_no_longer_gives_access() {
    let site = site();
    let (old, new) = ("old-0123456789abcdef0123456789abcdef", "new-0123456789abcdef0123456789abcdef");
    let write = |text: &str| {
        fs::write(site.path("tokens.new"), text).unwrap();
        fs::set_permissions(site.path("tokens.new"), fs::Permissions::from_mode(0o600)).unwrap();
        fs::rename(site.path("tokens.new"), site.path("tokens")).unwrap();
    };
    write(old);
    let mut serving = Serving::start(&site, &["--token-file", "tokens"]).await;
    serving.call(old).await.is(200);
    write(new);
    serving.until(new, 200).await;
    serving.call(old).await.is(401);
    serving.says("reloaded tokens").await;
    // A hangup reloads the file even if it has not changed.
    serving.signal(Signal::HUP);
    serving.says("reloaded tokens").await;
    // A broken file neither removes nor adds tokens.
    write("short");
    assert!(serving.says("cannot be used").await.contains("tokens"));
    serving.call(new).await.is(200);
    serving.call("short").await.is(401);
    fs::remove_file(site.path("tokens")).unwrap();
    serving.says("cannot be used").await;
    serving.call(new).await.is(200);
}

/// Maximum growth of the server during a flood, in KiB: 48 for each of 512 connections. What the server reads of a
/// connection before authentication is a third of that.
const FLOOD_KIB_MAX: u64 = 512 * 48;

#[tokio::test]
async fn repeated_connections_without_a_token_use_little_memory() {
    let site = site();
    let serving = Serving::start(&site, &[]).await;
    serving.call("wrong").await.is(401);
    let before = serving.resident_kib();
    let headers = format!("POST /mcp HTTP/1.1\r\n{}", format!("X-Large: {}\r\n", "a".repeat(1000)).repeat(60));
    for _ in 0..3 {
        let mut open = Vec::new();
        for _ in 0..512 {
            let mut stream = TcpStream::connect(serving.address).await.unwrap();
            // The server may reject the headers before it has read them all.
            let _ = stream.write_all(headers.as_bytes()).await;
            open.push(stream);
        }
        // When this is answered, the server has read every earlier connection.
        serving.call("wrong").await.is(401);
        let grown = serving.resident_kib().saturating_sub(before);
        assert!(grown <= FLOOD_KIB_MAX, "{grown} KiB");
    }
}

#[tokio::test]
async fn a_hangup_reloads_the_policy_and_the_server_keeps_running() {
    let site = site();
    let mut serving = Serving::start(&site, &["--no-auth"]).await;
    let is_error = |answer: Answer| answer.is(200).last()["result"]["isError"] == true;
    assert!(!is_error(serving.call("").await));
    serving.signal(Signal::HUP);
    serving.says("the policy did not change").await;
    fs::write(site.path("policy.toml"), POLICY.replace("allow", "deny")).unwrap();
    serving.signal(Signal::HUP);
    serving.says("is in force").await;
    assert!(is_error(serving.call("").await));
    fs::write(site.path("policy.toml"), "rule]").unwrap();
    serving.says("cannot be used").await;
    assert!(is_error(serving.call("").await));
    let output = portcullis_command(&site, &["explain", "good.run", "{}"]).output().await.unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("a running server keeps its current policy"), "{said}");
    let (status, _) = serving.interrupt().await;
    assert_eq!(status.code(), Some(0));
}

/// This includes a plugin that is added to the directory of a running server.
#[tokio::test]
async fn compiling_a_plugin_blocks_neither_clients_nor_shutdown() {
    let site = site();
    drop(Serving::start(&site, &["--no-auth"]).await.interrupt().await);
    site.plugin("slow", &slow_to_compile(&Manifest::of("slow")));
    let mut serving = Serving::start(&site, &["--no-auth", "--start-wait", "0"]).await;
    let worker = HeldWorker::of(serving.child.id().unwrap());
    assert_eq!(serving.call("").await.is(200).last()["result"]["isError"], false);
    let refused = serving.call_tool("", "slow__run").await.is(200).last();
    assert_eq!(refused["result"]["_meta"]["portcullis/code"], "plugin-loading", "{refused}");
    worker.release();
    serving.says("slow is ready after").await;
    assert_eq!(serving.call_tool("", "slow__run").await.is(200).last()["result"]["isError"], false);

    site.plugin("slower", &slow_to_compile(&Manifest::of("slower")));
    let worker = HeldWorker::of(serving.child.id().unwrap());
    assert!(serving.says("compiling").await.ends_with("compiling slower"));
    assert_eq!(serving.call("").await.is(200).last()["result"]["isError"], false);
    let (status, said) = serving.interrupt().await;
    assert_eq!(status.code(), Some(0), "{said}");
    worker.has_ended();
}

#[tokio::test]
async fn over_pipes_stdout_carries_only_messages_and_eof_on_stdin_stops_the_server() {
    let site = site();
    let mut child = command(&site, &["--stdio"]).spawn().unwrap();
    let client = json!({ "name": "test", "version": "1" });
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    let messages = [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": HELLO, "arguments": {} } }),
    ];
    let mut input = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    for message in &messages {
        input.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }
    for id in [1, 2] {
        let line = timeout(PATIENCE, lines.next_line()).await.unwrap().unwrap().unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert!(answer["id"] == id && answer["result"].is_object(), "{answer}");
    }
    drop(input);
    let output = timeout(PATIENCE, child.wait_with_output()).await.unwrap().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert_eq!(timeout(PATIENCE, lines.next_line()).await.unwrap().unwrap(), None);
    assert!(said.contains("serving ") && said.contains("1 plugin refused"), "{said}");
}

#[tokio::test]
async fn the_calls_of_one_principal_in_a_second_are_an_option() {
    let site = site();
    let serving = Serving::start(&site, &["--no-auth", "--calls-per-second", "1", "--calls-burst", "2"]).await;
    let mut statuses = Vec::new();
    // One call per second is allowed, so a slow machine may need several rounds.
    while !statuses.contains(&429) && statuses.len() < 100 {
        statuses.push(serving.call("").await.status);
    }
    assert_eq!((statuses[..2].to_vec(), statuses.last()), (vec![200, 200], Some(&429)));
    let serving = Serving::start(&site, &["--no-auth"]).await;
    for _ in 0..10 {
        assert_eq!(serving.call("").await.status, 200);
    }
}
