//! A server that works for a long time on calls of every kind has as many handles, threads and bytes as before.

use crate::guard::ask::{Ask, PATIENCE};
use crate::guard::http::{Serving, site};
use crate::guard::service::{LEGACY, legacy_call, modern};
use portcullis_tests::{Manifest, Site, guest, resident_of};
use serde_json::{Value, json};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};
use std::{env, fs};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

/// The variable with the seconds of a run, for longer ones.
const SECONDS: &str = "PORTCULLIS_TEST_SOAK";

/// The seconds of a usual run, which costs as many of a processor.
const SECONDS_USUAL: u64 = 20;

/// The pause of each client between two rounds. The machine has other tests to run.
const PAUSE: Duration = Duration::from_millis(100);

/// Rounds of each client before the server is measured. Pools, caches and the allocator have filled by then.
const ROUNDS_BEFORE: usize = 40;

/// Maximum growth of the server's memory, in bytes. An allocator that is used by several threads varies by some
/// mebibytes. 12 KiB kept for each call would be more after 20 seconds, and 64 bytes after an hour.
const GROWTH_BYTES_MAX: u64 = 12 * 1024 * 1024;

/// How many handles more the server may have: those of a reload that looks at the files at that moment. A handle that
/// is kept for each change would be ten after 20 seconds, and one for each call hundreds.
const HANDLES_MORE_MAX: usize = 4;

/// How long an idle server takes to end the threads that it no longer needs. The runtime keeps them for 10 s.
const IDLE_TIME: Duration = Duration::from_secs(12);

/// How long the server may take to have what it had before.
const IDLE_TIME_MAX: Duration = Duration::from_secs(40);

/// Calls that end in every way, with a time limit that one of them exceeds.
const POLICY: &str = "[approvals]\nrepeats = 1000000\n[limits]\ntime = \"300 ms\"\nmemory = \"32 MiB\"\n\
    [[rule]]\ntool = \"*.*\"\ndecision = \"allow\"\n[[rule]]\ntool = \"exit-one.*\"\ndecision = \"deny\"\n";

/// The guests, which answer, trap, wait, hoard, write, print and are denied.
const GUESTS: [&str; 8] = [
    "json-echo",
    "trap-on-demand",
    "sleep-in-execute",
    "memory-growth",
    "long-text",
    "log-flood",
    "exit-one",
    "string-not-utf8",
];

const TOKEN: &str = "soak-0123456789abcdef0123456789abcdef";

/// What a process has at one time.
#[derive(Debug)]
struct Held {
    /// What each handle is of.
    handles: Vec<String>,
    threads: usize,
    resident: u64,
}

impl Held {
    fn by(process: u32) -> Self {
        let entries = |kind: &str| fs::read_dir(format!("/proc/{process}/{kind}")).unwrap().flatten();
        // A handle may be closed meanwhile.
        let mut handles: Vec<String> = entries("fd")
            .filter_map(|entry| fs::read_link(entry.path()).ok())
            .map(|target| target.display().to_string())
            .collect();
        handles.sort();
        Self { handles, threads: entries("task").count(), resident: resident_of(process) }
    }

    /// Returns whether nothing was kept since an earlier time.
    fn is_back_at(&self, before: &Self) -> bool {
        self.handles.len() <= before.handles.len() + HANDLES_MORE_MAX
            && self.threads <= before.threads
            && self.resident <= before.resident + GROWTH_BYTES_MAX
    }
}

/// Opens a session, calls in it and ends it.
async fn use_session(serving: &Serving) {
    let post = |message: &Value| {
        let ask = serving.ask(TOKEN, "json-echo__run").without("Mcp-Method").without("Mcp-Name");
        ask.having("MCP-Protocol-Version", LEGACY).body(message.to_string())
    };
    let client = json!({ "name": "soak", "version": "1" });
    let params = json!({ "protocolVersion": LEGACY, "capabilities": {}, "clientInfo": client });
    let initialize = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
    let session = post(&initialize).send(serving.address).await.is(200).header("Mcp-Session-Id").unwrap().to_owned();
    let in_session = |ask: Ask| ask.with("Mcp-Session-Id", &session);
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    in_session(post(&initialized)).send(serving.address).await.is(202);
    in_session(post(&legacy_call(1, "json-echo__run"))).send(serving.address).await.is(200);
    let end = Ask::new("DELETE", "/mcp").with("Host", &serving.address.to_string());
    let end = end.with("Authorization", &format!("Bearer {TOKEN}")).with("MCP-Protocol-Version", LEGACY);
    let ended = in_session(end).send(serving.address).await;
    assert!(ended.status < 300, "{ended:?}");
}

