//! Serves HTTP connections of untrusted clients within limits, for the MCP server and for the console.
//!
//! Everyone who can reach an address can open connections, with or without a token. So a connection has limits on its
//! headers and its idle time, there is a maximum number of them, and one whose client has not proved who it is makes
//! room for a new one. This crate must not know what is served, or how a client proves who it is.

mod connections;
mod limits;
mod linger;
mod observer;
mod room;

pub use connections::{ListenerStop, Served, bind, serve, serve_observed};
pub use limits::ListenerLimits;
pub use observer::{ConnectionObserver, ConnectionRefusal, PeerAddress, RefusedApprover};
pub use room::keep_connection;
