//! `outgoing-body`, and the server's side: `outgoing-response` and `response-outparam`.

use super::HttpGuard;
use super::weight::TRAILERS_WEIGHT_MAX;
use crate::host_memory::Weighed;
use wasmtime::component::Resource;
use wasmtime_wasi::p2::DynOutputStream;
use wasmtime_wasi_http::FieldMap;
use wasmtime_wasi_http::p2::bindings::http::types::{
    ErrorCode, HostOutgoingBody as HostBody, HostOutgoingResponse as HostResponse,
    HostResponseOutparam as HostOutparam, StatusCode,
};
use wasmtime_wasi_http::p2::body::HostOutgoingBody;
use wasmtime_wasi_http::p2::types::{HostOutgoingResponse, HostResponseOutparam};
use wasmtime_wasi_http::p2::{HttpError, HttpResult};

/// The written bytes of a body wait with the request. The request is charged for them when the body is begun.
impl HostBody for HttpGuard<'_> {
    fn write(&mut self, body: Resource<HostOutgoingBody>) -> wasmtime::Result<Result<Resource<DynOutputStream>, ()>> {
        HostBody::write(&mut self.inner(), body)
    }

    fn finish(&mut self, body: Resource<HostOutgoingBody>, trailers: Option<Resource<FieldMap>>) -> HttpResult<()> {
        if let Some(trailers) = &trailers {
            if self.0.table.get(trailers)?.weight() > TRAILERS_WEIGHT_MAX {
                // The guest has given both away, so an error removes both, too.
                HostBody::drop(&mut self.inner(), body).map_err(HttpError::trap)?;
                self.forget(trailers);
                self.0.table.delete(Resource::<FieldMap>::new_own(trailers.rep()))?;
                return Err(ErrorCode::HttpRequestTrailerSectionSize(None).into());
            }
            self.forget(trailers);
        }
        HostBody::finish(&mut self.inner(), body, trailers)
    }

    fn drop(&mut self, body: Resource<HostOutgoingBody>) -> wasmtime::Result<()> {
        HostBody::drop(&mut self.inner(), body)
    }
}

type OutgoingResponseHandle = Resource<HostOutgoingResponse>;

impl HostResponse for HttpGuard<'_> {
    fn new(&mut self, headers: Resource<FieldMap>) -> wasmtime::Result<OutgoingResponseHandle> {
        self.forget(&headers);
        let response = HostResponse::new(&mut self.inner(), headers)?;
        self.0.weigh(&response)?;
        Ok(response)
    }

    fn body(&mut self, response: OutgoingResponseHandle) -> wasmtime::Result<Result<Resource<HostOutgoingBody>, ()>> {
        let weighed = OutgoingResponseHandle::new_borrow(response.rep());
        let body = HostResponse::body(&mut self.inner(), response)?;
        self.0.weigh(&weighed)?;
        Ok(body)
    }

    fn status_code(&mut self, response: OutgoingResponseHandle) -> wasmtime::Result<StatusCode> {
        self.inner().status_code(response)
    }

    fn set_status_code(
        &mut self,
        response: OutgoingResponseHandle,
        status: StatusCode,
    ) -> wasmtime::Result<Result<(), ()>> {
        self.inner().set_status_code(response, status)
    }

    fn headers(&mut self, response: OutgoingResponseHandle) -> wasmtime::Result<Resource<FieldMap>> {
        let headers = HostResponse::headers(&mut self.inner(), response)?;
        self.0.weigh(&headers)?;
        Ok(headers)
    }

    fn drop(&mut self, response: OutgoingResponseHandle) -> wasmtime::Result<()> {
        self.forget(&response);
        HostResponse::drop(&mut self.inner(), response)
    }
}

/// No guest has one, because the host calls no HTTP handler.
impl HostOutparam for HttpGuard<'_> {
    fn drop(&mut self, outparam: Resource<HostResponseOutparam>) -> wasmtime::Result<()> {
        HostOutparam::drop(&mut self.inner(), outparam)
    }

    fn set(
        &mut self,
        outparam: Resource<HostResponseOutparam>,
        response: Result<OutgoingResponseHandle, ErrorCode>,
    ) -> wasmtime::Result<()> {
        if let Ok(response) = &response {
            self.forget(response);
        }
        HostOutparam::set(&mut self.inner(), outparam, response)
    }

    fn send_informational(
        &mut self,
        outparam: Resource<HostResponseOutparam>,
        status: u16,
        headers: Resource<FieldMap>,
    ) -> HttpResult<()> {
        self.inner().send_informational(outparam, status, headers)
    }
}
