//! The HTTP transport against untrusted clients: another user of the machine, a page in a browser, a client that sends
//! too much. Every request is written byte by byte to the real server on the loopback address.

#![allow(clippy::disallowed_methods, reason = "tests connect, start the program and lay out its files")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot be set up has failed")]

#[path = "mcp/guard/ask.rs"]
pub(crate) mod ask;

#[path = "mcp/guard/service.rs"]
pub(crate) mod service;

#[path = "mcp/guard/names.rs"]
mod names;

#[path = "mcp/guard/token.rs"]
mod token;

#[path = "mcp/guard/oauth.rs"]
mod oauth;

#[path = "mcp/guard/sessions.rs"]
mod sessions;

#[path = "mcp/guard/handles.rs"]
mod handles;

#[path = "mcp/guard/load.rs"]
mod load;

#[path = "mcp/guard/soak.rs"]
mod soak;

#[path = "mcp/guard/connections.rs"]
mod connections;

#[path = "mcp/guard/messages.rs"]
mod messages;

#[path = "mcp/guard/address.rs"]
mod address;

#[path = "mcp/guard/toolsets.rs"]
mod toolsets;

#[path = "mcp/http.rs"]
pub(crate) mod http;

#[path = "mcp/guard/probes.rs"]
mod probes;

#[path = "mcp/guard/refusals.rs"]
mod refusals;

#[path = "mcp/server_log.rs"]
mod server_log;

#[path = "mcp/metrics.rs"]
mod metrics;

#[path = "mcp/telemetry.rs"]
mod telemetry;
