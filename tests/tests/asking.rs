//! Calls over MCP that need approval, and calls that become tasks. M17, and the P rows through another channel.

// A test is one future, with a server and its client in it.
#![allow(clippy::disallowed_methods, reason = "tests look at the files that tools leave")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot be set up has failed")]

#[path = "mcp/client.rs"]
pub(crate) mod client;

#[path = "mcp/office.rs"]
mod office;

#[path = "mcp/approvals.rs"]
mod approvals;

#[path = "mcp/preview.rs"]
mod preview;

#[path = "mcp/remembering.rs"]
mod remembering;

#[path = "mcp/tasks.rs"]
mod tasks;
