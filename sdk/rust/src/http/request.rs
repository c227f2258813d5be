//! HTTP requests.

use std::time::Duration;

use serde::Serialize;

use super::Url;
use super::url::encode_component;
use crate::Failure;

/// The method of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Reads a resource.
    Get,
    /// Reads only the head.
    Head,
    /// Submits data.
    Post,
    /// Creates or replaces a resource.
    Put,
    /// Changes a part of a resource.
    Patch,
    /// Deletes a resource.
    Delete,
    /// Asks for the supported methods.
    Options,
}

impl Method {
    /// Returns the name as it is sent.
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

/// An HTTP request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    method: Method,
    url: String,
    headers: Vec<(String, String)>,
    content: Vec<u8>,
    timeout: Option<Duration>,
}

impl Request {
    /// Creates a request without headers and body.
    pub fn new(method: Method, url: impl Into<String>) -> Self {
        Self { method, url: url.into(), headers: Vec::new(), content: Vec::new(), timeout: None }
    }

    /// Creates a GET request.
    pub fn get(url: impl Into<String>) -> Self {
        Self::new(Method::Get, url)
    }

    /// Creates a POST request.
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

    /// Adds a header. Some are reserved for the host: `host`, those of the connection, and the one that carries a
    /// secret. `content-length` is computed from the body.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Sets the body. Set its type with a `content-type` header.
    #[must_use]
    pub fn body(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.content = bytes.into();
        self
    }

    /// Sets a JSON body and its `content-type` header.
    ///
    /// # Errors
    /// The value cannot be represented in JSON.
    pub fn json(self, value: &impl Serialize) -> Result<Self, Failure> {
        Ok(self.header("content-type", "application/json").body(serde_json::to_vec(value)?))
    }

    /// Sets the maximum time of the whole exchange, to the last byte read of the response. The policy has a limit too;
    /// the lower one applies.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Returns the method.
    #[must_use]
    pub fn method(&self) -> Method {
        self.method
    }

    /// Returns the URL.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the headers, in the order in which they were added.
    pub fn headers(&self) -> impl Iterator<Item = (&str, &str)> {
        self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Returns the body.
    #[must_use]
    pub fn content(&self) -> &[u8] {
        &self.content
    }

    /// Returns the maximum time of the whole exchange.
    #[must_use]
    pub fn time_limit(&self) -> Option<Duration> {
        self.timeout
    }

    /// Returns the request with its URL in normalized form.
    pub(super) fn to(mut self, url: &Url) -> Self {
        self.url = url.to_string();
        self
    }
}
