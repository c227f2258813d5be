//! Where a request goes: scheme, host, port and path, from one parse that both decides and connects.

use std::fmt;
use std::net::IpAddr;

/// How a request travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scheme {
    /// In the clear.
    Http,
    /// Through TLS.
    Https,
}

/// The host of a destination.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Host {
    /// A name in lower case, in ASCII, without the dot of the root.
    Name(Box<str>),
    /// An address that was written as one.
    Address(IpAddr),
}

/// Where one request goes. There is one way to write each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destination {
    scheme: Scheme,
    host: Host,
    port: u16,
    /// Begins with `/`; holds no dot segment.
    path: String,
    query: Option<String>,
}

/// Why something is no destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DestinationError {
    /// Neither http nor https.
    #[error("the scheme is neither http nor https")]
    Scheme,
    // More to come.
}

impl Destination {
    /// Reads the parts of a request as `wasi:http` has them. Whatever is not already in its one plain form is refused,
    /// so that nobody reads it in another way.
    ///
    /// # Errors
    /// What is not as it should be.
    pub fn from_parts(scheme: &str, authority: &str, path_with_query: &str) -> Result<Self, DestinationError> {
        let _ = (scheme, authority, path_with_query);
        Err(DestinationError::Scheme)
    }

    /// Reads a URL as a person or a model writes it: parsed as the WHATWG URL standard says, then held to the same
    /// plain form. A fragment is left out.
    ///
    /// # Errors
    /// What is not as it should be.
    pub fn from_url(url: &str) -> Result<Self, DestinationError> {
        let _ = url;
        Err(DestinationError::Scheme)
    }

    /// How.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// Which host.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// Which port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Path without query.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The query, without its question mark.
    pub fn query(&self) -> Option<&str> {
        self.query.as_deref()
    }

    /// Whether both have scheme, host and port in common.
    pub fn same_origin(&self, other: &Self) -> bool {
        (self.scheme, &self.host, self.port) == (other.scheme, &other.host, other.port)
    }

    /// `host` or `host:port`, as the Host header and an HTTP/2 authority have it.
    pub fn authority(&self) -> String {
        String::new()
    }

    /// Path and query, as a request line has them.
    pub fn path_with_query(&self) -> String {
        String::new()
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Http => "http",
            Self::Https => "https",
        })
    }
}

impl fmt::Display for Host {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => formatter.write_str(name),
            Self::Address(IpAddr::V4(address)) => address.fmt(formatter),
            Self::Address(IpAddr::V6(address)) => write!(formatter, "[{address}]"),
        }
    }
}

impl fmt::Display for Destination {
    /// The whole URL.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}://{}{}", self.scheme, self.authority(), self.path_with_query())
    }
}
