//! Servers in this process that share a ledger, and clients of theirs.

use crate::guard::ask::{Answer, Ask, PATIENCE};
use crate::guard::service::{LEGACY, OTHER_TOKEN, TOKEN, anywhere, tokens};
use portcullis::policy::Principal;
use portcullis::state::{PostgresAddress, StatePlace};
use portcullis::{Compiler, Host};
use portcullis_mcp::http::{self, HttpLimits, HttpOptions, Running};
use portcullis_mcp::{ClientAnswers, Server as McpServer, ServerOptions};
use portcullis_tests::{Manifest, Site, guest};
use portcullis_tests_postgres::{Server, address_at, is_installed, query_ledger};
use serde_json::{Value, json};
use std::fs;
use std::net::SocketAddr;
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;
use tokio::time::timeout;

/// The database of the ledger.
const DATABASE: &str = "ledger";

/// Some calls are approved, others run until they are cancelled.
const POLICY: &str = "[approvals]\nrepeats = 1000000\n[limits]\ntime = \"60 s\"\n\
    [[rule]]\ntool = \"{ask,ask-too}.*\"\ndecision = \"ask\"\n\
    [[rule]]\ntool = \"{good,late,sleep-in-execute}.*\"\ndecision = \"allow\"\n";

/// Tools that need approval.
pub(super) const ASK: &str = "ask__run";
pub(super) const ASK_TOO: &str = "ask-too__run";

/// Servers that share a ledger.
pub(super) struct Cluster {
    pub(super) database: Server,
    pub(super) site: Site,
    pub(super) replicas: Vec<Replica>,
}

pub(super) struct Replica {
    pub(super) host: Host,
    running: Running,
}

impl Cluster {
    /// Opens three servers. Returns `None` on a machine without PostgreSQL.
    pub(super) async fn open() -> Option<Self> {
        Self::with(HttpLimits::default()).await
    }

    /// Opens three servers with these limits.
    pub(super) async fn with(limits: HttpLimits) -> Option<Self> {
        if !is_installed() {
            return None;
        }
        let database = Server::start().unwrap();
        database.create(DATABASE).unwrap();
        let site = Site::new();
        for name in ["ask", "ask-too"] {
            site.plugin(name, &guest("good", &Manifest::of(name)));
        }
        site.plugin("sleep-in-execute", &guest("sleep-in-execute", &Manifest::of("sleep-in-execute")));
        fs::write(site.path("key"), "5a".repeat(32)).unwrap();
        let mut cluster = Self { database, site, replicas: Vec::new() };
        for number in 0..3 {
            let replica = cluster.replica(number, limits).await;
            cluster.replicas.push(replica);
        }
        Some(cluster)
    }

    async fn replica(&self, number: usize, limits: HttpLimits) -> Replica {
        let address = PostgresAddress::new(address_at(self.database.port(), DATABASE));
        let place = StatePlace::from(self.site.path(format!("host-{number}")));
        let place = place.ledger_in(address).ledger_key(self.site.path("key"));
        let builder = Host::builder(self.site.plugins(), place).compiler(Compiler::InProcess).calls(4);
        let host = builder.policy_text(POLICY, self.site.path("")).answered_elsewhere().open().await.unwrap();
        let server = ServerOptions { client_answers: ClientAnswers::Person, ..ServerOptions::default() };
        let server = McpServer::new(host.clone(), server).unwrap();
        let options = HttpOptions { limits, ..HttpOptions::new(anywhere(), tokens()) };
        let running = http::serve(server, options).await.unwrap();
        Replica { host, running }
    }

    /// Runs a statement on the ledger, and returns what it prints.
    pub(super) fn query(&self, statement: &str) -> String {
        query_ledger(self.database.port(), DATABASE, statement).unwrap()
    }

    /// Begins a session of the operator on a server.
    pub(super) async fn session(&self, replica: usize) -> String {
        self.replicas[replica].session(TOKEN).await
    }
}

