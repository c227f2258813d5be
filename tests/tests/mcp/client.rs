//! A client of either era that speaks the protocol line by line to a server in this process. It sends exactly what a
//! test writes, well-formed or not.

use portcullis_mcp::Server;
use rmcp::ServiceExt as _;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};

/// Timeout of every wait. It only makes a test fail; nothing else depends on it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// The tasks extension.
pub(crate) const TASKS: &str = "io.modelcontextprotocol/tasks";

/// Capacity of the pipe: more than any message here.
const PIPE_BYTES: usize = 1 << 20;

/// The protocol era of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    /// Starts with a handshake.
    Legacy,
    /// Has no handshake.
    Modern,
}

/// A client.
pub(crate) struct Client {
    era: Era,
    capabilities: Value,
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    out: WriteHalf<DuplexStream>,
    /// Messages that arrived while the client waited for another one.
    heard: VecDeque<Value>,
    next: u64,
}

impl Client {
    /// Connects a client that declares these capabilities.
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

    /// Changes the declared capabilities, in the era in which each request declares them.
    pub(crate) fn declare(&mut self, capabilities: Value) {
        self.capabilities = capabilities;
    }

    /// Sends a message unchanged.
    pub(crate) async fn send(&mut self, message: &Value) {
        self.out.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    /// Sends a request. Returns its ID.
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

    /// Returns the next message that matches.
    pub(crate) async fn hear(&mut self, is_one: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.heard.iter().position(&is_one) {
            return self.heard.remove(at).unwrap();
        }
        loop {
            let line = tokio::time::timeout(PATIENCE, self.lines.next_line()).await;
            let line = line.expect("no message arrives").unwrap().expect("the server closed the connection");
            let message: Value = serde_json::from_str(&line).unwrap();
            if is_one(&message) {
                return message;
            }
            self.heard.push_back(message);
        }
    }

    /// Waits for the response to a request. Returns the result, or the error under `error`.
    pub(crate) async fn response(&mut self, id: u64) -> Value {
        let response = self.hear(|message| message["id"] == id && message.get("method").is_none()).await;
        response.get("result").cloned().unwrap_or_else(|| json!({ "error": response["error"] }))
    }

    /// Sends a request and waits for its response.
    pub(crate) async fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params).await;
        self.response(id).await
    }

    /// Starts a tool call.
    pub(crate) async fn begin_call(&mut self, tool: &str, arguments: Value) -> u64 {
        let params = json!({ "name": tool, "arguments": arguments, "_meta": { "progressToken": 7 } });
        self.begin("tools/call", params).await
    }

    /// Calls a tool and waits for its result.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let id = self.begin_call(tool, arguments).await;
        self.response(id).await
    }

    /// Repeats a call with the state that the server returned, and these responses.
    pub(crate) async fn retry(&mut self, tool: &str, arguments: Value, state: &Value, responses: Value) -> Value {
        let id = self.begin_retry(tool, arguments, state, responses).await;
        self.response(id).await
    }

    /// Starts to repeat a call.
    pub(crate) async fn begin_retry(&mut self, tool: &str, arguments: Value, state: &Value, responses: Value) -> u64 {
        let params =
            json!({ "name": tool, "arguments": arguments, "requestState": state, "inputResponses": responses });
        self.begin("tools/call", params).await
    }

    /// Returns the server's next request.
    pub(crate) async fn asked(&mut self) -> Value {
        self.hear(|message| message.get("method").is_some() && message.get("id").is_some()).await
    }

    /// Returns the next notification with this method.
    pub(crate) async fn notified(&mut self, method: &str) -> Value {
        self.hear(|message| message["method"] == method && message.get("id").is_none()).await
    }

    /// Returns all messages that no one has waited for.
    pub(crate) fn overheard(&self) -> impl Iterator<Item = &Value> {
        self.heard.iter()
    }
}
