//! A site whose policy names the scripted server.

use portcullis::text::WithCauses;
use portcullis::{Host, Reply, Request};
use portcullis_tests::Site;
use serde_json::{Value, json};
use std::fs;

/// The path of the scripted server.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_portcullis-tests-mcp-server");

/// The rule that allows every call.
pub(crate) const ALLOW: &str = "[approvals]\nrepeats = 1000000\n[[rule]]\ntool = \"*.*\"\ndecision = \"allow\"\n";

/// A site with the folder of the server `desk`.
pub(crate) struct Desk {
    pub(crate) site: Site,
}

impl Desk {
    /// Makes the site, with these tools.
    pub(crate) fn new(tools: &[&str]) -> Self {
        // The host starts this program again to confine the server.
        portcullis::init();
        let desk = Self { site: Site::new() };
        desk.site.directory("work");
        desk.list(&tools.iter().map(|name| definition(name, "Does what the call says.")).collect::<Vec<_>>());
        desk
    }

    /// Writes what the server lists.
    pub(crate) fn list(&self, tools: &[Value]) {
        fs::write(self.site.path("work/tools.json"), json!(tools).to_string()).unwrap();
    }

    /// Opens a host whose policy has these lines in the section of the server, and then this text.
    pub(crate) async fn open(&self, lines: &str, more: &str) -> Host {
        self.site.open(&policy(lines, more)).await
    }

    pub(crate) async fn allowing(&self) -> Host {
        self.open("", ALLOW).await
    }
}

/// Returns a policy with the server `desk`, whose working directory is `work`.
pub(crate) fn policy(lines: &str, more: &str) -> String {
    format!(
        "[server.desk]\ncommand = [{PROGRAM:?}]\ndirectory.work = {{ path = \"work\", access = \"read-write\" }}\n\
         {lines}\n{more}"
    )
}

/// Returns a definition whose arguments are free.
pub(crate) fn definition(name: &str, description: &str) -> Value {
    json!({ "name": name, "description": description, "inputSchema": { "type": "object" } })
}

/// Returns the names of the server's tools, without its own name.
pub(crate) fn tools(host: &Host) -> Vec<String> {
    let catalog = host.catalog();
    let tools = catalog.plugin("desk").into_iter().flat_map(|plugin| plugin.tools());
    tools.map(|tool| tool.name().tool.to_string()).collect()
}

/// Returns why the server, or some of its tools, cannot be used.
pub(crate) fn refusals(host: &Host) -> Vec<String> {
    let catalog = host.catalog();
    let about = catalog.refused().iter().filter(|refused| refused.file == "server.desk");
    about.map(|refused| WithCauses(&*refused.error).to_string()).collect()
}

pub(crate) async fn call(host: &Host, tool: &str, arguments: Value) -> Reply {
    host.call(Request::new(format!("desk.{tool}"), arguments.to_string())).await
}
