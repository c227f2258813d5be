//! opencode: `opencode.jsonc` or `opencode.json` in the project, with the servers under `mcp`. `command` is a list that
//! begins with the program, and `type` is required. Version 2 also reads this form, which is that of version 1.
//!
//! Source: opencode.ai/docs/mcp-servers, "Local".

use super::client_facts::{ClientFacts, ConfigScope, ConfigSyntax};
use super::entry::{EntryValue, ServerCommand};

/// The file with comments, which is used if it exists.
const WITH_COMMENTS: &str = "opencode.jsonc";

pub(super) const FACTS: ClientFacts = ClientFacts {
    title: "opencode",
    scope: ConfigScope::Project,
    syntax: ConfigSyntax::Json,
    servers: "mcp",
    is_here: |places| {
        places.project_has(&["opencode.json", WITH_COMMENTS, ".opencode"]) || places.config_has(&["opencode"])
    },
    file: |places| {
        let with_comments = places.project.join(WITH_COMMENTS);
        Some(if with_comments.exists() { with_comments } else { places.project.join("opencode.json") })
    },
    entry,
    next: "start it in this directory again",
};

fn entry(command: &ServerCommand) -> Vec<(&'static str, EntryValue)> {
    let words = std::iter::once(command.program_text()).chain(command.arguments.iter().cloned()).collect();
    vec![
        ("type", EntryValue::Text("local".to_owned())),
        ("command", EntryValue::List(words)),
        ("enabled", EntryValue::Flag(true)),
    ]
}
