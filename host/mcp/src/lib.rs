//! The tools of a host as an MCP server: over pipes and over HTTP, for clients of both eras of the protocol.
//!
//! It translates and decides nothing: what may run is the host's business, and what a client says of itself, or answers
//! for its user, counts as much as the operator said it does.

mod annotations;
mod approval;
mod call;
mod caller;
mod cursor;
mod error;
mod explained;
mod handler;
pub mod http;
mod identity;
mod judge;
mod options;
mod progress;
mod resources;
mod result;
mod server;
mod stdio;
mod stopping;
mod subscriptions;
mod tasks;
mod tools;

pub use error::ServerError;
pub use options::{APPROVAL_WAIT_DEFAULT, ClientAnswers, DeniedTools, ListTools, ServerOptions};
pub use portcullis::plugins::ToolNames;
pub use server::Server;
pub use stdio::{serve_stdio, serve_stdio_until};
pub use tools::{ShortTool, short_list};
