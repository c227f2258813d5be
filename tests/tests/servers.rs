//! MCP servers that the policy names: their tools in the catalog, the steps of a call, what the server's program can
//! reach, and what a hostile server tries.

#![allow(clippy::disallowed_methods, reason = "tests make the files that a host and a server have to find")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot be set up has failed")]

#[path = "servers/desk.rs"]
mod desk;

#[path = "servers/calls.rs"]
mod calls;

#[path = "servers/confined.rs"]
mod confined;

#[path = "servers/lifecycle.rs"]
mod lifecycle;

#[path = "servers/pinned.rs"]
mod pinned;

#[path = "servers/command.rs"]
mod command;

#[path = "servers/registry.rs"]
mod registry;

#[path = "servers/user.rs"]
mod user;

#[path = "servers/import.rs"]
mod import;

#[path = "servers/manage.rs"]
mod manage;

#[path = "servers/address.rs"]
mod address;

#[path = "servers/questions.rs"]
mod questions;

#[path = "servers/offers.rs"]
mod offers;
