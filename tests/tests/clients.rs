//! Clients of the MCP server that others wrote, and a browser: each meets `portcullis serve` as its users would. Then
//! the types of providers of models, which meet what is made for them. The program, the plugins and the clients are
//! there once `cargo xtask test` has run; nothing here reaches a network.

#![allow(clippy::disallowed_methods, reason = "tests start programs, listen, connect and lay out files")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot be set up has failed")]

#[path = "clients/office.rs"]
mod office;

#[path = "clients/script.rs"]
mod script;

#[path = "clients/readme.rs"]
mod readme;

#[path = "clients/inspector.rs"]
mod inspector;

#[path = "clients/python.rs"]
mod python;

#[path = "clients/agents.rs"]
mod agents;

#[path = "clients/providers.rs"]
mod providers;

#[path = "clients/browser.rs"]
mod browser;

#[path = "clients/tokens.rs"]
mod tokens;
