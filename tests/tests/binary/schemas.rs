//! Every document that a command prints is valid under its schema, and every command and every schema is tried.

use crate::binary::console::ASK;
use crate::binary::desk::{Desk, OPEN};
use crate::binary::installed::Installed;
use crate::schema::{assert_valid, names};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

/// The commands whose documents need a toolchain. `author/dev.rs` validates them.
const OF_AUTHORS: [&str; 2] = ["build", "dev"];

/// The documents of hosts with a shared ledger, which `hosts/anchors.rs` validates.
const OF_HOSTS: [&str; 1] = ["audit-verify-all"];

/// The commands whose documents need an authorization server. `clients/logins/command.rs` validates them.
const OF_LOGINS: [&str; 2] = ["login", "logout"];

/// The commands that are not in the table, because they need more than a desk, or print their document while they run.
const OTHERWISE: [&str; 6] = ["init", "doctor", "uninstall", "serve", "console", "watch"];

/// The command lines that need nothing but a desk, each with its exit code and the schema of its document.
const LINES: [(&[&str], i32, &str); 64] = [
    (&["list"], 0, "list"),
    (&["list", "--tokens"], 0, "list-tokens"),
    (&["inspect", "files"], 0, "inspect"),
    (&["inspect", "plugins/hello.wasm"], 0, "inspect"),
    (&["check", "plugins/files.wasm"], 0, "check"),
    (&["check", "plugins/refused.wasm"], 7, "check"),
    (&["check", "plugins/echo.wasm"], 0, "check"),
    (&["call", "hello.greet", r#"{"name":"Ann"}"#], 0, "call"),
    (&["call", "echo.run", r#"{"a":1}"#], 0, "call"),
    (&["call", "files.read", r#"{"path":"poem.txt"}"#], 0, "call"),
    (&["call", "files.read", r#"{"path":"none"}"#], 1, "call"),
    (&["call", "files.read", r#"{"path":7}"#], 6, "call"),
    (&["call", "nothing.at-all"], 6, "call"),
    (&["call", "refused.run"], 7, "call"),
    (&["export", "--format", "openai-responses-strict"], 0, "export"),
    (&["export", "--format", "openai-responses-strict", "--deny-lossy"], 9, "export"),
    (&["explain", "hello.greet", r#"{"name":"Ann"}"#], 0, "explain"),
    (&["explain", "files.write", r#"{"path":"a","content":"b"}"#], 0, "explain"),
    (&["explain", "hello.greet", "{}"], 6, "call"),
    (&["approvals", "list", "--all"], 0, "approvals-list"),
    (&["approvals", "show", "123456"], 2, "error"),
    (&["approvals", "approve", "12345"], 2, "error"),
    (&["approvals", "reject", "123456"], 2, "error"),
    (&["approvals", "revoke", "123456"], 2, "error"),
    (&["deny", "web.*", "--yes"], 0, "policy-edit"),
    (&["ask", "hello.*", "--yes"], 0, "policy-edit"),
    (&["allow", "hello.*", "--yes"], 0, "policy-edit"),
    (&["allow", "hello.*"], 0, "policy-edit"),
    (&["deny", "hello.greet"], 2, "error"),
    (&["grant", "files", "no-such-key=.", "--yes"], 2, "error"),
    (&["suggest"], 0, "suggest"),
    (&["pause"], 0, "pause"),
    (&["call", "hello.greet", r#"{"name":"Ann"}"#], 3, "call"),
    (&["resume", "--yes"], 0, "policy-edit"),
    (&["log"], 0, "log"),
    (&["log", "show", "nothing"], 2, "error"),
    (&["trust", "portcullis.toml", "--yes"], 0, "trust"),
    (&["trust", "portcullis.toml", "--remove"], 0, "trust"),
    (&["trust", "nowhere.toml", "--yes"], 2, "error"),
    (&["accept", "files"], 0, "accept"),
    (&["accept", "nowhere"], 6, "error"),
    (&["server", "add", "none", "npm:a", "--yes"], 2, "error"),
    (&["login", "none", "--yes"], 2, "error"),
    (&["logout", "none"], 2, "error"),
    (&["import", "--dry-run"], 0, "import"),
    (&["server", "list"], 0, "server-list"),
    (&["server", "list", "--try"], 0, "server-list"),
    (&["server", "install"], 0, "server-install"),
    (&["server", "remove", "none", "--yes"], 2, "error"),
    (&["audit", "show"], 0, "audit-entry"),
    (&["audit", "verify"], 0, "audit-verify"),
    (&["new", "notes", "--lang", "c"], 0, "new"),
    (&["new", "notes", "--lang", "cobol"], 2, "error"),
    (&["build", "nowhere"], 2, "error"),
    (&["dev", "nowhere"], 2, "error"),
    (&["test", "nowhere"], 2, "error"),
    (
        &["bench", "plugins/hello.wasm", "--tool", "greet", "--arguments", r#"{"name":"Ann"}"#, "--seconds", "1"],
        0,
        "bench",
    ),
    (&["bench", "plugins/refused.wasm"], 7, "bench"),
    (&["bench", "nowhere"], 2, "error"),
    (&["completions", "bash"], 0, "completions"),
    (&["man"], 0, "man"),
    (&["help", "call"], 0, "help"),
    (&["version"], 0, "version"),
    (&["list", "--no-such-option"], 2, "error"),
];

/// The schemas that documents were validated with.
#[derive(Default)]
struct TriedSchemas(BTreeSet<String>);

impl TriedSchemas {
    /// Runs a command line and validates each of its documents.
    #[track_caller]
    fn run(&mut self, desk: &Desk, line: &[&str], code: i32, schema: &str) -> Vec<Value> {
        let out = desk.run(&[line, &["--json"]].concat()).ends(code).out;
        let documents: Vec<Value> = out
            .lines()
            .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
            .collect();
        assert!(!documents.is_empty(), "{line:?} prints no document");
        documents.iter().for_each(|document| assert_valid(schema, document));
        self.0.insert(schema.to_owned());
        documents
    }
}

#[test]
fn every_document_is_valid_under_its_schema() {
    let desk = Desk::new(OPEN);
    let mut tried = TriedSchemas::default();
    for (line, code, schema) in LINES {
        tried.run(&desk, line, code, schema);
    }
    try_denied(&mut tried);
    try_servers(&mut tried);
    try_approvals(&mut tried);
    try_cases(&desk, &mut tried);
    try_server(&desk, &["serve", "--http", "127.0.0.1:0"], "serve", &mut tried);
    try_server(&desk, &["console", "--port", "0"], "console", &mut tried);
    try_installed(&mut tried);
    tried.0.extend(OF_AUTHORS.into_iter().chain(OF_LOGINS).chain(OF_HOSTS).map(str::to_owned));
    assert_eq!(tried.0.into_iter().collect::<Vec<_>>(), names(), "a schema was not tried");
}

/// A command that is missing here could print a document without a schema.
#[test]
fn every_command_is_in_the_table() {
    let desk = Desk::new(OPEN);
    let pages = desk.run(&["man", "--json"]).ends(0).document();
    let pages: Vec<String> = pages["pages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|page| page["file"].as_str().unwrap().trim_end_matches(".1").replace('-', " "))
        .collect();
    for page in &pages {
        let is_group = pages.iter().any(|other| other.starts_with(&format!("{page} ")));
        let command = page.trim_start_matches("portcullis").trim();
        let tried = LINES.iter().any(|(line, ..)| format!("{} ", line.join(" ")).starts_with(&format!("{command} ")));
        assert!(is_group || tried || OTHERWISE.contains(&command), "add `{command}` to the table");
    }
}

/// Replies and explanations of calls that the policy does not let run.
fn try_denied(tried: &mut TriedSchemas) {
    let desk = Desk::new("");
    let line = ["explain", "files.write", r#"{"path":"a","content":"b"}"#];
    assert!(tried.run(&desk, &line, 0, "explain")[0]["policy_lines"].is_string());
    let line = ["call", "files.list"];
    assert!(tried.run(&desk, &line, 3, "call")[0]["policy_lines"].is_string());
    assert!(tried.run(&desk, &["inspect", "files"], 0, "inspect")[0]["policy_lines"].is_string());
}

/// A server that is added and removed. `servers/manage.rs` has those that start.
fn try_servers(tried: &mut TriedSchemas) {
    let desk = Desk::new(OPEN);
    let added = desk.run(&["--json", "server", "add", "none", "--yes", "--", "/bin/true"]).ends(7).document();
    assert_valid("server-add", &added);
    tried.0.insert("server-add".to_owned());
    tried.run(&desk, &["server", "list", "--try"], 0, "server-list");
    tried.run(&desk, &["server", "remove", "none", "--yes"], 0, "server-remove");
}

/// Requests and approvals in each state.
fn try_approvals(tried: &mut TriedSchemas) {
    let desk = Desk::new(ASK);
    let write = |path: &str| json!({ "path": path, "content": "one\n" }).to_string();
    let mut asked = |path: &str| {
        let call = ["call", "files.write", &write(path), "--ask", "pending"];
        tried.run(&desk, &call, 4, "call")[0]["approval_request"].as_str().unwrap().to_owned()
    };
    let (once, always, never) = (asked("a.txt"), asked("b.txt"), asked("c.txt"));
    tried.run(&desk, &["explain", "files.write", &write("a.txt")], 0, "explain");
    tried.run(&desk, &["approvals", "list"], 0, "approvals-list");
    tried.run(&desk, &["approvals", "show", &once], 0, "approvals-request");
    tried.run(&desk, &["approvals", "approve", &once], 2, "error");
    tried.run(&desk, &["approvals", "approve", &once, "--yes"], 0, "call");
    tried.run(&desk, &["approvals", "approve", &once, "--yes"], 3, "error");
    tried.run(&desk, &["approvals", "approve", &always, "--yes", "--always"], 0, "call");
    tried.run(&desk, &["approvals", "reject", &never, "--note", "no"], 0, "approvals-change");
    let listed = tried.run(&desk, &["approvals", "list", "--all"], 0, "approvals-list");
    let held = listed[0]["answers"][0]["id"].as_str().unwrap().to_owned();
    tried.run(&desk, &["approvals", "show", &held], 0, "approvals-remembered");
    tried.run(&desk, &["approvals", "approve", &held], 2, "error");
    tried.run(&desk, &["approvals", "revoke", &held], 0, "approvals-change");
    tried.run(&desk, &["approvals", "show", &held], 0, "approvals-remembered");
    tried.run(&desk, &["audit", "show"], 0, "audit-entry");
    for call in tried.run(&desk, &["log"], 0, "log") {
        tried.run(&desk, &["log", "show", call["call"].as_str().unwrap()], 0, "log-show");
    }
    let open = ["call", "files.write", &write("d.txt"), "--ask", "pending"];
    tried.run(&desk, &open, 4, "call");
    try_server(&desk, &["watch"], "watch", tried);
}

fn try_cases(desk: &Desk, tried: &mut TriedSchemas) {
    let cases = desk.site.directory("cases");
    let case = |name: &str, outcome: &str| json!({ "name": name, "tool": "greet", "arguments": { "name": "Ann" }, "expect": { "outcome": outcome } });
    let cases_of = json!([case("good", "completed"), case("bad", "failed")]);
    fs::write(cases.join("hello.json"), cases_of.to_string()).unwrap();
    let line = ["test", "--component", "plugins/hello.wasm", "--cases", "cases"];
    tried.run(desk, &line, 1, "test");
}

/// The document of a server, which comes while it runs.
fn try_server(desk: &Desk, line: &[&str], schema: &str, tried: &mut TriedSchemas) {
    let mut command = desk.command();
    command.args(line).arg("--json").stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_valid(schema, &serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}")));
    tried.0.insert(schema.to_owned());
}

/// The commands that write outside of the state directory.
fn try_installed(tried: &mut TriedSchemas) {
    let installed = Installed::new();
    let lines: [(&[&str], i32, &str); 7] = [
        (&["init"], 2, "error"),
        (&["init", "--yes"], 0, "init"),
        (&["doctor"], 0, "doctor"),
        (&["init", "--undo", "--yes"], 0, "undo"),
        (&["init", "--undo", "--yes"], 2, "error"),
        (&["uninstall", "--yes"], 0, "undo"),
        (&["uninstall", "--yes"], 0, "undo"),
    ];
    for (line, code, schema) in lines {
        assert_valid(schema, &installed.run(&[line, &["--json"]].concat()).ends(code).document());
        tried.0.insert(schema.to_owned());
    }
}
