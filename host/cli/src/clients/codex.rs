//! Codex CLI: `~/.codex/config.toml`, with the servers as tables under `mcp_servers`. Codex reads `.codex/config.toml`
//! of a project only if the user trusts that project, so `init` writes the user's file. The server finds the project by
//! its working directory, which is that of Codex.
//!
//! Source: developers.openai.com/codex/mcp, "Configure with config.toml".

use super::client_facts::{ClientFacts, ConfigScope, ConfigSyntax};
use super::entry::command_and_args;

pub(super) const FACTS: ClientFacts = ClientFacts {
    title: "Codex CLI",
    scope: ConfigScope::User,
    syntax: ConfigSyntax::Toml,
    servers: "mcp_servers",
    is_here: |places| places.home_has(&[".codex"]),
    file: |places| Some(places.home?.join(".codex/config.toml")),
    entry: command_and_args,
    next: "start it in this directory again",
};
