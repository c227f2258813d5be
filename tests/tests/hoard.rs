//! Measures guests that make the host hold as much as possible. There is one for each importable function. Each runs to
//! its end in its own process, and its peak of resident memory is compared with the documented footprint.
//! `tests/data/host-memory.txt` names the functions and their guests. A served function that is missing in the table
//! fails the test.

#![allow(
    clippy::disallowed_methods,
    reason = "tests make the files that a guest hoards, and read what the kernel counts"
)]
#![allow(clippy::print_stdout, reason = "a measurement is read by a person")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot be set up has failed")]

#[path = "hoard/everything.rs"]
mod everything;

use portcullis::plugins::{Contract, served_imports};
use portcullis::services::{CallFacts, Key, Service, ServiceError};
use portcullis::{BoxFuture, Code, Host, LimitKind, Reply, Request};
use portcullis_tests::net::{Behaviour, Server};
use portcullis_tests::{DependencyKind, Manifest, Site, component, module_of, peak_of, usual_contract, wit};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::future::ready;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::{env, fs};
use wit_parser::{Function, Resolve, Type, TypeDefKind};

/// The table of what each function can make the host hold, maintained by hand.
const TABLE: &str = include_str!("../data/host-memory.txt");

/// The words that a row can have instead of guests.
const WORDS: [&str; 5] = ["nothing", "no-handle", "connection", "program", "answers"];

/// The guests that reach the budget of host memory, and no other limit before it.
const CHARGED: [&str; 22] = [
    "fields-append",
    "fields-clone",
    "fields-from-list",
    "fields-set",
    "file-appends",
    "file-partial-reads",
    "file-reads",
    "file-writes",
    "incoming-headers",
    "incoming-heads",
    "incoming-responses",
    "keeps",
    "listings",
    "request-bodies",
    "request-headers",
    "request-texts",
    "request-trailers",
    "requests",
    "response-bodies",
    "response-headers",
    "responses",
    "fields-in-one",
];

/// Guests that exceed the footprint if the budget is as large as a policy can make it.
const CONTROLS: [&str; 3] = ["fields-append", "file-partial-reads", "request-bodies"];

/// The setters of a request's texts, which one guest calls.
const SETTERS: [&str; 4] = ["$set-method", "$set-path", "$set-scheme", "$set-authority"];

/// The service that guests call.
const SEARCH: Key<dyn Service> = Key::new("search");

/// Returns its input.
struct Echo;

impl Service for Echo {
    fn call<'a>(&'a self, _: &'a CallFacts, _: &'a str, input: Value) -> BoxFuture<'a, Result<Value, ServiceError>> {
        Box::pin(ready(Ok(input)))
    }
}

/// The `realloc` of every guest.
const RING: &str = include_str!("../guests/frame/ring.wat");

/// Length in bytes of a header in the test server's response.
const HEADER_BYTES: usize = 32 << 10;

/// Number of files in the listed directory, each with a name of 200 bytes.
const ENTRIES: usize = 3000;

/// The function that lists a directory.
const READS_DIRECTORY: &str = "[method]descriptor.read-directory";

/// Number of guests that are measured concurrently.
const PROCESSES: usize = 4;

const GIB: u64 = 1 << 30;

/// The default budget.
const HOST_MEMORY_BYTES: u64 = 32 << 20;

/// Environment variable that names the guest to a child process that is measured.
const MEASURED: &str = "PORTCULLIS_TEST_MEASURED";

/// Gives a guest 16 MiB, so that the host's own memory is most of the footprint.
const LIMITS: &str = "memory = \"16 MiB\"\napproval-time = \"100 ms\"";

