//! What a policy binds to an HTTP key.

use std::time::Duration;

use super::SecretBinding;
use crate::address::AddressRange;
use crate::destination::{Destination, Scheme};
use crate::host_pattern::HostPattern;
use crate::pointer::Pointer;

/// An HTTP client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpBinding {
    /// How requests travel: https unless said.
    pub schemes: Vec<Scheme>,
    /// The hosts that it reaches; never empty.
    pub hosts: Vec<HostPattern>,
    /// What becomes of a host that is not among them.
    pub unnamed: Unnamed,
    /// The ports: 443 unless said.
    pub ports: Vec<u16>,
    /// The methods that it sends, in upper case; never empty.
    pub methods: Vec<String>,
    /// Path prefixes, each ending at a segment; empty for all paths.
    pub paths: Vec<String>,
    /// The headers a guest may set, in lower case; `None` for every one that the host does not keep for itself.
    pub headers: Option<Vec<String>>,
    /// Addresses that are not global and may be connected to all the same.
    pub addresses: Vec<AddressRange>,
    /// A file with the certificates to trust in place of the built-in roots.
    pub roots: Option<String>,
    /// The secret that the host adds to its requests.
    pub secret: Option<SecretBinding>,
    /// The argument whose URL is all that a call may reach.
    pub narrow: Option<Pointer>,
    /// How much.
    pub limits: HttpLimits,
}

/// How much a client may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HttpLimits {
    /// Of one request's body.
    pub request_bytes: u64,
    /// Of one response's body, decoded.
    pub response_bytes: u64,
    /// Requests of one call.
    pub requests: u32,
    /// Requests of all calls of the plugin in a minute.
    pub requests_per_minute: u32,
    /// From the first look-up to the last byte of one request.
    pub time: Duration,
}

/// What becomes of a host that a grant does not name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Unnamed {
    /// It is refused.
    #[default]
    Deny,
    /// A call to it is possible once a person approved exactly that call. The grant is narrowed to an argument.
    Ask,
}

/// Why a client does not send a request. For the model and the record.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HttpRefusal {
    /// The scheme is not granted.
    #[error("the policy grants no {0} requests")]
    Scheme(Scheme),
    /// The host is not granted.
    #[error("the policy does not name the host {0}")]
    Host(String),
    /// The port is not granted.
    #[error("the policy grants no port {0}")]
    Port(u16),
    /// The method is not granted.
    #[error("the policy grants no {0} requests")]
    Method(String),
    /// The path is not granted.
    #[error("the policy grants no path {0}")]
    Path(String),
}

impl HttpBinding {
    /// Whether a host is named. Says nothing of scheme, port and path.
    pub fn names(&self, destination: &Destination) -> bool {
        let _ = destination;
        false
    }

    /// Whether a request may be sent, `unnamed` apart: that is for whoever knows what a person approved.
    ///
    /// # Errors
    /// What of the request is not granted.
    pub fn covers(&self, method: &str, destination: &Destination) -> Result<(), HttpRefusal> {
        let _ = method;
        Err(HttpRefusal::Host(destination.host().to_string()))
    }
}
