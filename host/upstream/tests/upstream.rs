//! Tests of the client of MCP servers. The servers are programs, as a user would start them.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot be set up has failed")]

mod loopback;
mod process;

mod hostile_calls;
mod hostile_connections;
mod hostile_http;
mod hostile_lists;
mod http_servers;
mod logins;
mod modern_server;
mod python_servers;
mod real_servers;
