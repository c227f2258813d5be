//! The program as an MCP client sees it over pipes, in both protocol eras. The tests write and read raw messages,
//! without a library. `cargo xtask test` builds the program and the plugins.

#![allow(clippy::disallowed_methods, reason = "tests start the program and lay out its files")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot be set up has failed")]

#[path = "mcp/wire.rs"]
pub(crate) mod wire;

#[path = "mcp/stdio.rs"]
mod stdio;

#[path = "mcp/messages.rs"]
mod messages;

#[path = "mcp/tools.rs"]
mod tools;

#[path = "mcp/toolsets.rs"]
mod toolsets;

#[path = "mcp/results.rs"]
mod results;

#[path = "mcp/progress.rs"]
mod progress;

#[path = "mcp/cancellation.rs"]
mod cancellation;

#[path = "mcp/threads.rs"]
mod threads;

#[path = "mcp/changes.rs"]
mod changes;

#[path = "mcp/start.rs"]
mod start;

#[path = "mcp/search.rs"]
mod search;

#[path = "mcp/batch.rs"]
mod batch;
