//! Where a request goes: scheme, host, port and path, from one parse that both decides and connects.
//!
//! It must not know which destinations anybody is granted, nor which addresses a name resolves to.

mod error;
mod host;
mod limits;
mod path;
mod text;

use std::fmt;

pub use error::DestinationError;
pub use host::Host;
pub use limits::URL_BYTES;
pub(crate) use limits::{HOST_BYTES, LABEL_BYTES};
pub(crate) use path::{hides_a_separator, is_plain_path};

/// How a request travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scheme {
    /// In the clear.
    Http,
    /// Through TLS.
    Https,
}

impl Scheme {
    /// Both, in the order in which they are shown.
    pub const ALL: [Self; 2] = [Self::Http, Self::Https];

    /// The word that URLs and policies use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }

    /// The port of a URL that names none.
    pub fn default_port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }

    fn read(text: &str) -> Result<Self, DestinationError> {
        let known = Self::ALL.into_iter().find(|scheme| text.eq_ignore_ascii_case(scheme.as_str()));
        known.ok_or(DestinationError::Scheme)
    }
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

impl Destination {
    /// Reads the parts of a request as `wasi:http` has them. Whatever is not already in its one plain form is refused,
    /// so that nobody reads it in another way. Only upper case in scheme and host, the dot of the root, an address of
    /// version 6 in another spelling and an empty path are set right.
    ///
    /// # Errors
    ///
    /// What is not as it should be.
    pub fn from_parts(scheme: &str, authority: &str, path_with_query: &str) -> Result<Self, DestinationError> {
        if scheme.len() + authority.len() + path_with_query.len() > URL_BYTES {
            return Err(DestinationError::TooLong);
        }
        let scheme = Scheme::read(scheme)?;
        let (host, port) = host::read_authority(authority)?;
        let (path, query) = path::read(path_with_query)?;
        Ok(Self { scheme, host, port: port.unwrap_or(scheme.default_port()), path, query })
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

    /// Returns scheme, host and port, with the port also where the scheme implies it, such as `https://docs.rs:443`.
    pub fn origin(&self) -> String {
        format!("{}://{}:{}", self.scheme, self.host, self.port)
    }

    /// `host` or `host:port`, as the Host header and an HTTP/2 authority have it: without the port that the scheme has
    /// anyway.
    pub fn authority(&self) -> String {
        if self.port == self.scheme.default_port() {
            self.host.to_string()
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }

    /// Path and query, as a request line has them.
    pub fn path_with_query(&self) -> String {
        match &self.query {
            Some(query) => format!("{}?{query}", self.path),
            None => self.path.clone(),
        }
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

impl fmt::Display for Destination {
    /// The whole URL.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}://{}{}", self.scheme, self.authority(), self.path_with_query())
    }
}
