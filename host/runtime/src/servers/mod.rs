//! MCP servers whose tools the host offers. Each is a program that the policy names. It runs confined, from its first
//! call until the host ends, and starts again when it has ended.
//!
//! A server is a plugin of the catalog. Its tools are listed and pinned like generated tools, and a call of them takes
//! all the steps of a call. This module must not know the catalog.

mod connection;
mod error;
mod link;
mod listing;
mod run;

pub(crate) use connection::ServerGrant;
pub use error::ServerFault;
pub(crate) use link::{ServerChanges, ServerLink};
pub(crate) use listing::{ListedServer, ListedTool};
pub(crate) use run::{ServerRun, run};
