//! Checks the cookie of a signed-in browser.

use crate::console::ConsoleState;
use crate::pages::signed_out::{evicted, signed_out};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::header::COOKIE;
use http::{HeaderMap, HeaderName};
use portcullis_listener::keep_connection;
use std::sync::Arc;

/// The name of the cookie, before the port. A browser sends the cookies of all ports to each of them, so two consoles
/// of one machine need different names.
pub(crate) const COOKIE_PREFIX: &str = "portcullis-console-";

/// The header with which a page brings itself up to date.
const REFRESH: HeaderName = HeaderName::from_static("x-portcullis-refresh");

/// Passes on requests of a signed-in browser, with its session.
pub(crate) async fn signed_in(State(state): State<Arc<ConsoleState>>, mut request: Request, next: Next) -> Response {
    let cookie = cookie(request.headers(), state.own.port);
    let session = cookie.and_then(|cookie| state.sessions.find(cookie));
    match session {
        // Only a valid cookie keeps the connection. Those of unknown clients make room for others.
        Some(_) if !keep_connection(request.extensions_mut()) => evicted(),
        Some(mut session) => {
            session.is_refresh = request.headers().contains_key(REFRESH);
            request.extensions_mut().insert(session);
            next.run(request).await
        }
        None => signed_out(&state),
    }
}

/// Returns the value of the console's cookie, if the request has exactly one.
fn cookie(headers: &HeaderMap, port: u16) -> Option<&str> {
    let name = format!("{COOKIE_PREFIX}{port}");
    let lines = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
    let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let mut values = pairs.filter(|(known, _)| *known == name).map(|(_, value)| value);
    // Cookies are not isolated by port (RFC 6265, section 8.5), so a page at another port can add one of this name.
    values.next().filter(|_| values.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    #[test]
    fn only_one_cookie_of_this_port_counts() {
        let of = |line: &'static str| {
            let headers: HeaderMap = [(COOKIE, HeaderValue::from_static(line))].into_iter().collect();
            cookie(&headers, 80).map(str::to_owned)
        };
        assert_eq!(of("a=b; portcullis-console-80=x; c=d").as_deref(), Some("x"));
        assert_eq!(of("portcullis-console-80=x; portcullis-console-80=y"), None);
        assert_eq!(of("portcullis-console-8080=x"), None);
        assert_eq!(of("portcullis-console-80"), None);
    }
}
