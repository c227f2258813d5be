//! Patterns for the hosts of an HTTP binding: exact names, or all names one label below a domain.
//!
//! This file must not know resolved addresses, ports or schemes. The network code checks those.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::destination::{HOST_BYTES, Host, LABEL_BYTES};

/// A pattern for hosts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HostPattern {
    /// This host.
    Exact(Box<str>),
    /// Every host exactly one label below this domain. It matches neither the domain itself nor deeper names.
    OneLabelBelow(Box<str>),
}

/// Why a text is not a host pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HostError {
    /// The text or one of its labels is empty, too long or misspelled.
    #[error("invalid host name")]
    Name,
    /// It has a scheme, a user or a path.
    #[error("this is a URL or part of a URL, not a host name")]
    Url,
    /// It has a port.
    #[error("this is a host name with a port")]
    Port,
    /// It has an upper-case letter.
    #[error("the host name has an upper-case letter")]
    UpperCase,
    /// It has a letter outside ASCII.
    #[error("the host name has a letter outside ASCII")]
    NotAscii,
    /// It has a `*` other than as the whole first label.
    #[error("a wildcard must be the whole first label")]
    WildcardPlace,
    /// It is a wildcard for everything, for a top-level domain, or for a domain where anybody can register names.
    #[error("the wildcard covers hosts of many owners")]
    WildcardTooBroad,
    /// It looks like an address. But it is neither four plain decimal numbers nor, in brackets, the shortest form of an
    /// IPv6 address.
    #[error("this is an address in an unusual spelling")]
    Address,
}

impl HostError {
    /// Returns how to fix it.
    pub fn remedy(self) -> &'static str {
        match self {
            Self::Name => "write a name such as \"docs.rs\", without a dot at the end",
            Self::Url => "write only the host, without scheme, user and path",
            Self::Port => "write the host without it; ports go in `ports`",
            Self::UpperCase => "write it in lower case",
            Self::NotAscii => "write it in punycode, as \"xn--...\"",
            Self::WildcardPlace => "write each host, or one `*.` at the beginning",
            Self::WildcardTooBroad => "name the domain of one owner, such as \"*.example.com\"",
            Self::Address => {
                "write four decimal numbers without leading zeros, or \"[::1]\" in its shortest form, and no wildcard"
            }
        }
    }
}

impl HostPattern {
    /// Parses a pattern.
    ///
    /// # Errors
    ///
    /// The text is neither an exact lower-case name, an IPv4 address, an IPv6 address in brackets, nor `*.` before a
    /// name of at least two labels.
    pub fn new(text: &str) -> Result<Self, HostError> {
        // Before the check of the characters, which takes the colons of an IPv6 address for a port.
        if text.starts_with('[') {
            return exact_address(text).map(Self::Exact);
        }
        check_characters(text)?;
        let Some(domain) = text.strip_prefix("*.") else {
            return if text == "*" { Err(HostError::WildcardTooBroad) } else { exact(text).map(Self::Exact) };
        };
        let domain = exact(domain)?;
        // No host is below an address, so the pattern would never match.
        if domain.parse::<Ipv4Addr>().is_ok() {
            return Err(HostError::Address);
        }
        if is_shared(&domain) { Err(HostError::WildcardTooBroad) } else { Ok(Self::OneLabelBelow(domain)) }
    }

    /// Returns the host of an exact pattern.
    pub(crate) fn host(&self) -> Option<Host> {
        let Self::Exact(name) = self else { return None };
        let bracketed = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
        let address: Option<IpAddr> = bracketed.unwrap_or(name).parse().ok();
        Some(address.map_or_else(|| Host::Name(name.clone()), Host::Address))
    }

    /// Returns whether the pattern matches `host`, which may have any case and a final dot.
    pub fn matches(&self, host: &str) -> bool {
        let host = host.strip_suffix('.').unwrap_or(host);
        match self {
            Self::Exact(name) => host.eq_ignore_ascii_case(name),
            // The first label is checked, because `host` may be any text, such as `a@b.example.com`.
            Self::OneLabelBelow(domain) => host.split_once('.').is_some_and(|(label, rest)| {
                rest.eq_ignore_ascii_case(domain) && check_label(&label.to_ascii_lowercase()).is_ok()
            }),
        }
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact(name) => formatter.write_str(name),
            Self::OneLabelBelow(domain) => write!(formatter, "*.{domain}"),
        }
    }
}

