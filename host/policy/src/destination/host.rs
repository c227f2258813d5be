//! Parses the authority of a request: a host in its plain form, and a port.
//!
//! Nothing is decoded or repaired, so that no other parser can read another host.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::error::DestinationError;
use super::limits::{HOST_BYTES, LABEL_BYTES};

/// The prefix of a punycode label.
const PUNYCODE: &str = "xn--";

/// The host of a destination.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Host {
    /// A name in lower case and ASCII, without a final dot.
    Name(Box<str>),
    /// A literal IP address.
    Address(IpAddr),
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

/// Parses `host` or `host:port`.
pub(super) fn read_authority(text: &str) -> Result<(Host, Option<u16>), DestinationError> {
    // First, because parsers disagree on where the host of `good:80@evil` begins.
    if text.contains('@') {
        return Err(DestinationError::User);
    }
    // Some parsers decode a `%` in a host, and not all end the authority at a `\`, `#`, `?` or `/`.
    if text.bytes().any(|byte| !byte.is_ascii_graphic() || b"%\\#?/".contains(&byte)) {
        return Err(DestinationError::HostCharacter);
    }
    let (host, port) = split(text)?;
    let host = match host.strip_prefix('[') {
        Some(address) => read_address(address)?,
        None => read_name(host)?,
    };
    Ok((host, port.map(read_port).transpose()?))
}

/// Splits host and port. An address in brackets contains colons itself.
fn split(text: &str) -> Result<(&str, Option<&str>), DestinationError> {
    let end = if text.starts_with('[') {
        text.find(']').map(|bracket| bracket + 1).ok_or(DestinationError::HostAddress6)?
    } else {
        text.find(':').unwrap_or(text.len())
    };
    match text.split_at(end) {
        (host, "") => Ok((host, None)),
        (host, rest) => rest.strip_prefix(':').map(|port| (host, Some(port))).ok_or(DestinationError::HostAddress6),
    }
}

fn read_port(text: &str) -> Result<u16, DestinationError> {
    // `parse` also accepts a plus sign and leading zeros. Port 0 begins with a zero, too.
    let plain = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
    text.parse().ok().filter(|_| plain).ok_or(DestinationError::Port)
}

fn read_address(bracketed: &str) -> Result<Host, DestinationError> {
    let address: Option<Ipv6Addr> = bracketed.strip_suffix(']').and_then(|text| text.parse().ok());
    address.map(|address| Host::Address(IpAddr::V6(address))).ok_or(DestinationError::HostAddress6)
}

fn read_name(text: &str) -> Result<Host, DestinationError> {
    // A final dot makes a name absolute in the DNS. It is the name of the same host.
    let name = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
    if name.is_empty() {
        return Err(DestinationError::NoHost);
    }
    if name.len() > HOST_BYTES || !name.split('.').all(is_label) {
        return Err(DestinationError::HostName);
    }
    // URL parsers read a name as an address if its last label is a number, in any of a dozen spellings.
    let last = name.rsplit('.').next().unwrap_or_default();
    if last.bytes().all(|byte| byte.is_ascii_digit()) || last.starts_with("0x") {
        let address: Ipv4Addr = name.parse().map_err(|_| DestinationError::HostAddress)?;
        return Ok(Host::Address(IpAddr::V4(address)));
    }
    if !is_sound_punycode(&name) {
        return Err(DestinationError::HostPunycode);
    }
    Ok(Host::Name(name.into()))
}

/// Returns whether a label has only letters, digits and hyphens, and underscores, which some names contain.
fn is_label(label: &str) -> bool {
    let spelt = label.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    spelt && (1..=LABEL_BYTES).contains(&label.len()) && !label.starts_with('-') && !label.ends_with('-')
}

/// Returns whether UTS 46 decodes each punycode label and encodes it again unchanged.
fn is_sound_punycode(name: &str) -> bool {
    !name.split('.').any(|label| label.starts_with(PUNYCODE))
        || matches!(url::Host::parse(name), Ok(url::Host::Domain(same)) if same == name)
}
