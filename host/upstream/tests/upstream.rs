//! Tests of the client of MCP servers. The servers are programs, as a user would start them.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot be set up has failed")]

mod process;

mod hostile_calls;
mod hostile_connections;
mod hostile_lists;
mod modern_server;
mod real_servers;
