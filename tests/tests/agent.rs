//! The agent of `examples/agent` as a user runs it: its binary, real plugins, and a server on the loopback address that
//! speaks Chat Completions from a script and can misbehave. `cargo xtask test` builds the programs and the plugins.

#![allow(clippy::disallowed_methods, reason = "tests start the program and lay out its files")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot be set up has failed")]

#[path = "agent/desk.rs"]
mod desk;

#[path = "agent/model.rs"]
mod model;

#[path = "agent/session.rs"]
mod session;

#[path = "agent/work.rs"]
mod work;

#[path = "agent/malformed.rs"]
mod malformed;

#[path = "agent/servers.rs"]
mod servers;

#[path = "agent/hostile.rs"]
mod hostile;

#[path = "agent/person.rs"]
mod person;

#[path = "agent/steering.rs"]
mod steering;
