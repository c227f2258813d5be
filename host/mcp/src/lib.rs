//! Serves the tools of a host over MCP: over stdio and over HTTP, for clients of both eras of the protocol.
//!
//! This crate translates and decides nothing. The host decides what may run. The operator decides how much a client's
//! claims about itself, and its answers for its user, count.

mod annotations;
mod approval;
mod batched;
mod call;
mod caller;
mod cursor;
mod error;
mod explained;
mod handler;
pub mod http;
mod identity;
mod judge;
mod offered;
mod options;
mod principal_shares;
mod progress;
mod resources;
mod result;
mod rpc_error;
mod server;
mod stdio;
mod stopping;
mod subscribers;
mod subscriptions;
mod tasks;
mod tools;

pub use error::ServerError;
pub use options::{APPROVAL_WAIT_DEFAULT, ClientAnswers, DeniedTools, ListTools, ServerOptions};
pub use portcullis::plugins::ToolNames;
pub use server::Server;
pub use stdio::{serve_stdio, serve_stdio_until};
pub use tools::{ShortTool, short_list};
