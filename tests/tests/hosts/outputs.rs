//! An output that one host keeps can be read on another, and only by its session and principal. No one else can change
//! what a reader sees.

use super::fleet::{DATABASE, Fleet};
use crate::mcp::wire::{self, Era, OPEN};
use crate::outputs::desk::{LOCAL, all_lines, bytes_of, call, lines, policy, read_on, reference, text};
use portcullis::outputs::{OutputError, Reader};
use portcullis::policy::Principal;
use portcullis::state::{OutputsAddress, PostgresAddress, StatePlace};
use portcullis::text::WithCauses;
use portcullis::{Code, Compiler, Host, HostBuilder, Request};
use portcullis_tests::{built_guest, program};
use portcullis_tests_postgres::query_ledger;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Lines of an output with a part and a half: one part is in the database, and the rest can be elsewhere.
const LARGE: u64 = 24 * 1024;

/// Lines of an output with one part.
const SMALL: u64 = 1000;

/// Where large outputs are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Large {
    Database,
    Directory,
}

const PLACES: [Large; 2] = [Large::Database, Large::Directory];

/// Several hosts with a tool that writes much.
struct Offices {
    fleet: Fleet,
    large: Large,
}

impl Offices {
    fn new(large: Large) -> Option<Self> {
        let fleet = Fleet::new()?;
        fleet.desk.site.plugin("scribe", &built_guest("output"));
        fleet.desk.site.directory("shared");
        Some(Self { fleet, large })
    }

    fn shared(&self) -> PathBuf {
        self.fleet.desk.site.path("shared")
    }

    fn builder(&self, host: usize) -> HostBuilder {
        self.fleet.desk.site.compile_for(&self.fleet.state(host));
        let place = match self.large {
            Large::Database => self.fleet.place(host),
            Large::Directory => self.fleet.place(host).outputs_in(OutputsAddress::Directory(self.shared())),
        };
        let builder = Host::builder(self.fleet.desk.site.plugins(), place).compiler(Compiler::InProcess).calls(4);
        builder.policy_text(&policy(), self.fleet.desk.root())
    }

    async fn open(&self, host: usize) -> Host {
        self.builder(host).open().await.unwrap()
    }

    /// Runs a statement on the database, and returns its answer.
    fn query(&self, statement: &str) -> String {
        query_ledger(self.fleet.server.port(), DATABASE, statement).unwrap().trim().to_owned()
    }

    /// Returns the program on this host, with the places of the fleet.
    fn command(&self, host: usize, arguments: &[&str]) -> Command {
        let site = &self.fleet.desk.site;
        self.fleet.desk.site.compile_for(&self.fleet.state(host));
        fs::write(site.path("policy.toml"), policy()).unwrap();
        let mut command = Command::new(program());
        command.args(arguments).current_dir(site.path("")).env_clear().env("HOME", site.path("home"));
        command.arg("--plugins").arg(site.plugins()).arg("--policy").arg(site.path("policy.toml"));
        command.arg("--state").arg(self.fleet.state(host)).arg("--state").arg(self.fleet.address());
        command.arg("--ledger-key").arg(self.fleet.key());
        if self.large == Large::Directory {
            command.arg("--outputs").arg(self.shared());
        }
        command
    }

    /// Returns the folders of outputs with parts outside of the database.
    fn folders(&self) -> Vec<PathBuf> {
        let entries =
            |path: &Path| -> Vec<PathBuf> { fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect() };
        entries(&self.shared()).iter().flat_map(|ledger| entries(ledger)).collect()
    }
}

fn local(session: &str) -> Reader<'_> {
    Reader { session, principal: &LOCAL }
}

