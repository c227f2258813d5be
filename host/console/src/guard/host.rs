//! Checks the host name that a browser used for the console. It stops DNS rebinding: a page whose own name resolves to
//! this address sends that name.

use crate::refusal::refusal;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::StatusCode;
use http::header::HOST;
use std::net::SocketAddr;
use std::sync::Arc;

/// Where the console is, for the guards.
#[derive(Debug)]
pub(crate) struct OwnHost {
    /// The only name as in a `Host` header: the address that the console is bound to, with its port. `None` if the
    /// server that the console is part of has checked the name already. A proxy in front of it may then add TLS.
    only: Option<String>,
    /// The port.
    pub(crate) port: u16,
}

impl OwnHost {
    /// Returns the place of a console with its own address.
    pub(crate) fn bound(address: SocketAddr) -> Self {
        // Formats as `127.0.0.1:8080`, which is also how a URL has it.
        Self { only: Some(address.to_string()), port: address.port() }
    }

    /// Returns the place of a console that is part of a server, which checks the `Host` header of each request.
    pub(crate) fn part_of_server(address: SocketAddr) -> Self {
        Self { only: None, port: address.port() }
    }

    /// Returns whether an `Origin` header names the console, for a request with this `Host` header.
    pub(super) fn is_origin(&self, origin: &[u8], host: &[u8]) -> bool {
        let authority = match origin.strip_prefix(b"http://") {
            Some(authority) => authority,
            // Only a proxy in front of a server encrypts.
            None if self.only.is_none() => origin.strip_prefix(b"https://").unwrap_or_default(),
            None => return false,
        };
        // Without a `Host` header, `host` is empty, and an origin without a host must not equal it.
        !authority.is_empty() && authority == host
    }
}

/// Passes on requests that name the console: exactly one `Host` header, and no other host in the target.
pub(crate) async fn known_host(State(own): State<Arc<OwnHost>>, request: Request, next: Next) -> Response {
    let Some(only) = &own.only else { return next.run(request).await };
    let mut written = request.headers().get_all(HOST).iter();
    // Two `Host` headers are invalid (RFC 9112, section 3.2), and a proxy could have used the other one.
    let one = written.next().filter(|_| written.next().is_none());
    // In the absolute form, the host of the target replaces the header (RFC 9112, section 3.2.2).
    let target = request.uri().authority().is_none_or(|authority| authority.as_str() == only);
    if target && one.is_some_and(|host| host.as_bytes() == only.as_bytes()) {
        return next.run(request).await;
    }
    let why = "The Host header does not name this console. Use the link that `portcullis console` printed.";
    refusal(StatusCode::MISDIRECTED_REQUEST, "Wrong address", why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_proxy_in_front_of_a_server_makes_an_encrypted_origin() {
        let address = "127.0.0.1:8080".parse().unwrap();
        let (own, part) = (OwnHost::bound(address), OwnHost::part_of_server(address));
        let rows: [(&str, &str, bool, bool); 6] = [
            ("http://127.0.0.1:8080", "127.0.0.1:8080", true, true),
            ("https://tools.example", "tools.example", false, true),
            ("https://tools.example", "127.0.0.1:8080", false, false),
            ("http://127.0.0.1:8081", "127.0.0.1:8080", false, false),
            ("null", "127.0.0.1:8080", false, false),
            ("https://", "", false, false),
        ];
        for (origin, host, of_own, of_part) in rows {
            assert_eq!(own.is_origin(origin.as_bytes(), host.as_bytes()), of_own, "{origin} {host}");
            assert_eq!(part.is_origin(origin.as_bytes(), host.as_bytes()), of_part, "{origin} {host}");
        }
    }
}
