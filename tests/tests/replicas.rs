//! Servers with one ledger in PostgreSQL, to which a load balancer sends each request of a session in turn: the session
//! continues on each of them, and what reaches the wrong one still arrives.

#![allow(clippy::disallowed_methods, reason = "tests look at files and connect to servers")]
#![allow(clippy::print_stdout, reason = "a test reports what it measured")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot be set up has failed")]

#[path = "replicas/cluster.rs"]
mod cluster;

#[path = "replicas/sessions.rs"]
mod sessions;

#[path = "replicas/messages.rs"]
mod messages;

#[path = "replicas/outage.rs"]
mod outage;
