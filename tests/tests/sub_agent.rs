//! The shipped plugin `agent`: a sub-agent talks to a scripted model on the loopback address, calls tools within its
//! budgets, and can do nothing that its caller cannot do.

#![allow(clippy::disallowed_methods, reason = "tests look at the files that tools leave")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot be set up has failed")]

#[path = "sub_agent/model.rs"]
mod model;

#[path = "sub_agent/desk.rs"]
mod desk;

#[path = "sub_agent/formats.rs"]
mod formats;

#[path = "sub_agent/rights.rs"]
mod rights;

#[path = "sub_agent/malformed.rs"]
mod malformed;

#[path = "sub_agent/servers.rs"]
mod servers;

#[path = "sub_agent/budgets.rs"]
mod budgets;
