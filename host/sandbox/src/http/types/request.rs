//! `outgoing-request` and `request-options`: what a guest sends. The length of each text is limited.

use super::HttpGuard;
use wasmtime::component::Resource;
use wasmtime_wasi_http::p2::bindings::http::types::{
    Duration, HostOutgoingRequest as HostRequest, HostRequestOptions, Method, Scheme,
};
use wasmtime_wasi_http::p2::body::HostOutgoingBody;
use wasmtime_wasi_http::p2::types::HostOutgoingRequest;
use wasmtime_wasi_http::{FieldMap, RequestOptions};

/// Maximum length of a method's name, in bytes. The longest registered name has 17.
const METHOD_BYTES_MAX: usize = 64;

/// Maximum length of a scheme, in bytes. Only `http` and `https` are sent.
const SCHEME_BYTES_MAX: usize = 64;

/// Maximum length of an authority, in bytes: a name of 253 bytes and a port. An authority with a user also fits, so
/// that it is refused with a reason.
const AUTHORITY_BYTES_MAX: usize = 1024;

/// Maximum length of a path with its query, in bytes: twice what RFC 9110 recommends that every server supports.
const PATH_BYTES_MAX: usize = 16 * 1024;

type OutgoingRequestHandle = Resource<HostOutgoingRequest>;

/// The result of a setter for a value that no request can have.
const REFUSED: wasmtime::Result<Result<(), ()>> = Ok(Err(()));

impl HttpGuard<'_> {
    /// Weighs a request after a change, and returns the result of the change.
    fn changed<T>(&mut self, request: u32, result: T) -> wasmtime::Result<T> {
        self.0.weigh(&OutgoingRequestHandle::new_borrow(request))?;
        Ok(result)
    }
}

impl HostRequest for HttpGuard<'_> {
    fn new(&mut self, headers: Resource<FieldMap>) -> wasmtime::Result<OutgoingRequestHandle> {
        self.forget(&headers);
        let request = HostRequest::new(&mut self.inner(), headers)?;
        self.0.weigh(&request)?;
        Ok(request)
    }

    fn body(&mut self, request: OutgoingRequestHandle) -> wasmtime::Result<Result<Resource<HostOutgoingBody>, ()>> {
        let index = request.rep();
        let body = HostRequest::body(&mut self.inner(), request)?;
        self.changed(index, body)
    }

    fn drop(&mut self, request: OutgoingRequestHandle) -> wasmtime::Result<()> {
        self.forget(&request);
        HostRequest::drop(&mut self.inner(), request)
    }

    fn method(&mut self, request: OutgoingRequestHandle) -> wasmtime::Result<Method> {
        HostRequest::method(&mut self.inner(), request)
    }

    fn set_method(&mut self, request: OutgoingRequestHandle, method: Method) -> wasmtime::Result<Result<(), ()>> {
        if matches!(&method, Method::Other(other) if other.len() > METHOD_BYTES_MAX) {
            return REFUSED;
        }
        let index = request.rep();
        let set = self.inner().set_method(request, method)?;
        self.changed(index, set)
    }

    fn path_with_query(&mut self, request: OutgoingRequestHandle) -> wasmtime::Result<Option<String>> {
        HostRequest::path_with_query(&mut self.inner(), request)
    }

    fn set_path_with_query(
        &mut self,
        request: OutgoingRequestHandle,
        path: Option<String>,
    ) -> wasmtime::Result<Result<(), ()>> {
        if path.as_ref().is_some_and(|path| path.len() > PATH_BYTES_MAX) {
            return REFUSED;
        }
        let index = request.rep();
        let set = self.inner().set_path_with_query(request, path)?;
        self.changed(index, set)
    }

    fn scheme(&mut self, request: OutgoingRequestHandle) -> wasmtime::Result<Option<Scheme>> {
        HostRequest::scheme(&mut self.inner(), request)
    }

    fn set_scheme(
        &mut self,
        request: OutgoingRequestHandle,
        scheme: Option<Scheme>,
    ) -> wasmtime::Result<Result<(), ()>> {
        if matches!(&scheme, Some(Scheme::Other(other)) if other.len() > SCHEME_BYTES_MAX) {
            return REFUSED;
        }
        let index = request.rep();
        let set = self.inner().set_scheme(request, scheme)?;
        self.changed(index, set)
    }

    fn authority(&mut self, request: OutgoingRequestHandle) -> wasmtime::Result<Option<String>> {
        HostRequest::authority(&mut self.inner(), request)
    }

    fn set_authority(
        &mut self,
        request: OutgoingRequestHandle,
        authority: Option<String>,
    ) -> wasmtime::Result<Result<(), ()>> {
        if authority.as_ref().is_some_and(|authority| authority.len() > AUTHORITY_BYTES_MAX) {
            return REFUSED;
        }
        let index = request.rep();
        let set = self.inner().set_authority(request, authority)?;
        self.changed(index, set)
    }

    fn headers(&mut self, request: OutgoingRequestHandle) -> wasmtime::Result<Resource<FieldMap>> {
        let headers = HostRequest::headers(&mut self.inner(), request)?;
        self.0.weigh(&headers)?;
        Ok(headers)
    }
}

type RequestOptionsHandle = Resource<RequestOptions>;

/// Each has three durations, which is a fixed size.
impl HostRequestOptions for HttpGuard<'_> {
    fn new(&mut self) -> wasmtime::Result<RequestOptionsHandle> {
        HostRequestOptions::new(&mut self.inner())
    }

    fn connect_timeout(&mut self, options: RequestOptionsHandle) -> wasmtime::Result<Option<Duration>> {
        self.inner().connect_timeout(options)
    }

    fn set_connect_timeout(
        &mut self,
        options: RequestOptionsHandle,
        time: Option<Duration>,
    ) -> wasmtime::Result<Result<(), ()>> {
        self.inner().set_connect_timeout(options, time)
    }

    fn first_byte_timeout(&mut self, options: RequestOptionsHandle) -> wasmtime::Result<Option<Duration>> {
        self.inner().first_byte_timeout(options)
    }

    fn set_first_byte_timeout(
        &mut self,
        options: RequestOptionsHandle,
        time: Option<Duration>,
    ) -> wasmtime::Result<Result<(), ()>> {
        self.inner().set_first_byte_timeout(options, time)
    }

    fn between_bytes_timeout(&mut self, options: RequestOptionsHandle) -> wasmtime::Result<Option<Duration>> {
        self.inner().between_bytes_timeout(options)
    }

    fn set_between_bytes_timeout(
        &mut self,
        options: RequestOptionsHandle,
        time: Option<Duration>,
    ) -> wasmtime::Result<Result<(), ()>> {
        self.inner().set_between_bytes_timeout(options, time)
    }

    fn drop(&mut self, options: RequestOptionsHandle) -> wasmtime::Result<()> {
        HostRequestOptions::drop(&mut self.inner(), options)
    }
}
