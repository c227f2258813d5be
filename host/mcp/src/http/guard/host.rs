//! Checks the host name that a client used for this server. It stops DNS rebinding: a page whose own name resolves to
//! this address sends that name.

use crate::http::error::SettingError;
use crate::http::refusal::HttpRefusalReply;
use crate::http::refusal_reason::RefusalReason;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::HOST;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::str::FromStr;
use std::sync::Arc;

/// The default port of `http`.
const HTTP_PORT: u16 = 80;

/// A name of this server, with one port or any port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedHost {
    name: String,
    port: Option<u16>,
}

impl FromStr for AllowedHost {
    type Err = SettingError;

    fn from_str(text: &str) -> Result<Self, SettingError> {
        let (name, port) = split(text).ok_or(SettingError::Host)?;
        Ok(Self { name, port })
    }
}

/// The names of this server.
#[derive(Debug)]
pub(crate) struct Hosts(Vec<AllowedHost>);

impl Hosts {
    /// Returns the loopback names with the bound port, the bound address itself unless it is unspecified, and the names
    /// that the operator adds.
    pub(crate) fn new(bound: SocketAddr, added: &[AllowedHost]) -> Self {
        let named = |name: String| AllowedHost { name, port: Some(bound.port()) };
        let loopback = ["localhost", "127.0.0.1", "[::1]"].map(|name| named(name.to_owned()));
        let own = Some(bound.ip()).filter(|address| !address.is_unspecified()).map(|address| named(written(address)));
        Self(loopback.into_iter().chain(own).chain(added.iter().cloned()).collect())
    }

    fn have(&self, text: &str) -> bool {
        let Some((name, port)) = split(text) else { return false };
        let port = port.unwrap_or(HTTP_PORT);
        self.0.iter().any(|own| own.name == name && own.port.is_none_or(|own| own == port))
    }
}

/// Formats an address as in a `Host` header.
fn written(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => format!("[{address}]"),
    }
}

/// Splits a host and its port, and converts the host to lower case. Refuses what a URL could also contain: a user,
/// escapes and a trailing dot.
pub(super) fn split(text: &str) -> Option<(String, Option<u16>)> {
    let (name, port) = match text.rsplit_once(':') {
        Some((name, port)) if !port.contains(']') => (name, Some(port)),
        Some(_) | None => (text, None),
    };
    let digits = |port: &str| (1..=5).contains(&port.len()) && port.bytes().all(|byte| byte.is_ascii_digit());
    let port = match port {
        Some(port) => Some(port.parse().ok().filter(|_| digits(port))?),
        None => None,
    };
    is_host(name).then(|| (name.to_ascii_lowercase(), port))
}

fn is_host(name: &str) -> bool {
    if let Some(address) = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')) {
        return matches!(address.parse(), Ok(IpAddr::V6(_)));
    }
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    // No DNS name is longer (RFC 1035 section 2.3.4).
    name.len() <= 253 && name.split('.').all(|label| !label.is_empty() && label.bytes().all(letter))
}

/// Passes on requests that use one of this server's names: exactly one `Host` header, and no other host in the target.
pub(crate) async fn known_host(State(hosts): State<Arc<Hosts>>, request: Request, next: Next) -> Response {
    pass(|host| hosts.have(host), request, next).await
}

/// Passes on requests like [`known_host`], and also those that use any IP address, as the probes of a cluster do. A
/// page whose own name resolves to this machine sends that name, and never an address.
pub(crate) async fn known_host_or_address(State(hosts): State<Arc<Hosts>>, request: Request, next: Next) -> Response {
    pass(|host| hosts.have(host) || is_address(host), request, next).await
}

async fn pass(is_own: impl Fn(&str) -> bool, request: Request, next: Next) -> Response {
    // With two headers, a proxy in front could decide by the one and this server by the other.
    let mut written = request.headers().get_all(HOST).iter();
    let one = written.next().filter(|_| written.next().is_none()).and_then(|host| host.to_str().ok());
    let target = request.uri().authority().is_none_or(|authority| is_own(authority.as_str()));
    if target && one.is_some_and(is_own) {
        return next.run(request).await;
    }
    let message = "Forbidden: the Host header is missing or does not name this server (operator: see --allow-host)";
    HttpRefusalReply::new(StatusCode::FORBIDDEN, RefusalReason::Host, message).into_response()
}

/// Returns whether a host is an IP address, with any port or none.
fn is_address(text: &str) -> bool {
    // An address in brackets has been parsed already.
    split(text).is_some_and(|(name, _)| name.starts_with('[') || name.parse::<Ipv4Addr>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_servers_own_names_with_its_port_are_accepted() {
        let hosts = Hosts::new("127.0.0.1:8080".parse().unwrap(), &["a.example".parse().unwrap()]);
        for own in ["localhost:8080", "LocalHost:8080", "127.0.0.1:8080", "[::1]:8080", "a.example", "a.example:1"] {
            assert!(hosts.have(own), "{own}");
        }
        let foreign = [
            "",
            ":8080",
            "localhost",
            "localhost:8081",
            "localhost:08080 ",
            "localhost:+8080",
            "localhost.:8080",
            "127.0.0.1.evil.com:8080",
            "evil.com",
            "evil.com:8080",
            "user@localhost:8080",
            "localhost:8080@evil.com",
            "localhost:8080/",
            "[::1]",
            "::1:8080",
            "[::2]:8080",
            "127.1:8080",
            "0.0.0.0:8080",
            "2130706433:8080",
            "localhost:808080",
            "localhost:",
            "a.example.evil.com",
            "b.a.example",
            "localhost:8080,evil.com",
        ];
        for foreign in foreign {
            assert!(!hosts.have(foreign), "{foreign}");
        }
    }

    #[test]
    fn an_address_is_told_from_a_name() {
        for address in ["10.1.2.3:8080", "10.1.2.3", "[fd00::1]:8080", "[::1]"] {
            assert!(is_address(address), "{address}");
        }
        for name in
            ["", "evil.example", "10.1.2.3.evil.example:8080", "127.1:8080", "2130706433", "0x7f.1", "::1", "[x]"]
        {
            assert!(!is_address(name), "{name}");
        }
    }

    #[test]
    fn the_unspecified_address_is_not_a_name_of_the_server() {
        assert!(!Hosts::new("0.0.0.0:80".parse().unwrap(), &[]).have("0.0.0.0"));
        assert!(Hosts::new("192.0.2.1:80".parse().unwrap(), &[]).have("192.0.2.1"));
        assert!(Hosts::new("192.0.2.1:80".parse().unwrap(), &[]).have("localhost"));
    }

    #[test]
    fn an_invalid_name_in_the_settings_is_refused() {
        for text in ["", "*", "a b", "http://a", "a/b", "a:b", "a:0x1", "[1]", "a..b"] {
            assert_eq!(text.parse::<AllowedHost>(), Err(SettingError::Host), "{text:?}");
        }
    }
}
