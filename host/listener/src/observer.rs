//! What others learn about the connections of a listener.

use std::net::SocketAddr;
use std::sync::Arc;

/// The address of the client of a request, in the extensions of the request. Behind a proxy, it is the proxy's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerAddress(pub SocketAddr);

/// Why a listener ended a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConnectionRefusal {
    /// All places were taken, and this was the oldest connection without an authorized request.
    Evicted,
    /// The first headers did not arrive in time.
    HeadersLate,
    /// The client does not speak HTTP, or its headers are too large.
    Malformed,
}

impl ConnectionRefusal {
    /// All reasons.
    pub const ALL: [Self; 3] = [Self::Evicted, Self::HeadersLate, Self::Malformed];

    /// Returns the stable name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Evicted => "evicted",
            Self::HeadersLate => "headers-late",
            Self::Malformed => "malformed",
        }
    }
}

/// Learns about the connections of a listener. The functions must not block.
pub trait ConnectionObserver: Send + Sync {
    /// A connection was accepted.
    fn opened(&self) {}

    /// A connection has ended.
    fn ended(&self) {}

    /// The listener ends a connection of this client.
    fn refused(&self, _peer: SocketAddr, _why: ConnectionRefusal) {}
}

/// An observer of connections that no one asks about.
pub(crate) struct Unobserved;

impl ConnectionObserver for Unobserved {}

/// An open connection. Dropping it tells the observer that the connection has ended.
pub(crate) struct OpenConnection(Arc<dyn ConnectionObserver>);

impl OpenConnection {
    pub(crate) fn begin(observer: &Arc<dyn ConnectionObserver>) -> Self {
        observer.opened();
        Self(Arc::clone(observer))
    }

    pub(crate) fn refused(&self, peer: SocketAddr, why: ConnectionRefusal) {
        self.0.refused(peer, why);
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.0.ended();
    }
}

/// In the extensions of a response: a person's token was refused. Pages add it, so that the server around them learns
/// about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefusedApprover;
