//! The live feed: readers of one state directory see the calls of every host that shares them, and cost them nothing.

#![allow(clippy::disallowed_methods, reason = "tests look at the files of a state directory")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot be set up has failed")]

use portcullis::live::{LiveCall, LiveEvent, LiveReader, LiveState};
use portcullis::{Answer, Host, Request, approver_fn};
use portcullis_tests::{Manifest, Site, allow_all, guest};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::timeout;

/// How long an event may take on a busy machine.
const EVENT_TIME_MAX: Duration = Duration::from_secs(20);

async fn next(reader: &mut LiveReader) -> LiveEvent {
    timeout(EVENT_TIME_MAX, reader.next()).await.expect("no event")
}

/// Returns the next change of a call for which this holds.
async fn call(reader: &mut LiveReader, is_it: impl Fn(&LiveCall) -> bool) -> LiveCall {
    loop {
        if let LiveEvent::Call(call) = next(reader).await
            && is_it(&call)
        {
            return call;
        }
    }
}

async fn begun(reader: &mut LiveReader) -> portcullis::live::LiveHost {
    loop {
        if let LiveEvent::Host(host) = next(reader).await {
            return host;
        }
    }
}

fn sockets(site: &Site) -> Vec<PathBuf> {
    fs::read_dir(site.state().join("live")).unwrap().map(|entry| entry.unwrap().path()).collect()
}

#[tokio::test]
async fn a_reader_sees_a_call_from_its_request_to_its_end() {
    let site = Site::new();
    let mut reader = LiveReader::open(site.state());
    let host = site.builder(&allow_all("")).share_live().open().await.unwrap();
    assert!(host.live_fault().is_none(), "{:?}", host.live_fault());
    assert_eq!(begun(&mut reader).await.pid, std::process::id());
    let arguments = r#"{"path":"src/main.rs","url":"https://u:pw@a.test/x?token=1","content":"c"}"#;
    let reply = host.call(Request::new("good.run", arguments).session("s").agent("a\u{1b}[2J")).await;
    let ended = call(&mut reader, |call| call.state == LiveState::Ended).await;
    assert_eq!(
        (ended.call.as_str(), ended.tool.as_str(), ended.session.as_str()),
        (reply.id.as_str(), "good.run", "s")
    );
    assert_eq!((ended.principal.as_str(), ended.agent.as_deref()), ("local", Some("a\u{1b}[2J")));
    let targets: Vec<_> = ended.targets.iter().collect();
    assert_eq!(targets, [("/path", "src/main.rs"), ("/url", "https://a.test/x")]);
    let end = ended.end.unwrap();
    assert_eq!((end.outcome.as_str(), end.code.as_str()), ("completed", "completed"));
    let dead = host.call(Request::new("good.nothing", "{}")).await;
    let ended = call(&mut reader, |call| call.call == dead.id && call.state == LiveState::Ended).await;
    assert_eq!(ended.end.unwrap().code, "unknown-tool");
    drop(host);
    loop {
        if let LiveEvent::Gone(_) = next(&mut reader).await {
            break;
        }
    }
    assert!(sockets(&site).is_empty());
}

/// A reader that comes later gets the calls under way, and none that has ended.
#[tokio::test]
async fn a_later_reader_gets_the_calls_under_way() {
    let site = Site::new();
    let release = Arc::new(Notify::new());
    let released = Arc::clone(&release);
    let approver = approver_fn(move |_| {
        let released = Arc::clone(&released);
        async move {
            released.notified().await;
            Answer::Yes
        }
    });
    let policy =
        "[[rule]]\ntool = \"asked.*\"\ndecision = \"ask\"\n[[rule]]\ntool = \"good.*\"\ndecision = \"allow\"\n";
    site.plugin("asked", &guest("good", &Manifest::of("asked")));
    let host = site.builder(policy).approver(approver).share_live().open().await.unwrap();
    let ended = host.call(Request::new("good.run", "{}")).await;
    let waiting = tokio::spawn({
        let host = host.clone();
        async move { host.call(Request::new("asked.run", "{}")).await }
    });
    let mut reader = LiveReader::open(site.state());
    begun(&mut reader).await;
    let seen = call(&mut reader, |call| {
        assert_ne!(call.call, ended.id, "this call has ended");
        call.state == LiveState::Waiting
    })
    .await;
    assert_eq!(seen.tool, "asked.run");
    release.notify_one();
    let reply = waiting.await.unwrap();
    let last = call(&mut reader, |call| call.state == LiveState::Ended).await;
    assert_eq!((last.call, last.end.unwrap().code), (reply.id, "completed".to_owned()));
}

/// Two hosts share one state directory, whose path is too long for the name of a socket. The leftover of a dead host is
/// removed, and no one else can enter the directory.
#[tokio::test]
async fn several_hosts_share_a_directory_with_a_long_path() {
    let site = Site::new();
    let state = site.directory(&"d".repeat(150)).join("state");
    let open = || Host::builder(site.plugins(), &state).compiler(portcullis::Compiler::InProcess).share_live();
    let open = async || open().policy_text(&allow_all(""), site.path("")).open().await.unwrap();
    let first = open().await;
    assert!(first.live_fault().is_none(), "{:?}", first.live_fault());
    let live = state.join("live");
    assert_eq!(fs::metadata(&live).unwrap().permissions().mode() & 0o777, 0o700);
    let leftover = live.join(format!("{}.sock", "0".repeat(32)));
    std::env::set_current_dir(&live).unwrap();
    drop(UnixListener::bind(leftover.file_name().unwrap()).unwrap());
    assert!(leftover.exists());
    let second = open().await;
    assert!(!leftover.exists());
    let mut reader = LiveReader::open(&state);
    assert_ne!(begun(&mut reader).await.id, begun(&mut reader).await.id);
    for host in [&first, &second] {
        let reply = host.call(Request::new("good.run", "{}")).await;
        call(&mut reader, |call| call.call == reply.id && call.state == LiveState::Ended).await;
    }
}

/// A directory that others can enter is not served from, and the host says so.
#[tokio::test]
async fn an_open_directory_is_not_served_from() {
    let site = Site::new();
    drop(site.builder("").open().await.unwrap());
    let live = site.directory("state/live");
    fs::set_permissions(&live, fs::Permissions::from_mode(0o755)).unwrap();
    let host = site.builder("").share_live().open().await.unwrap();
    assert!(host.live_fault().unwrap().to_string().contains("open to other users"));
    assert!(sockets(&site).is_empty());
}
