//! One exchange: its deadline, its errors and the body of its response.

use std::rc::Rc;

use super::bindings::portcullis::tool::dependencies;
use super::bindings::wasi::http::types as wasi;
use super::bindings::wasi::io::streams::{InputStream, StreamError};
use super::errors;
use super::wait::Deadline;
use crate::Failure;
use crate::http::body_error::BodyError;

/// Number of bytes of a response's body to read at once.
const READ_BYTES: u64 = 64 * 1024;

/// What is known of one exchange.
#[derive(Debug)]
pub(super) struct Exchange {
    pub(super) client: Rc<dependencies::Client>,
    pub(super) server: String,
    pub(super) deadline: Deadline,
}

impl Exchange {
    /// Waits for the head of the response.
    pub(super) fn head(&self, future: &wasi::FutureIncomingResponse) -> Result<wasi::IncomingResponse, Failure> {
        if !self.deadline.wait(&future.subscribe()) {
            return Err(self.too_late());
        }
        match future.get() {
            Some(Ok(Ok(response))) => Ok(response),
            Some(Ok(Err(code))) => Err(self.failure(&code)),
            Some(Err(())) | None => Err(Failure::failed(format!("{}: there is no response", self.server))),
        }
    }

    pub(super) fn failure(&self, code: &wasi::ErrorCode) -> Failure {
        errors::exchange(&self.server, code, self.client.refusal())
    }

    /// Returns why a body ended early. If the host aborted it, there is no code, only a refusal text.
    fn broken_off(&self, code: Option<wasi::ErrorCode>) -> BodyError {
        match (code, self.client.refusal()) {
            (Some(code), _) => BodyError::Broken(self.failure(&code)),
            (None, Some(words)) => BodyError::Limit(Failure::failed(format!("{}: {words}", self.server))),
            (None, None) => BodyError::Broken(self.failure(&wasi::ErrorCode::HttpResponseIncomplete)),
        }
    }

    fn too_late(&self) -> Failure {
        Failure::unavailable(format!("{}: it took too long to answer", self.server))
    }
}

/// A body that is still arriving. Fields are dropped in order, and the host requires children to be dropped first.
#[derive(Debug)]
pub(crate) struct Body {
    stream: InputStream,
    _body: wasi::IncomingBody,
    _response: wasi::IncomingResponse,
    exchange: Exchange,
}

impl Body {
    pub(super) fn new(response: wasi::IncomingResponse, exchange: Exchange) -> Result<Self, Failure> {
        let twice = |()| Failure::failed("a response has one body");
        let body = response.consume().map_err(twice)?;
        let stream = body.stream().map_err(twice)?;
        Ok(Self { stream, _body: body, _response: response, exchange })
    }

    /// Reads the next piece; `None` at the end.
    pub(crate) fn read(&mut self) -> Result<Option<Vec<u8>>, BodyError> {
        loop {
            match self.stream.read(READ_BYTES) {
                Ok(bytes) if bytes.is_empty() => {
                    if !self.exchange.deadline.wait(&self.stream.subscribe()) {
                        return Err(BodyError::Broken(self.exchange.too_late()));
                    }
                }
                Ok(bytes) => return Ok(Some(bytes)),
                Err(StreamError::Closed) => return Ok(None),
                Err(StreamError::LastOperationFailed(error)) => {
                    return Err(self.exchange.broken_off(wasi::http_error_code(&error)));
                }
            }
        }
    }
}
