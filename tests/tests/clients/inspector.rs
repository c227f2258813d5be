//! The command line of the MCP Inspector, in both eras over both transports. Its strict schema check fails for every
//! schema that some provider would reject.

use crate::office::{DENYING, Listening, Office, installed};
use crate::settings;
use serde_json::{Value, json};
use std::fs;
use std::process::Command;

/// The Inspector's exit code if the tool failed.
const TOOL_FAILED: i32 = 5;

/// The output of a run of the Inspector.
struct Seen {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Seen {
    /// Asserts the exit code. Returns the printed result.
    #[track_caller]
    fn result(&self, code: i32) -> Value {
        assert_eq!(self.code, Some(code), "{}\n{}", self.out, self.err);
        let document: Value = serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}", self.out));
        document.get("result").unwrap_or(&document).clone()
    }
}

/// Returns the Inspector's command in an era.
fn inspector(office: &Office, era: &str) -> Command {
    let modules = installed("PORTCULLIS_TEST_NODE_MODULES");
    let program = modules.join("@modelcontextprotocol/inspector/clients/launcher/build/index.js");
    let mut command = office.command(installed("PORTCULLIS_TEST_NODE"));
    // Otherwise it would try to store secrets in a keychain.
    command.arg(program).args(["--cli", "--format", "json", "--protocol-era", era]);
    command.env("MCP_INSPECTOR_SECRET_STORE", "memory");
    command
}

fn see(command: &mut Command) -> Seen {
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    Seen { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
}

/// The arguments after the method, which locate the server.
enum Reached<'a> {
    Started(Vec<String>),
    Listening(&'a Listening),
}

impl Reached<'_> {
    fn see(&self, mut inspector: Command) -> Seen {
        match self {
            Self::Started(words) => see(inspector.args(words)),
            Self::Listening(server) => {
                inspector.args(["--transport", "http", "--server-url", &server.url]);
                see(inspector.args(["--header", &format!("Authorization: Bearer {}", server.token)]))
            }
        }
    }

    fn list(&self, office: &Office, era: &str) -> Value {
        let mut inspector = inspector(office, era);
        inspector.args(["--method", "tools/list", "--strict"]);
        self.see(inspector).result(0)
    }

    fn call(&self, office: &Office, era: &str, tool: &str, arguments: &Value) -> Seen {
        let mut inspector = inspector(office, era);
        inspector.args(["--method", "tools/call", "--tool-name", tool, "--tool-args-json", &arguments.to_string()]);
        self.see(inspector)
    }
}

/// Lists the tools with the strict check, and calls one tool that succeeds and one that fails.
fn meets(office: &Office, era: &str, reached: &Reached<'_>) {
    let listed = reached.list(office, era);
    let names: Vec<&str> =
        listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    for name in ["clerk__add", "clerk__note", "done"] {
        assert!(names.contains(&name), "{names:?}");
    }
    let sum = reached.call(office, era, "clerk__add", &json!({ "numbers": [40, 2] })).result(0);
    assert_eq!(sum["structuredContent"], json!({ "count": 2, "sum": 42 }), "{sum}");
}

#[test]
fn the_inspector_over_pipes_in_the_handshake_era() {
    let office = Office::new(DENYING);
    meets(&office, "legacy", &Reached::Started(office.stdio(&["--list-denied"])));
}

#[test]
fn the_inspector_over_pipes_in_the_modern_era() {
    let office = Office::new(DENYING);
    meets(&office, "modern", &Reached::Started(office.stdio(&["--list-denied"])));
}

#[test]
fn the_inspector_over_http_in_the_handshake_era() {
    let office = Office::new(DENYING);
    let server = office.listen(&["--list-denied"]);
    meets(&office, "legacy", &Reached::Listening(&server));
}

#[test]
fn the_inspector_over_http_in_the_modern_era() {
    let office = Office::new(DENYING);
    let server = office.listen(&["--list-denied"]);
    meets(&office, "modern", &Reached::Listening(&server));
}

/// The Inspector reads the same configuration file as Claude Code and Cursor. A failing tool is a failure of the
/// Inspector.
#[test]
fn the_configuration_of_the_page_starts_the_server() {
    let office = Office::new(DENYING);
    office.compile();
    let configuration = office.path(".mcp.json");
    fs::write(&configuration, settings::block("json", "mcpServers")).unwrap();
    let mut inspector = inspector(&office, "auto");
    inspector.arg("--config").arg(configuration).args(["--server", "portcullis", "--method", "tools/call"]);
    let failed = see(inspector.args(["--tool-name", "clerk__fail", "--tool-args-json", "{}"]));
    assert_eq!(failed.code, Some(TOOL_FAILED), "{}\n{}", failed.out, failed.err);
    assert!(failed.out.contains("come back tomorrow"), "{}\n{}", failed.out, failed.err);
}
