//! The way to a page: one request, and one more for each redirect that stays on the host. The policy decides on each of
//! them anew. A redirect to another host is not followed: whether that one is asked is for whoever decides on a call.

use std::time::Duration;

use portcullis_sdk::http::{Client, Request, Response, Url};
use portcullis_sdk::prelude::*;

/// How many redirects are followed; sites that send a reader on more often than this send him in circles.
const REDIRECTS_MAX: usize = 5;

/// How long one exchange may take, to the last byte. A call has 30 s unless the policy says otherwise.
const EXCHANGE_TIME: Duration = Duration::from_secs(20);

/// What a page may be, most wanted first.
const ACCEPT: &str = "text/markdown;q=0.9, text/html, application/xhtml+xml, text/plain;q=0.8, application/json;q=0.8, \
                      */*;q=0.5";

/// Where a request led.
pub(crate) enum Arrival {
    /// To a response that is no redirect.
    Here(Response),
    /// To a redirect that this call does not follow.
    Elsewhere { to: String, why: String },
}

/// A request with all that came of it.
pub(crate) struct Journey {
    /// The addresses that sent us on, in their order.
    pub(crate) redirects: Vec<String>,
    pub(crate) arrival: Arrival,
}

/// Goes to a page.
pub(crate) fn go(client: &Client, url: &Url, context: &Context) -> Result<Journey, Failure> {
    let mut redirects: Vec<String> = Vec::new();
    let mut url = url.clone();
    loop {
        context.check_cancelled()?;
        let request = Request::get(url.to_string()).header("accept", ACCEPT).timeout(EXCHANGE_TIME);
        let response = match client.send(request) {
            // The policy covers the page that was asked for, and not the one it leads to: narrowed to the first, say.
            Err(Failure::Denied(why)) if !redirects.is_empty() => {
                return Ok(Journey { redirects, arrival: Arrival::Elsewhere { to: url.to_string(), why } });
            }
            sent => sent?,
        };
        let Some(to) = response.redirect() else {
            return Ok(Journey { redirects, arrival: Arrival::Here(response) });
        };
        redirects.push(url.to_string());
        let to = Url::parse(&to)
            .map_err(|failure| Failure::failed(format!("{url} redirects to what is no page: {}", failure.text())))?;
        if !stays(&url, &to) {
            let why = if url.host() == to.host() { "the scheme or port changes" } else { "that is another host" };
            return Ok(Journey { redirects, arrival: Arrival::Elsewhere { to: to.to_string(), why: why.to_owned() } });
        }
        if redirects.contains(&to.to_string()) {
            return Err(Failure::failed(format!("{url} redirects to {to}, which led here: it goes in circles")));
        }
        if redirects.len() > REDIRECTS_MAX {
            return Err(Failure::failed(format!(
                "it redirects more than {REDIRECTS_MAX} times; the last one leads to {to}"
            )));
        }
        url = to;
    }
}

/// Whether a redirect stays where it is, or goes on to the same host with TLS.
fn stays(from: &Url, to: &Url) -> bool {
    let is_upgrade = from.scheme() == "http" && to.scheme() == "https" && from.authority() == to.authority();
    from.origin() == to.origin() || is_upgrade
}
