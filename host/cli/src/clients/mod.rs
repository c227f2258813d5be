//! The agents that `init` registers the server with and `import` takes servers from, and their configuration files.
//! Each agent is one file. What a file becomes is computed here; `crate::user_files` writes it.

mod claude_code;
mod client_facts;
mod client_server;
mod codex;
mod config_file;
mod cursor;
mod entry;
mod facts;
mod found_entry;
mod gemini;
mod merge;
mod merge_json;
mod merge_toml;
mod opencode;
mod server_source;
mod vs_code;
mod zed;

pub(crate) use client_facts::{ClientPlaces, ConfigScope};
pub(crate) use client_server::{ClientAddress, ClientServer, ClientStart};
pub(crate) use config_file::{ConfigFile, EntryState, Left};
pub(crate) use entry::ServerCommand;
pub(crate) use facts::AgentClient;
pub(crate) use server_source::ServerSource;
