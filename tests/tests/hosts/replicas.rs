//! Several servers of the program with one ledger, as behind a load balancer, and their clients.

use crate::guard::ask::{Answer, Ask};
use crate::guard::service::{MODERN, modern};
use portcullis_tests::{Manifest, Site, built_guest, eventually_async, guest, program, shipped_plugin};
use portcullis_tests_postgres::{Server, is_installed, query_ledger};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// The database of the ledger.
const DATABASE: &str = "ledger";

/// The token of the principal `mcp.alice`, whose calls these are.
pub(super) const ALICE: &str = "alice-0123456789abcdef0123456789abcdef";

/// The token of the principal `mcp.bob`.
pub(super) const BOB: &str = "bob-0123456789abcdef0123456789abcdef";

/// The tasks extension.
const TASKS: &str = "io.modelcontextprotocol/tasks";

/// Notes, signatures and writes need approval, and signing asks again during the call. Waiting is allowed.
const POLICY: &str = r#"
[approvals]
repeats = 1000000
[limits]
time = "2 min"
[plugin.clerk]
directory.desk = { path = "desk", access = "read-write" }
[plugin.files]
directory.workspace = { path = "desk", access = "read-write" }
[defaults]
decision = "ask"
[[rule]]
tool = "clerk.wait"
decision = "allow"
[[rule]]
tool = "long-text.*"
decision = "allow"
[[rule]]
tool = "clerk.sign"
when = { text = "allowed" }
decision = "allow"
"#;

/// Several servers with one ledger. They have the same plugins and the same desk.
pub(super) struct Replicas {
    pub(super) database: Server,
    site: Site,
    replicas: Vec<Replica>,
}

/// One server.
struct Replica {
    child: Child,
    address: SocketAddr,
}

/// A client of the newest protocol version, without a connection of its own.
#[derive(Clone)]
pub(super) struct Caller {
    pub(super) token: &'static str,
    pub(super) capabilities: Value,
}

impl Replicas {
    /// Starts this many servers. Returns `None` on a machine without PostgreSQL.
    pub(super) fn start(count: usize, arguments: &[&str]) -> Option<Self> {
        if !is_installed() {
            return None;
        }
        let database = Server::start().unwrap();
        database.create(DATABASE).unwrap();
        let site = Site::new();
        site.plugin("clerk", &built_guest("clerk"));
        site.plugin("files", &shipped_plugin("files"));
        site.plugin("long-text", &guest("long-text", &Manifest::of("long-text")));
        site.directory("desk");
        fs::write(site.path("policy.toml"), POLICY).unwrap();
        fs::write(site.path("ledger-key"), "5a".repeat(32)).unwrap();
        private_file(&site.path("tokens"), &format!("alice:{ALICE}\nbob:{BOB}\n"));
        let mut replicas = Self { database, site, replicas: Vec::new() };
        for number in 0..count {
            replicas.site.compile_for(&replicas.site.path(state(number)));
            let replica = replicas.serve(number, arguments);
            replicas.replicas.push(replica);
        }
        Some(replicas)
    }

    fn serve(&self, number: usize, arguments: &[&str]) -> Replica {
        let mut command = self.command(number, "serve");
        command.args(["--json", "--http", "127.0.0.1:0", "--plugins", "plugins", "--policy", "policy.toml"]);
        command.args(["--token-file", "tokens", "--start-wait", "60", "--calls-per-second", "1000"]);
        command.args(["--calls-burst", "1000"]).args(arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let document: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("it did not start: {line:?}"));
        let url = document["url"].as_str().unwrap();
        let address = url.strip_prefix("http://").unwrap().strip_suffix("/mcp").unwrap().parse().unwrap();
        Replica { child, address }
    }

    /// Returns a command of the program with the state of a server.
    fn command(&self, number: usize, name: &str) -> Command {
        let mut command = Command::new(program());
        command.current_dir(self.site.path("")).env_clear().env("LEDGER", self.database.address(DATABASE));
        command.args([name, "--state", &state(number), "--state", "env:LEDGER", "--ledger-key", "ledger-key"]);
        command.stdin(Stdio::null());
        command
    }

