//! HTTP responses. The head arrives first; the body is read on request, up to a limit.

use serde::de::DeserializeOwned;

use super::body_error::BodyError;
use super::url::Url;
use crate::Failure;
use crate::host;

/// The statuses of a redirect.
const REDIRECTS: [u16; 5] = [301, 302, 303, 307, 308];

/// An HTTP response whose body has not been read yet. Bytes that are not read are never received.
#[derive(Debug)]
pub struct Response {
    url: Url,
    status: u16,
    headers: Vec<(String, String)>,
    body: host::Body,
}

/// A body, read up to a limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// All of it.
    Whole(Vec<u8>),
    /// The beginning; there is more.
    Cut(Vec<u8>),
}

/// How reading a body ended.
enum BodyEnd {
    Complete,
    /// At the maximum of the reader.
    Cut,
    /// At a limit of the policy.
    Limit(Failure),
}

impl Response {
    pub(crate) fn new(url: Url, status: u16, headers: Vec<(String, String)>, body: host::Body) -> Self {
        Self { url, status, headers, body }
    }

    /// Returns the requested URL, in the form that was sent.
    #[must_use]
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// Returns the status, such as 200.
    #[must_use]
    pub fn status(&self) -> u16 {
        self.status
    }

    /// Returns whether the status is a success.
    #[must_use]
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Returns the first header with a name, ignoring case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers().find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// Returns all headers. Invalid UTF-8 is replaced by `�`.
    pub fn headers(&self) -> impl Iterator<Item = (&str, &str)> {
        self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Returns the target of a redirect, resolved against the requested URL. It may not be a valid URL; a request to it
    /// then fails.
    #[must_use]
    pub fn redirect(&self) -> Option<String> {
        if !REDIRECTS.contains(&self.status) {
            return None;
        }
        self.header("location").map(|location| self.url.join(location))
    }

    /// Reads the body up to a number of bytes, or up to the policy's limit if that is lower.
    ///
    /// # Errors
    /// The connection broke or took too long.
    pub fn read(self, bytes_max: usize) -> Result<Body, Failure> {
        let (bytes, end) = self.receive(bytes_max)?;
        Ok(match end {
            BodyEnd::Complete => Body::Whole(bytes),
            BodyEnd::Cut | BodyEnd::Limit(_) => Body::Cut(bytes),
        })
    }

    /// Reads the whole body.
    ///
    /// # Errors
    /// As [`Response::read`], or the body has more bytes than `bytes_max` or than the policy allows.
    pub fn bytes(self, bytes_max: usize) -> Result<Vec<u8>, Failure> {
        let url = self.url.clone();
        match self.receive(bytes_max)? {
            (bytes, BodyEnd::Complete) => Ok(bytes),
            (_, BodyEnd::Cut) => {
                Err(Failure::failed(format!("the response of {url} is larger than {bytes_max} bytes")))
            }
            (_, BodyEnd::Limit(failure)) => Err(failure),
        }
    }

    fn receive(mut self, bytes_max: usize) -> Result<(Vec<u8>, BodyEnd), Failure> {
        let mut bytes = Vec::new();
        loop {
            let chunk = match self.body.read() {
                Ok(Some(chunk)) => chunk,
                Ok(None) => return Ok((bytes, BodyEnd::Complete)),
                Err(BodyError::Limit(failure)) => return Ok((bytes, BodyEnd::Limit(failure))),
                Err(BodyError::Broken(failure)) => return Err(failure),
            };
            let room = bytes_max - bytes.len();
            if chunk.len() > room {
                bytes.extend_from_slice(&chunk[..room]);
                return Ok((bytes, BodyEnd::Cut));
            }
            bytes.extend_from_slice(&chunk);
        }
    }

    /// Reads the whole body as UTF-8. Invalid bytes become `�`.
    ///
    /// # Errors
    /// As [`Response::bytes`].
    pub fn text(self, bytes_max: usize) -> Result<String, Failure> {
        let bytes = self.bytes(bytes_max)?;
        Ok(String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
    }

    /// Reads the whole body as JSON.
    ///
    /// # Errors
    /// As [`Response::bytes`], or the body is not JSON of the type.
    pub fn json<T: DeserializeOwned>(self, bytes_max: usize) -> Result<T, Failure> {
        let url = self.url.clone();
        let bytes = self.bytes(bytes_max)?;
        serde_json::from_slice(&bytes).map_err(|error| {
            Failure::failed(format!("the response of {url} is not the JSON that was expected: {error}"))
        })
    }
}
