//! HTTP through the clients that a policy grants. The host decides on each request.
//!
//! In the order of an exchange: `url`, `request`, `Client`, `response`.

pub(crate) mod body_error;
mod request;
mod response;
mod url;

pub use request::{Method, Request};
pub use response::{Body, Response};
pub use url::Url;

use crate::Failure;
use crate::host;

/// An HTTP client that reaches only the destinations that the policy names.
///
/// It does not follow redirects. [`Response::redirect`] returns the target; a request to it gets its own policy
/// decision.
#[derive(Debug)]
pub struct Client {
    handle: host::Client,
}

impl Client {
    pub(crate) fn new(handle: host::Client) -> Self {
        Self { handle }
    }

    /// Sends a request and waits for the head of its response. A status of 404 or 500 is a response too.
    ///
    /// # Errors
    /// `InvalidArguments`: the URL is invalid. `Denied`: the policy does not cover the request; the text says which
    /// part of it, and nothing was sent. `Unavailable`: the server was not reached, or did not answer in time.
    /// `Failed`: the server does not speak HTTP, or its response is larger than the policy allows.
    pub fn send(&self, request: Request) -> Result<Response, Failure> {
        let url = Url::parse(request.url())?;
        self.handle.send(&url, &request.to(&url))
    }

    /// Returns whether the host has a secret for the destination that the policy bound one to. The host adds it to
    /// requests to that destination. A plugin never sees it, and cannot set the header or parameter that carries it.
    #[must_use]
    pub fn has_secret(&self) -> bool {
        self.handle.has_secret()
    }

    /// Returns the reason of the host's last refusal in this call.
    #[must_use]
    pub fn refusal(&self) -> Option<String> {
        self.handle.refusal()
    }
}
