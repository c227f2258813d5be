//! Parses a URL as a user, a model or a server writes it.
//!
//! The WHATWG parser must accept it, and find the same scheme, host and port as our own parser.

use std::fmt::Write as _;

use url::Url;

use super::{Destination, DestinationError, Host, Scheme, URL_BYTES};

impl Destination {
    /// Parses a URL as a user or a model writes it. The result is in the same plain form. A host outside ASCII becomes
    /// punycode. In the path and the query, spaces and characters outside ASCII are escaped. A fragment is removed.
    /// Other text that the WHATWG URL standard would repair is an error.
    ///
    /// # Errors
    ///
    /// The first part that is not in its plain form.
    pub fn from_url(url: &str) -> Result<Self, DestinationError> {
        read(url)
    }

    /// Resolves the `Location` header of a response from this destination, absolute or relative.
    ///
    /// # Errors
    ///
    /// The first part that is not in its plain form.
    pub fn join(&self, location: &str) -> Result<Self, DestinationError> {
        join(self, location)
    }
}

/// Parses a URL.
fn read(text: &str) -> Result<Destination, DestinationError> {
    if text.len() > URL_BYTES {
        return Err(DestinationError::TooLong);
    }
    // The WHATWG parser drops tabs and line breaks, and reads a backslash as a slash. Other parsers do not.
    if text.trim() != text || text.chars().any(char::is_control) || text.contains('\\') {
        return Err(DestinationError::Unescaped);
    }
    let (scheme, rest) = text.split_once(':').ok_or(DestinationError::Syntax)?;
    // Before the slashes are checked, so that the error for `mailto:` names the scheme.
    Scheme::read(scheme)?;
    let rest = rest.strip_prefix("//").ok_or(DestinationError::Syntax)?;
    let (authority, rest) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let asked = rest.split('#').next().unwrap_or_default();
    // Before the conversion to punycode, which would fail with an error that does not name the user.
    if authority.contains('@') {
        return Err(DestinationError::User);
    }
    // A URL may have a query without a path, and a request line may not.
    let slash = if asked.starts_with('?') { "/" } else { "" };
    let authority = if authority.is_ascii() { authority.to_owned() } else { to_ascii(authority)? };
    let destination = Destination::from_parts(scheme, &authority, &format!("{slash}{}", escaped(asked)))?;
    let parsed = Url::parse(text).map_err(|_| DestinationError::Syntax)?;
    if agrees(&destination, &parsed) { Ok(destination) } else { Err(DestinationError::Syntax) }
}

/// Resolves a redirect.
fn join(from: &Destination, location: &str) -> Result<Destination, DestinationError> {
    if location.len() > URL_BYTES {
        return Err(DestinationError::TooLong);
    }
    if location.trim() != location || location.chars().any(char::is_control) || location.contains('\\') {
        return Err(DestinationError::Unescaped);
    }
    // Parse a text with an authority as it is written. The WHATWG parser would repair it.
    if let Some((scheme, _)) = location.split_once(':')
        && is_scheme(scheme)
    {
        return read(location);
    }
    if location.starts_with("//") {
        return read(&format!("{}:{location}", from.scheme()));
    }
    // What is left is a path, a query or a fragment. It cannot lead to another host.
    let base = Url::parse(&from.to_string()).map_err(|_| DestinationError::Syntax)?;
    read(base.join(location).map_err(|_| DestinationError::Syntax)?.as_str())
}

/// Returns whether the text before a colon is a scheme, and not the start of a path.
fn is_scheme(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

/// Converts the name of an authority outside ASCII to punycode. The name must convert back unchanged. Otherwise it
/// contains letters that are replaced by plainer ones.
fn to_ascii(authority: &str) -> Result<String, DestinationError> {
    let (name, port) = match authority.split_once(':') {
        Some((name, port)) => (name, format!(":{port}")),
        None => (authority, String::new()),
    };
    // `url::Host::parse` would decode the escape, and the result could be another host.
    if name.contains('%') {
        return Err(DestinationError::HostCharacter);
    }
    let Ok(url::Host::Domain(ascii)) = url::Host::parse(name) else { return Err(DestinationError::HostLetters) };
    if url::quirks::domain_to_unicode(&ascii) != name.to_lowercase() {
        return Err(DestinationError::HostLetters);
    }
    Ok(ascii + &port)
}

/// Escapes everything outside visible ASCII.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_graphic() {
            escaped.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(escaped, "%{byte:02X}");
        }
    }
    escaped
}

/// Returns whether the WHATWG parser finds the same origin.
fn agrees(destination: &Destination, parsed: &Url) -> bool {
    let host = match (parsed.host(), &destination.host) {
        // `url` keeps a final dot, which our parser has removed.
        (Some(url::Host::Domain(theirs)), Host::Name(ours)) => theirs.strip_suffix('.').unwrap_or(theirs) == &**ours,
        (Some(url::Host::Ipv4(theirs)), Host::Address(ours)) => *ours == theirs,
        (Some(url::Host::Ipv6(theirs)), Host::Address(ours)) => *ours == theirs,
        (Some(_) | None, Host::Name(_) | Host::Address(_)) => false,
    };
    host && parsed.scheme() == destination.scheme.as_str() && parsed.port_or_known_default() == Some(destination.port)
}
