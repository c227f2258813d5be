//! The program as an MCP client meets it over pipes, in both eras of the protocol: every message is written and read as
//! it is, by no library. The program and the plugins are built by `cargo xtask test`.

#![allow(clippy::disallowed_methods, reason = "tests start the program and lay out its files")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot be set up has failed")]

#[path = "mcp/wire.rs"]
mod wire;

#[path = "mcp/stdio.rs"]
mod stdio;

#[path = "mcp/messages.rs"]
mod messages;

#[path = "mcp/tools.rs"]
mod tools;

#[path = "mcp/results.rs"]
mod results;

#[path = "mcp/progress.rs"]
mod progress;

#[path = "mcp/cancellation.rs"]
mod cancellation;

#[path = "mcp/changes.rs"]
mod changes;

#[path = "mcp/start.rs"]
mod start;

#[path = "mcp/search.rs"]
mod search;