#[test]
fn the_table_covers_every_importable_function() {
    let table = table();
    let mut wrong = Vec::new();
    let mut served = BTreeSet::new();
    for (name, makes_object) in functions() {
        match table.get(name.as_str()) {
            None => wrong.push(format!("{name} is served, and the table does not have it")),
            Some(row) if makes_object && row == &["nothing"] => wrong.push(format!("{name} makes an object")),
            Some(_) => {}
        }
        served.insert(name);
    }
    wrong.extend(table.keys().filter(|name| !served.contains(**name)).map(|name| format!("{name} is not served")));
    let named: BTreeSet<String> = table.values().flatten().map(|guest| (*guest).to_owned()).collect();
    let guests = guests();
    let is_guest = |name: &&String| !WORDS.contains(&name.as_str());
    wrong.extend(
        named.iter().filter(is_guest).filter(|name| !guests.contains_key(*name)).map(|name| format!("no guest {name}")),
    );
    wrong.extend(
        guests.keys().filter(|name| !named.contains(*name)).map(|name| format!("no function has the guest {name}")),
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_guest_exceeds_its_footprint() {
    let measured = "hoard::no_guest_exceeds_its_footprint";
    if let Some(name) = env::var_os(MEASURED) {
        return measure(name.to_str().unwrap(), "", |name, bytes, figure, reply| {
            let ended = matches!(reply.code, Code::Limit(_) | Code::Trapped);
            let expected = !CHARGED.contains(&name) || reply.code == Code::Limit(LimitKind::HostMemory);
            println!("{name}: {} of {} KiB, {}", bytes / 1024, figure / 1024, reply.code);
            assert!(bytes <= figure && ended && expected, "{name}: {bytes} bytes of {figure}: {}", reply.message);
        });
    }
    in_children(measured, &guests().into_keys().collect::<Vec<_>>());
}

/// The footprint is meaningful: without the budget, the same guests exceed it.
#[test]
fn without_the_budget_guests_exceed_the_footprint() {
    let measured = "hoard::without_the_budget_guests_exceed_the_footprint";
    if let Some(name) = env::var_os(MEASURED) {
        return measure(name.to_str().unwrap(), "host-memory = \"1 GiB\"", |name, bytes, figure, reply| {
            let guarded = figure - GIB + HOST_MEMORY_BYTES;
            println!("{name}: {} of {} KiB, {}", bytes / 1024, guarded / 1024, reply.code);
            assert!(bytes > guarded, "{name}: {bytes} bytes of {guarded}: {}", reply.message);
        });
    }
    in_children(measured, &CONTROLS.map(str::to_owned));
}

/// Each text of a request counts. A guest that sets all of them could otherwise hide the short ones behind the long
/// path.
#[tokio::test]
async fn each_text_of_a_request_is_charged() {
    let guest = guest_text("request-texts");
    for setter in SETTERS {
        let sets_another = |line: &&str| SETTERS.iter().any(|other| *other != setter && is_call(line, other));
        let alone: Vec<&str> = guest.lines().filter(|line| !sets_another(line)).collect();
        assert_eq!(guest.lines().count() - alone.len(), SETTERS.len() - 1, "{setter}");
        assert_charged("request-texts", &alone.join("\n"), "64 KiB").await;
    }
}

/// These guests stay below the budget of a policy that sets none.
#[tokio::test]
async fn reads_ahead_and_store_values_are_charged() {
    for (name, budget) in [("file-read-ahead", "1 MiB"), ("bucket-values", "32 KiB")] {
        assert_charged(name, &guest_text(name), budget).await;
    }
}

/// Asserts that the budget of host memory ends a guest.
async fn assert_charged(name: &str, text: &str, budget: &str) {
    let limits = format!("{LIMITS}\ntime = \"20 s\"\nhost-memory = \"{budget}\"");
    let (host, _beside) = open_guest(name, text, &limits).await;
    let reply = host.call(Request::new(format!("{name}.run"), "{}")).await;
    assert_eq!(reply.code, Code::Limit(LimitKind::HostMemory), "{}\n{text}", reply.message);
}

/// Returns whether a line of a guest calls a function.
fn is_call(line: &str, function: &str) -> bool {
    line.contains(&format!("(call {function} "))
}

fn guest_text(name: &str) -> String {
    fs::read_to_string(&guests()[name]).unwrap()
}

/// Returns the rows of the table: a function, and its guests or a word.
fn table() -> BTreeMap<&'static str, Vec<&'static str>> {
    let rows = TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    rows.map(|row| {
        let (name, what) = row.split_once(' ').unwrap_or_else(|| panic!("{row}"));
        (name, what.split_whitespace().collect())
    })
    .collect()
}

/// Returns the guests of `tests/guests/hoard`, by name.
fn guests() -> BTreeMap<String, PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("guests/hoard");
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), path)).collect()
}

/// Returns every function that the host serves, and whether its result holds a new object.
fn functions() -> Vec<(String, bool)> {
    let contracts = Contract::ALL.map(|contract| wit(contract).0);
    let mut functions = Vec::new();
    for served in served_imports() {
        let (resolve, interface) = contracts
            .iter()
            .find_map(|resolve| {
                let mut interfaces = resolve.interfaces.iter();
                let (_, interface) = interfaces.find(|(id, _)| resolve.id_of(*id).as_deref() == Some(&*served))?;
                Some((resolve, interface))
            })
            .unwrap_or_else(|| panic!("{served} is served, and wit/ does not have it"));
        let named = |function: &Function| (format!("{served}#{}", function.name), makes_object(resolve, function));
        functions.extend(interface.functions.values().map(named));
        let resources = interface.types.iter().filter(|(_, ty)| resolve.types[**ty].kind == TypeDefKind::Resource);
        functions.extend(resources.map(|(name, _)| (format!("{served}#[resource-drop]{name}"), false)));
    }
    functions
}

fn makes_object(resolve: &Resolve, function: &Function) -> bool {
    function.result.is_some_and(|result| holds_object(resolve, result))
}

