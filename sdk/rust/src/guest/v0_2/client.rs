//! HTTP clients: one exchange over `dependencies.client`, in the types of `wasi:http`.

use std::rc::Rc;

use super::bindings::portcullis::tool::dependencies;
use super::bindings::wasi::http::types as wasi;
use super::errors;
use super::exchange::{Body, Exchange};
use super::wait::Deadline;
use crate::Failure;
use crate::http::{Method, Request, Response, Url};

/// Number of bytes of a request's body to write at once: the minimum that `wasi:io` guarantees to accept.
const WRITE_BYTES: usize = 4096;

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
