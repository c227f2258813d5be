//! A client that speaks the protocol line by line, of either era, to a server in this process: what it sends is what a
//! test says, well-formed or not.

use portcullis_mcp::Server;
use rmcp::ServiceExt as _;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};

/// How long anything may take before a test has failed; nothing else depends on it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// The extension of tasks.
pub(crate) const TASKS: &str = "io.modelcontextprotocol/tasks";

/// What the pipe holds: more than any message here.
const PIPE_BYTES: usize = 1 << 20;

/// The two ways of speaking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    /// With a handshake.
    Legacy,
    /// Without one.
    Modern,
}

/// A client.
pub(crate) struct Client {
    era: Era,
    capabilities: Value,
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    out: WriteHalf<DuplexStream>,
    /// What came while something else was waited for.
    heard: VecDeque<Value>,
    next: u64,
}

impl Client {
    /// A client that declares these capabilities.
    pub(crate) async fn open(server: &Server, era: Era, capabilities: Value) -> Self {
        let (near, far) = tokio::io::duplex(PIPE_BYTES);
        let (input, output) = tokio::io::split(far);
        let server = server.clone();
        tokio::spawn(async move {
            if let Ok(running) = server.serve((input, output)).await {
                let _ = running.waiting().await;
            }
        });
        let (input, out) = tokio::io::split(near);
        let lines = BufReader::new(input).lines();
        let mut client = Self { era, capabilities, lines, out, heard: VecDeque::new(), next: 1 };
        if era == Era::Legacy {
            client.shake_hands().await;
        }
        client
    }

    async fn shake_hands(&mut self) {
        let params = json!({
            "protocolVersion": "2025-06-18",
            "capabilities": self.capabilities,
            "clientInfo": { "name": "test", "version": "1" },
        });
        self.request("initialize", params).await;
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
    }

    /// Declares other capabilities from now on, where they are declared with each request.
    pub(crate) fn declare(&mut self, capabilities: Value) {
        self.capabilities = capabilities;
    }

    /// Sends a message as it is.
    pub(crate) async fn send(&mut self, message: &Value) {
        self.out.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    /// Sends a request. Answers its id.
    pub(crate) async fn begin(&mut self, method: &str, mut params: Value) -> u64 {
        let id = self.next;
        self.next += 1;
        if self.era == Era::Modern {
            let meta = &mut params["_meta"];
            meta["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
            meta["io.modelcontextprotocol/clientCapabilities"] = self.capabilities.clone();
            meta["io.modelcontextprotocol/clientInfo"] = json!({ "name": "test", "version": "1" });
        }
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await;
        id
    }

    /// The next message that is one of those.
    pub(crate) async fn hear(&mut self, is_one: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.heard.iter().position(&is_one) {
            return self.heard.remove(at).unwrap();
        }
        loop {
            let line = tokio::time::timeout(PATIENCE, self.lines.next_line()).await;
            let line = line.expect("nothing comes").unwrap().expect("the server is gone");
            let message: Value = serde_json::from_str(&line).unwrap();
            if is_one(&message) {
                return message;
            }
            self.heard.push_back(message);
        }
    }

    /// The response to a request: the result, or the error under `error`.
    pub(crate) async fn response(&mut self, id: u64) -> Value {
        let response = self.hear(|message| message["id"] == id && message.get("method").is_none()).await;
        response.get("result").cloned().unwrap_or_else(|| json!({ "error": response["error"] }))
    }

    /// Makes a request and waits for its response.
    pub(crate) async fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params).await;
        self.response(id).await
    }

    /// Begins to call a tool.
    pub(crate) async fn begin_call(&mut self, tool: &str, arguments: Value) -> u64 {
        let params = json!({ "name": tool, "arguments": arguments, "_meta": { "progressToken": 7 } });
        self.begin("tools/call", params).await
    }

    /// Calls a tool and waits for whatever comes of it.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let id = self.begin_call(tool, arguments).await;
        self.response(id).await
    }

    /// Makes a call again with the state it was given, and these responses.
    pub(crate) async fn retry(&mut self, tool: &str, arguments: Value, state: &Value, responses: Value) -> Value {
        let id = self.begin_retry(tool, arguments, state, responses).await;
        self.response(id).await
    }

    /// Begins to make a call again.
    pub(crate) async fn begin_retry(&mut self, tool: &str, arguments: Value, state: &Value, responses: Value) -> u64 {
        let params =
            json!({ "name": tool, "arguments": arguments, "requestState": state, "inputResponses": responses });
        self.begin("tools/call", params).await
    }

    /// The next request of the server.
    pub(crate) async fn asked(&mut self) -> Value {
        self.hear(|message| message.get("method").is_some() && message.get("id").is_some()).await
    }

    /// The next notification with this method.
    pub(crate) async fn notified(&mut self, method: &str) -> Value {
        self.hear(|message| message["method"] == method && message.get("id").is_none()).await
    }

    /// Everything that came and was not waited for.
    pub(crate) fn overheard(&self) -> impl Iterator<Item = &Value> {
        self.heard.iter()
    }
}
