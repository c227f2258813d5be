//! Sends one request of the host.

use super::call::NetworkCall;
use super::client::Client;
use super::error::{HttpFailure, RequestRefusal, bounded};
use super::order::{self, AskedRequest};
use super::{body_of, exchange};
use crate::host_memory::HostMemory;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response};
use std::sync::Arc;
use std::time::Duration;
use wasmtime_wasi_http::{RequestOptions, WasiBody};

/// Maximum time to connect. The request itself may take as long as a call.
const CONNECT_TIME: Duration = Duration::from_secs(30);

pub(super) async fn send(
    client: &Client,
    (call, memory): (&Arc<NetworkCall>, &HostMemory),
    mut request: Request<Bytes>,
    authorization: Option<HeaderValue>,
) -> Result<Response<WasiBody>, HttpFailure> {
    let destination = order::destination(request.uri()).map_err(Into::into);
    let url = order::recorded_url(&destination, request.uri());
    let record = call.record(request.method().as_str(), &url);
    let sent = async {
        add_headers(client, request.headers_mut())?;
        let options = RequestOptions { connect_timeout: Some(CONNECT_TIME), ..RequestOptions::default() };
        let request = request.map(body_of);
        let asked = AskedRequest { client: Some(client.clone()), request, options: Some(options), destination };
        let mut order = asked.order(record.clone(), memory)?;
        order.authorization = authorization;
        exchange(order).await
    };
    sent.await.inspect_err(|failure| record.failed(failure))
}

/// Adds the headers that the policy names for a server.
fn add_headers(client: &Client, headers: &mut HeaderMap) -> Result<(), RequestRefusal> {
    let Some(server) = &client.binding().server else { return Ok(()) };
    for (name, value) in &server.headers {
        let refused = || RequestRefusal::Header(bounded(name));
        let name: HeaderName = name.parse().map_err(|_| refused())?;
        headers.insert(name, HeaderValue::from_str(value).map_err(|_| refused())?);
    }
    Ok(())
}
