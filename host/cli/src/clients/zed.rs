//! Zed: the user's `settings.json`, with the servers under `context_servers`. Zed starts a server in the directory of
//! the open project, by which the server finds the project.
//!
//! Source: zed.dev/docs/ai/mcp, "As Custom Servers".

use super::client_facts::{ClientFacts, ConfigScope, ConfigSyntax};
use super::entry::command_and_args;

pub(super) const FACTS: ClientFacts = ClientFacts {
    title: "Zed",
    scope: ConfigScope::User,
    syntax: ConfigSyntax::Json,
    servers: "context_servers",
    is_here: |places| places.config_has(&["zed"]),
    file: |places| Some(places.config?.join("zed/settings.json")),
    entry: command_and_args,
    next: "open this directory; the server is in the settings of its agent panel",
};
