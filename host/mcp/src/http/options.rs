//! What the operator says of the HTTP transport.

use super::guard::{AllowedHost, AllowedOrigin};
use super::oauth::OAuth;
use super::tokens::Tokens;
use std::net::SocketAddr;
use std::time::Duration;

/// The most connections at one time. Below the 1024 descriptors that a process may usually have, with room for what
/// calls open themselves. More wait to be accepted.
pub const CONNECTIONS_MAX: usize = 512;
/// The most requests that one principal has open at one time, streams included. Less than [`CONNECTIONS_MAX`], so that
/// nobody alone has every connection.
pub const REQUESTS_PER_PRINCIPAL_MAX: usize = 384;
/// The most streams for notifications among them. One client needs one.
pub const STREAMS_PER_PRINCIPAL_MAX: usize = 64;
/// The most sessions of the handshake era. Each holds two tasks and the last messages of its streams.
pub const SESSIONS_MAX: usize = 256;
/// The most sessions of one principal. A program that begins one for each call and ends none gets its oldest ended.
pub const SESSIONS_PER_PRINCIPAL_MAX: usize = 128;
/// The most principals whose use is counted at one time. Those at rest are forgotten.
pub const PRINCIPALS_MAX: usize = 4096;
/// How many tool calls a principal may make each second, on average. A model makes a few; a program that makes more
/// has no person behind it who could follow.
pub const CALLS_PER_SECOND: u32 = 200;
/// How many it may make at once after a rest.
pub const CALLS_BURST: u32 = 2_000;
/// How long the line and the headers of a request may take, from when the connection is ready for it. It is also how
/// long a connection may be idle.
pub const HEADERS_TIME: Duration = Duration::from_secs(60);
/// How long the first request of a connection may take to come. Who connects has something to say.
pub const FIRST_HEADERS_TIME: Duration = Duration::from_secs(10);
/// How long the body of a request may take.
pub const BODY_TIME: Duration = Duration::from_secs(30);
/// How long to read on, and discard, after a request was answered before its body was read. A client reads the answer
/// and closes within a few round trips. Closing at once resets the connection, and the client can lose the answer.
pub const LINGER_TIME: Duration = Duration::from_secs(2);
/// How much larger than its arguments a request may be, in bytes: the message around them, and the state that a client
/// sends back with an answer.
pub const ENVELOPE_BYTES: usize = 64 * 1024;
/// How long a session of the handshake era may lie idle, with no request open. A person comes back the next day.
pub const SESSION_IDLE_TIME: Duration = Duration::from_secs(24 * 60 * 60);
/// How long calls and their answers may take to end when the server stops. Calls are cancelled before, so it is rarely
/// used up.
pub const STOP_TIME: Duration = Duration::from_secs(5);

/// How the server is reached, by whom, and how much of it one of them gets.
///
/// [`HttpOptions::new`] serves this machine alone, and to nobody without the access that it is given. Everything
/// beyond is said in a field of its own.
#[derive(Debug)]
pub struct HttpOptions {
    /// Where to listen. Port 0 is any free one.
    pub address: SocketAddr,
    /// Whether other machines may reach it.
    pub reach: Reach,
    /// Names of this server beside the loopback ones.
    pub hosts: Vec<AllowedHost>,
    /// Origins of pages that may call it, beside those of this machine.
    pub origins: Vec<AllowedOrigin>,
    /// Who may call.
    pub access: Access,
    /// How much of it.
    pub limits: HttpLimits,
}

impl HttpOptions {
    /// Serves `access` at an address of this machine.
    pub fn new(address: SocketAddr, access: Access) -> Self {
        let (hosts, origins) = (Vec::new(), Vec::new());
        Self { address, reach: Reach::Loopback, hosts, origins, access, limits: HttpLimits::default() }
    }
}

/// Which machines can reach the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// This one.
    Loopback,
    /// Whichever the network lets through. Nothing is encrypted: something that speaks TLS belongs in front.
    Remote,
}

/// Who may call.
#[derive(Debug)]
pub enum Access {
    /// Whoever has one of these tokens.
    Tokens(Tokens),
    /// Whoever has a token of an authorization server.
    OAuth(Box<OAuth>),
    /// Everyone who can connect, each other user of this machine included.
    Everyone,
}

impl Access {
    /// Replaces another access, for example when the operator's file changed. Streams end if they were opened with a
    /// token that is no longer valid.
    pub(crate) fn take_over(&mut self, old: &Self) {
        match (self, old) {
            (Self::Tokens(new), Self::Tokens(old)) => new.take_over(old),
            (Self::OAuth(_) | Self::Everyone, Self::Tokens(old)) => old.withdraw(),
            (Self::Tokens(_) | Self::OAuth(_) | Self::Everyone, Self::OAuth(old)) => old.withdraw(),
            (Self::Tokens(_) | Self::OAuth(_) | Self::Everyone, Self::Everyone) => {}
        }
    }
}

/// How much the server takes. The defaults are the constants of this module.
#[derive(Clone, Copy, Debug)]
pub struct HttpLimits {
    /// Connections at one time.
    pub connections: usize,
    /// Open requests of one principal.
    pub requests: usize,
    /// Streams for notifications of one principal.
    pub streams: usize,
    /// Sessions of the handshake era.
    pub sessions: usize,
    /// Sessions of one principal.
    pub sessions_per_principal: usize,
    /// Tool calls of one principal in each second.
    pub calls_per_second: u32,
    /// Tool calls of one principal at once.
    pub calls_burst: u32,
    /// For the headers of a request.
    pub headers_time: Duration,
    /// For the first headers of a connection.
    pub first_headers_time: Duration,
    /// For the body of a request.
    pub body_time: Duration,
    /// For the rest of a body, after a request was answered before it was read.
    pub linger_time: Duration,
    /// For a session with no request open.
    pub session_idle_time: Duration,
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            connections: CONNECTIONS_MAX,
            requests: REQUESTS_PER_PRINCIPAL_MAX,
            streams: STREAMS_PER_PRINCIPAL_MAX,
            sessions: SESSIONS_MAX,
            sessions_per_principal: SESSIONS_PER_PRINCIPAL_MAX,
            calls_per_second: CALLS_PER_SECOND,
            calls_burst: CALLS_BURST,
            headers_time: HEADERS_TIME,
            first_headers_time: FIRST_HEADERS_TIME,
            body_time: BODY_TIME,
            linger_time: LINGER_TIME,
            session_idle_time: SESSION_IDLE_TIME,
        }
    }
}