    /// Answers an approval request with the program, on the machine of a server.
    pub(super) fn approve(&self, number: usize, id: &str) {
        let mut command = self.command(number, "approvals");
        let output = command.args(["approve", id, "--yes"]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    /// Kills a server.
    pub(super) fn kill(&mut self, number: usize) {
        let child = &mut self.replicas[number].child;
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Returns the address of a server.
    pub(super) fn address(&self, number: usize) -> SocketAddr {
        self.replicas[number].address
    }

    /// Returns the clerk's notes in order.
    pub(super) fn notes(&self) -> Vec<String> {
        let notes = fs::read_to_string(self.site.path("desk/notes.txt")).unwrap_or_default();
        notes.lines().map(str::to_owned).collect()
    }

    /// Writes the file `text` on the desk, as another program would.
    pub(super) fn write(&self, text: &str) {
        fs::write(self.site.path("desk/text"), text).unwrap();
    }

    /// Returns the file `text` on the desk.
    pub(super) fn read(&self) -> String {
        fs::read_to_string(self.site.path("desk/text")).unwrap()
    }

    /// Waits until the clerk has this many notes.
    pub(super) async fn noted(&self, count: usize) {
        eventually_async("the notes", || (self.notes().len() >= count).then_some(())).await;
    }

    /// Runs a statement on the ledger. Returns the columns as text, a line for each row.
    pub(super) fn query(&self, statement: &str) -> String {
        query_ledger(self.database.port(), DATABASE, statement).unwrap()
    }

    /// Sends a request to a server, and returns its result, or the error under `error`.
    pub(super) async fn request(&self, number: usize, caller: &Caller, method: &str, params: Value) -> Value {
        let answer: Answer = self.ask(number, caller, method, params).send(self.address(number)).await.is(200);
        let last = answer.last();
        last.get("result").cloned().unwrap_or_else(|| json!({ "error": last["error"] }))
    }

    /// Builds a request.
    pub(super) fn ask(&self, number: usize, caller: &Caller, method: &str, params: Value) -> Ask {
        let names = ["taskId", "name", "uri"].map(|member| params[member].as_str().map(str::to_owned));
        let name = names.into_iter().flatten().next();
        let mut message = modern(method, params);
        message["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = caller.capabilities.clone();
        let ask = Ask::new("POST", "/mcp")
            .with("Host", &self.address(number).to_string())
            .with("Authorization", &format!("Bearer {}", caller.token))
            .with("Accept", "application/json, text/event-stream")
            .with("Content-Type", "application/json")
            .with("MCP-Protocol-Version", MODERN)
            .with("Mcp-Method", method)
            .body(message.to_string());
        match name {
            Some(name) => ask.with("Mcp-Name", &name),
            None => ask,
        }
    }

    /// Calls a tool.
    pub(super) async fn call(&self, number: usize, caller: &Caller, tool: &str, arguments: Value) -> Value {
        self.request(number, caller, "tools/call", call(tool, &arguments)).await
    }

    /// Returns the state of a task.
    pub(super) async fn task(&self, number: usize, caller: &Caller, id: &str) -> Value {
        self.request(number, caller, "tasks/get", json!({ "taskId": id })).await
    }

    /// Polls a task until it has this status.
    pub(super) async fn reached(&self, number: usize, caller: &Caller, id: &str, status: &str) -> Value {
        let late = tokio::time::Instant::now() + portcullis_tests::PATIENCE;
        loop {
            let task = self.task(number, caller, id).await;
            if task["status"] == status {
                return task;
            }
            assert!(tokio::time::Instant::now() < late, "expected status {status}: {task}");
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    }
}

impl Drop for Replica {
    fn drop(&mut self) {
        // It may have been killed already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Caller {
    /// Returns a client that can poll tasks.
    pub(super) fn with_tasks(token: &'static str) -> Self {
        Self { token, capabilities: json!({ "extensions": { TASKS: {} } }) }
    }

    /// Returns a client that can poll tasks and ask its user.
    pub(super) fn with_tasks_and_forms(token: &'static str) -> Self {
        Self { token, capabilities: json!({ "extensions": { TASKS: {} }, "elicitation": {} }) }
    }

    /// Returns a client that can ask its user.
    pub(super) fn with_forms(token: &'static str) -> Self {
        Self { token, capabilities: json!({ "elicitation": {} }) }
    }
}

/// Returns the parameters of a call.
fn call(tool: &str, arguments: &Value) -> Value {
    json!({ "name": tool, "arguments": arguments })
}

/// Returns the parameters of the same call again, with the answer of the client's user to what it was asked.
#[expect(clippy::needless_pass_by_value, reason = "a test writes its arguments where it makes the call")]
pub(super) fn retry(tool: &str, arguments: Value, asked: &Value, action: &str) -> Value {
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let key = asked["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
    let mut params = call(tool, &arguments);
    params["requestState"] = asked["requestState"].clone();
    params["inputResponses"] = json!({ key: { "action": action, "content": {} } });
    params
}

/// Returns the id of the task that a result creates.
pub(super) fn begun(result: &Value) -> String {
    assert_eq!(result["resultType"], "task", "{result}");
    result["taskId"].as_str().unwrap().to_owned()
}

/// Returns the text of a result.
pub(super) fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{result}"))
}

fn state(number: usize) -> String {
    format!("state-{number}")
}

fn private_file(path: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt;
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
}
