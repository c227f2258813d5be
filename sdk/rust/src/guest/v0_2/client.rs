//! HTTP clients: one exchange over `dependencies.client`, in the types of `wasi:http`.

use std::rc::Rc;

use super::bindings::portcullis::tool::dependencies;
use super::bindings::wasi::http::types as wasi;
use super::bindings::wasi::io::streams::{InputStream, StreamError};
use super::errors;
use super::wait::Deadline;
use crate::Failure;
use crate::http::{BodyError, Method, Request, Response, Url};

/// Number of bytes of a request's body to write at once: the minimum that `wasi:io` guarantees to accept.
const WRITE_BYTES: usize = 4096;
/// Number of bytes of a response's body to read at once.
const READ_BYTES: u64 = 64 * 1024;

/// The handle behind an HTTP client.
#[derive(Debug)]
pub(crate) struct Client {
    handle: Rc<dependencies::Client>,
}

impl Client {
    pub(super) fn new(handle: dependencies::Client) -> Self {
        Self { handle: Rc::new(handle) }
    }

    pub(crate) fn has_secret(&self) -> bool {
        self.handle.has_secret()
    }

    pub(crate) fn refusal(&self) -> Option<String> {
        self.handle.refusal()
    }

    pub(crate) fn send(&self, url: &Url, request: &Request) -> Result<Response, Failure> {
        let exchange = Exchange {
            client: Rc::clone(&self.handle),
            server: url.authority(),
            deadline: Deadline::after(request.time_limit()),
        };
        let outgoing = outgoing(url, request)?;
        let body = outgoing.body().map_err(|()| Failure::failed("a request has one body"))?;
        let future = self.handle.send(outgoing, None).map_err(|code| exchange.failure(&code))?;
        send_body(body, request.content());
        let response = exchange.head(&future)?;
        let headers = response.headers().entries().into_iter();
        let headers = headers.map(|(name, value)| (name, String::from_utf8_lossy(&value).into_owned())).collect();
        Ok(Response::new(url.clone(), response.status(), headers, Body::new(response, exchange)?))
    }
}

/// Converts the head of a request for the host.
fn outgoing(url: &Url, request: &Request) -> Result<wasi::OutgoingRequest, Failure> {
    let fields = wasi::Fields::new();
    for (name, value) in request.headers() {
        fields.append(name, value.as_bytes()).map_err(|error| errors::header(name, error))?;
    }
    if !request.content().is_empty() || matches!(request.method(), Method::Post | Method::Put | Method::Patch) {
        let length = request.content().len().to_string();
        fields
            .set("content-length", &[length.into_bytes()])
            .map_err(|error| errors::header("content-length", error))?;
    }
    let outgoing = wasi::OutgoingRequest::new(fields);
    let refused = |()| Failure::invalid(format!("`{url}` is not a URL that can be sent"));
    outgoing.set_method(&method(request.method())).map_err(refused)?;
    let scheme = if url.scheme() == "https" { wasi::Scheme::Https } else { wasi::Scheme::Http };
    outgoing.set_scheme(Some(&scheme)).map_err(refused)?;
    outgoing.set_authority(Some(&url.authority())).map_err(refused)?;
    outgoing.set_path_with_query(Some(&url.path_with_query())).map_err(refused)?;
    Ok(outgoing)
}

fn method(method: Method) -> wasi::Method {
    match method {
        Method::Get => wasi::Method::Get,
        Method::Head => wasi::Method::Head,
        Method::Post => wasi::Method::Post,
        Method::Put => wasi::Method::Put,
        Method::Patch => wasi::Method::Patch,
        Method::Delete => wasi::Method::Delete,
        Method::Options => wasi::Method::Options,
    }
}

/// Sends the body. Ignores errors: a server may answer before it has read all of it, and a host may refuse the request
/// in the meantime. Either way the response reports the result.
fn send_body(body: wasi::OutgoingBody, content: &[u8]) {
    let written = match body.write() {
        Ok(stream) => content.chunks(WRITE_BYTES).all(|chunk| stream.blocking_write_and_flush(chunk).is_ok()),
        Err(()) => false,
    };
    if written {
        let _ = wasi::OutgoingBody::finish(body, None);
    }
}

/// The state of one exchange.
#[derive(Debug)]
struct Exchange {
    client: Rc<dependencies::Client>,
    server: String,
    deadline: Deadline,
}

impl Exchange {
    fn head(&self, future: &wasi::FutureIncomingResponse) -> Result<wasi::IncomingResponse, Failure> {
        if !self.deadline.wait(&future.subscribe()) {
            return Err(self.too_late());
        }
        match future.get() {
            Some(Ok(Ok(response))) => Ok(response),
            Some(Ok(Err(code))) => Err(self.failure(&code)),
            Some(Err(())) | None => Err(Failure::failed(format!("{}: there is no response", self.server))),
        }
    }

    fn failure(&self, code: &wasi::ErrorCode) -> Failure {
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
    fn new(response: wasi::IncomingResponse, exchange: Exchange) -> Result<Self, Failure> {
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