/// Returns whether a value of this type holds an object that the guest then owns. Errors do not count.
fn holds_object(resolve: &Resolve, ty: Type) -> bool {
    let Type::Id(id) = ty else { return false };
    match &resolve.types[id].kind {
        TypeDefKind::Handle(wit_parser::Handle::Own(_)) => true,
        TypeDefKind::Option(inner) | TypeDefKind::List(inner) | TypeDefKind::Type(inner) => {
            holds_object(resolve, *inner)
        }
        TypeDefKind::Result(result) => result.ok.is_some_and(|ok| holds_object(resolve, ok)),
        TypeDefKind::Tuple(tuple) => tuple.types.iter().any(|ty| holds_object(resolve, *ty)),
        TypeDefKind::Record(record) => record.fields.iter().any(|field| holds_object(resolve, field.ty)),
        _ => false,
    }
}

/// A host, with the files and the server that it uses.
type Beside = (Site, Server);

/// Opens a host with a guest that has one handle of each kind.
async fn open(name: &str, limits: &str) -> (Host, Beside) {
    // The time limit ends a guest that reaches no other limit.
    let time = if CHARGED.contains(&name) { "60 s" } else { "1 s" };
    open_guest(name, &guest_text(name), &format!("{LIMITS}\ntime = \"{time}\"\n{limits}")).await
}

async fn open_guest(name: &str, text: &str, limits: &str) -> (Host, Beside) {
    let site = Site::new();
    let answer = Behaviour::whole(200, &[("x-long", &"h".repeat(HEADER_BYTES))], "");
    let server = Server::plain(Behaviour::answer(move |_| answer.clone()));
    let text = text.replace("PORT.", &server.port().to_string());
    let folder = site.directory("work");
    fs::write(folder.join("file"), vec![7; 1 << 20]).unwrap();
    // Making so many files takes longer than most guests run.
    let lists = text.contains(READS_DIRECTORY);
    for index in 0..if lists { ENTRIES } else { 0 } {
        fs::write(folder.join(format!("{index:0>200}")), "").unwrap();
    }
    let manifest = Manifest::of(name)
        .needs(DependencyKind::Directory, "workspace", false)
        .needs(DependencyKind::Store, "notes", false)
        .needs(DependencyKind::Http, "web", false)
        .needs(DependencyKind::Service, "search", false)
        .tool(|tool| tool.required = 15);
    // Some functions exist only in a later version of the contract.
    let contract = if ["asks-with-patterns", "keeps"].contains(&name) { Contract::V0_2 } else { usual_contract() };
    site.plugin(name, &component(&module_of(contract, &format!("{text}{RING}"), &manifest)));
    let builder = site.builder(&format!("{}{}", portcullis_tests::allow_all(limits), grants(name, &server)));
    let echo: Arc<dyn Service> = Arc::new(Echo);
    let builder = builder.provide(&SEARCH, move |_| Ok(Arc::clone(&echo))).service("search", &SEARCH);
    let host = builder.open().await.unwrap();
    // The first call warms up the pool's pages, the threads and the audit log's cache, which are not a cost of the next
    // call.
    let good = host.call(Request::new("good.run", "{}")).await;
    assert_eq!(good.code, Code::Completed, "{}", good.message);
    (host, (site, server))
}

fn grants(name: &str, server: &Server) -> String {
    let client = format!(
        "hosts = [\"127.0.0.1\"], schemes = [\"http\"], ports = [{}], addresses = [\"127.0.0.0/8\"], requests = 1000, \
         requests-per-minute = 10000",
        server.port()
    );
    format!(
        "[plugin.{name}]\ndirectory.workspace = {{ path = \"work\", access = \"read-write\" }}\nstore.notes = {{}}\n\
         http.web = {{ {client} }}\nservice.search = {{ name = \"search\" }}\n"
    )
}

/// Runs one guest, and compares its peak with the footprint of a call.
fn measure(name: &str, limits: &str, compare: impl FnOnce(&str, u64, u64, &Reply)) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let (host, _beside) = open(name, limits).await;
        let (bytes, reply) = peak_of(host.call(Request::new(format!("{name}.run"), "{}"))).await;
        compare(name, bytes, host.footprint().per_call_bytes, &reply);
    });
}

/// Runs a test once for each guest, each time in a new process. Otherwise, memory that one guest freed in the allocator
/// would hide the cost of the next.
fn in_children(test: &str, names: &[String]) {
    let mut wrong = Vec::new();
    for names in names.chunks(PROCESSES) {
        let children = names.iter().map(|name| {
            let mut child = Command::new(env::current_exe().unwrap());
            child.args(["--exact", test, "--nocapture"]).env(MEASURED, name).env("MALLOC_ARENA_MAX", "1");
            child.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        });
        for child in children.collect::<Vec<_>>() {
            let output = child.wait_with_output().unwrap();
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let (out, errors) = (text(&output.stdout), text(&output.stderr));
            println!("{out}");
            if !output.status.success() || !out.contains("1 passed") {
                wrong.push(format!("{out}\n{errors}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
