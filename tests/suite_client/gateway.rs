//! The host as a server in front of the suite's, for what only its clients see.

use crate::host::ScenarioHost;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Stdio};

/// A running gateway. Stopped on drop.
struct Gateway {
    child: Child,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
    next_id: u64,
}

impl Gateway {
    fn start(host: &ScenarioHost) -> Self {
        let mut command = host.command(&["serve", "--stdio"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut gateway = Self { child, lines, next_id: 1 };
        let client = json!({ "name": "suite", "version": "1" });
        gateway.request(
            "initialize",
            &json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client }),
        );
        gateway.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        gateway
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    /// Sends a request, and returns its result.
    fn request(&mut self, method: &str, params: &Value) -> Value {
        let id = self.next_id;
        self.next_id += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        for line in self.lines.by_ref() {
            let message: Value = serde_json::from_str(&line.unwrap()).unwrap();
            if message["id"] == id {
                return message.get("result").unwrap_or_else(|| panic!("{message}")).clone();
            }
        }
        panic!("the gateway has ended");
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Calls the suite's echo with the schema that a client of the host sees.
pub(crate) fn echo_schema(host: &ScenarioHost) -> Result<(), String> {
    let mut gateway = Gateway::start(host);
    let list = gateway.request("tools/list", &json!({}));
    let tools = list["tools"].as_array().unwrap().iter();
    let tool = tools.clone().find(|tool| tool["name"] == "suite__json_schema_2020_12_tool");
    let schema = &tool.ok_or_else(|| format!("the tool is not listed: {list}"))?["inputSchema"];
    let call = json!({ "name": "suite__json_schema_echo", "arguments": { "schema": schema } });
    let result = gateway.request("tools/call", &call);
    if result["isError"] == true { Err(result.to_string()) } else { Ok(()) }
}
