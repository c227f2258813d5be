//! The operator's options for the HTTP transport.

use super::guard::{AllowedHost, AllowedOrigin};
use super::oauth::OAuth;
use super::pages::Pages;
use super::tokens::Tokens;
use portcullis_listener::ListenerLimits;
use std::net::SocketAddr;
use std::time::Duration;

/// Maximum connections at one time. It is below the usual limit of 1024 descriptors per process, with room for the
/// descriptors of calls. Further connections wait to be accepted.
pub const CONNECTIONS_MAX: usize = 512;
/// Maximum bytes of a request line and its headers together. Every connection can make the server buffer this much,
/// with or without a token.
const HEADERS_BYTES_MAX: usize = 16 * 1024;
/// Maximum headers of a request.
const HEADERS_MAX: usize = 64;
/// Maximum open requests of one principal, including streams. It is less than [`CONNECTIONS_MAX`], so that no principal
/// can use every connection.
pub const REQUESTS_PER_PRINCIPAL_MAX: usize = 384;
/// Maximum streams for notifications among them. One client needs one.
pub const STREAMS_PER_PRINCIPAL_MAX: usize = 64;
/// Maximum sessions of the handshake era. Each holds two tasks and the last messages of its streams.
pub const SESSIONS_MAX: usize = 256;
/// Maximum sessions of one principal. For a program that begins one for each call and ends none, the server ends the
/// one that was idle the longest.
pub const SESSIONS_PER_PRINCIPAL_MAX: usize = 128;
/// Maximum principals whose usage is counted at one time. Idle ones are forgotten.
pub const PRINCIPALS_MAX: usize = 4096;
/// Default maximum of average tool calls of a principal per second. A model makes a few. No person could follow a
/// program that makes more.
pub const CALLS_PER_SECOND: u32 = 200;
/// Default maximum of tool calls of a principal in a burst.
pub const CALLS_BURST: u32 = 2_000;
/// Timeout for the request line and the headers of a request, counted from when the connection is ready for it. It is
/// also the idle timeout of a connection.
pub const HEADERS_TIME: Duration = Duration::from_secs(60);
/// Timeout for the headers of the first request of a connection. It is shorter, because a client connects to send a
/// request.
pub const FIRST_HEADERS_TIME: Duration = Duration::from_secs(10);
/// Timeout for the body of a request.
pub const BODY_TIME: Duration = Duration::from_secs(30);
/// Maximum time to keep reading and discarding after a request was answered before its body was read. A client reads
/// the answer and closes within a few round trips. Closing at once resets the connection, and the client can lose the
/// answer.
pub const LINGER_TIME: Duration = Duration::from_secs(2);
/// Bytes by which a request may be larger than its arguments: the message around them, and the state that a client
/// sends back with an answer.
pub const ENVELOPE_BYTES: usize = 64 * 1024;
/// Idle timeout of a session of the handshake era that has no open request. A person may come back the next day.
pub const SESSION_IDLE_TIME: Duration = Duration::from_secs(24 * 60 * 60);
/// Maximum time for calls and their responses to end when the server stops. Calls are cancelled first, so it is rarely
/// reached.
pub const STOP_TIME: Duration = Duration::from_secs(5);

/// The options of the HTTP transport: its address, who may call, and the limits.
///
/// [`HttpOptions::new`] serves this machine only, with the given access. The fields allow more.
#[derive(Debug)]
pub struct HttpOptions {
    /// The address to listen on. Port 0 means any free port.
    pub address: SocketAddr,
    /// Whether other machines may reach the server.
    pub reach: Reach,
    /// Names of this server in addition to the loopback names.
    pub hosts: Vec<AllowedHost>,
    /// Origins whose pages may call the server, in addition to those of this machine.
    pub origins: Vec<AllowedOrigin>,
    /// Who may call.
    pub access: Access,
    /// Pages for people at the same address.
    pub pages: Option<Pages>,
    /// The limits.
    pub limits: HttpLimits,
}

impl HttpOptions {
    /// Returns options that serve clients with `access` at a loopback address.
    pub fn new(address: SocketAddr, access: Access) -> Self {
        let (hosts, origins) = (Vec::new(), Vec::new());
        Self { address, reach: Reach::Loopback, hosts, origins, access, pages: None, limits: HttpLimits::default() }
    }
}

/// Which machines can reach the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Only this machine.
    Loopback,
    /// Any machine that the network lets through. The server does not encrypt, so put a TLS proxy in front of it.
    Remote,
}

/// Returns who may call.
#[derive(Debug)]
pub enum Access {
    /// Clients with one of these tokens.
    Tokens(Tokens),
    /// Clients with a token of an authorization server.
    OAuth(Box<OAuth>),
    /// Everyone who can connect, including other users of this machine.
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

/// The limits of the HTTP transport. The defaults are the constants of this module.
#[derive(Clone, Copy, Debug)]
pub struct HttpLimits {
    /// Maximum connections at one time.
    pub connections: usize,
    /// Maximum open requests of one principal.
    pub requests: usize,
    /// Maximum streams for notifications of one principal.
    pub streams: usize,
    /// Maximum sessions of the handshake era.
    pub sessions: usize,
    /// Maximum sessions of one principal.
    pub sessions_per_principal: usize,
    /// Maximum average tool calls of one principal per second. `None` leaves it to the policy
    /// ([`portcullis::policy::ClientRate`]), which may change while the server runs. Without it there, it is
    /// [`CALLS_PER_SECOND`].
    pub calls_per_second: Option<u32>,
    /// Maximum tool calls of one principal in a burst. `None` leaves it to the policy, and then it is [`CALLS_BURST`].
    pub calls_burst: Option<u32>,
    /// Timeout for the headers of a request.
    pub headers_time: Duration,
    /// Timeout for the first headers of a connection.
    pub first_headers_time: Duration,
    /// Timeout for the body of a request.
    pub body_time: Duration,
    /// Maximum time to discard the rest of a body, after a request was answered before it was read.
    pub linger_time: Duration,
    /// Idle timeout of a session with no open request.
    pub session_idle_time: Duration,
}

impl HttpLimits {
    /// Returns the limits of the connections.
    pub(crate) fn of_listener(self) -> ListenerLimits {
        ListenerLimits {
            connections: self.connections,
            headers: HEADERS_MAX,
            headers_bytes: HEADERS_BYTES_MAX,
            first_headers_time: self.first_headers_time,
            headers_time: self.headers_time,
            linger_time: self.linger_time,
            stop_time: STOP_TIME,
        }
    }
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            connections: CONNECTIONS_MAX,
            requests: REQUESTS_PER_PRINCIPAL_MAX,
            streams: STREAMS_PER_PRINCIPAL_MAX,
            sessions: SESSIONS_MAX,
            sessions_per_principal: SESSIONS_PER_PRINCIPAL_MAX,
            calls_per_second: None,
            calls_burst: None,
            headers_time: HEADERS_TIME,
            first_headers_time: FIRST_HEADERS_TIME,
            body_time: BODY_TIME,
            linger_time: LINGER_TIME,
            session_idle_time: SESSION_IDLE_TIME,
        }
    }
}
