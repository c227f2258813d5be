//! Checks which page made a request. Browsers say so in headers that a page cannot forge.
//!
//! A page at another port of this machine has the same site as the console, so its requests carry the cookie. This
//! guard and the form's token stop them.

use super::host::OwnHost;
use crate::refusal::refusal;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::header::{HOST, ORIGIN};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use std::sync::Arc;

const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
const FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");

/// Passes on requests of the console's own pages, and navigations of a person to a page.
pub(crate) async fn own_origin(State(own): State<Arc<OwnHost>>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    let may = match *request.method() {
        Method::GET | Method::HEAD => may_read(headers, &own),
        // A form of a browser always has an origin. A program that has none is no page of the console.
        _ => has_origin(headers, &own) == Some(true) && is_fetched_here(headers),
    };
    if may {
        return next.run(request).await;
    }
    refusal(StatusCode::FORBIDDEN, "Not from here", "Only the console's own pages may do that.")
}

fn may_read(headers: &HeaderMap, own: &OwnHost) -> bool {
    has_origin(headers, own) != Some(false) && (is_fetched_here(headers) || is_navigation(headers))
}

/// Returns whether the only `Origin` header is the console's. `None` if there is no such header.
fn has_origin(headers: &HeaderMap, own: &OwnHost) -> Option<bool> {
    let mut written = headers.get_all(ORIGIN).iter();
    let first = written.next()?;
    let host = headers.get(HOST).map(HeaderValue::as_bytes).unwrap_or_default();
    Some(written.next().is_none() && own.is_origin(first.as_bytes(), host))
}

/// Returns whether the console's own page, or no page, made the request. Old browsers and programs do not say.
fn is_fetched_here(headers: &HeaderMap) -> bool {
    let mut said = headers.get_all(FETCH_SITE).iter();
    match (said.next(), said.next()) {
        // The cookie and the form's token still protect the console then.
        (None, _) => true,
        (Some(site), None) => site == "same-origin" || site == "none",
        (Some(_), Some(_)) => false,
    }
}

/// Returns whether a person follows a link to the console. The page that has the link cannot read the answer.
fn is_navigation(headers: &HeaderMap) -> bool {
    let said = |name: &HeaderName, value: &str| headers.get(name).is_some_and(|said| said == value);
    said(&FETCH_MODE, "navigate") && said(&FETCH_DEST, "document")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let pair = |(name, value): &(&'static str, &'static str)| {
            (HeaderName::from_static(name), HeaderValue::from_static(value))
        };
        pairs.iter().map(pair).collect()
    }

    #[test]
    fn other_pages_can_navigate_to_a_page_and_nothing_else() {
        let own = OwnHost::bound("127.0.0.1:8080".parse().unwrap());
        let rows: [(&[(&str, &str)], bool); 8] = [
            (&[], true),
            (&[("sec-fetch-site", "same-origin")], true),
            (&[("sec-fetch-site", "same-site")], false),
            (&[("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "no-cors"), ("sec-fetch-dest", "image")], false),
            (&[("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")], true),
            (&[("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "iframe")], false),
            (&[("origin", "http://127.0.0.1:8080")], true),
            (&[("origin", "http://127.0.0.1:8081")], false),
        ];
        for (pairs, may) in rows {
            let mut headers = headers(pairs);
            headers.insert(HOST, HeaderValue::from_static("127.0.0.1:8080"));
            assert_eq!(may_read(&headers, &own), may, "{pairs:?}");
        }
    }
}