/// Reports the most common mistakes before the name is parsed.
fn check_characters(text: &str) -> Result<(), HostError> {
    if !text.is_ascii() {
        return Err(HostError::NotAscii);
    }
    if text.contains(['/', '@', '?', '#', '\\', '[', ']']) {
        return Err(HostError::Url);
    }
    match text.split_once(':') {
        Some((host, port)) if !host.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) => {
            return Err(HostError::Port);
        }
        Some(_) => return Err(HostError::Url),
        None => {}
    }
    if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return Err(HostError::UpperCase);
    }
    Ok(())
}

/// Parses an IPv6 address in brackets, in its shortest form. An IPv4-mapped address must be written as IPv4.
fn exact_address(text: &str) -> Result<Box<str>, HostError> {
    let (address, after) = text.trim_start_matches('[').split_once(']').ok_or(HostError::Url)?;
    if after.strip_prefix(':').is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit())) {
        return Err(HostError::Port);
    }
    if !after.is_empty() {
        return Err(HostError::Url);
    }
    let address: Ipv6Addr = address.parse().map_err(|_| HostError::Address)?;
    let plain = format!("[{address}]");
    if plain == text && address.to_ipv4_mapped().is_none() { Ok(plain.into()) } else { Err(HostError::Address) }
}

/// Parses a name without wildcards.
fn exact(name: &str) -> Result<Box<str>, HostError> {
    if name.contains('*') {
        return Err(HostError::WildcardPlace);
    }
    if name.len() > HOST_BYTES {
        return Err(HostError::Name);
    }
    name.split('.').try_for_each(check_label)?;
    let last = name.rsplit('.').next().unwrap_or_default();
    // URL parsers read a name as an address if its last label is a number, in any of a dozen spellings.
    let numeric = last.bytes().all(|byte| byte.is_ascii_digit()) || last.starts_with("0x");
    if numeric && name.parse::<Ipv4Addr>().is_err() {
        return Err(HostError::Address);
    }
    Ok(name.into())
}

fn check_label(label: &str) -> Result<(), HostError> {
    let spelt = label.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    let sized = (1..=LABEL_BYTES).contains(&label.len());
    if spelt && sized && !label.starts_with('-') && !label.ends_with('-') { Ok(()) } else { Err(HostError::Name) }
}

