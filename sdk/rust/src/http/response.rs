//! What a plugin receives: the head at once, the body when it asks and as much of it as it asks for.

use serde::de::DeserializeOwned;

use super::Url;
use crate::Failure;
use crate::host;

/// The statuses that send a client elsewhere.
const REDIRECTS: [u16; 5] = [301, 302, 303, 307, 308];

/// A response, whose body is still to be read. What is not read is never received.
#[derive(Debug)]
pub struct Response {
    url: Url,
    status: u16,
    headers: Vec<(String, String)>,
    body: host::Body,
}

/// A body, read under a cap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// All of it.
    Whole(Vec<u8>),
    /// The beginning; there is more.
    Cut(Vec<u8>),
}

/// Where reading a body ended.
enum BodyEnd {
    Complete,
    /// At the reader's own maximum.
    Cut,
    /// At a limit of the policy.
    Limit(Failure),
}

/// Why no more of a body can be read.
#[derive(Debug)]
pub(crate) enum BodyError {
    /// The host ended the body at a limit of the policy. What was read before is sound.
    Limit(Failure),
    /// The connection broke, or took too long.
    Broken(Failure),
}

impl Response {
    pub(crate) fn new(url: Url, status: u16, headers: Vec<(String, String)>, body: host::Body) -> Self {
        Self { url, status, headers, body }
    }

    /// The URL that was asked, in the form that was sent.
    #[must_use]
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// The status, such as 200.
    #[must_use]
    pub fn status(&self) -> u16 {
        self.status
    }

    /// Whether the status is one of success.
    #[must_use]
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The first header of a name; case is no matter.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers().find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// All headers. Bytes that are no UTF-8 are shown as `�`.
    pub fn headers(&self) -> impl Iterator<Item = (&str, &str)> {
        self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Where a redirect leads, resolved against the URL that was asked. It may be nothing that can be sent: whoever
    /// follows it finds out.
    #[must_use]
    pub fn redirect(&self) -> Option<String> {
        if !REDIRECTS.contains(&self.status) {
            return None;
        }
        self.header("location").map(|location| self.url.join(location))
    }

    /// Reads the body up to a number of bytes, or up to the policy's limit where that is lower.
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
    /// As [`Response::read`], and a body of more bytes than these or than the policy allows.
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

    /// Reads the whole body as UTF-8. Bytes that are none become `�`.
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
    /// As [`Response::bytes`], and a body that is not the JSON of the type.
    pub fn json<T: DeserializeOwned>(self, bytes_max: usize) -> Result<T, Failure> {
        let url = self.url.clone();
        let bytes = self.bytes(bytes_max)?;
        serde_json::from_slice(&bytes).map_err(|error| {
            Failure::failed(format!("the response of {url} is not the JSON that was expected: {error}"))
        })
    }
}
