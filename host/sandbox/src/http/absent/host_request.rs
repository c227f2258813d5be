//! Requests of the host without the feature `http`: there are none.

use crate::host_memory::HostMemory;
use crate::http::call::NetworkCall;
use crate::http::client::Client;
use crate::http::error::HttpFailure;
use bytes::Bytes;
use http::{HeaderValue, Request, Response};
use std::sync::Arc;
use wasmtime_wasi_http::WasiBody;

/// Sends no request. No client has made one, because no client has a transport.
pub(in crate::http) async fn send(
    client: &Client,
    _: (&Arc<NetworkCall>, &HostMemory),
    _: Request<Bytes>,
    _: Option<HeaderValue>,
) -> Result<Response<WasiBody>, HttpFailure> {
    match *client.transport() {}
}
