//! Requests a page, and follows redirects on the same host. The policy decides on each request separately. A redirect
//! to another host is not followed: reaching it needs a separate call with its own decision.

use std::time::Duration;

use portcullis_sdk::http::{Client, Request, Response, Url};
use portcullis_sdk::prelude::*;

/// Maximum number of redirects to follow. More of them are most likely a loop.
const REDIRECTS_MAX: usize = 5;

/// Maximum time of one exchange, to the last byte. A call has 30 s by default.
const EXCHANGE_TIME: Duration = Duration::from_secs(20);

/// The `accept` header: media types with their preference.
const ACCEPT: &str = "text/markdown;q=0.9, text/html, application/xhtml+xml, text/plain;q=0.8, application/json;q=0.8, \
                      */*;q=0.5";

/// The end of a chain of requests.
pub(crate) enum Arrival {
    /// A response that is not a redirect.
    Here(Response),
    /// A redirect that this call does not follow.
    Elsewhere { to: String, why: String },
}

/// A chain of requests and its end.
pub(crate) struct Journey {
    /// The URLs that redirected, in order.
    pub(crate) redirects: Vec<String>,
    pub(crate) arrival: Arrival,
}

/// Requests a page, and follows redirects on the same host.
pub(crate) fn go(client: &Client, url: &Url, context: &Context) -> Result<Journey, Failure> {
    let mut redirects: Vec<String> = Vec::new();
    let mut url = url.clone();
    loop {
        context.check_cancelled()?;
        let request = Request::get(url.to_string()).header("accept", ACCEPT).timeout(EXCHANGE_TIME);
        let response = match client.send(request) {
            // The policy covers the requested page but not the target of its redirect, for example because the call is
            // narrowed to the first URL.
            Err(Failure::Denied(why)) if !redirects.is_empty() => {
                return Ok(Journey { redirects, arrival: Arrival::Elsewhere { to: url.to_string(), why } });
            }
            sent => sent?,
        };
        let Some(to) = response.redirect() else {
            return Ok(Journey { redirects, arrival: Arrival::Here(response) });
        };
        // Record the URL before the checks, because each of their answers names where the redirect comes from.
        redirects.push(url.to_string());
        let to = Url::parse(&to)
            .map_err(|failure| Failure::failed(format!("{url} redirects to an unusable URL: {}", failure.text())))?;
        if !stays(&url, &to) {
            let why = if url.host() == to.host() { "the scheme or port changes" } else { "it leads to another host" };
            return Ok(Journey { redirects, arrival: Arrival::Elsewhere { to: to.to_string(), why: why.to_owned() } });
        }
        if redirects.contains(&to.to_string()) {
            return Err(Failure::failed(format!("{url} redirects to {to}, which led here: this is a redirect loop")));
        }
        if redirects.len() > REDIRECTS_MAX {
            return Err(Failure::failed(format!("more than {REDIRECTS_MAX} redirects; the last one leads to {to}")));
        }
        url = to;
    }
}

/// Returns whether a redirect stays on the same origin, or only upgrades it to TLS.
fn stays(from: &Url, to: &Url) -> bool {
    let is_upgrade = from.scheme() == "http" && to.scheme() == "https" && from.authority() == to.authority();
    from.origin() == to.origin() || is_upgrade
}
