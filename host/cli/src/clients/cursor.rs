//! Cursor: `.cursor/mcp.json` in the project, with the servers under `mcpServers`.
//!
//! Source: cursor.com/docs/context/mcp, "Configuration locations".

use super::client_facts::{ClientFacts, ConfigScope, ConfigSyntax};
use super::entry::command_and_args;

pub(super) const FACTS: ClientFacts = ClientFacts {
    title: "Cursor",
    scope: ConfigScope::Project,
    syntax: ConfigSyntax::Json,
    servers: "mcpServers",
    is_here: |places| places.home_has(&[".cursor"]) || places.project_has(&[".cursor"]),
    file: |places| Some(places.project.join(".cursor/mcp.json")),
    entry: command_and_args,
    next: "enable the server in its settings, under MCP",
};
