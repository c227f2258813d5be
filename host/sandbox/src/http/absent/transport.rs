//! The transport of a program without the feature `http`: none, so that no client can exist.

use crate::base::PathBase;
use std::net::SocketAddr;

/// The transport of a network, which reaches nothing.
pub(in crate::http) struct NetworkTransport;

impl NetworkTransport {
    pub(in crate::http) fn new(_: &[SocketAddr]) -> Self {
        Self
    }
}

/// The transport of a client. It has no value.
pub(in crate::http) enum ClientTransport {}

impl ClientTransport {
    /// Refuses every client.
    pub(in crate::http) fn new(_: &PathBase, _: Option<&String>) -> Result<Self, String> {
        Err("this program was built without the feature `http`".to_owned())
    }
}
