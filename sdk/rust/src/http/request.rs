//! What a plugin sends.

use std::time::Duration;

use serde::Serialize;

use super::Url;
use super::url::encode_component;
use crate::Failure;

/// What a request does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Reads.
    Get,
    /// Reads the head alone.
    Head,
    /// Sends something to be acted upon.
    Post,
    /// Puts something in a place.
    Put,
    /// Changes a part of something.
    Patch,
    /// Takes something away.
    Delete,
    /// Asks what is possible.
    Options,
}

impl Method {
    /// As it is sent.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Head => "HEAD",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
            Self::Options => "OPTIONS",
        }
    }
}

/// A request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    method: Method,
    url: String,
    headers: Vec<(String, String)>,
    content: Vec<u8>,
    timeout: Option<Duration>,
}

impl Request {
    /// A request without headers and body.
    pub fn new(method: Method, url: impl Into<String>) -> Self {
        Self { method, url: url.into(), headers: Vec::new(), content: Vec::new(), timeout: None }
    }

    /// A GET request.
    pub fn get(url: impl Into<String>) -> Self {
        Self::new(Method::Get, url)
    }

    /// A POST request.
    pub fn post(url: impl Into<String>) -> Self {
        Self::new(Method::Post, url)
    }

    /// Adds a parameter to the query of the URL, encoded.
    #[must_use]
    pub fn query(mut self, name: &str, value: impl AsRef<str>) -> Self {
        let fragment = self.url.find('#').map(|at| self.url.split_off(at));
        self.url.push(if self.url.contains('?') { '&' } else { '?' });
        encode_component(name, &mut self.url);
        self.url.push('=');
        encode_component(value.as_ref(), &mut self.url);
        self.url.push_str(fragment.as_deref().unwrap_or_default());
        self
    }

    /// Adds a header. The host keeps some for itself: `host`, those of the connection, and the one that a secret goes
    /// into. `content-length` follows from the body.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Sets the body. Say what it is with a `content-type` header.
    #[must_use]
    pub fn body(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.content = bytes.into();
        self
    }

    /// Sets a JSON body, and the header that says so.
    ///
    /// # Errors
    /// The value is nothing that JSON can say.
    pub fn json(self, value: &impl Serialize) -> Result<Self, Failure> {
        Ok(self.header("content-type", "application/json").body(serde_json::to_vec(value)?))
    }

    /// How long the whole exchange may take, to the last byte of the response that is read. The policy bounds it too,
    /// and the lower bound holds.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// What it does.
    #[must_use]
    pub fn method(&self) -> Method {
        self.method
    }

    /// Where it goes.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Its headers, in the order in which they were added.
    pub fn headers(&self) -> impl Iterator<Item = (&str, &str)> {
        self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Its body.
    #[must_use]
    pub fn content(&self) -> &[u8] {
        &self.content
    }

    /// How long the whole exchange may take.
    #[must_use]
    pub fn time_limit(&self) -> Option<Duration> {
        self.timeout
    }

    /// The same request, with its URL in the one form that is sent.
    pub(super) fn to(mut self, url: &Url) -> Self {
        self.url = url.to_string();
        self
    }
}
