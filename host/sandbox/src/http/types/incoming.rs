//! Responses: `future-incoming-response`, `incoming-response`, `incoming-body` and `future-trailers`. Also
//! `incoming-request`, which no guest ever has.
//!
//! The bytes of a body are stored in its connection, which is charged while it is open.

use super::HttpGuard;
use wasmtime::component::Resource;
use wasmtime_wasi::p2::{DynInputStream, DynPollable};
use wasmtime_wasi_http::FieldMap;
use wasmtime_wasi_http::p2::bindings::http::types::{
    ErrorCode, HostFutureIncomingResponse as HostFuture, HostFutureTrailers as HostTrailers,
    HostIncomingBody as HostBody, HostIncomingRequest as HostRequest, HostIncomingResponse as HostResponse, Method,
    Scheme, StatusCode,
};
use wasmtime_wasi_http::p2::body::{HostFutureTrailers, HostIncomingBody};
use wasmtime_wasi_http::p2::types::{HostFutureIncomingResponse, HostIncomingRequest, HostIncomingResponse};

type Future = Resource<HostFutureIncomingResponse>;
type IncomingResponseHandle = Resource<HostIncomingResponse>;
type IncomingBodyHandle = Resource<HostIncomingBody>;
type Trailers = Resource<HostFutureTrailers>;
type IncomingRequestHandle = Resource<HostIncomingRequest>;

impl HostFuture for HttpGuard<'_> {
    fn drop(&mut self, future: Future) -> wasmtime::Result<()> {
        self.forget(&future);
        HostFuture::drop(&mut self.inner(), future)
    }

    fn get(
        &mut self,
        future: Future,
    ) -> wasmtime::Result<Option<Result<Result<IncomingResponseHandle, ErrorCode>, ()>>> {
        let taken = Future::new_borrow(future.rep());
        let got = HostFuture::get(&mut self.inner(), future)?;
        // The head was taken or never came, so the future holds it no longer.
        if got.is_some() {
            self.forget(&taken);
        }
        if let Some(Ok(Ok(response))) = &got {
            self.0.weigh(response)?;
        }
        Ok(got)
    }

    fn subscribe(&mut self, future: Future) -> wasmtime::Result<Resource<DynPollable>> {
        HostFuture::subscribe(&mut self.inner(), future)
    }
}

impl HostResponse for HttpGuard<'_> {
    fn drop(&mut self, response: IncomingResponseHandle) -> wasmtime::Result<()> {
        self.forget(&response);
        HostResponse::drop(&mut self.inner(), response)
    }

    fn status(&mut self, response: IncomingResponseHandle) -> wasmtime::Result<StatusCode> {
        self.inner().status(response)
    }

    fn headers(&mut self, response: IncomingResponseHandle) -> wasmtime::Result<Resource<FieldMap>> {
        let headers = HostResponse::headers(&mut self.inner(), response)?;
        self.0.weigh(&headers)?;
        Ok(headers)
    }

    fn consume(&mut self, response: IncomingResponseHandle) -> wasmtime::Result<Result<IncomingBodyHandle, ()>> {
        HostResponse::consume(&mut self.inner(), response)
    }
}

impl HostBody for HttpGuard<'_> {
    fn stream(&mut self, body: IncomingBodyHandle) -> wasmtime::Result<Result<Resource<DynInputStream>, ()>> {
        self.inner().stream(body)
    }

    fn finish(&mut self, body: IncomingBodyHandle) -> wasmtime::Result<Trailers> {
        HostBody::finish(&mut self.inner(), body)
    }

    fn drop(&mut self, body: IncomingBodyHandle) -> wasmtime::Result<()> {
        HostBody::drop(&mut self.inner(), body)
    }
}

impl HostTrailers for HttpGuard<'_> {
    fn drop(&mut self, trailers: Trailers) -> wasmtime::Result<()> {
        HostTrailers::drop(&mut self.inner(), trailers)
    }

    fn subscribe(&mut self, trailers: Trailers) -> wasmtime::Result<Resource<DynPollable>> {
        HostTrailers::subscribe(&mut self.inner(), trailers)
    }

    fn get(
        &mut self,
        trailers: Trailers,
    ) -> wasmtime::Result<Option<Result<Result<Option<Resource<FieldMap>>, ErrorCode>, ()>>> {
        let got = HostTrailers::get(&mut self.inner(), trailers)?;
        if let Some(Ok(Ok(Some(fields)))) = &got {
            self.0.weigh(fields)?;
        }
        Ok(got)
    }
}

impl HostRequest for HttpGuard<'_> {
    fn method(&mut self, request: IncomingRequestHandle) -> wasmtime::Result<Method> {
        HostRequest::method(&mut self.inner(), request)
    }

    fn path_with_query(&mut self, request: IncomingRequestHandle) -> wasmtime::Result<Option<String>> {
        HostRequest::path_with_query(&mut self.inner(), request)
    }

    fn scheme(&mut self, request: IncomingRequestHandle) -> wasmtime::Result<Option<Scheme>> {
        HostRequest::scheme(&mut self.inner(), request)
    }

    fn authority(&mut self, request: IncomingRequestHandle) -> wasmtime::Result<Option<String>> {
        HostRequest::authority(&mut self.inner(), request)
    }

    fn headers(&mut self, request: IncomingRequestHandle) -> wasmtime::Result<Resource<FieldMap>> {
        let headers = HostRequest::headers(&mut self.inner(), request)?;
        self.0.weigh(&headers)?;
        Ok(headers)
    }

    fn consume(&mut self, request: IncomingRequestHandle) -> wasmtime::Result<Result<IncomingBodyHandle, ()>> {
        HostRequest::consume(&mut self.inner(), request)
    }

    fn drop(&mut self, request: IncomingRequestHandle) -> wasmtime::Result<()> {
        HostRequest::drop(&mut self.inner(), request)
    }
}
