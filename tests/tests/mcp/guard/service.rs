//! A site with small plugins, served over HTTP in this process.

use crate::guard::ask::{Answer, Ask, PATIENCE};
use portcullis::Host;
use portcullis::policy::Principal;
use portcullis_mcp::http::{self, Access, HttpOptions, Running, Tokens};
use portcullis_mcp::{Server, ServerOptions};
use portcullis_tests::{Manifest, Site, guest};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::time::timeout;

/// The operator's token.
pub(crate) const TOKEN: &str = "operator-0123456789abcdef0123456789abcdef";
/// The token of the principal `mcp.other`.
pub(crate) const OTHER_TOKEN: &str = "other-0123456789abcdef0123456789abcdef";

/// The protocol version without sessions.
pub(crate) const MODERN: &str = "2026-07-28";
/// The last protocol version with sessions.
pub(crate) const LEGACY: &str = "2025-11-25";

/// Allows calls that run until their time limit, and calls that end immediately.
const POLICY: &str = "[approvals]\nrepeats = 1000000\n[limits]\ntime = \"1 s\"\n\
    [[rule]]\ntool = \"*.*\"\ndecision = \"allow\"\n";

/// The tools of the answering and of the sleeping plugin, by the names that clients use.
pub(crate) const GOOD: &str = "good__run";
pub(crate) const SLEEP: &str = "sleep-in-execute__run";

/// A running server.
pub(crate) struct Service {
    pub(crate) site: Site,
    pub(crate) host: Host,
    pub(crate) running: Running,
}

/// The two tokens.
pub(crate) fn tokens() -> Access {
    let text = format!("{TOKEN}\nother:{OTHER_TOKEN}\n");
    Access::Tokens(Tokens::parse(&text, &Principal::default()).unwrap())
}

/// Returns a free port of the loopback address.
pub(crate) fn anywhere() -> SocketAddr {
    "127.0.0.1:0".parse().unwrap()
}

impl Service {
    /// Serves the holders of the two tokens.
    pub(crate) async fn open() -> Self {
        Self::with(|_| {}).await
    }

    /// Serves with changed options.
    pub(crate) async fn with(change: impl FnOnce(&mut HttpOptions)) -> Self {
        Self::under(POLICY, change).await
    }

    /// Serves under a policy.
    pub(crate) async fn under(policy: &str, change: impl FnOnce(&mut HttpOptions)) -> Self {
        Self::of(policy, ServerOptions::default(), change).await
    }

    /// Serves with these options.
    pub(crate) async fn of(policy: &str, server: ServerOptions, change: impl FnOnce(&mut HttpOptions)) -> Self {
        let site = Site::new();
        site.plugin("sleep-in-execute", &guest("sleep-in-execute", &Manifest::of("sleep-in-execute")));
        let host = site.open(policy).await;
        let server = Server::new(host.clone(), server).unwrap();
        let mut options = HttpOptions::new(anywhere(), tokens());
        change(&mut options);
        let running = http::serve(server, options).await.unwrap();
        Self { site, host, running }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.running.address()
    }

    /// Builds the operator's request without a message.
    pub(crate) fn ask(&self, method: &str) -> Ask {
        Ask::new(method, "/mcp")
            .with("Host", &self.address().to_string())
            .with("Authorization", &format!("Bearer {TOKEN}"))
            .with("Accept", "application/json, text/event-stream")
    }

    /// Builds a request with a message from the operator.
    pub(crate) fn post(&self, message: &Value) -> Ask {
        self.ask("POST").with("Content-Type", "application/json").body(message.to_string())
    }

    /// Builds a call in the newest version.
    pub(crate) fn call(&self, tool: &str) -> Ask {
        let message = modern("tools/call", json!({ "name": tool, "arguments": {} }));
        self.modern(&message).with("Mcp-Name", tool)
    }

    /// Builds a request of the newest version, with the headers that repeat the message's content.
    pub(crate) fn modern(&self, message: &Value) -> Ask {
        let method = message["method"].as_str().unwrap();
        self.post(message).with("MCP-Protocol-Version", MODERN).with("Mcp-Method", method)
    }

    /// Builds a request for the list of tools, in the newest version.
    pub(crate) fn list(&self) -> Ask {
        self.modern(&modern("tools/list", json!({})))
    }

    /// Builds a message of a session.
    pub(crate) fn of_session(&self, session: &str, message: &Value) -> Ask {
        self.post(message).with("MCP-Protocol-Version", LEGACY).with("Mcp-Session-Id", session)
    }

    /// Builds the request that opens a session.
    pub(crate) fn initialize(&self) -> Ask {
        let client = json!({ "name": "test", "version": "1" });
        let params = json!({ "protocolVersion": LEGACY, "capabilities": {}, "clientInfo": client });
        self.post(&json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }))
    }

    /// Opens a session with this token.
    pub(crate) async fn session(&self, token: &str) -> String {
        let ask = self.initialize().having("Authorization", &format!("Bearer {token}"));
        let session = ask.send(self.address()).await.is(200).header("Mcp-Session-Id").unwrap().to_owned();
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let ask = self.of_session(&session, &initialized).having("Authorization", &format!("Bearer {token}"));
        ask.send(self.address()).await.is(202);
        session
    }

    pub(crate) async fn send(&self, ask: &Ask) -> Answer {
        ask.send(self.address()).await
    }
}

/// Builds a request of the newest version.
pub(crate) fn modern(method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
    });
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })
}

/// Builds a call of a session.
pub(crate) fn legacy_call(id: u64, tool: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": tool, "arguments": {} } })
}

/// Waits until this many calls are running.
pub(crate) async fn under_way(service: &Service, calls: usize) {
    let running = async {
        while service.host.calls_under_way() < calls {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(PATIENCE, running).await.unwrap();
}
