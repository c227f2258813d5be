//! Claude Code: `.mcp.json` in the project, with the servers under `mcpServers`. A server without `type` is started
//! over stdio. Claude Code asks the user once before it uses a server of this file. It reads `~/.claude.json` too, and
//! rewrites that file while it runs, so `init` leaves it alone.
//!
//! Source: code.claude.com/docs/en/mcp, "MCP installation scopes".

use super::client_facts::{ClientFacts, ConfigScope, ConfigSyntax};
use super::entry::command_and_args;

pub(super) const FACTS: ClientFacts = ClientFacts {
    title: "Claude Code",
    scope: ConfigScope::Project,
    syntax: ConfigSyntax::Json,
    servers: "mcpServers",
    is_here: |places| places.home_has(&[".claude.json", ".claude"]) || places.project_has(&[".mcp.json", ".claude"]),
    file: |places| Some(places.project.join(".mcp.json")),
    entry: command_and_args,
    next: "start it in this directory again, and confirm the server when it asks",
};
