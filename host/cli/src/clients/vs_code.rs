//! VS Code: `.vscode/mcp.json` in the project, with the servers under `servers`. `type` is required.
//!
//! Source: code.visualstudio.com/docs/copilot/reference/mcp-configuration, "Standard I/O (stdio) servers".

use super::client_facts::{ClientFacts, ConfigScope, ConfigSyntax};
use super::entry::{EntryValue, ServerCommand, command_and_args};

pub(super) const FACTS: ClientFacts = ClientFacts {
    title: "VS Code",
    scope: ConfigScope::Project,
    syntax: ConfigSyntax::Json,
    servers: "servers",
    is_here: |places| {
        places.project_has(&[".vscode"])
            || places.home_has(&[".vscode", ".vscode-server", ".vscode-oss"])
            || places.config_has(&["Code", "Code - Insiders", "VSCodium"])
    },
    file: |places| Some(places.project.join(".vscode/mcp.json")),
    entry,
    next: "start the server in .vscode/mcp.json, and trust it when it asks",
};

fn entry(command: &ServerCommand) -> Vec<(&'static str, EntryValue)> {
    let mut members = vec![("type", EntryValue::Text("stdio".to_owned()))];
    members.extend(command_and_args(command));
    members
}
