//! Implements `wasi:http` with wasmtime's types and our own client.
//!
//! Everything that can be checked without the network is checked at once. The rest runs in a task that ends with the
//! guest's handle, at the latest with the call.

use super::client::Client;
use super::error::HttpFailure;
use super::types;
use crate::state::StoreState;
use portcullis_policy::{Destination, DestinationError};
use std::borrow::Cow;
use wasmtime::component::{Linker, Resource};
use wasmtime_wasi_http::p2::bindings::http::outgoing_handler::Host as _;
use wasmtime_wasi_http::p2::bindings::http::types::{ErrorCode, Scheme};
use wasmtime_wasi_http::p2::types::{HostFutureIncomingResponse, HostOutgoingRequest};
use wasmtime_wasi_http::{RequestOptions, WasiHttpCtxView, WasiHttpView};

/// The interface through which a language's standard library sends requests.
const OUTGOING_HANDLER: &str = "wasi:http/outgoing-handler@0.2.12";

/// Returns the destination of a request, from the exact texts that a guest set.
fn asked(request: &HostOutgoingRequest) -> Result<Destination, DestinationError> {
    let path = match request.path_with_query.as_deref() {
        None | Some("") => Cow::Borrowed("/"),
        // Some libraries write a URL with a query and no path this way.
        Some(query) if query.starts_with('?') && query.len() > 1 => Cow::Owned(format!("/{query}")),
        Some(path) => Cow::Borrowed(path),
    };
    if let Some(Scheme::Other(_)) = &request.scheme {
        return Err(DestinationError::Scheme);
    }
    Destination::from_parts(scheme(request), request.authority.as_deref().unwrap_or_default(), &path)
}

/// Returns the scheme of a request. The default is https.
fn scheme(request: &HostOutgoingRequest) -> &str {
    match &request.scheme {
        Some(Scheme::Http) => "http",
        Some(Scheme::Https) | None => "https",
        Some(Scheme::Other(other)) => other,
    }
}

/// Returns an invalid destination for the audit log, without user and query.
fn unread(request: &HostOutgoingRequest) -> String {
    let authority = request.authority.as_deref().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let path = request.path_with_query.as_deref().unwrap_or_default();
    let path = path.split(['?', '#']).next().unwrap_or_default();
    format!("{}://{host}{path}", scheme(request))
}

impl WasiHttpView for StoreState {
    fn http(&mut self) -> WasiHttpCtxView<'_> {
        WasiHttpCtxView { hooks: &mut self.http.hooks, table: &mut self.table, ctx: &mut self.http.ctx }
    }
}

/// The result of `handle`.
type Handled = Result<Resource<HostFutureIncomingResponse>, ErrorCode>;

impl StoreState {
    /// Sends a request through a client, or through the call's default client. The destination is read from the guest's
    /// own texts before wasmtime converts the request.
    pub(crate) fn send(
        &mut self,
        client: Option<Client>,
        request: Resource<HostOutgoingRequest>,
        options: Option<Resource<RequestOptions>>,
    ) -> wasmtime::Result<Handled> {
        self.weights.remove(request.rep());
        // Wasmtime reads the options and leaves them in the table.
        let options = options.map(|options| self.table.delete(options)).transpose()?;
        let outgoing = self.table.get_mut(&request)?;
        match asked(outgoing) {
            Ok(asked) => {
                // Wasmtime converts these texts, so it gets them as they were checked.
                outgoing.authority = Some(asked.authority());
                outgoing.path_with_query = Some(asked.path_with_query());
                self.http.hooks.asked = Some(asked);
            }
            Err(error) => {
                let method: Result<::http::Method, _> = outgoing.method.clone().try_into();
                let method = method.map_or_else(|_| String::new(), |method| method.to_string());
                let record = self.http.hooks.call.record(&method, &unread(outgoing));
                record.failed(&HttpFailure::Refused(error.into()));
                self.table.delete(request)?;
                return Ok(Err(ErrorCode::HttpRequestDenied));
            }
        }
        self.http.hooks.chosen = client;
        self.http.hooks.options = options;
        // Wasmtime refuses some requests before it calls the hooks.
        self.http.hooks.is_sent = false;
        let handled = self.http().handle(request, None);
        // Not an error for the guest, which could ignore it: a call over its host memory ends.
        if let Some(full) = self.http.hooks.full {
            return Err(full.into());
        }
        match handled {
            Ok(response) => {
                let bytes = if self.http.hooks.is_sent { types::HEAD_WEIGHT } else { 0 };
                self.weights.set(&response, bytes)?;
                Ok(Ok(response))
            }
            Err(error) => error.downcast().map(Err),
        }
    }
}

/// Adds `wasi:http` to a linker.
pub(crate) fn add_to_linker(linker: &mut Linker<StoreState>) -> wasmtime::Result<()> {
    linker.instance(OUTGOING_HANDLER)?.func_wrap(
        "handle",
        |mut store, (request, options): (Resource<HostOutgoingRequest>, Option<Resource<RequestOptions>>)| {
            store.data_mut().send(None, request, options).map(|handled| (handled,))
        },
    )?;
    types::add_to_linker(linker)
}
