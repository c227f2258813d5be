//! HTTP through the clients that a policy grants. Owns what a plugin writes and reads; the host decides on each
//! request.
//!
//! In the order of an exchange: `url`, `request`, `Client`, `response`.

mod request;
mod response;
mod url;

pub use request::{Method, Request};
pub(crate) use response::BodyError;
pub use response::{Body, Response};
pub use url::Url;

use crate::Failure;
use crate::host;

/// A client, bound by the policy to the destinations that it names.
///
/// It follows no redirect. [`Response::redirect`] says where one leads; a request to there is decided anew.
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
    /// `InvalidArguments`: the URL cannot be read. `Denied`: the policy does not cover the request; the text says what
    /// of it, and nothing was sent. `Unavailable`: the server was not reached, or did not answer in time.
    /// `Failed`: the server does not speak HTTP, or its response is larger than the policy allows.
    pub fn send(&self, request: Request) -> Result<Response, Failure> {
        let url = Url::parse(request.url())?;
        self.handle.send(&url, &request.to(&url))
    }

    /// Whether the host has a secret for the destination that the policy bound one to. The host adds it to the requests
    /// that go there; a plugin never sees it, and cannot set the header or parameter that it goes into.
    #[must_use]
    pub fn has_secret(&self) -> bool {
        self.handle.has_secret()
    }

    /// Why the host refused the last request that it refused in this call.
    #[must_use]
    pub fn refusal(&self) -> Option<String> {
        self.handle.refusal()
    }
}
