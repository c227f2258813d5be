//! A URL as a person, a model or a server writes it.
//!
//! The WHATWG parser must take it, and must come to the same scheme, host and port as the parts do.

use std::fmt::Write as _;

use url::Url;

use super::{Destination, DestinationError, Host, Scheme, URL_BYTES};

impl Destination {
    /// Reads a URL as a person or a model writes it, and holds it to the same plain form. Letters outside ASCII become
    /// punycode in the host and are escaped in path and query, as is a space; a fragment is left out. What the WHATWG
    /// URL standard would repair beyond that is refused.
    ///
    /// # Errors
    ///
    /// What is not as it should be.
    pub fn from_url(url: &str) -> Result<Self, DestinationError> {
        read(url)
    }

    /// Where a `Location` of a response from here leads to, absolute or relative.
    ///
    /// # Errors
    ///
    /// What of it is not as it should be.
    pub fn join(&self, location: &str) -> Result<Self, DestinationError> {
        join(self, location)
    }
}

/// Reads a URL.
fn read(text: &str) -> Result<Destination, DestinationError> {
    if text.len() > URL_BYTES {
        return Err(DestinationError::TooLong);
    }
    if text.trim() != text || text.chars().any(char::is_control) || text.contains('\\') {
        return Err(DestinationError::Unescaped);
    }
    let (scheme, rest) = text.split_once(':').ok_or(DestinationError::Syntax)?;
    Scheme::read(scheme)?;
    let rest = rest.strip_prefix("//").ok_or(DestinationError::Syntax)?;
    let (authority, rest) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let asked = rest.split('#').next().unwrap_or_default();
    if authority.contains('@') {
        return Err(DestinationError::User);
    }
    let slash = if asked.starts_with('?') { "/" } else { "" };
    let authority = if authority.is_ascii() { authority.to_owned() } else { to_ascii(authority)? };
    let destination = Destination::from_parts(scheme, &authority, &format!("{slash}{}", escaped(asked)))?;
    let parsed = Url::parse(text).map_err(|_| DestinationError::Syntax)?;
    if agrees(&destination, &parsed) { Ok(destination) } else { Err(DestinationError::Syntax) }
}

/// Reads what a server says to look at instead.
fn join(from: &Destination, location: &str) -> Result<Destination, DestinationError> {
    if location.len() > URL_BYTES {
        return Err(DestinationError::TooLong);
    }
    if location.trim() != location || location.chars().any(char::is_control) || location.contains('\\') {
        return Err(DestinationError::Unescaped);
    }
    // What names an authority is read as it is written; the parser would repair it.
    if let Some((scheme, _)) = location.split_once(':')
        && is_scheme(scheme)
    {
        return read(location);
    }
    if location.starts_with("//") {
        return read(&format!("{}:{location}", from.scheme()));
    }
    let base = Url::parse(&from.to_string()).map_err(|_| DestinationError::Syntax)?;
    read(base.join(location).map_err(|_| DestinationError::Syntax)?.as_str())
}

/// Whether a text before a colon is a scheme, and not the beginning of a path.
fn is_scheme(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

/// An authority with letters outside ASCII, its name in punycode. Only a name that punycode gives back is one: the
/// others hold letters that stand for plainer ones.
fn to_ascii(authority: &str) -> Result<String, DestinationError> {
    let (name, port) = match authority.split_once(':') {
        Some((name, port)) => (name, format!(":{port}")),
        None => (authority, String::new()),
    };
    if name.contains('%') {
        return Err(DestinationError::HostCharacter);
    }
    let Ok(url::Host::Domain(ascii)) = url::Host::parse(name) else { return Err(DestinationError::HostLetters) };
    if url::quirks::domain_to_unicode(&ascii) != name.to_lowercase() {
        return Err(DestinationError::HostLetters);
    }
    Ok(ascii + &port)
}

/// `text` with everything outside visible ASCII escaped.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_graphic() {
            escaped.push(char::from(byte));
        } else {
            let _ = write!(escaped, "%{byte:02X}");
        }
    }
    escaped
}

/// Whether another reader of URLs comes to the same origin.
fn agrees(destination: &Destination, parsed: &Url) -> bool {
    let host = match (parsed.host(), &destination.host) {
        (Some(url::Host::Domain(theirs)), Host::Name(ours)) => theirs.strip_suffix('.').unwrap_or(theirs) == &**ours,
        (Some(url::Host::Ipv4(theirs)), Host::Address(ours)) => *ours == theirs,
        (Some(url::Host::Ipv6(theirs)), Host::Address(ours)) => *ours == theirs,
        (Some(_) | None, Host::Name(_) | Host::Address(_)) => false,
    };
    host && parsed.scheme() == destination.scheme.as_str() && parsed.port_or_known_default() == Some(destination.port)
}