async fn keep_in(host: &Host, session: &str, count: u64) -> String {
    let arguments = json!({ "count": count, "bytes": 64 }).to_string();
    reference(&host.call(Request::new("scribe.lines", arguments).session(session)).await)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_output_of_one_host_is_read_on_another() {
    for large in PLACES {
        let Some(offices) = Offices::new(large) else { return };
        let (first, second) = (offices.open(1).await, offices.open(2).await);
        let short = lines(&first, SMALL).await;
        assert_eq!(read_on(&second, &short.message).await, rest_of(&short.message));
        let id = reference(&lines(&first, LARGE).await);
        assert_eq!(bytes_of(&second, &id), all_lines(LARGE).as_bytes());
        let found = call(&second, "output.grep", json!({ "reference": id, "pattern": "^line 24000 " })).await;
        assert!(text(&found).contains("24000"), "{}", found.message);
        let page = call(&second, "output.read", json!({ "reference": id, "offset": 20_000, "limit": 2 })).await;
        assert!(text(&page).contains("line 20001 "), "{}", page.message);
        let listed = second.outputs().list(local("default")).await.unwrap();
        assert_eq!(listed.len(), 2);
        let parts = offices.query("SELECT count(*) FROM output_part");
        assert_eq!(
            (parts.as_str(), offices.folders().len()),
            if large == Large::Database { ("3", 0) } else { ("2", 1) }
        );
        assert!(!offices.fleet.state(1).join("outputs").exists(), "nothing is in the state directory");
    }
}

/// Returns the lines that follow a cut text.
fn rest_of(message: &str) -> String {
    let shown = message.lines().filter(|line| line.starts_with("line ")).count();
    all_lines(SMALL).lines().skip(shown).collect::<Vec<_>>().join("\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn another_session_or_principal_reads_nothing_on_any_host() {
    let Some(offices) = Offices::new(Large::Directory) else { return };
    let (first, second) = (offices.open(1).await, offices.open(2).await);
    let id = reference(&lines(&first, LARGE).await);
    for (session, principal) in [("other", "local"), ("default", "alice"), ("default", "local/helper")] {
        let principal: Principal = principal.parse().unwrap();
        let reader = Reader { session, principal: &principal };
        assert!(matches!(second.outputs().read(reader, &id, 0, 10).await, Err(OutputError::Unknown(_))));
        assert_eq!(second.outputs().list(reader).await.unwrap(), []);
    }
    // Even an administrator of the database cannot give it to them.
    offices.query("UPDATE output SET session = 'other'");
    assert!(matches!(second.outputs().get(local("other"), &id).await, Err(OutputError::Changed(_))));
    assert_eq!(second.outputs().list(local("other")).await.unwrap(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn all_hosts_share_the_room_of_outputs() {
    let Some(offices) = Offices::new(Large::Directory) else { return };
    // Space for four outputs of 1.5 MiB, and for two of one session.
    let room = 7_200 << 10;
    let first = offices.builder(1).outputs_bytes(room).open().await.unwrap();
    let second = offices.builder(2).outputs_bytes(room).open().await.unwrap();
    let quiet = keep_in(&first, "quiet", LARGE).await;
    let mut loud = Vec::new();
    for host in [&first, &second, &first, &second] {
        loud.push(keep_in(host, "loud", LARGE).await);
    }
    let mut kept = Vec::new();
    for id in &loud {
        kept.push(first.outputs().get(local("loud"), id).await.is_ok());
    }
    assert_eq!(kept, [false, false, true, true], "a session has half of the room");
    assert!(second.outputs().get(local("quiet"), &quiet).await.is_ok());
    for (number, host) in [&second, &first, &second, &second].into_iter().enumerate() {
        keep_in(host, &format!("other-{number}"), LARGE).await;
    }
    assert!(matches!(first.outputs().get(local("quiet"), &quiet).await, Err(OutputError::Unknown(_))));
    assert!(offices.query("SELECT sum(bytes) FROM output").parse::<u64>().unwrap() <= room);
    let rows: usize = offices.query("SELECT count(*) FROM output").parse().unwrap();
    assert_eq!(offices.folders().len(), rows, "the content of removed outputs is removed");
}

#[tokio::test(flavor = "multi_thread")]
async fn old_outputs_and_content_without_a_row_are_removed() {
    let Some(offices) = Offices::new(Large::Directory) else { return };
    let first = offices.open(1).await;
    let (old, new) = (reference(&lines(&first, LARGE).await), reference(&lines(&first, LARGE).await));
    let month = 31_i64 * 24 * 60 * 60 * 1000;
    offices.query(&format!("UPDATE output SET kept_at = kept_at - {month} WHERE id = '{old}'"));
    let folder = offices.folders()[0].parent().unwrap().to_owned();
    fs::create_dir(folder.join("0".repeat(32))).unwrap();
    fs::write(folder.join("0".repeat(32)).join("1"), "left by a dead host").unwrap();
    let second = offices.open(2).await;
    assert_eq!(offices.folders(), [folder.join(&new)]);
    assert_eq!(offices.query("SELECT string_agg(DISTINCT output, ' ') FROM output_part"), new);
    assert!(matches!(second.outputs().get(local("default"), &old).await, Err(OutputError::Unknown(_))));
    assert_eq!(bytes_of(&second, &new), all_lines(LARGE).as_bytes());
}

/// Changes of the row, of the part in the database and of the part in the directory.
#[tokio::test(flavor = "multi_thread")]
async fn changed_content_is_not_passed_on() {
    let Some(offices) = Offices::new(Large::Directory) else { return };
    let (first, second) = (offices.open(1).await, offices.open(2).await);
    for change in [
        "UPDATE output SET tool = 'scribe.other' WHERE id = 'ID'",
        "UPDATE output SET bytes = bytes - 1 WHERE id = 'ID'",
        "UPDATE output_seal SET hashes = overlay(hashes PLACING '\\x00'::bytea FROM 1) WHERE output = 'ID'",
        "DELETE FROM output_seal WHERE output = 'ID'",
        "UPDATE output_part SET content = overlay(content PLACING 'X'::bytea FROM 1) WHERE output = 'ID'",
    ] {
        let id = reference(&lines(&first, SMALL).await);
        assert!(second.outputs().read(local("default"), &id, 0, 10).await.is_ok());
        offices.query(&change.replace("ID", &id));
        let read = second.outputs().read(local("default"), &id, 0, 10).await;
        assert!(matches!(read, Err(OutputError::Changed(_))), "{change}: {read:?}");
        let reply = call(&second, "output.read", json!({ "reference": id })).await;
        assert!(reply.code != Code::Completed && reply.message.contains("was changed by another"), "{}", reply.message);
    }
    let id = reference(&lines(&first, LARGE).await);
    let part = offices.folders()[0].join("1");
    let mut content = fs::read(&part).unwrap();
    content[0] ^= 1;
    for content in [content.clone(), content[..100].to_vec()] {
        fs::write(&part, content).unwrap();
        let begin = second.outputs().read(local("default"), &id, 0, 10).await;
        assert_eq!(begin.unwrap(), &all_lines(1).as_bytes()[..10], "the first part is in the database");
        let read = second.outputs().read(local("default"), &id, 1 << 20, 10).await;
        assert!(matches!(read, Err(OutputError::Changed(_))), "{read:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn content_that_is_gone_is_reported_as_gone() {
    let Some(offices) = Offices::new(Large::Directory) else { return };
    let first = offices.open(1).await;
    let id = reference(&lines(&first, LARGE).await);
    // A host that was not given the place.
    let second = Offices { large: Large::Database, ..offices };
    let host = second.open(2).await;
    let read = host.outputs().read(local("default"), &id, 1 << 20, 10).await;
    assert!(matches!(read, Err(OutputError::Missing(_))), "{read:?}");
    let reply = call(&host, "output.read", json!({ "reference": id, "offset": 20_000 })).await;
    assert!(reply.message.contains("is gone from the place of outputs"), "{}", reply.message);
    fs::remove_dir_all(&second.folders()[0]).unwrap();
    let read = first.outputs().read(local("default"), &id, 1 << 20, 10).await;
    assert!(matches!(read, Err(OutputError::Missing(_))), "{read:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn if_the_place_cannot_be_written_only_the_rest_of_an_output_is_lost() {
    let Some(offices) = Offices::new(Large::Directory) else { return };
    let host = offices.open(1).await;
    for ledger in fs::read_dir(offices.shared()).unwrap() {
        fs::remove_dir(ledger.unwrap().path()).unwrap();
    }
    let reply = call(&host, "scribe.returned", json!({ "bytes": 2 << 20 })).await;
    assert_eq!(reply.code, Code::Completed, "{}", reply.message);
    assert!(reply.message.contains("are lost: the host could not write it"), "{}", reply.message);
    assert_eq!(host.outputs().list(local("default")).await.unwrap(), []);
    assert_eq!(offices.query("SELECT count(*) FROM output_part"), "0");
    // What fits into the database is kept, and what a tool had written.
    reference(&lines(&host, SMALL).await);
    let stopped = lines(&host, 4 * LARGE).await;
    assert!(stopped.message.contains("the host could not write it"), "{}", stopped.message);
    let kept = stopped.reference.unwrap();
    assert!(!kept.complete && kept.bytes > 1 << 20, "{kept:?}");
    assert!(all_lines(4 * LARGE).as_bytes().starts_with(&bytes_of(&host, &kept.id)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_place_that_cannot_be_used_is_an_error_at_the_start() {
    let Some(offices) = Offices::new(Large::Directory) else { return };
    let refused = async |place: StatePlace| {
        let builder = Host::builder(offices.fleet.desk.site.plugins(), place).compiler(Compiler::InProcess);
        let policy = "[plugin.scribe]\ndirectory.workspace = { path = \"shared\", access = \"read-only\" }\n";
        match builder.policy_text(policy, offices.fleet.desk.root()).open().await {
            Err(error) => WithCauses(&error).to_string(),
            Ok(_) => panic!("the place must be refused"),
        }
    };
    let address = |path: &str| OutputsAddress::Directory(offices.fleet.desk.site.path(path));
    let error = refused(offices.fleet.place(1).outputs_in(address("nowhere"))).await;
    assert!(error.contains("the directory of outputs") && error.contains("nowhere"), "{error}");
    let error = refused(StatePlace::from(offices.fleet.state(1)).outputs_in(address("shared"))).await;
    assert!(error.contains("needs a ledger in a database"), "{error}");
    let error = refused(offices.fleet.place(1).outputs_in(address("shared"))).await;
    assert!(error.contains("the directory of outputs"), "a grant must not contain it: {error}");
}

#[test]
fn nothing_is_left_of_an_output_whose_host_was_killed() {
    for large in PLACES {
        let Some(offices) = Offices::new(large) else { return };
        let mut child = offices.command(1, &["call", "scribe.endless"]).stdout(Stdio::null()).spawn().unwrap();
        let begun = Instant::now();
        while offices.query("SELECT count(*) FROM pg_tables WHERE tablename = 'output_part'") == "0"
            || offices.query("SELECT count(*) FROM output_part") == "0"
            || (large == Large::Directory && offices.folders().is_empty())
        {
            assert!(child.try_wait().unwrap().is_none(), "the child has ended");
            assert!(begun.elapsed() < Duration::from_secs(60), "the tool must write");
            sleep(Duration::from_millis(10));
        }
        kill_process(Pid::from_child(&child), Signal::KILL).unwrap();
        child.wait().unwrap();
        assert_eq!(offices.query("SELECT count(*) FROM output"), "1");
        // A host of the same state directory knows at once that the process is dead.
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        drop(runtime.block_on(offices.open(1)));
        assert_eq!(offices.query("SELECT count(*) FROM output"), "0");
        assert_eq!(offices.query("SELECT count(*) FROM output_part"), "0");
        assert!(offices.folders().is_empty());
    }
}

#[test]
fn the_program_reads_an_output_of_another_host() {
    let Some(offices) = Offices::new(Large::Directory) else { return };
    let run = |host: usize, tool: &str, arguments: Value| -> Value {
        let arguments = arguments.to_string();
        let output = offices.command(host, &["--json", "call", tool, &arguments]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let reply = run(1, "scribe.lines", json!({ "count": LARGE, "bytes": 64 }));
    let id = reply["reference"]["id"].as_str().unwrap();
    let page = run(2, "output.read", json!({ "reference": id, "offset": 20_000, "limit": 1 }));
    assert!(page.to_string().contains("line 20000 "), "{page}");
    let mut alone = Command::new(program());
    alone.args(["list", "--outputs"]).arg(offices.shared()).arg("--state").arg(offices.fleet.state(1));
    let refused = alone.output().unwrap();
    let error = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && error.contains("--outputs is for hosts that share a database"), "{error}");
}

#[test]
fn an_mcp_client_reads_an_output_of_another_host() {
    let Some(offices) = Offices::new(Large::Directory) else { return };
    let desk = wire::Desk::new(OPEN);
    let (address, key, shared) = (offices.fleet.address(), offices.fleet.key(), offices.shared());
    let client = |host: usize| {
        let state = offices.fleet.state(host);
        desk.site.compile_for(&state);
        let (state, key) = (state.to_str().unwrap(), key.to_str().unwrap());
        let places = ["--state", state, "--state", &address, "--ledger-key", key, "--outputs"];
        desk.client_with(Era::Modern, &[&places[..], &[shared.to_str().unwrap(), "--session", "one"]].concat())
    };
    let mut first = client(1);
    let result = first.call("long-text__run", json!({}));
    let uri = result["content"][1]["uri"].as_str().unwrap().to_owned();
    let mut second = client(2);
    first.close();
    assert_eq!(second.result("resources/list", json!({}))["resources"][0]["uri"], uri);
    let (mut whole, mut next) = (String::new(), Some(uri));
    while let Some(uri) = next {
        let page = second.result("resources/read", json!({ "uri": uri }));
        let contents = &page["contents"][0];
        whole.push_str(contents["text"].as_str().unwrap());
        next = contents["_meta"]["portcullis/next"].as_str().map(str::to_owned);
    }
    assert_eq!(whole.lines().count(), 4096);
    second.close();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_folder_of_a_ledger_is_its_own() {
    let (Some(offices), Some(other)) = (Offices::new(Large::Directory), Fleet::new()) else { return };
    let host = offices.open(1).await;
    let id = reference(&lines(&host, LARGE).await);
    // Another ledger with the same key and the same place removes nothing.
    let place = StatePlace::from(offices.fleet.state(2)).ledger_in(PostgresAddress::new(other.address()));
    let place = place.ledger_key(offices.fleet.key()).outputs_in(OutputsAddress::Directory(offices.shared()));
    drop(Host::builder(offices.fleet.desk.site.plugins(), place).compiler(Compiler::InProcess).open().await.unwrap());
    assert_eq!(bytes_of(&host, &id), all_lines(LARGE).as_bytes());
}
