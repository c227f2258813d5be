//! The limits of the console. Everyone who can reach the address can open connections, so each of them has a bound.

use portcullis_listener::ListenerLimits;
use std::time::Duration;

/// Maximum open connections. A browser opens six for one origin, and a page keeps one of them for its events.
pub const CONNECTIONS_MAX: usize = 64;

/// Maximum bytes of a request line and its headers together. The address of a review of 200 requests has 7 KiB.
pub const HEADERS_BYTES_MAX: usize = 16 * 1024;

/// Maximum headers of a request. Browsers send about 20.
pub(crate) const HEADERS_MAX: usize = 64;

/// How long a client may take to send its headers, from the connection or the previous response on.
pub const HEADERS_TIME: Duration = Duration::from_secs(10);

/// How long an open connection may wait for its next request. Browsers keep connections for the next click.
pub(crate) const IDLE_TIME: Duration = Duration::from_secs(60);

/// Maximum bytes of a form: the arguments of a call to explain, percent-encoded.
pub const FORM_BYTES_MAX: usize = 2 * 1024 * 1024;

/// Maximum bytes of the form with which a person signs in: a signed token of 16 KiB, and the names of the fields. The
/// sender may be anyone.
pub const SIGN_IN_BYTES_MAX: usize = 17 * 1024;

/// How long a client may take to send a form.
pub const FORM_TIME: Duration = Duration::from_secs(10);

/// How long a login link works. A person opens it at once, and it may stay in a terminal's history.
pub const LINK_TIME: Duration = Duration::from_secs(5 * 60);

/// Maximum login links that work at one time.
pub(crate) const LINKS_MAX: usize = 8;

/// Maximum browsers that are signed in. The oldest one is signed out.
pub const SESSIONS_MAX: usize = 64;

/// How long a browser stays signed in without a request: a working day.
pub const SESSION_TIME: Duration = Duration::from_secs(12 * 60 * 60);

/// Maximum open event streams, one for each open page.
pub const STREAMS_MAX: usize = 32;

/// Pause between two signs of life on an event stream, so that a browser notices a dead connection.
pub(crate) const HEARTBEAT_TIME: Duration = Duration::from_secs(15);

/// How long open connections may finish after the console stops.
pub(crate) const STOP_TIME: Duration = Duration::from_secs(2);

/// How long the rest of a request is discarded after it was answered before it was read, so that a client that is still
/// sending does not lose the answer.
pub(crate) const LINGER_TIME: Duration = Duration::from_secs(2);

/// The limits of the console's own connections.
pub(crate) const LISTENER: ListenerLimits = ListenerLimits {
    connections: CONNECTIONS_MAX,
    headers: HEADERS_MAX,
    headers_bytes: HEADERS_BYTES_MAX,
    first_headers_time: HEADERS_TIME,
    headers_time: IDLE_TIME,
    linger_time: LINGER_TIME,
    stop_time: STOP_TIME,
};
