//! Third-party clients of the MCP server, and a browser, each of which uses `portcullis serve` as its users would. Then
//! the types of the model providers, for what the host exports. `cargo xtask test` installs the clients and builds the
//! program and the plugins; nothing here uses a network.

#![allow(clippy::disallowed_methods, reason = "tests start programs, listen, connect and lay out files")]
#![allow(clippy::print_stdout, reason = "a measurement is read by a person")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot be set up has failed")]

#[path = "clients/bucket.rs"]
mod bucket;

#[path = "clients/office.rs"]
mod office;

#[path = "clients/script.rs"]
mod script;

#[path = "clients/settings.rs"]
mod settings;

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

#[path = "clients/code_mode.rs"]
mod code_mode;

#[path = "clients/console.rs"]
mod console;

#[path = "clients/logins.rs"]
mod logins;

#[path = "clients/server_packages.rs"]
mod server_packages;

#[allow(dead_code, reason = "only the tests of the program compare the list of schemas")]
mod schema;

mod worker_start;

#[path = "clients/suite.rs"]
mod suite;
