//! The destination of a request: scheme, host, port and path. The same parsed value is used to decide and to connect.
//!
//! This file must not know bindings, or the addresses of a host name.

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

/// The scheme of a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scheme {
    /// Unencrypted.
    Http,
    /// Over TLS.
    Https,
}

impl Scheme {
    /// Both values, in display order.
    pub const ALL: [Self; 2] = [Self::Http, Self::Https];

    /// Returns the word that URLs and policies use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }

    /// Returns the default port of the scheme.
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

/// The destination of one request. Equal destinations have the same text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destination {
    scheme: Scheme,
    host: Host,
    port: u16,
    /// Starts with `/` and has no dot segment.
    path: String,
    query: Option<String>,
}

impl Destination {
    /// Parses the parts of a request, as `wasi:http` has them. Text that is not in its plain form is an error, so that
    /// no other parser can read it differently. Only these are normalized: upper case in scheme and host, a final dot
    /// of the host, other spellings of an IPv6 address, and an empty path.
    ///
    /// # Errors
    ///
    /// The first part that is not in its plain form.
    pub fn from_parts(scheme: &str, authority: &str, path_with_query: &str) -> Result<Self, DestinationError> {
        if scheme.len() + authority.len() + path_with_query.len() > URL_BYTES {
            return Err(DestinationError::TooLong);
        }
        let scheme = Scheme::read(scheme)?;
        let (host, port) = host::read_authority(authority)?;
        let (path, query) = path::read(path_with_query)?;
        Ok(Self { scheme, host, port: port.unwrap_or(scheme.default_port()), path, query })
    }

    /// Returns the scheme.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// Returns the host.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// Returns the port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the path without the query.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the query without its question mark.
    pub fn query(&self) -> Option<&str> {
        self.query.as_deref()
    }

    /// Returns whether both have the same scheme, host and port.
    pub fn same_origin(&self, other: &Self) -> bool {
        (self.scheme, &self.host, self.port) == (other.scheme, &other.host, other.port)
    }

    /// Returns scheme, host and port. The port is always included, as in `https://docs.rs:443`.
    pub fn origin(&self) -> String {
        format!("{}://{}:{}", self.scheme, self.host, self.port)
    }

    /// Returns `host` or `host:port`, as in the Host header and an HTTP/2 authority. The default port is omitted.
    pub fn authority(&self) -> String {
        if self.port == self.scheme.default_port() {
            self.host.to_string()
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }

    /// Returns path and query, as in a request line.
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
    /// Writes the whole URL.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}://{}{}", self.scheme, self.authority(), self.path_with_query())
    }
}
