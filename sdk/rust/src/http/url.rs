//! Parses and normalizes URLs. Makes no decisions: the host parses each URL again, and only its result counts.

use std::fmt;

use crate::Failure;

/// An http or https URL without user, password and fragment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Url {
    scheme: &'static str,
    /// In lower case.
    host: String,
    /// None for the default port of the scheme.
    port: Option<u16>,
    /// Begins with `/`; has no dot segments.
    path: String,
    query: Option<String>,
}

/// ASCII characters that a path encodes: the path percent-encode set of the WHATWG URL standard.
const ENCODED_IN_PATHS: &str = "\"<>`{}";
/// ASCII characters that a query encodes: the standard's special-query percent-encode set.
const ENCODED_IN_QUERIES: &str = "\"<>'";

impl Url {
    /// Parses a URL, and normalizes its case, default port, dot segments and percent-encoding.
    ///
    /// # Errors
    /// The text is not an http or https URL with a host, or it contains a user or password.
    pub fn parse(text: &str) -> Result<Self, Failure> {
        let text = text.trim_matches(' ');
        let wrong = |why: &str| Failure::invalid(format!("`{}` {why}", text.escape_debug()));
        if text.chars().any(|character| character.is_control() || character == '\\') {
            return Err(wrong("contains a control character or a backslash"));
        }
        let (scheme, rest) = text.split_once("://").ok_or_else(|| wrong("is not a URL; begin it with https://"))?;
        let scheme = match scheme.to_ascii_lowercase().as_str() {
            "https" => "https",
            "http" => "http",
            _ => return Err(wrong("is neither http nor https")),
        };
        let (rest, _) = rest.split_once('#').unwrap_or((rest, ""));
        let (authority, rest) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        let (path, query) = match rest.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (rest, None),
        };
        let (host, port) = split_authority(authority).map_err(wrong)?;
        Ok(Self {
            scheme,
            host,
            port: port.filter(|port| *port != default_port(scheme)),
            path: without_dots(&encoded(path, ENCODED_IN_PATHS)),
            query: query.map(|query| encoded(query, ENCODED_IN_QUERIES)),
        })
    }

    /// Resolves a reference, such as a link or the target of a redirect. The result may be invalid, so parse it again.
    #[must_use]
    pub fn join(&self, reference: &str) -> String {
        let reference = reference.trim();
        let text = if has_scheme(reference) {
            reference.to_owned()
        } else if reference.starts_with("//") {
            format!("{}:{reference}", self.scheme)
        } else if reference.starts_with('/') {
            format!("{}{reference}", self.origin())
        } else if reference.starts_with('?') {
            format!("{}{}{reference}", self.origin(), self.path)
        } else if reference.is_empty() || reference.starts_with('#') {
            self.to_string()
        } else {
            let directory = self.path.rfind('/').map_or("/", |end| &self.path[..=end]);
            format!("{}{directory}{reference}", self.origin())
        };
        Self::parse(&text).map_or(text, |url| url.to_string())
    }

    /// Returns `http` or `https`.
    #[must_use]
    pub fn scheme(&self) -> &str {
        self.scheme
    }

    /// Returns the host in lower case. An IPv6 address keeps its brackets.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Returns the host, and the port if it is not the default of the scheme.
    #[must_use]
    pub fn authority(&self) -> String {
        match self.port {
            Some(port) => format!("{}:{port}", self.host),
            None => self.host.clone(),
        }
    }

    /// Returns scheme, host and port. A redirect to another origin leads to a different server.
    #[must_use]
    pub fn origin(&self) -> String {
        format!("{}://{}", self.scheme, self.authority())
    }

    /// Returns the path, which begins with `/`.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns path and query, as in a request line.
    #[must_use]
    pub fn path_with_query(&self) -> String {
        match &self.query {
            Some(query) => format!("{}?{query}", self.path),
            None => self.path.clone(),
        }
    }
}

impl fmt::Display for Url {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}{}", self.origin(), self.path_with_query())
    }
}

fn default_port(scheme: &str) -> u16 {
    if scheme == "https" { 443 } else { 80 }
}

fn split_authority(authority: &str) -> Result<(String, Option<u16>), &'static str> {
    if authority.contains('@') {
        return Err("contains a user or password; leave it out");
    }
    let end = if authority.starts_with('[') { authority.find(']').map_or(0, |end| end + 1) } else { 0 };
    let (host, port) = match authority[end..].split_once(':') {
        Some((rest, port)) => (&authority[..end + rest.len()], Some(port)),
        None => (authority, None),
    };
    let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._[]:".contains(&byte);
    if host.is_empty() {
        return Err("has no host");
    }
    // Otherwise a second parse would remove another dot, and get another host.
    if host.split('.').any(str::is_empty) {
        return Err("has a host with an empty label");
    }
    if !host.is_ascii() {
        return Err("has a host that is not ASCII; write the form that begins with xn--");
    }
    if !host.bytes().all(plain) {
        return Err("has a host with invalid characters");
    }
    match port {
        None | Some("") => Ok((host, None)),
        Some(port) if port.bytes().all(|byte| byte.is_ascii_digit()) => {
            port.parse().map(|port| (host, Some(port))).map_err(|_| "has a port over 65535")
        }
        Some(_) => Err("has a port that is not a number"),
    }
}

/// Returns whether a reference begins with a scheme: letters, digits, `+`, `-`, `.`, then a colon.
fn has_scheme(reference: &str) -> bool {
    let Some((scheme, _)) = reference.split_once(':') else { return false };
    scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

/// Removes `.` and `..` from a path, even if they are percent-encoded.
fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let segments: Vec<&str> = path.strip_prefix('/').unwrap_or(path).split('/').collect();
    for (index, segment) in segments.iter().enumerate() {
        let is_last = index + 1 == segments.len();
        match segment.to_ascii_lowercase().replace("%2e", ".").as_str() {
            "." if is_last => kept.push(""),
            "." => {}
            ".." => {
                kept.pop();
                if is_last {
                    kept.push("");
                }
            }
            _ => kept.push(segment),
        }
    }
    format!("/{}", kept.join("/"))
}

fn encoded(text: &str, also: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_ascii_graphic() && !also.contains(character) {
            out.push(character);
        } else {
            encode(character, &mut out);
        }
    }
    out
}

/// Percent-encodes everything except letters, digits and `-._~`.
pub(super) fn encode_component(text: &str, out: &mut String) {
    for character in text.chars() {
        if character.is_ascii_alphanumeric() || "-._~".contains(character) {
            out.push(character);
        } else {
            encode(character, out);
        }
    }
}

fn encode(character: char, out: &mut String) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for byte in character.encode_utf8(&mut [0; 4]).bytes() {
        out.push('%');
        out.push(char::from(DIGITS[usize::from(byte >> 4)]));
        out.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
}
