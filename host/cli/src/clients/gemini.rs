//! Gemini CLI: `.gemini/settings.json` in the project, with the servers under `mcpServers`. Without `trust`, it asks
//! the user before each call, in addition to what the policy asks.
//!
//! Source: google-gemini/gemini-cli, docs/tools/mcp-server.md, "Configure the MCP server in settings.json".

use super::client_facts::{ClientFacts, ConfigScope, ConfigSyntax};
use super::entry::command_and_args;

pub(super) const FACTS: ClientFacts = ClientFacts {
    title: "Gemini CLI",
    scope: ConfigScope::Project,
    syntax: ConfigSyntax::Json,
    servers: "mcpServers",
    is_here: |places| places.home_has(&[".gemini"]) || places.project_has(&[".gemini"]),
    file: |places| Some(places.project.join(".gemini/settings.json")),
    entry: command_and_args,
    next: "start it in this directory again",
};
