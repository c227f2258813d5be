//! Attacks through and on the network: the N and X rows of the threat model, against real servers and a resolver on the
//! loopback address.
//!
//! The attacker is the guest `courier`, which sends what a test tells it to. `Lab` owns its host. If a row says denied,
//! the server must not have seen anything.

#![allow(clippy::disallowed_methods, reason = "tests make the files and sockets that a host has to withstand")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot be set up has failed")]

#[path = "network/lab.rs"]
pub(crate) mod lab;

#[path = "network/encode.rs"]
mod encode;

#[path = "network/destinations.rs"]
mod destinations;

#[path = "network/endpoints.rs"]
mod endpoints;

#[path = "network/spellings.rs"]
mod spellings;

#[path = "network/resolution.rs"]
mod resolution;

#[path = "network/redirects.rs"]
mod redirects;

#[path = "network/requests.rs"]
mod requests;

#[path = "network/smuggling.rs"]
mod smuggling;

#[path = "network/responses.rs"]
mod responses;

#[path = "network/time.rs"]
mod time;

#[path = "network/budget.rs"]
mod budget;

#[path = "network/tls.rs"]
mod tls;

#[path = "network/http2.rs"]
mod http2;

#[path = "network/secrets.rs"]
mod secrets;

#[path = "network/echoes.rs"]
mod echoes;

#[path = "network/oracle.rs"]
mod oracle;

#[path = "network/repeats.rs"]
mod repeats;

#[path = "network/parrot.rs"]
mod parrot;

#[path = "network/canary.rs"]
mod canary;

#[path = "network/narrow.rs"]
mod narrow;

#[path = "network/library.rs"]
mod library;

#[path = "network/sockets.rs"]
mod sockets;

#[path = "network/environment.rs"]
mod environment;