/// Does what clients do: lists, calls, leaves calls, sends nonsense and opens sessions.
async fn round(serving: &Serving) {
    let list = modern("tools/list", json!({}));
    let ask = serving.ask(TOKEN, "json-echo__run").without("Mcp-Name").having("Mcp-Method", "tools/list");
    ask.body(list.to_string()).send(serving.address).await.is(200);
    for guest in GUESTS {
        serving.call_tool(TOKEN, &format!("{guest}__run")).await.is(200);
    }
    serving.call_tool("wrong", "json-echo__run").await.is(401);
    serving.call_tool(TOKEN, "nobody__run").await;
    let nonsense = serving.ask(TOKEN, "json-echo__run").body("{\"jsonrpc\":".to_owned());
    nonsense.send(serving.address).await.is(400);
    // A client that goes away in the middle of its call.
    let mut stream = TcpStream::connect(serving.address).await.unwrap();
    stream.write_all(&serving.ask(TOKEN, "sleep-in-execute__run").bytes()).await.unwrap();
    sleep(Duration::from_millis(20)).await;
    drop(stream);
    use_session(serving).await;
}

/// Lets clients work until each has done enough. Returns the number of their rounds.
async fn work(serving: &Serving, is_enough: impl Fn(usize) -> bool) -> usize {
    let client = async || {
        let mut done = 0;
        while !is_enough(done) {
            timeout(PATIENCE, round(serving)).await.unwrap();
            done += 1;
            sleep(PAUSE).await;
        }
        done
    };
    let (one, two, three) = tokio::join!(client(), client(), client());
    one + two + three
}

/// Returns what the server has when it is idle, at the latest when it has no more than before.
async fn idle(serving: &Serving, before: Option<&Held>) -> Held {
    let begun = Instant::now();
    sleep(IDLE_TIME).await;
    loop {
        let held = Held::by(serving.process());
        let is_done = before.is_none_or(|before| held.is_back_at(before));
        if is_done || begun.elapsed() > IDLE_TIME_MAX {
            return held;
        }
        sleep(Duration::from_secs(1)).await;
    }
}

/// Changes a plugin and the policy, as their owners do.
fn change(site: &Site, number: usize) {
    let manifest = Manifest::of("json-echo").tool(|tool| tool.description = format!("Echoes {}.", number % 4));
    site.plugin("json-echo.new", &guest("json-echo", &manifest));
    fs::rename(site.plugins().join("json-echo.new.wasm"), site.plugins().join("json-echo.wasm")).unwrap();
    fs::write(site.path("policy.new"), format!("{POLICY}# {number}\n")).unwrap();
    fs::rename(site.path("policy.new"), site.path("policy.toml")).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_has_worked_has_what_it_had() {
    let seconds = env::var(SECONDS).map_or(SECONDS_USUAL, |seconds| seconds.parse().unwrap());
    let site = site();
    fs::write(site.path("policy.toml"), POLICY).unwrap();
    fs::write(site.path("tokens"), format!("soak:{TOKEN}\n")).unwrap();
    fs::set_permissions(site.path("tokens"), Permissions::from_mode(0o600)).unwrap();
    for name in GUESTS {
        site.plugin(name, &guest(name, &Manifest::of(name)));
    }
    site.compile();
    let serving = Serving::start(&site, &["--token-file", "tokens"]).await;
    work(&serving, |done| done == ROUNDS_BEFORE).await;
    let before = idle(&serving, None).await;
    let begun = Instant::now();
    let changes = async {
        let mut number = 0;
        while begun.elapsed() < Duration::from_secs(seconds) {
            sleep(Duration::from_secs(2)).await;
            change(&site, number);
            number += 1;
        }
    };
    let (rounds, ()) = tokio::join!(work(&serving, |_| begun.elapsed() >= Duration::from_secs(seconds)), changes);
    assert!(rounds > 10, "{rounds} rounds");
    let after = idle(&serving, Some(&before)).await;
    assert!(after.is_back_at(&before), "after {rounds} rounds: {after:#?}, before {before:#?}");
    let (status, said) = serving.interrupt().await;
    assert_eq!(status.code(), Some(0), "{said}");
}