/// Returns whether hosts one label below `domain` can belong to many owners: the domain, or a name one label below it,
/// is a public suffix.
fn is_shared(domain: &str) -> bool {
    let is_public = |name: &str| psl::suffix(name.as_bytes()).is_none_or(|suffix| suffix.as_bytes() == name.as_bytes());
    // The list has wildcards. By `*.ck`, every name one label below `ck` is a public suffix.
    is_public(domain) || is_public(&format!("any-label.{domain}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wildcard_matches_exactly_one_label() {
        let rows = [
            ("docs.rs", "docs.rs", true),
            ("docs.rs", "docs.rs.", true),
            ("docs.rs", "DOCS.rs", true),
            ("docs.rs", "docs.rs..", false),
            ("docs.rs", ".docs.rs", false),
            ("docs.rs", "xdocs.rs", false),
            ("docs.rs", "a.docs.rs", false),
            ("docs.rs", "docs.rs.evil", false),
            ("docs.rs", "docs-rs", false),
            ("docs.rs", "docs.rs:80", false),
            ("docs.rs", "", false),
            ("*.example.com", "a.example.com", true),
            ("*.example.com", "A.Example.COM.", true),
            ("*.example.com", "xn--a-0ga.example.com", true),
            ("*.example.com", "example.com", false),
            ("*.example.com", ".example.com", false),
            ("*.example.com", "evilexample.com", false),
            ("*.example.com", "example.com.evil", false),
            ("*.example.com", "a.example.com.evil", false),
            ("*.example.com", "a.b.example.com", false),
            ("*.example.com", "a.evilexample.com", false),
            ("*.example.com", "-.example.com", false),
            ("*.example.com", "a@b.example.com", false),
            ("*.example.com", "evil/.example.com", false),
            ("*.example.com", "*.example.com", false),
            ("*.a.example.com", "b.a.example.com", true),
            ("*.a.example.com", "a.example.com", false),
            ("127.0.0.1", "127.0.0.1", true),
            ("127.0.0.1", "127.1", false),
            ("[::1]", "[::1]", true),
            ("[::1]", "::1", false),
            ("[2001:db8::1]", "[2001:db8::2]", false),
            ("localhost", "localhost", true),
        ];
        for (pattern, host, expected) in rows {
            assert_eq!(HostPattern::new(pattern).unwrap().matches(host), expected, "{pattern} on {host}");
        }
    }

    #[test]
    fn a_name_is_at_most_as_long_as_in_the_dns() {
        let name = |last: usize| format!("{0}.{0}.{0}.{1}", "a".repeat(63), "b".repeat(last));
        for text in [name(1), name(61)] {
            assert_eq!(HostPattern::new(&text).unwrap().to_string(), text);
        }
        for text in [name(62), name(63)] {
            assert_eq!(HostPattern::new(&text), Err(HostError::Name));
        }
        assert_eq!(HostPattern::new("*.example.com").unwrap().to_string(), "*.example.com");
    }

    #[test]
    fn a_wildcard_is_accepted_if_one_owner_has_all_names() {
        for text in ["*.example.com", "*.example.co.uk", "*.wikipedia.org", "*.me.github.io", "*.corp.internal"] {
            assert!(HostPattern::new(text).is_ok(), "{text}");
        }
        for text in ["github.io", "co.uk", "com", "s3.amazonaws.com"] {
            assert!(HostPattern::new(text).is_ok(), "an exact host may be a public suffix: {text}");
        }
    }

    #[test]
    fn every_invalid_host_pattern_has_its_own_error() {
        let long = format!("{}.com", "a".repeat(64));
        let rows = [
            ("", HostError::Name),
            (".", HostError::Name),
            ("a..b", HostError::Name),
            (".docs.rs", HostError::Name),
            ("docs.rs.", HostError::Name),
            ("-a.com", HostError::Name),
            ("a b.com", HostError::Name),
            ("a_b.com", HostError::Name),
            ("a\0.com", HostError::Name),
            (&long, HostError::Name),
            ("https://docs.rs", HostError::Url),
            ("docs.rs:443", HostError::Port),
            ("docs.rs:", HostError::Port),
            ("*.example.com:8080", HostError::Port),
            ("docs.rs:https", HostError::Url),
            (":443", HostError::Url),
            ("::1", HostError::Url),
            ("https://docs.rs:443", HostError::Url),
            ("docs.rs/crate", HostError::Url),
            ("user@docs.rs", HostError::Url),
            ("docs.rs\\a", HostError::Url),
            ("Docs.rs", HostError::UpperCase),
            ("dócs.rs", HostError::NotAscii),
            ("ｄocs.rs", HostError::NotAscii),
            ("a*.com", HostError::WildcardPlace),
            ("a.*.com", HostError::WildcardPlace),
            ("*.*.example.com", HostError::WildcardPlace),
            ("**.example.com", HostError::WildcardPlace),
            ("*example.com", HostError::WildcardPlace),
            ("*", HostError::WildcardTooBroad),
            ("*.com", HostError::WildcardTooBroad),
            ("*.co.uk", HostError::WildcardTooBroad),
            ("*.com.au", HostError::WildcardTooBroad),
            ("*.github.io", HostError::WildcardTooBroad),
            ("*.s3.amazonaws.com", HostError::WildcardTooBroad),
            ("*.ck", HostError::WildcardTooBroad),
            ("*.kawasaki.jp", HostError::WildcardTooBroad),
            ("*.compute.amazonaws.com", HostError::WildcardTooBroad),
            ("*.internal", HostError::WildcardTooBroad),
            ("*.", HostError::Name),
            ("*.10.0.0.1", HostError::Address),
            ("*.0.0.1", HostError::Address),
        ];
        for (pattern, expected) in rows {
            let refused = HostPattern::new(pattern).unwrap_err();
            assert_eq!(refused, expected, "{pattern}");
        }
    }

    #[test]
    fn addresses_that_are_not_in_plain_spelling_are_refused() {
        let rows = [
            ("[::1", HostError::Url),
            ("[::1]a", HostError::Url),
            ("[::1]:443", HostError::Port),
            ("[0:0::1]", HostError::Address),
            ("[FE80::1]", HostError::Address),
            ("[fe80::1%eth0]", HostError::Address),
            ("[::ffff:127.0.0.1]", HostError::Address),
            ("[127.0.0.1]", HostError::Address),
            ("[[::1]", HostError::Address),
            ("[]", HostError::Address),
            ("*.[::1]", HostError::Url),
            ("127.1", HostError::Address),
            ("0x7f.0.0.1", HostError::Address),
            ("0x7f000001", HostError::Address),
            ("2130706433", HostError::Address),
            ("0177.0.0.1", HostError::Address),
            ("256.0.0.1", HostError::Address),
        ];
        for (pattern, expected) in rows {
            assert_eq!(HostPattern::new(pattern), Err(expected), "{pattern}");
        }
    }
}