impl Replica {
    pub(super) fn address(&self) -> SocketAddr {
        self.running.address()
    }

    /// Builds a request of a session without a message.
    pub(super) fn ask(&self, method: &str, session: &str) -> Ask {
        Ask::new(method, "/mcp")
            .with("Host", &self.running.address().to_string())
            .with("Authorization", &format!("Bearer {TOKEN}"))
            .with("Accept", "application/json, text/event-stream")
            .with("MCP-Protocol-Version", LEGACY)
            .with("Mcp-Session-Id", session)
    }

    /// Builds a message of a session.
    pub(super) fn post(&self, session: &str, message: &Value) -> Ask {
        self.ask("POST", session).with("Content-Type", "application/json").body(message.to_string())
    }

    /// Builds the request that begins a session. The client shows forms to its user.
    pub(super) fn initialize(&self) -> Ask {
        let client = json!({ "name": "test", "version": "1" });
        let capabilities = json!({ "elicitation": {} });
        let params = json!({ "protocolVersion": LEGACY, "capabilities": capabilities, "clientInfo": client });
        let message = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        self.post("", &message).without("Mcp-Session-Id")
    }

    /// Begins a session. The client does not say that it is initialized: that can reach any server.
    pub(super) async fn session(&self, token: &str) -> String {
        let ask = self.initialize().having("Authorization", &format!("Bearer {token}"));
        self.send(&ask).await.is(200).header("Mcp-Session-Id").unwrap().to_owned()
    }

    pub(super) async fn send(&self, ask: &Ask) -> Answer {
        ask.send(self.running.address()).await
    }

    /// Sends a message of a session.
    pub(super) async fn tell(&self, session: &str, message: &Value) -> Answer {
        self.send(&self.post(session, message)).await
    }

    /// Calls a tool, and returns the stream of the call.
    pub(super) async fn call(&self, session: &str, id: u64, tool: &str) -> EventReader {
        self.read(&self.post(session, &call(id, tool))).await
    }

    /// Sends a request, and returns the stream of its response.
    pub(super) async fn read(&self, ask: &Ask) -> EventReader {
        let (answer, stream) = ask.open(self.running.address()).await;
        answer.is(200);
        EventReader { stream, unread: Vec::new(), last_event: String::new() }
    }
}

/// Builds a call of a tool.
pub(super) fn call(id: u64, tool: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": tool, "arguments": {} } })
}

/// Builds the answer yes or no to the form with this id.
pub(super) fn answer(id: &Value, action: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": { "action": action, "content": {} } })
}

/// Returns the header with the token of the principal `mcp.other`.
pub(super) fn other() -> String {
    format!("Bearer {OTHER_TOKEN}")
}

/// Returns the principal of the operator's token.
pub(super) fn operator() -> Principal {
    Principal::default()
}

/// Reads the events of a response.
pub(super) struct EventReader {
    stream: TcpStream,
    unread: Vec<u8>,
    /// The id of the last event.
    pub(super) last_event: String,
}

impl EventReader {
    /// Returns the next message.
    pub(super) async fn message(&mut self) -> Value {
        self.next().await.expect("the stream ended")
    }

    /// Returns the next message, or `None` at the end of the stream.
    pub(super) async fn next(&mut self) -> Option<Value> {
        while let Some(line) = timeout(PATIENCE, self.line()).await.unwrap() {
            if let Some(id) = line.strip_prefix("id:") {
                id.trim().clone_into(&mut self.last_event);
            }
            let message = line.strip_prefix("data:").and_then(|data| serde_json::from_str(data).ok());
            if message.is_some() {
                return message;
            }
        }
        None
    }

    async fn line(&mut self) -> Option<String> {
        loop {
            if let Some(end) = self.unread.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.unread.drain(..=end).collect();
                let line = String::from_utf8(line).unwrap();
                // The last chunk.
                return (line != "0\r\n").then_some(line);
            }
            if self.stream.read_buf(&mut self.unread).await.unwrap_or_default() == 0 {
                return None;
            }
        }
    }
}
