//! Requests of a program without the feature `http`: there are none.

use crate::http::error::HttpFailure;
use crate::http::order::Order;
use http::Response;
use wasmtime_wasi_http::WasiBody;

/// Sends no request. No client has made one, because no client has a transport.
pub(in crate::http) async fn exchange(order: Order) -> Result<Response<WasiBody>, HttpFailure> {
    let Order { client, .. } = order;
    match *client.transport() {}
}
