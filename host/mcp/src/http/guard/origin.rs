//! Checks the origin of a page that calls this server. Programs send no `Origin` header. Browsers always do, and a page
//! cannot forge it.

use super::host::split;
use crate::http::error::SettingError;
use crate::http::refusal::HttpRefusalReply;
use crate::http::refusal_reason::RefusalReason;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::ORIGIN;
use std::str::FromStr;
use std::sync::Arc;

/// An origin whose pages may call this server: a scheme, a host, and one port or any port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedOrigin {
    scheme: OriginScheme,
    host: String,
    /// The port, or `None` for any port.
    port: Option<u16>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OriginScheme {
    Http,
    Https,
}

impl OriginScheme {
    fn take(text: &str) -> Option<(Self, &str)> {
        let http = text.strip_prefix("http://").map(|rest| (Self::Http, rest));
        http.or_else(|| text.strip_prefix("https://").map(|rest| (Self::Https, rest)))
    }

    /// Returns the default port.
    fn port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

impl FromStr for AllowedOrigin {
    type Err = SettingError;

    fn from_str(text: &str) -> Result<Self, SettingError> {
        let (scheme, rest) = OriginScheme::take(text).ok_or(SettingError::Origin)?;
        let (host, any) = rest.strip_suffix(":*").map_or((rest, false), |host| (host, true));
        let (host, port) = split(host).ok_or(SettingError::Origin)?;
        match (any, port) {
            (true, Some(_)) => Err(SettingError::Origin),
            (true, None) => Ok(Self { scheme, host, port: None }),
            (false, port) => Ok(Self { scheme, host, port: Some(port.unwrap_or(scheme.port())) }),
        }
    }
}

/// The origins whose pages may call this server.
#[derive(Debug)]
pub(crate) struct Origins(Vec<AllowedOrigin>);

impl Origins {
    /// Returns the loopback origins over `http`, and the origins that the operator adds.
    pub(crate) fn new(added: &[AllowedOrigin]) -> Self {
        let own = ["localhost", "127.0.0.1", "[::1]"].map(|host| AllowedOrigin {
            scheme: OriginScheme::Http,
            host: host.to_owned(),
            port: None,
        });
        Self(own.into_iter().chain(added.iter().cloned()).collect())
    }

    fn have(&self, text: &str) -> bool {
        let Some((scheme, rest)) = OriginScheme::take(text) else { return false };
        let Some((host, port)) = split(rest) else { return false };
        let port = port.unwrap_or(scheme.port());
        let fits = |own: &AllowedOrigin| own.port.is_none_or(|own| own == port);
        self.0.iter().any(|own| own.scheme == scheme && own.host == host && fits(own))
    }
}

/// Passes on requests that come from no page, or from a page of an allowed origin. The origin `null` is never allowed,
/// because any page can have it.
pub(crate) async fn known_origin(State(origins): State<Arc<Origins>>, request: Request, next: Next) -> Response {
    let mut written = request.headers().get_all(ORIGIN).iter();
    let known = match (written.next(), written.next()) {
        (None, _) => true,
        (Some(origin), None) => origin.to_str().is_ok_and(|origin| origins.have(origin)),
        (Some(_), Some(_)) => false,
    };
    if known {
        return next.run(request).await;
    }
    let message = "Forbidden: pages of this origin may not call this server (operator: see --allow-origin)";
    HttpRefusalReply::new(StatusCode::FORBIDDEN, RefusalReason::Origin, message).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pages_of_this_machine_and_of_added_origins_may_call() {
        let added = ["https://a.example", "http://b.example:*", "https://c.example:8443"];
        let added = added.map(|text| text.parse::<AllowedOrigin>().unwrap());
        let origins = Origins::new(&added);
        let may = [
            "http://localhost",
            "http://localhost:1",
            "http://127.0.0.1:8080",
            "http://[::1]:5173",
            "https://a.example",
            "https://a.example:443",
            "http://b.example",
            "http://b.example:9",
            "https://c.example:8443",
        ];
        for origin in may {
            assert!(origins.have(origin), "{origin}");
        }
        let may_not = [
            "",
            "null",
            "NULL",
            "http://",
            "https://localhost",
            "http://localhost.evil.com",
            "http://evil.com",
            "http://127.0.0.1.evil.com",
            "http://a.example",
            "https://a.example:8443",
            "https://b.example",
            "https://c.example",
            "file://",
            "ftp://localhost",
            "http://localhost/",
            "http://localhost:1/x",
            "http://user@localhost",
            "http://localhost http://evil.com",
            "http://localhost:*",
            "HTTP://localhost",
            "http://127.0.0.2",
            "http://[::2]",
        ];
        for origin in may_not {
            assert!(!origins.have(origin), "{origin}");
        }
    }

    #[test]
    fn an_invalid_origin_in_the_settings_is_refused() {
        for text in ["", "*", "null", "localhost", "http://*", "http://a/", "http://a:1:*", "ws://a", "http://a?b"] {
            assert_eq!(text.parse::<AllowedOrigin>(), Err(SettingError::Origin), "{text:?}");
        }
    }
}
